//! Heads of messages: values that are allowed in them, and values that would break the framing.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderName};
use polywire_codec::Dynamic;
use polywire_model::Loader;
use polywire_protocol::{Fault, FaultKind, Plan, ProtocolKind, ReadPlan};
use polywire_schema::{Body, Limits, Map, SchemaSet, Value};

const MODEL: &str = r#"
$version: "2"
namespace test.heads

use aws.protocols#restJson1

@restJson1
service Heads {
    operations: [Put, Get, Head, Status, Hosted, Fail, Search]
}

@http(method: "PUT", uri: "/put")
operation Put {
    input := {
        @httpHeader("Content-Length")
        length: Long
        @httpHeader("X-Own")
        own: String
        @httpPrefixHeaders("")
        more: Headers
        @httpPayload
        body: Blob
    }
}

@readonly
@http(method: "GET", uri: "/get")
operation Get {
    output := {
        @httpHeader("Content-Length")
        length: Long
        @httpHeader("Transfer-Encoding")
        coding: String
        @httpPayload
        body: Blob
    }
}

@readonly
@http(method: "HEAD", uri: "/head")
operation Head {
    output := {
        @httpHeader("Content-Length")
        length: Long
    }
}

@readonly
@http(method: "GET", uri: "/search")
operation Search {
    input := {
        @httpQueryParams
        all: Many
    }
}

map Many {
    key: String
    value: Texts
}

list Texts {
    member: String
}

@readonly
@http(method: "GET", uri: "/status")
operation Status {
    output := {
        @httpResponseCode
        status: Integer
    }
}

@http(method: "POST", uri: "/hosted")
@endpoint(hostPrefix: "{tenant}.data-{zone}.")
operation Hosted {
    input := {
        @required
        @hostLabel
        tenant: String
        @hostLabel
        @required
        zone: String
    }
    output := {
        text: String
    }
}

@http(method: "POST", uri: "/fail")
operation Fail {
    input := {
        text: String
    }
    output := {
        text: String
    }
    errors: [Failed, Detailed, Plain]
}

@error("client")
structure Failed {
    message: String
    count: Integer
}

@error("client")
structure Detailed {
    @httpHeader("X-Count")
    count: Integer
    @httpPayload
    detail: Detail
}

structure Detail {
    text: String
}

@error("client")
structure Plain {
    @httpPayload
    text: String
}

map Headers {
    key: String
    value: String
}
"#;

fn set() -> Arc<SchemaSet<'static>> {
    set_of(MODEL)
}

fn set_of(model: &str) -> Arc<SchemaSet<'static>> {
    let assembled = Loader::new().add_text("heads.smithy", model).assemble();
    let model = assembled.unwrap().model;
    Arc::new(model.schemas("test.heads#Heads").unwrap().unwrap())
}

fn map<const N: usize>(members: [(&str, Value); N]) -> Map {
    members.into_iter().collect()
}

/// The request of a call over restJson1, or the error.
fn call<const N: usize>(
    operation: &str,
    input: [(&str, Value); N],
) -> Result<http::Request<bytes::Bytes>, String> {
    let set = set();
    let service = set.service(0);
    let protocol = ProtocolKind::RestJson1.build(service).unwrap();
    let operation = service.find_operation(operation).unwrap();
    let input = Value::Map(map(input));
    let request = protocol.encode_input(operation, &Dynamic(&input));
    request.map_err(|error| error.to_string())
}

fn answer<const N: usize>(
    operation: &str,
    output: [(&str, Value); N],
) -> Result<http::Response<bytes::Bytes>, String> {
    let set = set();
    let service = set.service(0);
    let protocol = ProtocolKind::RestJson1.build(service).unwrap();
    let operation = service.find_operation(operation).unwrap();
    let output = Value::Map(map(output));
    let response = protocol.encode_output(operation, &Dynamic(&output));
    response.map_err(|error| error.to_string())
}

fn headers(map: &http::HeaderMap) -> Vec<String> {
    let shown = |(name, value): (&HeaderName, &http::HeaderValue)| format!("{name}: {value:?}");
    map.iter().map(shown).collect()
}

