$version: "2"
namespace example

@mixin
structure Named {
    name: String
}

@mixin
structure Numbered {
    name: Integer
}

structure City with [Named, Numbered] {}

structure Town with [Named] {
    name: Long
}
