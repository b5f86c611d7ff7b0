//! Rules about services and operations.

crate::rules::rules! {
    in ALL_SERVICES;

    AUTH_TRAIT: "AuthTrait" [Danger],
        "authentication scheme that the service does not have",
        "Each scheme in `@auth` is a trait of the service.",
        "Apply the trait of the scheme to the service, or remove it from `@auth`.",
        shapes r#"
@httpBasicAuth
@auth([httpBearerAuth])
service Weather {}
"#;
    CORS_TRAIT: "CorsTrait" [Error],
        "`@cors` with two kinds of origins",
        "`@cors` has `origin` or `origins`, and not both.",
        "Remove one of them.",
        shapes r#"
@cors(origin: "https://a.example", origins: { other: "https://b.example" })
service Weather {}
"#;
    EVENT_PAYLOAD_TRAIT: "EventPayloadTrait" [Error],
        "members beside the payload of an event",
        "All members beside one with `@eventPayload` have `@eventHeader`.",
        "Apply `@eventHeader` to the other members.",
        shapes r#"
structure Message {
    @eventPayload
    body: Blob

    kind: String
}
"#;
    EXAMPLES_TRAIT: "ExamplesTrait" [Error, Warning],
        "wrong example",
        "Examples have values of the types of input, output and error, and either an output or an error. A value that violates a constraint, in an example without an error, is a warning.",
        "Correct the example.",
        shapes r#"
@examples([
    { title: "a number", input: { name: 1 } }
])
operation GetCity {
    input := {
        name: String
    }
}
"#;
    EXAMPLES_TRAIT_UNKNOWN_MEMBER: "ExamplesTrait.UnknownMember" [Error, Warning],
        "unknown member in an example",
        "Objects in examples have only members of their structure. It is an error for a union.",
        "Correct the name, or remove the member.",
        shapes r#"
@examples([
    { title: "a typing error", input: { nam: "Bern" } }
])
operation GetCity {
    input := {
        name: String
    }
}
"#;
    HOST_LABEL_TRAIT: "HostLabelTrait" [Error, Danger],
        "wrong host prefix",
        "Labels in `hostPrefix` of `@endpoint` have members with `@hostLabel`, and the prefix forms a valid host. A prefix with labels that does not end with `.` is a danger: the value of a caller could select another host.",
        "Correct the prefix, or the traits of the members.",
        shapes r#"
@endpoint(hostPrefix: "{bucket}.data.")
operation GetFile {
    input := {
        @required
        bucket: String
    }
}
"#;
    HTTP_API_KEY_AUTH_TRAIT: "HttpApiKeyAuthTrait" [Error],
        "scheme of an API key outside of a header",
        "`scheme` of `@httpApiKeyAuth` requires `in: \"header\"`.",
        "Remove `scheme`, or send the key in a header.",
        shapes r#"
@httpApiKeyAuth(name: "key", in: "query", scheme: "Token")
service Weather {}
"#;
    IDEMPOTENCY_TOKEN_IGNORED: "IdempotencyTokenIgnored" [Warning],
        "idempotency token without effect",
        "`@idempotencyToken` has an effect on members of an input only.",
        "Remove the trait, or move the member to an input.",
        shapes r#"
operation AddCity {
    output := {
        @idempotencyToken
        token: String
    }
}
"#;
    IDEMPOTENT_TRAIT: "IdempotentTrait" [Error],
        "wrong errors in `@idempotent`",
        "`@idempotent` has `exists` or `notFound`, and names errors of the operation.",
        "Correct the names.",
        shapes r#"
@idempotent(notFound: [NotFound])
operation DeleteCity {}

@error("client")
structure NotFound {}
"#;
    NO_INLINE_DOCUMENT_SUPPORT: "NoInlineDocumentSupport" [Error],
        "document in a protocol without documents",
        "Services have no documents if a protocol is defined with `noInlineDocumentSupport`.",
        "Use another type, or another protocol.",
        shapes r#"
@trait
@protocolDefinition(noInlineDocumentSupport: true)
structure flat {}

@flat
service Weather {
    operations: [GetCity]
}

operation GetCity {
    output := {
        extra: Document
    }
}
"#;
    OPERATION_INPUT_OUTPUT_MISUSE: "OperationInputOutputMisuse" [Error],
        "input or output used elsewhere",
        "A structure with `@input` is the input of one operation, and one with `@output` is the output of one operation.",
        "Define a structure for each operation, or remove the trait.",
        shapes r#"
@input
structure GetInput {}

operation Get {
    output: GetInput
}
"#;
    OPERATION_INPUT_OUTPUT_NAME_INPUT: "OperationInputOutputName.input" [Warning],
        "unusual name of an input",
        "The name of an input with `@input` begins with the name of its operation.",
        "Rename the input.",
        shapes r#"
@input
structure CityData {}

operation GetCity {
    input: CityData
}
"#;
    OPERATION_INPUT_OUTPUT_NAME_OUTPUT: "OperationInputOutputName.output" [Warning],
        "unusual name of an output",
        "The name of an output with `@output` begins with the name of its operation.",
        "Rename the output.",
        shapes r#"
@output
structure CityData {}

operation GetCity {
    output: CityData
}
"#;
    OPERATION_NAME_AMBIGUITY: "OperationNameAmbiguity" [Warning],
        "shape with the name of an input or output",
        "Shapes that are named like the input or output of an operation, such as `GetCityInput`, are its input or output. Generated code often has these names.",
        "Rename the shape.",
        shapes r#"
operation GetCity {
    input: City
}

structure City {}

structure GetCityInput {}
"#;
    PAGINATED_TRAIT: "PaginatedTrait" [Error],
        "wrong pagination",
        "`@paginated`, together with that of the service, has `inputToken` and `outputToken`. Its paths name members of input and output with fitting types, and the input token is not required.",
        "Correct the trait, or the members.",
        shapes r#"
@readonly
@paginated(inputToken: "token", outputToken: "token")
operation ListCities {
    input := {
        tokn: String
    }
    output := {
        token: String
    }
}
"#;
    PAGINATED_TRAIT_DEEPLY_NESTED_ITEMS: "PaginatedTrait.DeeplyNested.items" [Warning],
        "deeply nested items of a page",
        "The path `items` of `@paginated` has at most two names.",
        "Move the items up.",
        shapes r#"
@readonly
@paginated(inputToken: "token", outputToken: "token", items: "a.b.names")
operation ListCities {
    input := {
        token: String
    }
    output := {
        token: String
        a: A
    }
}

structure A {
    b: B
}

structure B {
    names: Names
}

list Names {
    member: String
}
"#;
    PAGINATED_TRAIT_DEEPLY_NESTED_OUTPUT_TOKEN: "PaginatedTrait.DeeplyNested.outputToken" [Warning],
        "deeply nested token of a page",
        "The path `outputToken` of `@paginated` has at most two names.",
        "Move the token up.",
        shapes r#"
@readonly
@paginated(inputToken: "token", outputToken: "a.b.token")
operation ListCities {
    input := {
        token: String
    }
    output := {
        a: A
    }
}

structure A {
    b: B
}

structure B {
    token: String
}
"#;
    PAGINATED_TRAIT_SHOULD_NOT_BE_REQUIRED_OUTPUT_TOKEN: "PaginatedTrait.ShouldNotBeRequired.outputToken" [Danger],
        "required output token",
        "The output token is not required, because the last page has none.",
        "Remove `@required` from the member.",
        shapes r#"
@readonly
@paginated(inputToken: "token", outputToken: "token")
operation ListCities {
    input := {
        token: String
    }
    output := {
        @required
        token: String
    }
}
"#;
    PAGINATED_TRAIT_SHOULD_NOT_BE_REQUIRED_PAGE_SIZE: "PaginatedTrait.ShouldNotBeRequired.pageSize" [Warning],
        "required page size",
        "The page size is not required, so that the first call can omit it.",
        "Remove `@required` from the member.",
        shapes r#"
@readonly
@paginated(inputToken: "token", outputToken: "token", pageSize: "size")
operation ListCities {
    input := {
        token: String

        @required
        size: Integer
    }
    output := {
        token: String
    }
}
"#;
    PAGINATED_TRAIT_WRONG_SHAPE_TYPE_INPUT_TOKEN: "PaginatedTrait.WrongShapeType.inputToken" [Danger],
        "input token that is not a string",
        "The input token is a string. Many clients do not support a map.",
        "Use a string.",
        shapes r#"
@readonly
@paginated(inputToken: "token", outputToken: "token")
operation ListCities {
    input := {
        token: Token
    }
    output := {
        token: String
    }
}

map Token {
    key: String
    value: String
}
"#;
    PAGINATED_TRAIT_WRONG_SHAPE_TYPE_OUTPUT_TOKEN: "PaginatedTrait.WrongShapeType.outputToken" [Danger],
        "output token that is not a string",
        "The output token is a string. Many clients do not support a map.",
        "Use a string.",
        shapes r#"
@readonly
@paginated(inputToken: "token", outputToken: "token")
operation ListCities {
    input := {
        token: String
    }
    output := {
        token: Token
    }
}

map Token {
    key: String
    value: String
}
"#;
    PAGINATED_TRAIT_WRONG_SHAPE_TYPE_PAGE_SIZE: "PaginatedTrait.WrongShapeType.pageSize" [Danger],
        "page size that is not an integer",
        "The page size is an integer. Many clients do not support a byte, short or long.",
        "Use an integer.",
        shapes r#"
@readonly
@paginated(inputToken: "token", outputToken: "token", pageSize: "size")
operation ListCities {
    input := {
        token: String
        size: Long
    }
    output := {
        token: String
    }
}
"#;
    REQUEST_COMPRESSION_TRAIT: "RequestCompressionTrait" [Error],
        "wrong request compression",
        "`@requestCompression` is on operations with an input without a length requirement, and names `gzip`.",
        "Correct the encodings, or remove the trait.",
        shapes r#"
@requestCompression(encodings: ["br"])
operation AddCity {
    input := {
        name: String
    }
}
"#;
    RPCV2_CBOR_TRAIT: "Rpcv2CborTrait" [Error],
        "event streams over a version of HTTP that is not offered",
        "`eventStreamHttp` of `@rpcv2Cbor` has only versions that `http` has.",
        "Add the version to `http`.",
        shapes r#"
use smithy.protocols#rpcv2Cbor

@rpcv2Cbor(http: ["http/1.1"], eventStreamHttp: ["h2"])
service Weather {}
"#;
    RPCV2_JSON_TRAIT: "Rpcv2JsonTrait" [Error],
        "event streams over a version of HTTP that is not offered",
        "`eventStreamHttp` of `@rpcv2Json` has only versions that `http` has.",
        "Add the version to `http`.",
        shapes r#"
use smithy.protocols#rpcv2Json

@rpcv2Json(http: ["http/1.1"], eventStreamHttp: ["h2"])
service Weather {}
"#;
    SERVICE: "Service" [Error, Warning, Note],
        "names that conflict in a service",
        "Names of the shapes of a service differ without their namespaces, ignoring case. Equal simple shapes are a note, and equal lists are a warning. `rename` applies to data shapes that the service uses.",
        "Rename one of the shapes with `rename` of the service.",
        ast r#"
{
    "smithy": "2.0",
    "shapes": {
        "example#Weather": {
            "type": "service",
            "version": "1",
            "operations": [{ "target": "example#GetCity" }]
        },
        "example#GetCity": {
            "type": "operation",
            "input": { "target": "example#City" },
            "output": { "target": "other#City" }
        },
        "example#City": { "type": "structure", "members": {} },
        "other#City": { "type": "structure", "members": {} }
    }
}
"#;
    SERVICE_AUTH_DEFINITIONS: "ServiceAuthDefinitions" [Warning],
        "authentication schemes without an order",
        "A service with several authentication schemes has `@auth`, which sets their order. Otherwise the alphabet decides.",
        "Apply `@auth` to the service.",
        shapes r#"
@httpBasicAuth
@httpDigestAuth
service Weather {}
"#;
    SERVICE_BOUND_RESOURCE_OPERATION: "ServiceBoundResourceOperation" + ".SERVICE.OPERATION" [Warning],
        "operation of a resource that is bound to the service",
        "An operation whose input has the identifier of a resource is bound to that resource.",
        "Move the operation to the resource.",
        shapes r#"
service Weather {
    operations: [PaintCity]
    resources: [City]
}

resource City {
    identifiers: { cityId: String }
}

@references([{ resource: City }])
structure PaintCityInput {
    @required
    cityId: String
}

operation PaintCity {
    input: PaintCityInput
}
"#;
    SINGLE_OPERATION_BINDING: "SingleOperationBinding" [Error],
        "operation bound twice",
        "An operation is bound once in a service.",
        "Remove it from one of the places.",
        shapes r#"
service Weather {
    operations: [Ping]
    resources: [City]
}

resource City {
    operations: [Ping]
}

operation Ping {}
"#;
    SINGLE_RESOURCE_BINDING: "SingleResourceBinding" [Error],
        "resource bound twice",
        "A resource is bound once in a service.",
        "Remove it from one of the places.",
        shapes r#"
service Weather {
    resources: [City, House]
}

resource City {
    resources: [House]
}

resource House {}
"#;
    STREAMING_TRAIT: "StreamingTrait" [Error],
        "wrong stream",
        "Streams are members of inputs and outputs, at most one in each. Event streams are unions of structures, and streaming blobs are required or have a default.",
        "Move the stream to the top level, or correct its members.",
        shapes r#"
@streaming
union Events {
    text: String
}
"#;
    UNIQUE_WAITER_NAMES: "UniqueWaiterNames" [Error],
        "waiters with one name",
        "Waiters of a service have different names, ignoring case.",
        "Rename one of the waiters.",
        shapes r#"
use smithy.waiters#waitable

service Weather {
    operations: [GetCity, GetTown]
}

@waitable(
    Ready: { acceptors: [{ state: "success", matcher: { success: true } }] }
)
operation GetCity {}

@waitable(
    READY: { acceptors: [{ state: "success", matcher: { success: true } }] }
)
operation GetTown {}
"#;
    WAITABLE_TRAIT: "WaitableTrait" [Error],
        "wrong waiter",
        "A waiter has an acceptor for success, and `minDelay` is not greater than `maxDelay`. Booleans are compared with `\"true\"` or `\"false\"`.",
        "Correct the waiter.",
        shapes r#"
use smithy.waiters#waitable

@waitable(
    Ready: { acceptors: [{ state: "retry", matcher: { success: true } }] }
)
operation GetCity {}
"#;
    WAITABLE_TRAIT_INVALID_ERROR_TYPE: "WaitableTraitInvalidErrorType" + ".WAITER.ACCEPTOR" [Warning],
        "waiter with an unknown error",
        "`errorType` of a matcher is an error of the operation.",
        "Correct the name, or add the error to the operation.",
        shapes r#"
use smithy.waiters#waitable

@waitable(
    Ready: { acceptors: [{ state: "success", matcher: { errorType: "NotFound" } }] }
)
operation GetCity {}
"#;
    WAITABLE_TRAIT_JMESPATH_PROBLEM_JMESPATH_EVENT_DANGER: "WaitableTraitJmespathProblem.JmespathEventDanger" + ".WAITER.ACCEPTOR" [Danger],
        "path of a waiter that does not exist",
        "Paths of matchers lead to members of the output, or of input and output. Only paths of names with dots between them are checked.",
        "Correct the path.",
        shapes r#"
use smithy.waiters#waitable

@waitable(
    Ready: { acceptors: [{
        state: "success"
        matcher: { output: { path: "stat", comparator: "stringEquals", expected: "ready" } }
    }] }
)
operation GetCity {
    output := {
        state: String
    }
}
"#;
    WAITABLE_TRAIT_JMESPATH_PROBLEM_RETURN_TYPE_MISMATCH: "WaitableTraitJmespathProblem.ReturnTypeMismatch" + ".WAITER.ACCEPTOR" [Danger],
        "path of a waiter with the wrong type",
        "The path of a matcher leads to a value that its comparator compares: a string, boolean or list.",
        "Use another comparator, or another path.",
        shapes r#"
use smithy.waiters#waitable

@waitable(
    Ready: { acceptors: [{
        state: "success"
        matcher: { output: { path: "size", comparator: "stringEquals", expected: "ready" } }
    }] }
)
operation GetCity {
    output := {
        size: Integer
    }
}
"#;
}