fn blob(text: &str) -> Value {
    Value::Blob(text.as_bytes().into())
}

#[test]
fn a_client_sends_the_actual_length_or_none() {
    let request = call("Put", [("length", 3.into()), ("body", blob("abc"))]).unwrap();
    assert!(!request.headers().contains_key("content-length"));
    for wrong in [1, 4, -1] {
        let error = call("Put", [("length", wrong.into()), ("body", blob("abc"))]).unwrap_err();
        assert!(
            error.contains("expected 3, the length of the body"),
            "{error}"
        );
        assert!(error.contains("content-length"), "{error}");
    }
    call("Put", [("length", 1.into())]).unwrap_err();
}

#[test]
fn a_server_sends_the_actual_length() {
    let response = answer("Get", [("length", 1.into()), ("body", blob("abc"))]).unwrap();
    assert!(!response.headers().contains_key("content-length"));
    assert_eq!(response.body(), "abc");
    // A response to HEAD contains the length that the body would have.
    let response = answer("Head", [("length", 17.into())]).unwrap();
    assert_eq!(response.headers()["content-length"], "17");
    assert!(response.body().is_empty());
}

#[test]
fn values_cannot_set_connection_headers() {
    let error = answer("Get", [("coding", "chunked".into())]).unwrap_err();
    assert!(error.contains("header transfer-encoding"), "{error}");
    for name in [
        "transfer-encoding",
        "Connection",
        "keep-alive",
        "proxy-connection",
        "TE",
        "trailer",
        "upgrade",
        "host",
        "Content-Length",
    ] {
        let more = map([(name, "x".into())]);
        let error = call("Put", [("more", more.into())]).unwrap_err();
        let place = format!("header {}", name.to_ascii_lowercase());
        assert!(error.contains(&place), "{error}");
    }
}

#[test]
fn headers_of_members_override_those_of_maps() {
    let more = map([("x-own", "map".into()), ("x-other", "map".into())]);
    // In both orders of writing.
    for input in [
        [
            ("own", Value::from("member")),
            ("more", more.clone().into()),
        ],
        [("more", more.into()), ("own", "member".into())],
    ] {
        let request = call("Put", input).unwrap();
        assert_eq!(
            headers(request.headers()),
            ["x-own: \"member\"", "x-other: \"map\""]
        );
    }
}

#[test]
fn status_codes_of_responses() {
    for status in [200, 204, 302, 404, 599] {
        let response = answer("Status", [("status", status.into())]).unwrap();
        assert_eq!(i64::from(response.status().as_u16()), status);
    }
    for status in [-1, 0, 100, 101, 199, 600, 999, 65_736] {
        let error = answer("Status", [("status", status.into())]).unwrap_err();
        assert!(error.contains("200 to 599"), "{error}");
    }
}

/// Every protocol over HTTP that can call the operation sends the host prefix.
#[test]
fn hosts_of_all_protocols() {
    let set = set();
    let service = set.service(0);
    let operation = service.find_operation("Hosted").unwrap();
    let input = Value::Map(map([("tenant", "acme".into()), ("zone", "eu-1".into())]));
    let mut kinds = Vec::new();
    for kind in ProtocolKind::http() {
        let Ok(protocol) = kind.build(service) else {
            continue;
        };
        let request = protocol.encode_input(operation, &Dynamic(&input)).unwrap();
        let prefix = request.extensions().get::<polywire_protocol::HostPrefix>();
        assert_eq!(prefix.unwrap().0, "acme.data-eu-1.", "{kind:?}");
        kinds.push(kind);
    }
    for kind in [
        ProtocolKind::XmlRpc,
        ProtocolKind::JsonRpc,
        ProtocolKind::RestJson1,
    ] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
}

