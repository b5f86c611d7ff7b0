$version: "1.0"

namespace example

@mixin
structure Named {
    name: String
}

structure City with [Named] {
    population: Long
}
