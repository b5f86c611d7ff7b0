//! The query protocols: cases that the official suites do not cover.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use http::{Method, StatusCode};
use polywire_codec::Dynamic;
use polywire_model::Loader;
use polywire_protocol::{
    AwsQuery, Claim, Ec2Query, Fault, FaultKind, HeadSummary, Outcome, Plan, Protocol,
    ProtocolKind, ReadPlan, ServerProtocol,
};
use polywire_schema::{Body, Limits, Map, SchemaSet, Value};

const MODEL: &str = r#"
$version: "2"
namespace test.query

use aws.protocols#awsQuery
use aws.protocols#awsQueryError
use aws.protocols#ec2Query

@awsQuery
@ec2Query
@xmlNamespace(uri: "http://example.com/")
service Shop {
    version: "2026-11-22"
    operations: [Put, Ping]
}

operation Put {
    input := {
        @required
        Name: String
        Tags: Tags
    }
    output := {
        Id: String
    }
    errors: [Full]
}

operation Ping {}

list Tags {
    member: String
}

@error("client")
@httpError(409)
@awsQueryError(code: "ShopFull", httpResponseCode: 410)
structure Full {
    message: String
    Left: Integer
}
"#;

const FORM: &str = "application/x-www-form-urlencoded";

fn set() -> Arc<SchemaSet<'static>> {
    let mut loader = Loader::new();
    loader.add_text("query.smithy", MODEL);
    let model = loader.assemble().unwrap().model;
    Arc::new(model.schemas("test.query#Shop").unwrap().unwrap())
}

fn head(method: Method, uri: &str, content_type: &str) -> http::request::Parts {
    let mut builder = http::Request::builder().method(method).uri(uri);
    if !content_type.is_empty() {
        builder = builder.header("content-type", content_type);
    }
    builder.body(()).unwrap().into_parts().0
}

/// The operation and the input that a server decodes from a request.
fn serve(
    set: &SchemaSet<'static>,
    protocol: &dyn Protocol,
    head: &http::request::Parts,
    body: &str,
) -> Result<(String, Map), Fault> {
    let body = Body::from(body.as_bytes().to_vec());
    let limits = &Limits::DEFAULT;
    let route = match protocol.route(head)? {
        Plan::Buffer(route) => route,
        _ => protocol.route_body(head, &body, limits)?,
    };
    let mut operations = set.service(0).operations();
    let operation = operations
        .find(|own| own.index() == route.operation)
        .unwrap();
    let plan = ReadPlan {
        head,
        body: &body,
        route: &route,
        limits,
        memory: None,
    };
    let mut input = Map::new();
    protocol.decode_input(operation, &plan, &mut input)?;
    Ok((operation.name().to_owned(), input))
}

fn text(response: &http::Response<bytes::Bytes>) -> String {
    String::from_utf8(response.body().to_vec()).unwrap()
}

#[test]
fn claims() {
    let set = set();
    for kind in [ProtocolKind::AwsQuery, ProtocolKind::Ec2Query] {
        let protocol = kind.build(set.service(0)).unwrap();
        for (method, uri, content_type, claim) in [
            (Method::POST, "/", FORM, Claim::Weak),
            (
                Method::POST,
                "/any/path",
                "Application/X-WWW-Form-Urlencoded; charset=utf-8",
                Claim::Fallback,
            ),
            (Method::GET, "/?Action=Ping", "", Claim::Weak),
            (Method::POST, "/?Version=1&Action=Ping", "", Claim::Weak),
            (Method::GET, "/", FORM, Claim::No),
            (Method::POST, "/", "application/json", Claim::No),
            (Method::GET, "/?action=Ping", "", Claim::No),
            (Method::PUT, "/?Action=Ping", "", Claim::No),
        ] {
            let head = head(method, uri, content_type);
            assert_eq!(protocol.claim(&HeadSummary::new(&head)), claim, "{head:?}");
        }
    }
}

