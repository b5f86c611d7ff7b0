$version: "2"
namespace example

@http(method: "POST", uri: "/a")
operation A {
    input := {
        nested: Nested
        @idempotencyToken
        token: String
    }
    output := {
        @httpQuery("q")
        query: String
        @idempotencyToken
        token: String
    }
    errors: [Problem]
}

structure Nested {
    @httpResponseCode
    code: Integer

    @httpHeader("x-kind")
    kind: String

    @httpQuery("name")
    name: String

    @httpPayload
    body: Blob

    @idempotencyToken
    token: String
}

@error("client")
structure Problem {
    @httpHeader("x-reason")
    reason: String

    @httpLabel
    @required
    label: String
}

// Used by nobody: nothing to say.
structure Unused {
    @httpHeader("x-kind")
    kind: String

    @idempotencyToken
    token: String
}

// The mixin itself is nothing, what uses it counts.
@mixin
structure Common {
    @httpQuery("page")
    page: String
}

@http(method: "POST", uri: "/b")
operation B {
    input := with [Common] {
        inner: Inner
        shared: SharedWithError
    }
    errors: [SharedWithError]
}

structure Inner with [Common] {}

@error("client")
structure SharedWithError {
    @httpHeader("x-reason")
    reason: String
}
