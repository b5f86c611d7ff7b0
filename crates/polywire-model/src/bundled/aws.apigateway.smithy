// How Amazon API Gateway hosts a service.
$version: "2.0"

namespace aws.apigateway

@internal
@tags(["internal"])
@trait(selector: "service")
string apiKeySource

@internal
@tags(["internal"])
@trait(selector: ":test(service, resource, operation)")
string authorizer

@internal
@tags(["internal"])
@trait(selector: "service")
map authorizers {
    key: String
    value: AuthorizerDefinition
}

@internal
@tags(["internal"])
@trait(selector: ":test(service, resource, operation)", conflicts: [mockIntegration])
structure integration {
    @required type: IntegrationType
    @required uri: Arn
    credentials: IamRoleArn
    @required httpMethod: String
    passThroughBehavior: PassThroughBehavior
    contentHandling: ContentHandling
    timeoutInMillis: Integer
    connectionId: String
    connectionType: ConnectionType = "INTERNET"
    cacheNamespace: String
    payloadFormatVersion: String
    cacheKeyParameters: StringList
    requestParameters: RequestParameters
    requestTemplates: Templates
    responses: IntegrationResponses
}

@internal
@tags(["internal"])
@trait(selector: ":test(service, resource, operation)", conflicts: [integration])
structure mockIntegration {
    passThroughBehavior: PassThroughBehavior
    requestParameters: RequestParameters
    requestTemplates: Templates
    responses: IntegrationResponses
}

@internal
@tags(["internal"])
@trait(selector: ":test(service, operation)")
string requestValidator

@private
@aws.api#arnReference
string Arn

@private
structure AuthorizerDefinition {
    @idRef(selector: "[trait|authDefinition]", failWhenMissing: true) @required scheme: String
    type: String
    customAuthType: String
    uri: String
    credentials: String
    identitySource: String
    identityValidationExpression: String
    resultTtlInSeconds: Integer
    authorizerPayloadFormatVersion: PayloadFormatVersion
    enableSimpleResponses: Boolean
}

@private
enum ConnectionType {
    INTERNET
    VPC_LINK
}

@private
enum ContentHandling {
    CONVERT_TO_TEXT
    CONVERT_TO_BINARY
}

@private
@aws.api#arnReference(type: "AWS::IAM::Role")
string IamRoleArn

@private
structure IntegrationResponse {
    statusCode: String
    contentHandling: ContentHandling
    responseTemplates: Templates
    responseParameters: ResponseParameters
}

@private
map IntegrationResponses {
    key: String
    value: IntegrationResponse
}

@private
enum IntegrationType {
    AWS = "aws"
    AWS_PROXY = "aws_proxy"
    HTTP = "http"
    HTTP_PROXY = "http_proxy"
}

@private
enum PassThroughBehavior {
    WHEN_NO_TEMPLATES = "when_no_templates"
    WHEN_NO_MATCH = "when_no_match"
    NEVER = "never"
}

@private
enum PayloadFormatVersion {
    V1_0 = "1.0"
    V2_0 = "2.0"
}

@private
map RequestParameters {
    key: String
    value: String
}

@private
map ResponseParameters {
    key: String
    value: String
}

@private
list StringList {
    member: String
}

@private
map Templates {
    key: String
    value: String
}
