$version: "2"
namespace example

@xmlNamespace(uri: "not a uri", prefix: "w")
structure City {
    @xmlFlattened
    names: Names

    @xmlFlattened
    @xmlName("Name")
    fine: Names

    @xmlNamespace(uri: "http://example.com/100%")
    title: String
}

list Names {
    @xmlName("Name")
    member: String
}
