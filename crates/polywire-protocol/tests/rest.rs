//! The REST protocols: messages of real peers, and invalid messages, that the official suites do
//! not cover.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use polywire_codec::Dynamic;
use polywire_model::Loader;
use polywire_protocol::s3::AnyMediaType;
use polywire_protocol::{
    Claim, Fault, FaultKind, HeadSummary, Outcome, Plan, Protocol, ProtocolKind, ReadPlan, detect,
};
use polywire_schema::{Body, Limits, Map, SchemaSet, Value};

const MODEL: &str = r#"
$version: "2"
namespace test.store

use aws.customizations#s3UnwrappedXmlOutput
use aws.protocols#restJson1
use aws.protocols#restXml

@restJson1
@restXml(noErrorWrapping: true)
@xmlNamespace(uri: "http://store.example.com/")
service Store {
    operations: [Tag, Put, Get, Head, Place, Copy, CopyPart, PutPart, Note, Search]
    errors: [NotFound, NoSuchKey]
}

@http(method: "PUT", uri: "/{bucket}/{key+}?tagging", code: 204)
@idempotent
operation Tag {
    input := {
        @required @httpLabel bucket: String
        @required @httpLabel key: String
        @required @httpPayload @xmlName("Tagging") tags: TagSet
    }
}

@http(method: "PUT", uri: "/{bucket}/{key+}?x-id=Put")
@idempotent
operation Put {
    input := {
        @required @httpLabel bucket: String
        @required @httpLabel key: String
        @httpPayload body: Blob
    }
}

@http(method: "PUT", uri: "/{bucket}/{key+}?x-id=Copy")
@idempotent
operation Copy {
    input := {
        @required @httpLabel bucket: String
        @required @httpLabel key: String
        @required @httpHeader("x-source") source: String
    }
    output := { copied: Timestamp }
}

@http(method: "PUT", uri: "/{bucket}/{key+}?x-id=PutPart")
@idempotent
operation PutPart {
    input := {
        @required @httpLabel bucket: String
        @required @httpLabel key: String
        @required @httpQuery("part") part: Integer
    }
}

@http(method: "PUT", uri: "/{bucket}/{key+}?x-id=CopyPart")
@idempotent
operation CopyPart {
    input := {
        @required @httpLabel bucket: String
        @required @httpLabel key: String
        @required @httpHeader("x-source") source: String
        @required @httpQuery("part") part: Integer
    }
}

@readonly
@http(method: "GET", uri: "/{bucket}/{key+}?x-id=Get")
operation Get {
    input := {
        @required @httpLabel bucket: String
        @required @httpLabel key: String
    }
    output := {
        @httpHeader("Content-Range") range: String
        @httpPayload body: Blob
    }
}

@readonly
@http(method: "HEAD", uri: "/{bucket}/{key+}")
operation Head {
    input := {
        @required @httpLabel bucket: String
        @required @httpLabel key: String
    }
    output := {
        @httpHeader("x-version") version: String
    }
}

@readonly
@http(method: "GET", uri: "/{bucket}?location")
@s3UnwrappedXmlOutput
operation Place {
    input := {
        @required @httpLabel bucket: String
    }
    output := {
        LocationConstraint: String
    }
}

@http(method: "POST", uri: "/notes")
operation Note {
    input := {
        @required text: String
        @timestampFormat("date-time") at: Timestamp
    }
    output := { text: String }
}

@readonly
@http(method: "GET", uri: "/search")
operation Search {
    input := {
        @httpQuery("q") text: String
        @httpHeader("x-label") label: String
        @httpPrefixHeaders("x-meta-") meta: Meta
    }
}

map Meta {
    key: String
    value: String
}

structure TagSet {
    @xmlFlattened @xmlName("Tag") tags: Tags
}

list Tags { member: Pair }

structure Pair {
    @required Key: String
    Value: String
}

@error("client")
@httpError(404)
structure NotFound {}

@error("client")
@httpError(404)
structure NoSuchKey {
    @xmlName("Message") message: String
    @httpHeader("x-key") key: String
    Resource: String
}
"#;

