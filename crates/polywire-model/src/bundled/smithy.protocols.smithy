// Smithy's own protocols.
$version: "2.0"

namespace smithy.protocols

@protocolDefinition(traits: [cors, endpoint, hostLabel, httpError, requestCompression])
@traitValidators(
    "rpcv2Cbor.NoDocuments": { selector: "service ~> member :test(> document)", severity: "DANGER" }
)
@trait(selector: "service")
structure rpcv2Cbor {
    http: StringList
    eventStreamHttp: StringList
}

@protocolDefinition(traits: [cors, endpoint, hostLabel, httpError, requestCompression])
@trait(selector: "service")
structure rpcv2Json {
    http: StringList
    eventStreamHttp: StringList
}

@private
list StringList {
    member: String
}