#[test]
fn forms_in_the_body_and_in_the_query() {
    let set = set();
    let aws = AwsQuery::new(set.service(0)).unwrap();
    let post = head(Method::POST, "/", FORM);
    for body in [
        "Action=Put&Version=2026-11-22&Name=a+b&Tags.member.1=x",
        "Tags.member.1=x&Name=a%20b&Action=Put",
        "Name=a%20b&Action=Put&Tags.member.1=x&Version=1999-12-31&AWSAccessKeyId=k",
    ] {
        let (operation, input) = serve(&set, &aws, &post, body).unwrap();
        assert_eq!(operation, "Put");
        assert_eq!(input.get("Name").and_then(Value::as_str), Some("a b"));
        assert_eq!(input.get("Tags").unwrap()[0].as_str(), Some("x"));
    }
    let get = head(Method::GET, "/?Action=Put&Name=n&Tags.member.1=x", "");
    let (_, input) = serve(&set, &aws, &get, "").unwrap();
    assert_eq!(input.get("Name").and_then(Value::as_str), Some("n"));
    let fault = serve(&set, &aws, &get, "Name=other").unwrap_err();
    assert_eq!(fault.kind(), FaultKind::Malformed);
    let ec2 = Ec2Query::new(set.service(0)).unwrap();
    let (_, input) = serve(&set, &ec2, &post, "Action=Put&Name=n&Tags.1=x").unwrap();
    assert_eq!(input.get("Tags").unwrap()[0].as_str(), Some("x"));
}

#[test]
fn rejected_requests() {
    let set = set();
    let aws = AwsQuery::new(set.service(0)).unwrap();
    let ec2 = Ec2Query::new(set.service(0)).unwrap();
    let post = || head(Method::POST, "/", FORM);
    for (head, body, status, code) in [
        (post(), "Version=1", 400, "MissingAction"),
        (post(), "", 400, "MissingAction"),
        (post(), "Action=Steal", 400, "InvalidAction"),
        (post(), "Action=Put", 400, "MissingParameter"),
        (
            post(),
            "Action=Put&Name=n&Action=Ping",
            400,
            "InvalidParameterValue",
        ),
        (post(), "Action=Put&Name=%ff", 400, "MalformedQueryString"),
        (
            post(),
            "Action=Put&Name=n&Tags.x=1",
            400,
            "InvalidParameterValue",
        ),
        (
            head(Method::POST, "/", "text/plain"),
            "Action=Ping",
            415,
            "UnsupportedMediaType",
        ),
        (head(Method::GET, "/", ""), "", 405, "MethodNotAllowed"),
        (
            head(Method::GET, "/?Action=Steal", ""),
            "",
            400,
            "InvalidAction",
        ),
    ] {
        let fault = serve(&set, &aws, &head, body).unwrap_err();
        let response = aws.encode_fault(None, &fault);
        assert_eq!(response.status(), status, "{body}: {fault}");
        assert_eq!(response.headers()["content-type"], "text/xml");
        let found = text(&response);
        let start =
            format!("<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code><Message>");
        assert!(found.starts_with(&start), "{body}: {found}");
        let response = ec2.encode_fault(None, &fault);
        let start = format!("<Response><Errors><Error><Code>{code}</Code><Message>");
        assert!(text(&response).starts_with(&start), "{body}");
    }
    // A message that is not valid in XML does not break the response.
    let fault = Fault::new(FaultKind::Malformed, "\u{1}");
    assert!(text(&aws.encode_other(&fault)).contains("the request could not be read"));
    let fault = Fault::internal("a secret");
    let response = aws.encode_other(&fault);
    assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
    assert!(text(&response).contains("<Type>Receiver</Type><Code>InternalFailure</Code>"));
    assert!(!text(&response).contains("secret"));
}

