// The rules engine: where a request goes.
$version: "2.0"

namespace smithy.rules

@unstable
@trait(selector: "service")
map clientContextParams {
    key: String
    value: ClientContextParamDefinition
}

@unstable
@trait(selector: "operation -[input]-> structure > member")
structure contextParam {
    @required name: String
}

@unstable
@trait(selector: "service")
structure endpointBdd {
    @required version: String
    @required parameters: Parameters
    @required conditions: Conditions
    @required results: Results
    @range(min: -1) @required root: Integer
    @range(min: 0) @required nodeCount: Integer
    @required nodes: String
}

@unstable
@trait(selector: "service")
document endpointRuleSet

@unstable
@trait(
    selector: "service :is([trait|smithy.rules#endpointRuleSet], [trait|smithy.rules#endpointBdd])"
)
structure endpointTests {
    @required version: String
    testCases: EndpointTestList
}

@unstable
@trait(selector: "operation")
map operationContextParams {
    key: String
    value: OperationContextParamDefinition
}

@unstable
@trait(selector: "operation")
map staticContextParams {
    key: String
    value: StaticContextParamDefinition
}

@private
@unstable
structure ClientContextParamDefinition {
    @required type: ShapeType
    documentation: String
}

@private
structure Condition {
    @required fn: String
    @required argv: DocumentList
    assign: String
}

@private
list Conditions {
    member: Condition
}

@private
list DocumentList {
    member: Document
}

@private
@unstable
structure EndpointExpectation {
    url: String
    headers: EndpointHeaders
    properties: Properties
}

@private
@unstable
list EndpointHeaderValue {
    member: String
}

@private
@unstable
map EndpointHeaders {
    key: String
    value: EndpointHeaderValue
}

@private
structure EndpointObject {
    @required url: Document
    properties: EndpointProperties
    headers: EndpointObjectHeaders
}

@private
map EndpointObjectHeaders {
    key: String
    value: DocumentList
}

@private
map EndpointProperties {
    key: String
    value: Document
}

@private
@unstable
structure EndpointTest {
    documentation: String
    params: Document
    operationInputs: OperationInputs
    @required expect: EndpointTestExpectation
}

@private
@unstable
union EndpointTestExpectation {
    error: String
    endpoint: EndpointExpectation
}

@private
@unstable
list EndpointTestList {
    member: EndpointTest
}

@private
@unstable
structure OperationContextParamDefinition {
    @required path: String
}

@private
@unstable
structure OperationInput {
    @required operationName: String
    operationParams: Document
    builtInParams: Document
    clientParams: Document
}

@private
@unstable
list OperationInputs {
    member: OperationInput
}

@private
structure Parameter {
    @required type: ParameterType
    deprecated: Boolean
    documentation: String
    default: Document
    builtIn: String
    required: Boolean
}

enum ParameterType {
    STRING = "string"
    BOOLEAN = "boolean"
    STRING_ARRAY = "stringArray"
}

@private
map Parameters {
    key: String
    value: Parameter
}

@private
@unstable
map Properties {
    key: String
    value: Document
}

@private
structure Result {
    @required type: ResultType
    documentation: String
    error: Document
    endpoint: EndpointObject
    conditions: Conditions
}

@private
enum ResultType {
    ENDPOINT = "endpoint"
    ERROR = "error"
}

@private
list Results {
    member: Result
}

@private
@unstable
enum ShapeType {
    STRING = "string"
    BOOLEAN = "boolean"
}

@private
@unstable
structure StaticContextParamDefinition {
    @required value: Document
}
