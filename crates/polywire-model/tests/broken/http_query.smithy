$version: "2"
namespace example

@readonly
@http(method: "GET", uri: "/search?kind=city&all")
operation Search {
    input := {
        @httpQuery("q")
        text: String

        @httpQuery("q")
        words: String

        @httpQuery("kind")
        kind: String

        @httpQueryParams
        rest: Parameters
    }
}

map Parameters {
    key: String
    value: String
}