#[test]
fn hosts() {
    let host = |tenant: &str, zone: &str| {
        let request = call("Hosted", [("tenant", tenant.into()), ("zone", zone.into())])?;
        let prefix = request.extensions().get::<polywire_protocol::HostPrefix>();
        Ok::<_, String>(prefix.unwrap().0.clone())
    };
    assert_eq!(host("acme", "eu-1").unwrap(), "acme.data-eu-1.");
    assert_eq!(
        host("{zone}", "a")
            .unwrap_err()
            .matches("host label tenant")
            .count(),
        1
    );
    let long = "x".repeat(64);
    for bad in [
        "",
        "evil.com/",
        "a b",
        "a@b",
        "x:80",
        "-a",
        "a-",
        "\u{e4}",
        &long,
    ] {
        let error = host(bad, "z").unwrap_err();
        assert!(error.contains("a host label"), "{error}");
    }
    assert!(call("Hosted", [("zone", "z".into())]).is_err());
}

/// Decodes a call of `Fail` with these headers and this body.
fn read(headers: &[(HeaderName, &str)], body: &str) -> Result<Map, FaultKind> {
    let set = set();
    let service = set.service(0);
    let protocol = ProtocolKind::RestJson1.build(service).unwrap();
    let mut builder = http::Request::post("/fail");
    for (name, value) in headers {
        builder = builder.header(name, *value);
    }
    let (head, ()) = builder.body(()).unwrap().into_parts();
    let Plan::Buffer(route) = protocol.route(&head).unwrap() else {
        panic!("restJson1 routes by the head");
    };
    let body = Body::from(body.to_owned());
    let request = ReadPlan {
        head: &head,
        body: &body,
        route: &route,
        limits: &Limits::DEFAULT,
        memory: None,
    };
    let mut input = Map::new();
    let operation = set.operation(route.operation);
    match protocol.decode_input(operation, &request, &mut input) {
        Ok(()) => Ok(input),
        Err(fault) => Err(fault.kind()),
    }
}

#[test]
fn content_codings() {
    let json = (CONTENT_TYPE, "application/json");
    for coding in ["identity", "Identity", ""] {
        assert!(
            read(&[json.clone(), (CONTENT_ENCODING, coding)], "{}").is_ok(),
            "{coding}"
        );
    }
    for coding in ["gzip", "identity, br", "zstd"] {
        let read = read(&[json.clone(), (CONTENT_ENCODING, coding)], "{}");
        assert_eq!(read, Err(FaultKind::UnsupportedMediaType), "{coding}");
    }
}

#[test]
fn several_accept_lines_are_one_list() {
    let accepts = |lines: &[&'static str]| {
        let lines: Vec<_> = lines.iter().map(|line| (ACCEPT, *line)).collect();
        match read(&lines, "") {
            Ok(_) => true,
            Err(kind) => {
                assert_eq!(kind, FaultKind::NotAcceptable);
                false
            }
        }
    };
    assert!(accepts(&[]));
    assert!(accepts(&["text/html", "application/json"]));
    assert!(accepts(&["application/json", "text/html"]));
    assert!(!accepts(&["text/html", "text/plain"]));
    // The most specific range decides, in any line.
    assert!(!accepts(&["*/*", "application/json;q=0"]));
    assert!(!accepts(&["application/json;q=0", "*/*"]));
}

/// Details that do not fit the structure are an error. They are not dropped, and no message with a
/// wrong count is written.
#[test]
fn errors_with_unknown_details() {
    // restXml does not support payloads of errors.
    let set = set_of(&MODEL.replace("[Failed, Detailed, Plain]", "[Failed]"));
    let service = set.service(0);
    let operation = service.find_operation("Fail").unwrap();
    let error = operation.errors().next().unwrap();
    for kind in ProtocolKind::ALL {
        let protocol = kind.build(service).unwrap();
        let known = [("message", "m".into()), ("count", 2.into())];
        let fault = Fault::modelled("test.heads#Failed", map(known));
        assert!(protocol.encode_error(error, &fault).is_ok(), "{kind}");

        let unknown = [("message", "m".into()), ("bogus", 2.into())];
        let fault = Fault::modelled("test.heads#Failed", map(unknown));
        let reason = protocol
            .encode_error(error, &fault)
            .unwrap_err()
            .to_string();
        assert!(reason.contains("bogus"), "{kind}: {reason}");
        let response = protocol.encode_fault(Some(operation), &fault);
        let text = String::from_utf8_lossy(response.body()).into_owned();
        assert!(
            text.contains("an internal error occurred"),
            "{kind}: {text}"
        );

        let wrong = [("count", "two".into())];
        for asked in [false, true] {
            let fault = Fault::modelled("test.heads#Failed", map(wrong.clone()));
            let fault = fault.with_detail(asked);
            assert!(protocol.encode_error(error, &fault).is_err(), "{kind}");
        }
    }
}

