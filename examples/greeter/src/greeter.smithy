$version: "2"
namespace example.greeter

use aws.protocols#restJson1
use polywire#xmlRpc

@restJson1
@xmlRpc
service Greeter {
    version: "2026-11-01"
    operations: [Greet]
}

@readonly
@http(method: "GET", uri: "/greet/{name}")
@examples([{
    title: "A greeting"
    input: { name: "Ada" }
    output: { text: "Hello, Ada!" }
}])
operation Greet {
    input := {
        @required
        @httpLabel
        name: String
    }
    output := {
        @required
        text: String
    }
}
