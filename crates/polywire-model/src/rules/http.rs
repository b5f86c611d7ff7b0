//! Rules about HTTP bindings.

crate::rules::rules! {
    in ALL_HTTP;

    HTTP_BINDING_TRAIT_IGNORED_INPUT: "HttpBindingTraitIgnored.Input" [Warning],
        "binding that has an effect in inputs only",
        "`@httpLabel`, `@httpQuery` and `@httpQueryParams` have an effect on members of an input only.",
        "Remove the trait, or move the member to an input.",
        shapes r#"
@http(method: "POST", uri: "/cities")
operation AddCity {
    output := {
        @httpQuery("name")
        name: String
    }
}
"#;
    HTTP_BINDING_TRAIT_IGNORED_OUTPUT: "HttpBindingTraitIgnored.Output" [Warning],
        "binding that has an effect in outputs only",
        "`@httpResponseCode` has an effect on members of an output only.",
        "Remove the trait, or move the member to an output.",
        shapes r#"
@http(method: "POST", uri: "/cities")
operation AddCity {
    input := {
        city: City
    }
}

structure City {
    @httpResponseCode
    status: Integer
}
"#;
    HTTP_BINDING_TRAIT_IGNORED_TOP_LEVEL: "HttpBindingTraitIgnored.TopLevel" [Warning],
        "binding that has an effect at the top level only",
        "`@httpHeader`, `@httpPrefixHeaders` and `@httpPayload` have an effect on members of an input, output or error, and not on members of nested structures.",
        "Remove the trait, or move the member to the top level.",
        shapes r#"
@http(method: "POST", uri: "/cities")
operation AddCity {
    input := {
        city: City
    }
}

structure City {
    @httpHeader("x-name")
    name: String
}
"#;
    HTTP_BINDINGS_MISSING: "HttpBindingsMissing" [Error, Warning],
        "operation without `@http`",
        "Operations have `@http` if a protocol of their service requires it. Otherwise a warning is given if only some operations of a service have it.",
        "Apply `@http` to the operation.",
        shapes r#"
use aws.protocols#restJson1

@restJson1
service Weather {
    operations: [GetCity]
}

operation GetCity {}
"#;
    HTTP_HEADER_TRAIT: "HttpHeaderTrait" [Error, Danger],
        "wrong header",
        "Members of a structure are bound to different headers. Headers that clients, servers or proxies set themselves are a danger.",
        "Use another header.",
        shapes r#"
@http(method: "POST", uri: "/cities")
operation AddCity {
    input := {
        @httpHeader("x-id")
        id: String

        @httpHeader("X-ID")
        other: String
    }
}
"#;
    HTTP_LABEL_TRAIT: "HttpLabelTrait" [Error],
        "labels and members that do not match",
        "Each label in the URI of `@http` has a member with `@httpLabel` in the input, and each such member has a label. Greedy labels are strings.",
        "Correct the URI, or the traits of the members.",
        shapes r#"
@http(method: "POST", uri: "/cities/{id}")
operation AddCity {
    input := {
        @required
        id: String
    }
}
"#;
    HTTP_METHOD_SEMANTICS: "HttpMethodSemantics" [Warning],
        "method in the wrong case",
        "Well-known methods are in upper case. Methods are case-sensitive.",
        "Write the method in upper case.",
        shapes r#"
@http(method: "post", uri: "/cities")
operation AddCity {}
"#;
    HTTP_METHOD_SEMANTICS_MISSING_IDEMPOTENT_TRAIT: "HttpMethodSemantics.MissingIdempotentTrait" [Warning],
        "idempotent method without `@idempotent`",
        "Operations with the methods PUT and DELETE have `@idempotent`.",
        "Apply `@idempotent`, or use another method.",
        shapes r#"
@http(method: "PUT", uri: "/cities")
operation PutCity {}
"#;
    HTTP_METHOD_SEMANTICS_MISSING_READONLY_TRAIT: "HttpMethodSemantics.MissingReadonlyTrait" [Warning],
        "safe method without `@readonly`",
        "Operations with the methods GET, HEAD, OPTIONS and TRACE have `@readonly`.",
        "Apply `@readonly`, or use another method.",
        shapes r#"
@http(method: "GET", uri: "/cities")
operation ListCities {}
"#;
    HTTP_METHOD_SEMANTICS_OPTIONS: "HttpMethodSemantics.OPTIONS" [Warning],
        "operation with the method OPTIONS",
        "Operations do not use the method OPTIONS. Servers answer such requests themselves.",
        "Remove the operation, and apply `@cors` to the service if that is the purpose.",
        shapes r#"
@readonly
@http(method: "OPTIONS", uri: "/cities")
operation Options {}
"#;
    HTTP_METHOD_SEMANTICS_UNEXPECTED_PAYLOAD: "HttpMethodSemantics.UnexpectedPayload" [Danger],
        "request body with a method that has none",
        "Inputs of operations with the methods GET, HEAD, DELETE and TRACE have no body. Some proxies and servers drop such bodies.",
        "Bind all members with `@httpLabel`, `@httpQuery` or `@httpHeader`, or use another method.",
        shapes r#"
@readonly
@http(method: "GET", uri: "/cities")
operation ListCities {
    input := {
        filter: String
    }
}
"#;
    HTTP_METHOD_SEMANTICS_UNNECESSARY_IDEMPOTENT_TRAIT: "HttpMethodSemantics.UnnecessaryIdempotentTrait" [Warning],
        "`@idempotent` with a method that does not need it",
        "Operations with the methods GET, HEAD, OPTIONS and TRACE do not have `@idempotent`: they are safe.",
        "Replace `@idempotent` by `@readonly`.",
        shapes r#"
@idempotent
@http(method: "HEAD", uri: "/cities")
operation HeadCity {}
"#;
    HTTP_METHOD_SEMANTICS_UNNECESSARY_READONLY_TRAIT: "HttpMethodSemantics.UnnecessaryReadonlyTrait" [Warning],
        "`@readonly` with a method that writes",
        "Operations with methods other than GET, HEAD, OPTIONS and TRACE do not have `@readonly`.",
        "Remove the trait, or use another method.",
        shapes r#"
@readonly
@http(method: "POST", uri: "/cities")
operation ListCities {}
"#;
    HTTP_PAYLOAD: "HttpPayload" [Error],
        "members beside the payload",
        "All members beside one with `@httpPayload` are bound to headers, the query or the path.",
        "Bind the other members, or remove `@httpPayload`.",
        shapes r#"
@http(method: "POST", uri: "/files")
operation Upload {
    input := {
        @httpPayload
        body: Blob

        name: String
    }
}
"#;
    HTTP_PREFIX_HEADERS_TRAIT: "HttpPrefixHeadersTrait" [Error, Note],
        "header that a prefix includes",
        "No member is bound to a header that begins with the prefix of `@httpPrefixHeaders` in the same structure. With an empty prefix it is a note.",
        "Change the header or the prefix.",
        shapes r#"
@http(method: "POST", uri: "/cities")
operation AddCity {
    input := {
        @httpHeader("X-Meta-Kind")
        kind: String

        @httpPrefixHeaders("X-Meta-")
        meta: Meta
    }
}

map Meta {
    key: String
    value: String
}
"#;
    HTTP_QUERY_PARAMS_TRAIT: "HttpQueryParamsTrait" [Note],
        "map of query parameters beside single ones",
        "A structure has `@httpQuery` or `@httpQueryParams`. With both, a key of the map is lost if another member is bound to it.",
        "Use one of the traits, or do not put such keys in the map.",
        shapes r#"
@http(method: "POST", uri: "/cities")
operation AddCity {
    input := {
        @httpQuery("kind")
        kind: String

        @httpQueryParams
        rest: Rest
    }
}

map Rest {
    key: String
    value: String
}
"#;
    HTTP_QUERY_TRAIT: "HttpQueryTrait" [Error],
        "query parameter bound twice",
        "Members of an input are bound to different query parameters, and not to one that the URI of `@http` has.",
        "Use another query parameter.",
        shapes r#"
@http(method: "POST", uri: "/cities?kind=big")
operation AddCity {
    input := {
        @httpQuery("kind")
        kind: String
    }
}
"#;
    HTTP_RESPONSE_CODE_SEMANTICS: "HttpResponseCodeSemantics" [Danger, Warning],
        "unusual status",
        "The status of an operation is 200 to 299, that of a client error 400 to 499, and that of a server error 500 to 599. Otherwise it is a danger. A body with status 204 or 205 is a warning.",
        "Correct the status. Model other results as errors with `@error` and `@httpError`.",
        shapes r#"
@http(method: "POST", uri: "/cities", code: 302)
operation AddCity {}
"#;
    HTTP_URI_CONFLICT: "HttpUriConflict" [Error],
        "operations that match the same requests",
        "Operations of a service differ in method, path, host label or query.",
        "Change the method or the URI of one of them.",
        shapes r#"
service Weather {
    operations: [GetCity, FindCity]
}

@http(method: "POST", uri: "/cities")
operation GetCity {}

@http(method: "POST", uri: "/cities")
operation FindCity {}
"#;
    HTTP_URI_FORMAT: "HttpUriFormat" [Error],
        "invalid URI pattern",
        "The `uri` of `@http` begins with `/`, has no fragment, and consists of literals and labels.",
        "Write a pattern such as `/cities/{name}`.",
        shapes r#"
@http(method: "POST", uri: "cities")
operation AddCity {}
"#;
    HTTP_URI_GREEDY_LABEL_GREEDY_LABEL_IS_NOT_LAST_LABEL: "HttpUriGreedyLabel.GreedyLabelIsNotLastLabel" [Danger],
        "label after a greedy label",
        "A greedy label is the last label of a URI. Many servers cannot route other patterns.",
        "Move the greedy label to the end.",
        shapes r#"
@http(method: "POST", uri: "/{path+}/{version}")
operation AddVersion {
    input := {
        @required
        @httpLabel
        path: String

        @required
        @httpLabel
        version: String
    }
}
"#;
    HTTP_URI_GREEDY_LABEL_MULTIPLE_GREEDY_LABELS: "HttpUriGreedyLabel.MultipleGreedyLabels" [Danger],
        "several greedy labels",
        "A URI has at most one greedy label. Many servers cannot route other patterns.",
        "Use the query for one of the values.",
        shapes r#"
@http(method: "POST", uri: "/diff/{from+}/{to+}")
operation Diff {
    input := {
        @required
        @httpLabel
        from: String

        @required
        @httpLabel
        to: String
    }
}
"#;
}
