// The protocol tests of the official suites, and smoke tests.
$version: "2.0"

namespace smithy.test

@length(min: 1)
@trait(selector: "operation :test(-[input, output]-> structure > member > union[trait|streaming])")
list eventStreamTests {
    member: EventStreamTestCase
}

@unstable
@length(min: 1)
@trait(selector: "operation")
list httpMalformedRequestTests {
    member: HttpMalformedRequestTestCase
}

@length(min: 1)
@trait(selector: "operation")
list httpRequestTests {
    member: HttpRequestTestCase
}

@length(min: 1)
@trait(selector: ":test(operation, structure[trait|error])")
list httpResponseTests {
    member: HttpResponseTestCase
}

@trait(selector: "operation")
list smokeTests {
    member: SmokeTestCase
}

@private
enum AppliesTo {
    CLIENT = "client"
    SERVER = "server"
}

@private
structure Event {
    @required type: EventType
    params: Document
    headers: EventHeaders
    forbidHeaders: StringList
    requireHeaders: StringList
    body: Blob
    bodyMediaType: String
    bytes: Blob
    vendorParams: Document = {}
    @idRef(selector: "structure", failWhenMissing: true) vendorParamsShape: String
}

@private
union EventHeaderValue {
    boolean: Boolean
    byte: Byte
    short: Short
    integer: Integer
    long: Long
    blob: Blob
    string: String
    timestamp: Timestamp
}

@private
map EventHeaders {
    key: String
    value: EventHeaderValue
}

@private
structure EventStreamTestCase {
    @pattern("^[A-Za-z_][A-Za-z0-9_]+$") @required id: String
    @idRef(selector: "[trait|protocolDefinition]", failWhenMissing: true)
    @required
    protocol: String
    initialRequestParams: Document
    initialRequest: Document
    @idRef(selector: "structure", failWhenMissing: true) initialRequestShape: String
    initialResponseParams: Document
    initialResponse: Document
    @idRef(selector: "structure", failWhenMissing: true) initialResponseShape: String
    events: Events
    expectation: TestExpectation
    vendorParams: Document
    @idRef(selector: "structure", failWhenMissing: true) vendorParamsShape: String
    documentation: String
    appliesTo: AppliesTo
    tags: NonEmptyStringList
}

@private
enum EventType {
    REQUEST = "request"
    RESPONSE = "response"
}

@private
list Events {
    member: Event
}

@private
union Expectation {
    success: Unit
    failure: FailureExpectation
}

@private
structure FailureExpectation {
    @idRef(failWhenMissing: true, selector: "[trait|error]") errorId: String
}

@private
structure HttpMalformedRequestDefinition {
    @length(min: 1) @required method: String
    @length(min: 1) @required uri: String
    host: String
    queryParams: StringList
    headers: StringMap
    body: String
    bodyMediaType: String
}

@private
structure HttpMalformedRequestTestCase {
    @pattern("^[A-Za-z_][A-Za-z0-9_]+$") @required id: String
    @idRef(selector: "[trait|protocolDefinition]", failWhenMissing: true)
    @required
    protocol: String
    @required request: HttpMalformedRequestDefinition
    @required response: HttpMalformedResponseDefinition
    documentation: String
    tags: NonEmptyStringList
    testParameters: HttpMalformedRequestTestParametersDefinition
}

@private
map HttpMalformedRequestTestParametersDefinition {
    key: String
    value: StringList
}

@private
union HttpMalformedResponseBodyAssertion {
    contents: String
    messageRegex: String
}

@private
structure HttpMalformedResponseBodyDefinition {
    @required assertion: HttpMalformedResponseBodyAssertion
    @required mediaType: String
}

@private
structure HttpMalformedResponseDefinition {
    headers: StringMap
    @range(min: 100, max: 599) @required code: Integer
    body: HttpMalformedResponseBodyDefinition
}

@private
@mixin
structure HttpMessageMixin {
    headers: StringMap
    forbidHeaders: StringList
    requireHeaders: StringList
    body: String
    bodyMediaType: String
}

@private
@mixin
structure HttpRequestMixin with [HttpMessageMixin] {
    @length(min: 1) @required method: String
    @length(min: 1) @required uri: String
    host: String
    resolvedHost: String
    queryParams: StringList
    forbidQueryParams: StringList
    requireQueryParams: StringList
}

@private
structure HttpRequestTestCase with [HttpRequestMixin] {
    @pattern("^[A-Za-z_][A-Za-z0-9_]+$") @required id: String
    @idRef(selector: "[trait|protocolDefinition]", failWhenMissing: true)
    @required
    protocol: String
    @idRef(selector: "[trait|authDefinition]", failWhenMissing: true) authScheme: String
    params: Document
    vendorParams: Document
    @idRef(failWhenMissing: true) vendorParamsShape: String
    documentation: String
    tags: NonEmptyStringList
    appliesTo: AppliesTo
}

@private
@mixin
structure HttpResponseMixin with [HttpMessageMixin] {
    @range(min: 100, max: 599) @required code: Integer
}

@private
structure HttpResponseTestCase with [HttpResponseMixin] {
    @pattern("^[A-Za-z_][A-Za-z0-9_]+$") @required id: String
    @idRef(selector: "[trait|protocolDefinition]", failWhenMissing: true)
    @required
    protocol: String
    @idRef(selector: "[trait|authDefinition]", failWhenMissing: true) authScheme: String
    params: Document
    vendorParams: Document
    @idRef(failWhenMissing: true) vendorParamsShape: String
    documentation: String
    tags: NonEmptyStringList
    appliesTo: AppliesTo
}

structure InitialHttpRequest with [HttpRequestMixin] {}

structure InitialHttpResponse with [HttpResponseMixin] {}

@private
@length(min: 1)
string NonEmptyString

@private
list NonEmptyStringList {
    member: NonEmptyString
}

@private
structure SmokeTestCase {
    @pattern("^[A-Za-z_][A-Za-z0-9_]+$") @required id: String
    params: Document
    vendorParams: Document
    @idRef(failWhenMissing: true) vendorParamsShape: String
    @required expect: Expectation
    tags: TagList
}

@private
list StringList {
    member: String
}

@private
map StringMap {
    key: String
    value: String
}

@private
@pattern("^[A-Za-z][A-Za-z0-9_\\-]+$")
string Tag

@private
list TagList {
    member: Tag
}

@private
union TestExpectation {
    success: Unit
    failure: TestFailureExpectation
}

@private
structure TestFailureExpectation {
    @idRef(failWhenMissing: true, selector: "[trait|error]") errorId: String
}