fn set() -> Arc<SchemaSet<'static>> {
    let assembled = Loader::new().add_text("store.smithy", MODEL).assemble();
    let model = assembled.unwrap().model;
    Arc::new(model.schemas("test.store#Store").unwrap().unwrap())
}

fn xml(set: &SchemaSet<'_>) -> Box<dyn Protocol> {
    ProtocolKind::RestXml.build(set.service(0)).unwrap()
}

/// The operation and the input that a server decodes from a request.
fn serve(
    protocol: &dyn Protocol,
    set: &SchemaSet<'_>,
    request: Request<&'static str>,
) -> Result<(String, Map), Fault> {
    let (head, body) = request.into_parts();
    let body = Body::from(body.to_owned());
    let Plan::Buffer(route) = protocol.route(&head)? else {
        panic!("REST protocols route by the head");
    };
    let operation = set.operation(route.operation);
    let plan = ReadPlan {
        head: &head,
        body: &body,
        route: &route,
        limits: &Limits::DEFAULT,
        memory: None,
    };
    let mut input = Map::new();
    protocol.decode_input(operation, &plan, &mut input)?;
    Ok((operation.name().to_owned(), input))
}

fn routed(request: http::request::Builder) -> String {
    let set = set();
    match serve(&*xml(&set), &set, request.body("").unwrap()) {
        Ok((name, _)) => name,
        Err(fault) => format!("{:?}", fault.kind()),
    }
}

/// The input of `Search`, as debug text, or the error.
fn search(request: http::request::Builder) -> Result<Map, String> {
    let set = set();
    let served = serve(&*xml(&set), &set, request.body("").unwrap());
    let (name, input) = served.map_err(|fault| fault.to_string())?;
    assert_eq!(name, "Search");
    Ok(input)
}

#[test]
fn only_bound_query_parameters_are_decoded() {
    let text = |target: &str| {
        let input = search(Request::get(target))?;
        Ok::<_, String>(input.get("text").and_then(Value::as_str).map(str::to_owned))
    };
    for other in ["x=%E9", "%E9=1", "x=%", "%E9"] {
        assert_eq!(
            text(&format!("/search?{other}&q=a")),
            Ok(Some("a".to_owned()))
        );
        assert_eq!(text(&format!("/search?{other}")), Ok(None));
    }
    for own in ["q=%E9", "q=%"] {
        let error = text(&format!("/search?{own}")).unwrap_err();
        assert!(error.contains("query parameter q"), "{error}");
    }
}

/// RFC 9110, section 5.6.3: only spaces and tabs are optional white space.
#[test]
fn header_values_keep_other_white_space() {
    let value = http::HeaderValue::from_bytes(" \t\u{a0}a\u{2003} ".as_bytes()).unwrap();
    let input = search(Request::get("/search").header("x-label", value)).unwrap();
    let label = input.get("label").and_then(Value::as_str);
    assert_eq!(label, Some("\u{a0}a\u{2003}"));
}

#[test]
fn a_repeated_header_has_no_single_value() {
    for name in ["x-label", "x-meta-a"] {
        let request = Request::get("/search").header(name, "1").header(name, "2");
        let error = search(request).unwrap_err();
        assert!(error.contains("one value"), "{name}: {error}");
    }
    let request = Request::get("/search")
        .header("x-meta-a", "1")
        .header("x-meta-b", "2");
    assert!(search(request).is_ok());
}

fn shown(outcome: &Outcome<'_>) -> String {
    match outcome {
        Outcome::Output => "output".to_owned(),
        Outcome::Error(shape) => shape.name().to_owned(),
        Outcome::Fault(fault) => format!("fault {fault}"),
        _ => "foreign".to_owned(),
    }
}

/// The result of decoding a response on a client.
fn outcome(operation: &str, response: Response<&str>) -> String {
    let set = set();
    let protocol = xml(&set);
    let operation = set.service(0).find_operation(operation).unwrap();
    let (head, body) = response.into_parts();
    let body = Body::from(body.to_owned());
    let outcome = protocol.outcome(operation, &head, &body, &Limits::DEFAULT);
    shown(&outcome.unwrap())
}

fn response(status: u16, body: &str) -> Response<&str> {
    Response::builder().status(status).body(body).unwrap()
}