#[test]
fn allowed_methods_of_a_path() {
    let set = set();
    let protocol = ProtocolKind::RestJson1.build(set.service(0)).unwrap();
    let (head, ()) = http::Request::delete("/get").body(()).unwrap().into_parts();
    let fault = protocol.route(&head).unwrap_err();
    let response = protocol.encode_fault(None, &fault);
    assert_eq!(response.status(), 405);
    assert_eq!(response.headers()["allow"], "GET, HEAD");
    // A fault of the handler with this kind has no `allow`.
    let response = protocol.encode_other(&Fault::new(FaultKind::MethodNotAllowed, "not now"));
    assert!(!response.headers().contains_key("allow"));
}

#[test]
fn an_empty_header_is_not_a_list() {
    let model = r#"
        $version: "2"
        namespace test.lists
        @aws.protocols#restJson1
        service Lists { operations: [Put] }
        @http(method: "POST", uri: "/put")
        operation Put {
            input := {
                @httpHeader("X-Texts")
                texts: Texts
                @httpHeader("X-Text")
                text: String
            }
        }
        list Texts { member: String }
    "#;
    let model = Loader::new().add_text("lists.smithy", model).assemble();
    let set = model.unwrap().model.schemas("test.lists#Lists");
    let set = set.unwrap().unwrap();
    let protocol = ProtocolKind::RestJson1.build(set.service(0)).unwrap();
    let head = http::Request::post("/put")
        .header("x-texts", " ")
        .header("x-text", "");
    let (head, ()) = head.body(()).unwrap().into_parts();
    let Plan::Buffer(route) = protocol.route(&head).unwrap() else {
        panic!("restJson1 routes by the head");
    };
    let body = Body::default();
    let request = ReadPlan {
        head: &head,
        body: &body,
        route: &route,
        limits: &Limits::DEFAULT,
        memory: None,
    };
    let mut input = Map::new();
    protocol
        .decode_input(set.operation(0), &request, &mut input)
        .unwrap();
    assert_eq!(input, map([("text", "".into())]));
}

#[test]
fn positional_parameters_are_in_the_order_of_the_model() {
    let model = r#"
        $version: "2"
        namespace test.positions
        use polywire#xmlRpc
        use polywire#xmlRpcMethod
        @xmlRpc
        service Positions { operations: [Put] }
        @xmlRpcMethod(positional: true)
        operation Put {
            input := {
                first: String
                @xmlAttribute
                second: String
            }
        }
    "#;
    let model = Loader::new().add_text("positions.smithy", model).assemble();
    let set = model.unwrap().model.schemas("test.positions#Positions");
    let set = set.unwrap().unwrap();
    let error = ProtocolKind::XmlRpc.build(set.service(0)).unwrap_err();
    assert!(error.to_string().contains("@xmlAttribute"), "{error}");
}

/// Many parameters with different names: lookups do not take quadratic time.
#[test]
fn a_query_of_many_parameters() {
    const COUNT: usize = 12_000;
    let set = set();
    let protocol = ProtocolKind::RestJson1.build(set.service(0)).unwrap();
    let parameters: Vec<String> = (0..COUNT).map(|number| format!("{number:x}")).collect();
    let target = format!("/search?{}&0=again", parameters.join("&"));
    let request = http::Request::get(target).body(()).unwrap();
    let (head, ()) = request.into_parts();
    let Ok(Plan::Buffer(route)) = protocol.route(&head) else {
        panic!("a route");
    };
    let mut input = Map::new();
    let plan = ReadPlan {
        head: &head,
        body: &Body::default(),
        route: &route,
        limits: &Limits::DEFAULT,
        memory: None,
    };
    let operation = set.operation(route.operation);
    protocol.decode_input(operation, &plan, &mut input).unwrap();
    let all = input.get("all").and_then(Value::as_map).unwrap();
    assert_eq!(all.len(), COUNT);
    let keys: Vec<&str> = all.keys().collect();
    assert_eq!(keys, parameters);
    let twice = Value::List(vec!["".into(), "again".into()]);
    assert_eq!(all.get("0"), Some(&twice));
}

