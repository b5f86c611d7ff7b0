$version: "2"
namespace example

@endpoint(hostPrefix: "{bucket}.data.")
operation NoSuchMember {
    input := {
        @required
        name: String
    }
}

@endpoint(hostPrefix: "{bucket}.data.")
operation NotMarked {
    input := {
        @required
        bucket: String
    }
}

@endpoint(hostPrefix: "data.")
operation NoLabel {
    input := {
        @required
        @hostLabel
        bucket: String
    }
}

@endpoint(hostPrefix: "{bucket}-data")
operation NoPeriod {
    input := {
        @required
        @hostLabel
        bucket: String
    }
}

@endpoint(hostPrefix: "-data.")
operation NoHost {}

@endpoint(hostPrefix: "data_1.")
operation NoHostEither {}