/// Many clients of S3 do not send `x-id`.
#[test]
fn operations_that_differ_only_in_x_id() {
    let put = |target: &str| Request::put(target.to_owned());
    assert_eq!(routed(put("/b/k?x-id=Put")), "Put");
    assert_eq!(routed(put("/b/k")), "Put");
    // The request of `Tag` without its body.
    assert_eq!(routed(put("/b/k?tagging&x-id=Put")), "Malformed");
    assert_eq!(routed(put("/b/k").header("x-source", "/a/b")), "Copy");
    assert_eq!(routed(put("/b/k?part=1")), "PutPart");
    assert_eq!(
        routed(put("/b/k?part=1").header("x-source", "/a/b")),
        "CopyPart"
    );
    assert_eq!(
        routed(put("/b/k?part=1&x-id=Put").header("x-source", "/a/b")),
        "Put"
    );
    assert_eq!(routed(put("/b/k?x-id=Get")), "MethodNotAllowed");
    assert_eq!(routed(Request::get("/b/k")), "Get");
    assert_eq!(routed(Request::get("/b?location=")), "Place");
    assert_eq!(routed(Request::get("/b/?location")), "Place");
    assert_eq!(routed(Request::head("/b/k")), "Head");
    assert_eq!(routed(Request::get("/b")), "UnknownOperation");
}

#[test]
fn a_client_sends_x_id() {
    let set = set();
    let operation = set.service(0).find_operation("Get").unwrap();
    let input = Map::from_iter([("bucket", "b"), ("key", "k/\u{e4}/")]);
    let request = xml(&set).encode_input(operation, &Dynamic(&Value::Map(input)));
    assert_eq!(request.unwrap().uri(), "/b/k/%C3%A4/?x-id=Get");
}

/// Proxies remove `.` and `..` from paths, also as `%2E`. In greedy labels of S3 they are sent
/// anyway, because keys can contain them.
#[test]
fn dot_segments() {
    for kind in [ProtocolKind::RestXml, ProtocolKind::RestJson1] {
        let set = set();
        let protocol = kind.build(set.service(0)).unwrap();
        let get = set.service(0).find_operation("Get").unwrap();
        let target = |bucket: &str, key: &str| {
            let input = Value::Map(Map::from_iter([("bucket", bucket), ("key", key)]));
            let request = protocol.encode_input(get, &Dynamic(&input));
            request.map(|request| request.uri().to_string())
        };
        // The bucket and the key as a server decodes them: the router does not resolve dot
        // segments.
        let served = |target: String| {
            let request = Request::get(target).body("").unwrap();
            let (_, input) = serve(&*protocol, &set, request).unwrap();
            let text = |name: &str| input.get(name).and_then(Value::as_str).unwrap().to_owned();
            (text("bucket"), text("key"))
        };
        for bucket in [".", ".."] {
            let error = target(bucket, "k").unwrap_err().to_string();
            assert!(
                error.contains("other than `.` and `..`") && error.contains("label bucket"),
                "{error}"
            );
        }
        for bucket in ["...", ".a", "..a", "a.."] {
            let sent = target(bucket, "k").unwrap();
            assert_eq!(sent, format!("/{bucket}/k?x-id=Get"));
            assert_eq!(served(sent), (bucket.to_owned(), "k".to_owned()));
        }
        for key in [
            "...", "a/.b/..c", ".", "..", "a/../b", "../a", "a/.", "a/./b/",
        ] {
            let dots = key.split('/').any(|segment| [".", ".."].contains(&segment));
            if dots && kind == ProtocolKind::RestJson1 {
                let error = target("b", key).unwrap_err().to_string();
                assert!(error.contains("no segment that is `.` or `..`"), "{error}");
                assert!(error.contains("label key"), "{error}");
                continue;
            }
            let sent = target("b", key).unwrap();
            assert_eq!(sent, format!("/b/{key}?x-id=Get"));
            assert_eq!(served(sent), ("b".to_owned(), key.to_owned()));
        }
        for (path, bucket, key) in [
            ("/../a", "..", "a"),
            ("/%2E%2e/%2E", "..", "."),
            ("/b/a%2F%2E%2E/c", "b", "a/../c"),
        ] {
            assert_eq!(served(path.to_owned()), (bucket.to_owned(), key.to_owned()));
        }
    }
}

