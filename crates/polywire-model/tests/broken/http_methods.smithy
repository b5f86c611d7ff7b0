$version: "2"
namespace example

@http(method: "GET", uri: "/get")
operation GetWithBody {
    input := {
        filter: String
        limit: Integer
    }
}

@readonly
@http(method: "DELETE", uri: "/delete")
operation DeleteWithPayload {
    input := {
        @httpPayload
        reason: String
    }
}

@idempotent
@http(method: "HEAD", uri: "/head")
operation HeadIdempotent {}

@readonly
@http(method: "post", uri: "/post")
operation LowerCase {}

@http(method: "PUT", uri: "/put")
operation Put {}

@readonly
@http(method: "OPTIONS", uri: "/options")
operation Options {}

// Other methods mean what the service says.
@http(method: "FETCH", uri: "/fetch")
operation Fetch {
    input := {
        filter: String
    }
}
