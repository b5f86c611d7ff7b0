// Smithy's own protocols.
$version: "2.0"

namespace smithy.protocols

@trait(selector: "service")
@protocolDefinition(traits: ["smithy.api#timestampFormat", "smithy.api#cors", "smithy.api#endpoint", "smithy.api#hostLabel"])
structure rpcv2Cbor {
    http: StringList
    eventStreamHttp: StringList
}

@trait(selector: "service")
@protocolDefinition(traits: ["smithy.api#timestampFormat", "smithy.api#cors", "smithy.api#endpoint", "smithy.api#hostLabel", "smithy.api#jsonName"])
structure rpcv2Json {
    http: StringList
    eventStreamHttp: StringList
}

@private
list StringList {
    member: String
}