/// boto3 sends no media type.
#[test]
fn media_types_of_xml() {
    let set = set();
    let protocol = xml(&set);
    let note = |media_type: Option<&str>| {
        let mut request = Request::post("/notes");
        if let Some(media_type) = media_type {
            request = request.header("content-type", media_type);
        }
        let body = "<NoteInput><text>t</text></NoteInput>";
        let read = serve(&*protocol, &set, request.body(body).unwrap());
        read.map(|(_, input)| input).map_err(|fault| fault.kind())
    };
    let read = Map::from_iter([("text", "t")]);
    for media_type in [
        None,
        Some("application/xml"),
        Some("text/xml; charset=utf-8"),
        Some("Application/XML"),
    ] {
        assert_eq!(note(media_type), Ok(read.clone()), "{media_type:?}");
    }
    for media_type in ["application/json", "text/plain", ""] {
        let refused = Err(FaultKind::UnsupportedMediaType);
        assert_eq!(note(Some(media_type)), refused, "{media_type}");
    }
    let accept = |range: &str| {
        let request = Request::post("/notes").header("accept", range);
        let body = "<NoteInput><text>t</text></NoteInput>";
        serve(&*protocol, &set, request.body(body).unwrap()).is_ok()
    };
    assert!(accept("application/xml"));
    assert!(accept("text/html, */*"));
    assert!(!accept("application/json"));
    // Callers that send the other media type of XML also accept only that one.
    assert!(accept("text/xml"));
    assert!(accept("*/*;q=0, Text/XML;q=0.9"));
    assert!(accept("text/xml;q=0, application/*"));
    assert!(!accept("text/xml, application/xml;q=0"));
    assert!(!accept("text/xml;q=0"));
}

/// With the extension, documents of any media type are read, and those that the client accepts are ignored.
#[test]
fn any_media_type() {
    let set = set();
    let protocol = xml(&set);
    let note = |name: &str, value: &str, is_any: bool| {
        let mut request = Request::post("/notes").header(name, value);
        if is_any {
            request = request.extension(AnyMediaType);
        }
        let body = "<NoteInput><text>t</text></NoteInput>";
        let read = serve(&*protocol, &set, request.body(body).unwrap());
        read.map(|(_, input)| input).map_err(|fault| fault.kind())
    };
    let read = Ok(Map::from_iter([("text", "t")]));
    for (name, value, refused) in [
        (
            "content-type",
            "text/plain",
            FaultKind::UnsupportedMediaType,
        ),
        (
            "content-type",
            "application/x-www-form-urlencoded",
            FaultKind::UnsupportedMediaType,
        ),
        ("accept", "application/json", FaultKind::NotAcceptable),
    ] {
        assert_eq!(note(name, value, false), Err(refused), "{value}");
        assert_eq!(note(name, value, true), read, "{value}");
    }
    let coded = note("content-encoding", "br", true);
    assert_eq!(coded, Err(FaultKind::UnsupportedMediaType));
}

#[test]
fn an_empty_xml_body_is_rejected_if_members_are_required() {
    let set = set();
    let protocol = xml(&set);
    for request in [Request::put("/b/k?tagging"), Request::post("/notes")] {
        let fault = serve(&*protocol, &set, request.body("").unwrap()).unwrap_err();
        assert_eq!(fault.kind(), FaultKind::Malformed, "{fault}");
        let answer = protocol.encode_fault(None, &fault);
        assert_eq!(answer.status(), 400);
        let text = String::from_utf8_lossy(answer.body()).into_owned();
        assert!(text.starts_with("<Error><Type>Sender</Type>"), "{text}");
        assert!(text.contains("an empty body"), "{text}");
    }
    let request = Request::put("/b/k?tagging").body("<Tagging/>").unwrap();
    let (_, input) = serve(&*protocol, &set, request).unwrap();
    assert_eq!(input.get("tags"), Some(&Value::Map(Map::new())));
}