/// A client decodes the errors that a server of the same protocol encodes.
#[test]
fn errors_round_trip() {
    let set = set();
    let service = set.service(0);
    let put = service.find_operation("Put").unwrap();
    let full = put.find_error("Full").unwrap();
    for kind in [ProtocolKind::AwsQuery, ProtocolKind::Ec2Query] {
        let protocol = kind.build(service).unwrap();
        let details = Map::from_iter([("message", Value::from("no room")), ("Left", 0.into())]);
        let response = protocol
            .encode_error(full, &Fault::modelled(full.id(), details.clone()))
            .unwrap();
        let (status, code) = match kind {
            ProtocolKind::AwsQuery => (410, "ShopFull"),
            _ => (409, "Full"),
        };
        assert_eq!(response.status(), status);
        let found = text(&response);
        assert!(found.contains(&format!("<Code>{code}</Code>")), "{found}");
        // Clients read the message from this element.
        assert!(found.contains("<Message>no room</Message>"), "{found}");
        let (head, body) = response.into_parts();
        let body = Body::new(body);
        let limits = &Limits::DEFAULT;
        match protocol.outcome(put, &head, &body, limits).unwrap() {
            Outcome::Error(error) => assert_eq!(error, full),
            other => panic!("{other:?}"),
        }
        let mut read = Map::new();
        protocol
            .decode_error(full, &head, &body, limits, &mut read)
            .unwrap();
        assert_eq!(read, details);
        // An error that the model does not define.
        let response = protocol.encode_other(&Fault::new(FaultKind::Overloaded, "later"));
        let (head, body) = response.into_parts();
        match protocol
            .outcome(put, &head, &Body::new(body), limits)
            .unwrap()
        {
            Outcome::Fault(fault) => {
                assert_eq!(fault.kind(), FaultKind::Overloaded);
                assert_eq!(
                    (fault.name(), fault.message()),
                    ("ServiceUnavailable", "later")
                );
            }
            other => panic!("{other:?}"),
        }
        // Codes that AWS services do not send.
        let body = Body::from(b"<html>Bad gateway</html>".to_vec());
        let outcome = protocol.outcome(put, &head, &body, limits).unwrap();
        assert!(matches!(outcome, Outcome::Foreign(_)), "{outcome:?}");
    }
}

#[test]
fn request_ids() {
    let set = set();
    let service = set.service(0);
    let aws = AwsQuery::new(service).unwrap();
    let ec2 = Ec2Query::new(service).unwrap();
    let put = service.find_operation("Put").unwrap();
    let ping = service.find_operation("Ping").unwrap();
    let output = Value::Map(Map::from_iter([("Id", "1")]));
    let empty = Value::Map(Map::new());
    let write = |protocol: &dyn Protocol, operation, output| {
        let mut response = protocol.encode_output(operation, &Dynamic(output)).unwrap();
        protocol.add_request_id(&mut response, "id-7");
        assert_eq!(response.headers()["x-amzn-requestid"], "id-7");
        text(&response)
    };
    assert_eq!(
        write(&aws, put, &output),
        "<PutResponse xmlns=\"http://example.com/\"><PutResult><Id>1</Id></PutResult>\
         <ResponseMetadata><RequestId>id-7</RequestId></ResponseMetadata></PutResponse>",
    );
    assert_eq!(
        write(&aws, ping, &empty),
        "<PingResponse xmlns=\"http://example.com/\">\
         <ResponseMetadata><RequestId>id-7</RequestId></ResponseMetadata></PingResponse>",
    );
    assert_eq!(
        write(&ec2, put, &output),
        "<PutResponse xmlns=\"http://example.com/\"><Id>1</Id><requestId>id-7</requestId></PutResponse>",
    );
    let fault = Fault::new(FaultKind::Overloaded, "");
    let failed = |protocol: &dyn Protocol| {
        let mut response = protocol.encode_other(&fault);
        protocol.add_request_id(&mut response, "id-7");
        text(&response)
    };
    assert!(failed(&aws).ends_with("</Error><RequestId>id-7</RequestId></ErrorResponse>"));
    assert!(failed(&ec2).ends_with("</Errors><RequestID>id-7</RequestID></Response>"));
}

/// A member with the name of a field of the protocol.
#[test]
fn members_with_reserved_names() {
    let model = r#"
$version: "2"
namespace test.query
@aws.protocols#awsQuery
@xmlNamespace(uri: "https://example.com/")
service Shop { operations: [Put] }
operation Put { input := { @xmlName("Action") kind: String } }
"#;
    let mut loader = Loader::new();
    loader.add_text("query.smithy", model);
    let model = loader.assemble().unwrap().model;
    let set = model.schemas("test.query#Shop").unwrap().unwrap();
    let error = AwsQuery::new(set.service(0)).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("Put: a member of its input has the name `Action`"),
        "{error}"
    );
}
