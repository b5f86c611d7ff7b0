$version: "2"
namespace example

@deprecated(message: "use `City` instead", since: "1.2")
structure Town {}

@deprecated
@mixin
structure Old {}

@trait
@deprecated(since: "2.0")
structure mark {}

@trait
@unstable
structure draft {}

@mark
@draft
structure City with [Old] {
    town: Town
}

@deprecated
operation GetTown { input: Town, output := { town: Town }, errors: [NotFound] }

@deprecated
@error("client")
structure NotFound {}

resource Place { operations: [GetTown] }