#[test]
fn servers_reject_dates_with_an_offset() {
    let set = set();
    let read = |at: &str| {
        let body = format!("<NoteInput><text/><at>{at}</at></NoteInput>");
        let request = Request::post("/notes").body(&*body.leak()).unwrap();
        serve(&*xml(&set), &set, request).map_err(|fault| fault.kind())
    };
    assert!(read("2026-11-22T09:00:00Z").is_ok());
    assert_eq!(read("2026-11-22T10:00:00+01:00"), Err(FaultKind::Malformed));
}

#[test]
fn a_range_has_status_206() {
    let set = set();
    let protocol = xml(&set);
    let get = set.service(0).find_operation("Get").unwrap();
    for (range, status) in [(None, 200), (Some("bytes 0-3/10"), 206)] {
        let mut output = Map::new();
        if let Some(range) = range {
            output.insert("range", range);
        }
        let output = Value::Map(output);
        let response = protocol.encode_output(get, &Dynamic(&output)).unwrap();
        assert_eq!(response.status().as_u16(), status);
    }
}

#[test]
fn the_names_of_payloads() {
    let set = set();
    let protocol = xml(&set);
    let operation = set.service(0).find_operation("Tag").unwrap();
    let pair =
        |key: &str, value: &str| Value::Map(Map::from_iter([("Key", key), ("Value", value)]));
    let tags = Value::List(vec![pair("a", "<"), pair("b", "")]);
    let input = Map::from_iter([
        ("bucket", "b".into()),
        ("key", "k".into()),
        ("tags", Value::Map(Map::from_iter([("tags", tags)]))),
    ]);
    let request = protocol.encode_input(operation, &Dynamic(&Value::Map(input.clone())));
    let (head, body) = request.unwrap().into_parts();
    assert_eq!(
        body,
        "<Tagging xmlns=\"http://store.example.com/\"><Tag><Key>a</Key><Value>&lt;</Value></Tag>\
         <Tag><Key>b</Key><Value></Value></Tag></Tagging>"
    );
    assert_eq!(head.headers["content-type"], "application/xml");
    let text = String::from_utf8(body.to_vec()).unwrap();
    let (name, read) = serve(&*protocol, &set, Request::from_parts(head, &*text.leak())).unwrap();
    assert_eq!((name.as_str(), read), ("Tag", input));
}

#[test]
fn an_output_without_a_structure() {
    let set = set();
    let protocol = xml(&set);
    let operation = set.service(0).find_operation("Place").unwrap();
    let output = Map::from_iter([("LocationConstraint", "eu<1")]);
    let answer = protocol.encode_output(operation, &Dynamic(&Value::Map(output.clone())));
    let (head, body) = answer.unwrap().into_parts();
    assert_eq!(
        body,
        "<LocationConstraint xmlns=\"http://store.example.com/\">eu&lt;1</LocationConstraint>"
    );
    let body = Body::new(body);
    let mut read = Map::new();
    let decoded = protocol.decode_output(operation, &head, &body, &Limits::DEFAULT, &mut read);
    decoded.unwrap();
    assert_eq!(read, output);
}

#[test]
fn modelled_errors_round_trip() {
    let set = set();
    for kind in [ProtocolKind::RestJson1, ProtocolKind::RestXml] {
        let protocol = kind.build(set.service(0)).unwrap();
        let operation = set.service(0).find_operation("Get").unwrap();
        let error = operation.find_error("NoSuchKey").unwrap();
        let details =
            Map::from_iter([("message", "no & such"), ("key", "k"), ("Resource", "/b/k")]);
        let fault = Fault::modelled(error.id(), details.clone());
        let answer = protocol.encode_fault(Some(operation), &fault);
        assert_eq!(answer.status(), 404);
        assert_eq!(answer.headers()["x-key"], "k");
        let (head, body) = answer.into_parts();
        let body = Body::new(body);
        let outcome = protocol.outcome(operation, &head, &body, &Limits::DEFAULT);
        assert_eq!(shown(&outcome.unwrap()), "NoSuchKey", "{kind}");
        let mut read = Map::new();
        protocol
            .decode_error(error, &head, &body, &Limits::DEFAULT, &mut read)
            .unwrap();
        let mut members: Vec<_> = read.iter().collect();
        members.sort_by_key(|(name, _)| *name);
        let mut expected: Vec<_> = details.iter().collect();
        expected.sort_by_key(|(name, _)| *name);
        assert_eq!(members, expected, "{kind}");
    }
}

