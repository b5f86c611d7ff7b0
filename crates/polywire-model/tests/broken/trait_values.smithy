$version: "2"
namespace example

@error("clinet")
@documentation
structure Broken {
    @required("yes")
    @length(min: "1", maximum: 3)
    @range(min: 1)
    a: String

    @httpHeader(1)
    @xmlNamespace(prefix: "p")
    @tags("x")
    b: String
}

@http(method: "GET")
operation NoUri {}

@externalDocumentation("Homepage": "example.com", "Source": "https://example.com/")
structure Linked {}
