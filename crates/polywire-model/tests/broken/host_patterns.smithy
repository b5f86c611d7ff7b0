$version: "2"
namespace example

@endpoint(hostPrefix: "{bucket+}.data.")
operation Greedy {
    input := {
        @required
        @hostLabel
        bucket: String
    }
}

@endpoint(hostPrefix: "{a}.{A}.")
operation Twice {}

@endpoint(hostPrefix: "{a.")
operation Unclosed {}

@endpoint(hostPrefix: "{}.")
operation Empty {}

@endpoint(hostPrefix: "{a}{b}.")
operation Adjacent {}

@endpoint(hostPrefix: "a}.")
operation Unopened {}

@endpoint(hostPrefix: "{a-b}.")
operation BadName {}
