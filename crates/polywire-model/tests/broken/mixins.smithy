$version: "2"
namespace example

structure A with [B] {}

@mixin
structure B with [C] {}

@mixin
structure C with [B] {}

structure D with [Plain, Missing, Wrong] {
    $nmae
}

structure Plain {
    name: String
}

@mixin
list Wrong {
    member: String
}