/// A member of an error can be the whole body if the head contains the name.
#[test]
fn errors_with_a_payload() {
    let set = set();
    let protocol = ProtocolKind::RestJson1.build(set.service(0)).unwrap();
    let operation = set.service(0).find_operation("Fail").unwrap();
    let detail = Value::from(map([("text", "why".into())]));
    for (name, details, media_type, body) in [
        (
            "Detailed",
            map([("count", 2.into()), ("detail", detail)]),
            Some("application/json"),
            r#"{"text":"why"}"#,
        ),
        ("Detailed", map([("count", 2.into())]), None, ""),
        (
            "Plain",
            map([("text", "why".into())]),
            Some("text/plain"),
            "why",
        ),
        ("Plain", Map::new(), None, ""),
    ] {
        let error = operation.find_error(name).unwrap();
        let fault = Fault::modelled(error.id(), details.clone());
        let (head, sent) = protocol.encode_error(error, &fault).unwrap().into_parts();
        assert_eq!(sent, body);
        let said = head.headers.get(CONTENT_TYPE);
        assert_eq!(said.map(|said| said.to_str().unwrap()), media_type);
        assert_eq!(head.headers["x-amzn-errortype"], name);
        let (sent, limits) = (Body::new(sent), &Limits::DEFAULT);
        let outcome = protocol.outcome(operation, &head, &sent, limits).unwrap();
        assert!(matches!(outcome, polywire_protocol::Outcome::Error(read) if read == error));
        let mut read = Map::new();
        protocol
            .decode_error(error, &head, &sent, limits, &mut read)
            .unwrap();
        assert_eq!(read, details);
    }
}

const BOTH: &str = r#"
    $version: "2"
    namespace test.both

    use aws.protocols#restJson1
    use aws.protocols#restXml

    @restJson1
    @restXml
    service Both { operations: [Put] }

    @http(method: "POST", uri: "/put/{id}")
    operation Put {
        input := with [Members] {
            @required
            @httpLabel
            id: String
            @httpQuery("q")
            query: String
        }
        output := with [Members] {}
    }

    @mixin
    structure Members {
        @httpHeader("X-Own")
        own: String
        first: String
        @httpHeader("X-Texts")
        texts: Texts
        second: String
        @httpPrefixHeaders("x-more-")
        more: Headers
        third: String
    }

    list Texts { member: String }
    map Headers { key: String, value: String }
"#;

