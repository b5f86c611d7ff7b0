$version: "2"
namespace example

operation Create {
    input := {
        @idempotencyToken
        token: String
        nested: Nested
    }
    output := {
        @idempotencyToken
        token: String
    }
    errors: [Conflict]
}

structure Nested {
    @idempotencyToken
    token: String
}

@error("client")
structure Conflict {
    @idempotencyToken
    token: String
}
