$version: "2"
namespace example

@mixin
resource Base {
    identifiers: { id: String }
    properties: { name: String, size: Long }
}

@mixin
resource Good {
    identifiers: { id: String }
}

resource City with [Good] {}
