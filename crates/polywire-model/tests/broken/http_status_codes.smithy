$version: "2"
namespace example

@http(method: "POST", uri: "/a", code: 302)
operation Redirect {}

@http(method: "POST", uri: "/b", code: 204)
operation NoContent {
    output := {
        @httpHeader("x-id")
        id: String

        name: String
    }
    errors: [NotFound, Broken, Fine]
}

@http(method: "POST", uri: "/c", code: 204)
operation NoContentAtAll {
    output := {
        @httpHeader("x-id")
        id: String
    }
}

@error("client")
@httpError(500)
structure NotFound {}

@error("server")
@httpError(404)
structure Broken {}

@error("server")
@httpError(503)
structure Fine {}

@http(method: "POST", uri: "/d", code: 205)
operation Reset {
    output := {
        @httpPayload
        body: Blob
    }
}
