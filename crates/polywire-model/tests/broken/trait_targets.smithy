$version: "2"

namespace example

@httpLabel
string City

@readonly
structure Weather {
    @error("client")
    @httpQuery("q")
    @streaming
    name: City

    @sensitive
    @required
    kinds: Kinds
}

@uniqueItems
@cors
map Kinds {
    key: City

    @required
    value: String
}

@length(min: 1)
integer Count

@audited
union Choice {
    @marked
    count: Count
}

@trait(selector: "operation")
structure audited {}

@trait(selector: ":is(list, map) > member")
structure marked {}

apply Weather$name @marked
