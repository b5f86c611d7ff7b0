$version: "2.0"

namespace example

@box
integer Rank

structure City {
    @box
    population: Long
}

apply City$population @box
