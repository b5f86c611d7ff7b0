// What a conversion to OpenAPI needs to know.
$version: "2.0"

namespace smithy.openapi

@trait(
    selector: "[trait|trait]"
    breakingChanges: [{ change: "presence" }, { path: "/as", change: "any" }]
)
structure specificationExtension {
    as: SpecificationExtensionKey
}

@private
@pattern("^x-.+$")
string SpecificationExtensionKey
