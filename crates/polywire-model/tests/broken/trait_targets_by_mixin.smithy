$version: "2"

namespace example

@trait(selector: "operation -[input]-> structure")
structure ofInput {}

@trait(selector: "structure > member :test(> string)")
structure ofText {}

@mixin
@ofInput
structure Fields {
    @ofText
    name: String

    @ofText
    count: Integer
}

structure GetCityInput with [Fields] {}

structure City with [Fields] {}

apply City$name @marked

@trait(selector: "member[id|member = title]")
structure marked {}

operation GetCity {
    input: GetCityInput
}
