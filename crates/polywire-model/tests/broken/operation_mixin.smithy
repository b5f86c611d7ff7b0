$version: "2"
namespace example

@mixin
operation Base {
    input: In
    errors: [Failed]
}

operation GetCity with [Base] {}

operation GetTown with [Base] {
    input: In
}

structure In {}

@error("client")
structure Failed {}
