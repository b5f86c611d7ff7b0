$version: "2"
namespace example

@externalDocumentation(a: "1", b: "2", a: "3")
structure City {}

resource R {
    identifiers: { id: String, id: String }
}
