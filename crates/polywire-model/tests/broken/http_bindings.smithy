$version: "2"
namespace example

@http(method: "GET", uri: "cities")
operation A {}

@http(method: "GET", uri: "/cities/{nme}", code: 99)
operation B {
    input := {
        @required
        @httpLabel
        name: String
    }
}

@http(method: "GET", uri: "/cities/{name}/{kind}")
operation C {
    input := {
        @httpLabel
        name: String

        @required
        kind: String
    }
}

@http(method: "GET", uri: "/{a+}/{b}")
operation D {}
