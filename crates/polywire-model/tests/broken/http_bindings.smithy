$version: "2"
namespace example

@http(method: "POST", uri: "cities")
operation A {}

@http(method: "POST", uri: "/cities/{nme}", code: 99)
operation B {
    input := {
        @required
        @httpLabel
        name: String
    }
}

@http(method: "POST", uri: "/cities/{name}/{kind}")
operation C {
    input := {
        @httpLabel
        name: String

        @required
        kind: String
    }
}

@http(method: "POST", uri: "/{a+}/{b}")
operation D {}
