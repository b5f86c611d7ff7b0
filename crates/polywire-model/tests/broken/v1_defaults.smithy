$version: "1.0"

namespace example

@default(7)
integer Rank

structure City {
    population: Long = 0
    @default("x")
    name: String
}

apply City$population @default(1)
