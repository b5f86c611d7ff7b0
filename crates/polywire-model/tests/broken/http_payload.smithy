$version: "2"
namespace example

@http(method: "POST", uri: "/a")
operation Upload {
    input := {
        @httpPayload
        body: Blob

        name: String
        kind: String
    }
    output := {
        @httpPayload
        body: Blob

        @httpQuery("x")
        ignored: String
    }
    errors: [Failed]
}

@error("client")
structure Failed {
    @httpPayload
    report: Report

    message: String
}

structure Report {
    text: String
}

// Without @http none of it counts.
operation Other {
    input := {
        @httpPayload
        body: Blob
        name: String
    }
}
