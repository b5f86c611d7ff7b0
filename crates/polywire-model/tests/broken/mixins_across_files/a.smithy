$version: "2"
namespace example

@mixin
structure Base with [other#Named] {
    name: String
}

structure City with [Base] {
    population: String
}
