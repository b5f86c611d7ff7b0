$version: "2"
namespace example

@readonly
@http(method: "GET", uri: "/cities/{nme}")
operation GetCity {
    input := {
        @required
        @httpLabel
        name: String
    }
}

@readonly
@http(method: "GET", uri: "/cities/{name}/{kind}")
operation GetKind {
    input := {
        @required
        @httpLabel
        name: String

        @required
        kind: String
    }
}

@readonly
@http(method: "GET", uri: "/{anything}")
operation GetAnything {}
