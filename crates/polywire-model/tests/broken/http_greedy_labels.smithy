$version: "2"
namespace example

@readonly
@http(method: "GET", uri: "/files/{path+}/versions/{version}")
operation GetVersion {
    input := {
        @required
        @httpLabel
        path: String

        @required
        @httpLabel
        version: String
    }
}

@readonly
@http(method: "GET", uri: "/diff/{from+}/{to+}")
operation Diff {
    input := {
        @required
        @httpLabel
        from: String

        @required
        @httpLabel
        to: String
    }
}

@readonly
@http(method: "GET", uri: "/pages/{number+}/text")
operation GetPage {
    input := {
        @required
        @httpLabel
        number: Integer
    }
}
