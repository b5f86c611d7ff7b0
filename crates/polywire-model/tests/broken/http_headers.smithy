$version: "2"
namespace example

@http(method: "POST", uri: "/")
operation Send {
    input := {
        @httpHeader("X-Id")
        id: String

        @httpHeader("x-id")
        other: String

        @httpHeader("Authorization")
        token: String

        @httpHeader("x id")
        spaced: String

        @httpHeader("X-Meta-Kind")
        kind: String

        @httpPrefixHeaders("x-meta-")
        meta: Meta
    }
    output := {
        @httpHeader("X-Any")
        any: String

        @httpPrefixHeaders("")
        all: Meta
    }
}

map Meta {
    key: String
    value: String
}
