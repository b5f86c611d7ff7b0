// The AWS protocols.
$version: "2.0"

namespace aws.protocols

@protocolDefinition(traits: [timestampFormat, cors, endpoint, hostLabel])
@trait(selector: "service")
structure awsJson1_0 with [HttpConfiguration] {}

@protocolDefinition(traits: [timestampFormat, cors, endpoint, hostLabel])
@trait(selector: "service")
structure awsJson1_1 with [HttpConfiguration] {}

@deprecated
@protocolDefinition(
    traits: [
        timestampFormat, cors, endpoint, hostLabel, awsQueryError, xmlAttribute, xmlFlattened
        xmlName, xmlNamespace
    ]
)
@traitValidators(UnsupportedProtocolDocument: { selector: "~> member :test(> document)" })
@trait(selector: "service [trait|xmlNamespace]")
structure awsQuery {}

@trait(
    selector: """
        service :test([trait|aws.protocols#awsJson1_0],
                      [trait|smithy.protocols#rpcv2Cbor],
                      [trait|smithy.protocols#rpcv2Json])"""
)
structure awsQueryCompatible {}

@trait(selector: "structure [trait|error]", breakingChanges: [{ change: "any" }])
structure awsQueryError {
    @required code: String
    @required httpResponseCode: Integer
}

@deprecated
@protocolDefinition(
    traits: [
        timestampFormat, cors, endpoint, hostLabel, ec2QueryName, xmlAttribute, xmlFlattened
        xmlName, xmlNamespace
    ]
)
@traitValidators(UnsupportedProtocolDocument: { selector: "~> member :test(> document)" })
@trait(selector: "service [trait|xmlNamespace]")
structure ec2Query {}

@pattern("^[a-zA-Z_][a-zA-Z_0-9-]*$")
@trait(selector: "structure > member")
string ec2QueryName

@unstable
@trait(
    selector: "operation"
    breakingChanges: [
        { change: "remove", severity: "DANGER" }
        { change: "remove", path: "/requestAlgorithmMember", severity: "DANGER" }
        { change: "remove", path: "/requestValidationModeMember", severity: "DANGER" }
        { change: "remove", path: "/responseAlgorithms/member", severity: "DANGER" }
    ]
)
structure httpChecksum {
    requestAlgorithmMember: String
    requestChecksumRequired: Boolean
    requestValidationModeMember: String
    responseAlgorithms: ChecksumAlgorithmSet
}

@protocolDefinition(
    traits: [
        timestampFormat, cors, endpoint, hostLabel, http, httpError, httpHeader, httpLabel
        httpPayload, httpPrefixHeaders, httpQuery, httpQueryParams, httpResponseCode
        httpChecksum, httpChecksumRequired, jsonName
    ]
)
@trait(selector: "service")
structure restJson1 with [HttpConfiguration] {}

@deprecated
@protocolDefinition(
    traits: [
        timestampFormat, cors, endpoint, hostLabel, http, httpError, httpHeader, httpLabel
        httpPayload, httpPrefixHeaders, httpQuery, httpQueryParams, httpResponseCode
        httpChecksum, httpChecksumRequired, xmlAttribute, xmlFlattened, xmlName, xmlNamespace
    ]
)
@traitValidators(UnsupportedProtocolDocument: { selector: "~> member :test(> document)" })
@trait(selector: "service")
structure restXml with [HttpConfiguration] {
    @deprecated noErrorWrapping: Boolean
}

@private
enum ChecksumAlgorithm {
    CRC32
    CRC32C
    CRC64NVME
    MD5
    SHA1
    SHA256
    SHA512
    XXHASH64
    XXHASH3
    XXHASH128
}

@private
@length(min: 1)
@uniqueItems
list ChecksumAlgorithmSet {
    member: ChecksumAlgorithm
}

@private
@mixin(localTraits: ["smithy.api#private"])
structure HttpConfiguration {
    http: StringList
    eventStreamHttp: StringList
}

@private
list StringList {
    member: String
}