/// The result of decoding a response on a client.
fn read_both(
    kind: ProtocolKind,
    headers: &[(&'static str, &str)],
    document: &str,
) -> Result<Map, String> {
    let model = Loader::new().add_text("both.smithy", BOTH).assemble();
    let set = model.unwrap().model.schemas("test.both#Both");
    let set = set.unwrap().unwrap();
    let protocol = kind.build(set.service(0)).unwrap();
    let mut response = http::Response::builder();
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    let (head, ()) = response.body(()).unwrap().into_parts();
    let body = Body::from(document.as_bytes().to_vec());
    let mut output = Map::new();
    let limits = &Limits::DEFAULT;
    let read = protocol.decode_output(set.operation(0), &head, &body, limits, &mut output);
    read.map(|()| output).map_err(|error| error.to_string())
}

#[test]
fn documents_and_heads() {
    let expected = map([
        ("own", "mine".into()),
        ("first", "1".into()),
        ("second", "2".into()),
        ("third", "3".into()),
    ]);
    let xml = [
        "<PutOutput><first>1</first><second>2</second><third>3</third></PutOutput>",
        "<PutOutput>\n  <third>3</third>\n  <second>2</second><first>1</first>\n</PutOutput>",
        // A member that is bound to the head is ignored in the document, in any position.
        "<PutOutput><own>no</own><first>1</first><own>no</own><texts>no</texts><second>2</second>\
         <more/><third>3</third><own a='b'>no</own></PutOutput>",
        "<PutOutput><x/><first>1</first><second>2</second><!-- 3 --><third>3</third></PutOutput>",
    ];
    let json = [
        r#"{"first":"1","second":"2","third":"3"}"#,
        r#"{ "third" : "3", "second": "2", "first": "1" }"#,
        r#"{"own":"no","first":"1","own":"no", "texts": ["no"], "second":"2","third":"3","more":{}}"#,
        r#"{"own": "no", "x": null, "first": "1", "second": "2", "third": "3"}"#,
    ];
    let head = &[("x-own", "mine")];
    for document in xml {
        let read = read_both(ProtocolKind::RestXml, head, document).unwrap();
        assert_eq!(read, expected, "{document}");
    }
    for document in json {
        let read = read_both(ProtocolKind::RestJson1, head, document).unwrap();
        assert_eq!(read, expected, "{document}");
    }
    let twice = "<PutOutput><first>1</first><first>1</first></PutOutput>";
    assert!(read_both(ProtocolKind::RestXml, head, twice).is_err());
    let twice = r#"{"first": "1", "first": "1"}"#;
    assert!(read_both(ProtocolKind::RestJson1, head, twice).is_err());
}

#[test]
fn headers_in_any_order_and_more_than_once() {
    let texts = |texts: &[&str]| Value::List(texts.iter().copied().map(Value::from).collect());
    let more = Value::Map(map([("a", "1".into()), ("b", "2".into())]));
    let read = |headers: &[(&'static str, &str)]| read_both(ProtocolKind::RestJson1, headers, "{}");
    let once = [
        ("x-more-b", "2"),
        ("x-texts", "a, b"),
        ("x-other", "?"),
        ("x-more-a", "1"),
        ("x-own", "mine"),
    ];
    let expected = map([
        ("own", "mine".into()),
        ("texts", texts(&["a", "b"])),
        ("more", more.clone()),
    ]);
    assert_eq!(read(&once).unwrap(), expected);
    // A line with several values is equal to several lines.
    let twice = [&once[..], &[("x-texts", "c")]].concat();
    let expected = map([
        ("own", "mine".into()),
        ("texts", texts(&["a", "b", "c"])),
        ("more", more),
    ]);
    assert_eq!(read(&twice).unwrap(), expected);
    // A repeated header of no member has no effect.
    let other = [&twice[..], &[("x-other", "!")]].concat();
    assert_eq!(read(&other).unwrap(), expected);
    let own = [&once[..], &[("x-own", "yours")]].concat();
    assert!(read(&own).unwrap_err().contains("one value"));
}

#[test]
fn encoding_of_texts_in_heads() {
    let model = Loader::new().add_text("both.smithy", BOTH).assemble();
    let set = model.unwrap().model.schemas("test.both#Both");
    let set = set.unwrap().unwrap();
    let protocol = ProtocolKind::RestXml.build(set.service(0)).unwrap();
    let long = "a-text_of.more~than-23-bytes";
    for (text, encoded) in [
        ("plain", "plain"),
        ("exactly-23-bytes-long_.", "exactly-23-bytes-long_."),
        ("a b/c", "a%20b%2Fc"),
        ("ü", "%C3%BC"),
        ("exactly-23-bytes-long/.", "exactly-23-bytes-long%2F."),
        (long, long),
    ] {
        let input = Value::Map(map([
            ("id", text.into()),
            ("query", text.into()),
            ("own", text.into()),
        ]));
        let request = protocol
            .encode_input(set.operation(0), &Dynamic(&input))
            .unwrap();
        assert_eq!(request.uri(), &*format!("/put/{encoded}?q={encoded}"));
        assert_eq!(request.headers()["x-own"].as_bytes(), text.as_bytes());
    }
    for text in [
        "a\nb",
        "a\rb",
        "a\0b",
        "\x7f",
        "a text of more than 23 bytes\n",
    ] {
        let input = Value::Map(map([("id", "1".into()), ("own", text.into())]));
        let request = protocol.encode_input(set.operation(0), &Dynamic(&input));
        assert!(
            request.unwrap_err().to_string().contains("x-own"),
            "{text:?}"
        );
    }
}
