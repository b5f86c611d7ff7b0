// The AWS protocols.
$version: "2.0"

namespace aws.protocols

@mixin
structure HttpConfiguration {
    http: StringList
    eventStreamHttp: StringList
}

@trait(selector: "service")
@protocolDefinition(traits: ["smithy.api#timestampFormat", "smithy.api#cors", "smithy.api#endpoint", "smithy.api#hostLabel"])
structure awsJson1_0 with [HttpConfiguration] {}

@trait(selector: "service")
@protocolDefinition(traits: ["smithy.api#timestampFormat", "smithy.api#cors", "smithy.api#endpoint", "smithy.api#hostLabel"])
structure awsJson1_1 with [HttpConfiguration] {}

@trait(selector: "service")
@protocolDefinition(
    traits: [
        "smithy.api#timestampFormat", "smithy.api#cors", "smithy.api#endpoint", "smithy.api#hostLabel", "smithy.api#http"
        "smithy.api#httpError", "smithy.api#httpHeader", "smithy.api#httpLabel", "smithy.api#httpPayload"
        "smithy.api#httpPrefixHeaders", "smithy.api#httpQuery", "smithy.api#httpQueryParams"
        "smithy.api#httpResponseCode", "smithy.api#jsonName"
    ]
)
structure restJson1 with [HttpConfiguration] {}

@trait(selector: "service")
@protocolDefinition(
    noInlineDocumentSupport: true
    traits: [
        "smithy.api#timestampFormat", "smithy.api#cors", "smithy.api#endpoint", "smithy.api#hostLabel", "smithy.api#http"
        "smithy.api#httpError", "smithy.api#httpHeader", "smithy.api#httpLabel", "smithy.api#httpPayload"
        "smithy.api#httpPrefixHeaders", "smithy.api#httpQuery", "smithy.api#httpQueryParams"
        "smithy.api#httpResponseCode", "smithy.api#xmlAttribute", "smithy.api#xmlFlattened", "smithy.api#xmlName"
        "smithy.api#xmlNamespace"
    ]
)
structure restXml with [HttpConfiguration] {
    noErrorWrapping: Boolean
}

@trait(selector: "service [trait|xmlNamespace]")
@protocolDefinition(
    noInlineDocumentSupport: true
    traits: [
        "aws.protocols#awsQueryError", "smithy.api#xmlAttribute", "smithy.api#xmlFlattened", "smithy.api#xmlName"
        "smithy.api#xmlNamespace", "smithy.api#timestampFormat", "smithy.api#cors", "smithy.api#endpoint"
        "smithy.api#hostLabel"
    ]
)
structure awsQuery {}

@trait(selector: "service [trait|xmlNamespace]")
@protocolDefinition(
    noInlineDocumentSupport: true
    traits: [
        "aws.protocols#ec2QueryName", "smithy.api#xmlAttribute", "smithy.api#xmlFlattened", "smithy.api#xmlName"
        "smithy.api#xmlNamespace", "smithy.api#timestampFormat", "smithy.api#cors", "smithy.api#endpoint"
        "smithy.api#hostLabel"
    ]
)
structure ec2Query {}

@trait(selector: "structure [trait|error]")
structure awsQueryError {
    @required
    code: String

    @required
    httpResponseCode: Integer
}

@trait(selector: "service")
structure awsQueryCompatible {}

@trait(selector: "structure > member")
@pattern("^[a-zA-Z_][a-zA-Z_0-9-]*$")
string ec2QueryName

@trait(selector: "operation")
structure httpChecksum {
    requestChecksumRequired: Boolean
    requestAlgorithmMember: String
    requestValidationModeMember: String
    responseAlgorithms: StringList
}

@private
list StringList {
    member: String
}