/// The trait of errors without a wrapper enables the request id header of S3.
#[test]
fn ids_of_s3() {
    const S3: &str = "restXml(noErrorWrapping: true)";
    for (as_trait, header) in [(S3, Some("i-1")), ("restXml", None)] {
        let model = MODEL.replace(S3, as_trait);
        let assembled = Loader::new().add_text("store.smithy", model).assemble();
        let model = assembled.unwrap().model;
        let set = model.schemas("test.store#Store").unwrap().unwrap();
        let mut response = Response::new(Bytes::new());
        xml(&set).add_request_id(&mut response, "i-1");
        let header_of = |name: &str| {
            let value = response.headers().get(name);
            value.map(|value| value.to_str().unwrap().to_owned())
        };
        assert_eq!(header_of("x-amzn-requestid").as_deref(), Some("i-1"));
        assert_eq!(header_of("x-amz-request-id").as_deref(), header);
    }
}

/// The body of a restXml error contains its name, so a payload would be lost. Such a model is
/// rejected on both sides.
#[test]
fn payloads_of_errors() {
    const MODEL: &str = r#"
$version: "2"
namespace test.payload

@aws.protocols#restJson1
@aws.protocols#restXml
service Pages { operations: [Read] }

@readonly
@http(method: "GET", uri: "/")
operation Read { errors: [Gone] }

@error("client")
@httpError(410)
structure Gone {
    @httpHeader("x-since") since: String
    @httpPayload page: Page
}

structure Page { title: String }
"#;
    let assembled = Loader::new().add_text("pages.smithy", MODEL).assemble();
    let model = assembled.unwrap().model;
    let set = model.schemas("test.payload#Pages").unwrap().unwrap();
    let service = set.service(0);
    assert_eq!(
        ProtocolKind::RestXml
            .build(service)
            .unwrap_err()
            .to_string(),
        "Read: restXml does not support @httpPayload on the member `page` of the error \
         test.payload#Gone, because the body of an error contains its name; remove the trait to \
         write the member into that body"
    );
    // restJson1 names errors in a header.
    let protocol = ProtocolKind::RestJson1.build(service).unwrap();
    let read = service.find_operation("Read").unwrap();
    let gone = read.find_error("Gone").unwrap();
    let page = Value::Map(Map::from_iter([("title", "t")]));
    let details = Map::from_iter([("since", Value::from("2026")), ("page", page)]);
    let fault = Fault::modelled(gone.id(), details.clone());
    let (head, body) = protocol.encode_fault(Some(read), &fault).into_parts();
    assert_eq!(body, r#"{"title":"t"}"#);
    for (name, value) in [
        ("x-amzn-errortype", "Gone"),
        ("x-since", "2026"),
        ("content-type", "application/json"),
    ] {
        assert_eq!(head.headers[name], value);
    }
    let mut found = Map::new();
    let body = Body::new(body);
    let decoded = protocol.decode_error(gone, &head, &body, &Limits::DEFAULT, &mut found);
    decoded.unwrap();
    assert_eq!(found, details);
}

#[test]
fn error_formats_of_peers() {
    // With and without an element around the error, and in any order.
    for body in [
        "<Error><Code>NoSuchKey</Code><Message>m</Message></Error>",
        "<?xml version=\"1.0\"?>\n<Error>\n<RequestId>7</RequestId><Code>NoSuchKey</Code></Error>",
        "<ErrorResponse xmlns=\"x\"><RequestId/><Error><Code>NoSuchKey</Code></Error></ErrorResponse>",
    ] {
        assert_eq!(outcome("Get", response(404, body)), "NoSuchKey", "{body}");
    }
    let body = "<Error><Code>SlowDown</Code><Message>Please.</Message></Error>";
    assert_eq!(
        outcome("Get", response(503, body)),
        "fault SlowDown: Please."
    );
    // A response to HEAD has no body.
    assert_eq!(outcome("Head", response(404, "")), "NotFound");
    assert_eq!(
        outcome("Head", response(403, "")),
        "fault Forbidden: Forbidden"
    );
    // Not of this protocol.
    assert_eq!(outcome("Get", response(502, "")), "foreign");
    assert_eq!(
        outcome("Get", response(404, "<html><p>no</html>")),
        "foreign"
    );
    assert_eq!(
        outcome("Get", response(500, "<Error><Message/></Error>")),
        "foreign"
    );
    assert_eq!(outcome("Get", response(500, "{}")), "foreign");
}

/// S3 sends the head of some responses before the operation has ended.
#[test]
fn an_error_with_the_status_of_an_output() {
    let error = "<?xml version=\"1.0\"?>\n   <Error><Code>InternalError</Code></Error>";
    let found = outcome("Copy", response(200, error));
    assert!(found.starts_with("fault InternalError"), "{found}");
    let copied = "<CopyOutput><copied>2026-01-01T00:00:00Z</copied></CopyOutput>";
    assert_eq!(outcome("Copy", response(200, copied)), "output");
    // An object can be any document.
    assert_eq!(outcome("Get", response(200, error)), "output");
}

#[test]
fn what_restjson1_reads_of_errors() {
    let set = set();
    let protocol = ProtocolKind::RestJson1.build(set.service(0)).unwrap();
    let operation = set.service(0).find_operation("Get").unwrap();
    let outcome = |header: Option<&str>, body: &str| {
        let mut builder = Response::builder().status(404);
        builder = builder.header("content-type", "application/json");
        if let Some(header) = header {
            builder = builder.header("x-amzn-errortype", header);
        }
        let (head, body) = builder.body(body).unwrap().into_parts();
        let body = Body::from(body.to_owned());
        let outcome = protocol.outcome(operation, &head, &body, &Limits::DEFAULT);
        shown(&outcome.unwrap())
    };
    for name in [
        "NoSuchKey",
        "test.store#NoSuchKey",
        "NoSuchKey:http://store.example.com/",
        "test.store#NoSuchKey:http://store.example.com/",
    ] {
        assert_eq!(outcome(Some(name), ""), "NoSuchKey", "{name}");
        for key in ["__type", "code"] {
            let body = format!("{{\"{key}\":\"{name}\"}}");
            assert_eq!(outcome(None, &body), "NoSuchKey", "{body}");
        }
    }
    // The header comes before the body.
    assert_eq!(
        outcome(Some("NotFound"), "{\"__type\":\"NoSuchKey\"}"),
        "NotFound"
    );
    assert_eq!(outcome(None, "{\"message\":\"m\"}"), "fault HTTP 404: m");
}

#[test]
fn claims() {
    let set = set();
    let both: Vec<_> = [ProtocolKind::RestJson1, ProtocolKind::RestXml]
        .map(|kind| kind.build(set.service(0)).unwrap())
        .into();
    let claimed = |media_type: &str| {
        let request = Request::post("/notes").header("content-type", media_type);
        let (head, ()) = request.body(()).unwrap().into_parts();
        let position = detect(&both, &head).unwrap();
        (
            both[position].kind(),
            both[position].claim(&HeadSummary::new(&head)),
        )
    };
    assert_eq!(
        claimed("application/json"),
        (ProtocolKind::RestJson1, Claim::Weak)
    );
    assert_eq!(
        claimed("application/xml"),
        (ProtocolKind::RestXml, Claim::Weak)
    );
    assert_eq!(
        claimed("text/xml;charset=utf-8"),
        (ProtocolKind::RestXml, Claim::Weak)
    );
    // The first protocol with a fallback claim handles the request.
    assert_eq!(
        claimed("image/png"),
        (ProtocolKind::RestJson1, Claim::Fallback)
    );
}

#[test]
fn text_that_is_invalid_in_xml_is_a_server_error() {
    let set = set();
    let protocol = xml(&set);
    let fault = Fault::new(FaultKind::Overloaded, "\u{1}");
    let answer: Response<Bytes> = protocol.encode_fault(None, &fault);
    assert_eq!(answer.status(), 503);
    assert!(
        answer
            .body()
            .starts_with(b"<Error><Type>Receiver</Type><Code>ServiceUnavailable")
    );
}
