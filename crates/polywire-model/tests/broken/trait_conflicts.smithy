$version: "2"

namespace example

@readonly
@idempotent
operation GetCity {}

@input
@output
structure City {
    @wet
    @dry
    @damp
    weather: String
}

@trait(conflicts: [dry, damp])
structure wet {}

@trait(conflicts: [wet])
structure dry {}

@trait
structure damp {}

@mixin
@wet
@damp
structure Rain {}

structure Monsoon with [Rain] {}

@dry
structure Desert with [Rain] {}
