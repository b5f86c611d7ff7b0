// The rules engine: where a request goes. The rules are kept as documents.
$version: "2.0"

namespace smithy.rules

@trait(selector: "service")
document endpointRuleSet

@trait(selector: "service")
document endpointBdd

@trait(selector: "service")
structure endpointTests {
    @required
    version: String

    testCases: EndpointTestCases
}

@private
list EndpointTestCases {
    member: Document
}

@trait(selector: "operation")
map staticContextParams {
    key: String
    value: StaticContextParam
}

@private
structure StaticContextParam {
    @required
    value: Document
}

@trait(selector: "operation")
map operationContextParams {
    key: String
    value: OperationContextParam
}

@private
structure OperationContextParam {
    @required
    path: String
}

@trait(selector: "service")
map clientContextParams {
    key: String
    value: ClientContextParam
}

@private
structure ClientContextParam {
    @required
    type: String

    documentation: String
}

@trait(selector: "structure > member")
structure contextParam {
    @required
    name: String
}
