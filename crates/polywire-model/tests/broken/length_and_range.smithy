$version: "2"
namespace example

@length(min: 3, max: 2)
string Backwards

@length(min: -1, max: -2)
list Negative { member: String }

@range(min: 3, max: 2.5)
double Reversed

@range(min: 1.5, max: 2.0)
integer Fractions

structure City {
    @range(min: 0.5)
    height: Integer

    @range(min: 0.5)
    depth: Float

    @length(min: 1.5)
    name: String
}

structure Boundless {
    @length
    name: String
    @range({})
    size: Integer
}
