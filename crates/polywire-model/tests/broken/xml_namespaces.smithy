$version: "2"
namespace example

@xmlNamespace(uri: "http://exa mple.com")
structure A {}

@xmlNamespace(uri: "http://example.com/%zz")
structure B {}

@xmlNamespace(uri: "http://example.com", prefix: "a")
structure C {}

structure D {
    @xmlNamespace(uri: "::")
    a: String
}
