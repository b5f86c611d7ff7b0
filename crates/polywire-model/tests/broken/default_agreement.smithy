$version: "2"
namespace example

@default(3)
integer Three

@default(null)
integer Nothing

structure City {
    missing: Three
    other: Three = 4
    same: Three = 3
    none: Three = null
    primitive: PrimitiveBoolean
}

@mixin
structure Common { common: Three }

structure User with [Common] {}

list Threes { member: Three }
