$version: "2"
namespace example

structure City {
    name: String

    @jsonName("name")
    title: String

    @jsonName("size")
    population: Integer

    @jsonName("size")
    area: Integer
}

@mixin
structure Named {
    @jsonName("n")
    first: String

    @jsonName("n")
    second: String
}

structure Person with [Named] {
    @jsonName("n")
    third: String
}
