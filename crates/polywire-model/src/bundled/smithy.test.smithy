// The protocol tests of the official suites, and smoke tests.
$version: "2.0"

namespace smithy.test

@trait(selector: "operation")
list httpRequestTests {
    member: HttpRequestTestCase
}

@trait(selector: ":is(operation, structure[trait|error])")
list httpResponseTests {
    member: HttpResponseTestCase
}

@trait(selector: "operation")
list httpMalformedRequestTests {
    member: HttpMalformedRequestTestCase
}

@unstable
@trait(selector: "operation")
list eventStreamTests {
    member: EventStreamTestCase
}

@trait(selector: "operation")
list smokeTests {
    member: SmokeTestCase
}

@private
structure HttpRequestTestCase {
    @required
    id: String

    @required
    protocol: TestReference

    @required
    method: String

    @required
    uri: String

    host: String
    resolvedHost: String
    authScheme: TestReference
    queryParams: TestStringList
    forbidQueryParams: TestStringList
    requireQueryParams: TestStringList
    headers: TestStringMap
    forbidHeaders: TestStringList
    requireHeaders: TestStringList
    body: String
    bodyMediaType: String
    params: Document
    vendorParams: Document
    vendorParamsShape: TestReference
    documentation: String
    tags: TestStringList
    appliesTo: AppliesTo
}

@private
structure HttpResponseTestCase {
    @required
    id: String

    @required
    protocol: TestReference

    @required
    code: Integer

    authScheme: TestReference
    headers: TestStringMap
    forbidHeaders: TestStringList
    requireHeaders: TestStringList
    body: String
    bodyMediaType: String
    params: Document
    vendorParams: Document
    vendorParamsShape: TestReference
    documentation: String
    tags: TestStringList
    appliesTo: AppliesTo
}

@private
structure HttpMalformedRequestTestCase {
    @required
    id: String

    @required
    protocol: TestReference

    @required
    request: HttpMalformedRequest

    @required
    response: HttpMalformedResponse

    documentation: String
    tags: TestStringList
    testParameters: TestParameters
}

@private
structure HttpMalformedRequest {
    @required
    method: String

    @required
    uri: String

    host: String
    queryParams: TestStringList
    headers: TestStringMap
    body: String
    bodyMediaType: String
}

@private
structure HttpMalformedResponse {
    headers: TestStringMap

    @required
    code: Integer

    body: HttpMalformedResponseBody
}

@private
structure HttpMalformedResponseBody {
    @required
    assertion: HttpMalformedResponseAssertion

    @required
    mediaType: String
}

@private
union HttpMalformedResponseAssertion {
    contents: String
    messageRegex: String
}

@private
structure EventStreamTestCase {
    @required
    id: String

    @required
    protocol: TestReference

    initialRequestParams: Document
    initialRequest: Document
    initialRequestShape: TestReference
    initialResponseParams: Document
    initialResponse: Document
    initialResponseShape: TestReference
    events: Document
    expectation: Document
    vendorParams: Document
    vendorParamsShape: TestReference
    documentation: String
    tags: TestStringList
    appliesTo: AppliesTo
}

@private
structure SmokeTestCase {
    @required
    id: String

    params: Document
    vendorParams: Document
    vendorParamsShape: TestReference

    @required
    expect: Document

    tags: TestStringList
}

structure InitialHttpRequest {
    method: String
    uri: String
    host: String
    resolvedHost: String
    queryParams: TestStringList
    forbidQueryParams: TestStringList
    requireQueryParams: TestStringList
    headers: TestStringMap
    forbidHeaders: TestStringList
    requireHeaders: TestStringList
    body: String
    bodyMediaType: String
}

structure InitialHttpResponse {
    code: Integer
    headers: TestStringMap
    forbidHeaders: TestStringList
    requireHeaders: TestStringList
    body: String
    bodyMediaType: String
}

@private
enum AppliesTo {
    CLIENT = "client"
    SERVER = "server"
}

@private
@idRef(failWhenMissing: true)
string TestReference

@private
list TestStringList {
    member: String
}

@private
map TestStringMap {
    key: String
    value: String
}

@private
map TestParameters {
    key: String
    value: TestStringList
}
