//! The RPC protocols: faults that are not modelled, responses of other servers, error codes of the
//! query protocol, and retries.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER};
use http::{Request, Response, StatusCode, request};
use polywire_model::Loader;
use polywire_protocol::{
    Claim, Fault, FaultKind, HeadSummary, Outcome, Protocol, ProtocolKind, Retry,
};
use polywire_schema::{Body, Limits, Map, SchemaSet, Value};

const KINDS: [ProtocolKind; 4] = [
    ProtocolKind::AwsJson1_0,
    ProtocolKind::AwsJson1_1,
    ProtocolKind::RpcV2Cbor,
    ProtocolKind::RpcV2Json,
];

const MODEL: &str = r#"
$version: "2"
namespace example
use aws.api#service
use aws.protocols#awsJson1_0
use aws.protocols#awsQueryCompatible
use aws.protocols#awsQueryError

@awsJson1_0
@awsQueryCompatible
@service(sdkId: "Queue")
service Queue { version: "1", operations: [Send] }

operation Send { input := { text: String }, output := { id: String }, errors: [Busy, Gone] }

@error("client") @retryable(throttling: true) @httpError(429)
@awsQueryError(code: "Queue.Busy", httpResponseCode: 400)
structure Busy { message: String }

@error("server")
structure Gone { message: String }
"#;

fn set() -> SchemaSet<'static> {
    let assembled = Loader::new().add_text("queue.smithy", MODEL).assemble();
    let model = assembled.unwrap_or_else(|error| panic!("{error}")).model;
    model.schemas("example#Queue").unwrap().unwrap()
}

fn each(test: impl Fn(&dyn Protocol, &SchemaSet<'static>)) {
    let set = set();
    for kind in KINDS {
        test(&*kind.build(set.service(0)).unwrap(), &set);
    }
}

/// The result of decoding a response on a client.
fn outcome<'s>(
    protocol: &dyn Protocol,
    set: &'s SchemaSet<'static>,
    response: &Response<Bytes>,
) -> Outcome<'s> {
    let (head, body) = response.clone().into_parts();
    let operation = set.operation(0);
    let body = Body::new(body);
    let outcome = protocol.outcome(operation, &head, &body, &Limits::DEFAULT);
    outcome.unwrap()
}

#[test]
fn faults_that_are_not_modelled() {
    each(|protocol, set| {
        let kind = protocol.kind();
        for fault in [
            FaultKind::Overloaded,
            FaultKind::Malformed,
            FaultKind::Internal,
        ] {
            let sent = Fault::new(fault, "such is life");
            let response = protocol.encode_other(&sent);
            assert_eq!(response.status(), fault.status(), "{kind}");
            match outcome(protocol, set, &response) {
                Outcome::Fault(read) => {
                    assert_eq!(
                        (read.kind(), read.message()),
                        (fault, "such is life"),
                        "{kind}"
                    );
                }
                other => panic!("{kind}: {other:?}"),
            }
        }
    });
}

#[test]
fn unknown_error_names_are_kept() {
    each(|protocol, set| {
        let known = protocol.encode_other(&Fault::new(FaultKind::Invalid, ""));
        // In the format of the protocol, with another name.
        let mut response = known.map(|_| Bytes::new());
        let name = "example#Strange:http://internal.example/";
        let headers = response.headers_mut();
        headers.insert("x-amzn-errortype", name.parse().unwrap());
        for (status, kind, retry) in [
            (400, FaultKind::Malformed, Retry::No),
            (429, FaultKind::Overloaded, Retry::Throttled),
            (500, FaultKind::Internal, Retry::Yes),
            (503, FaultKind::Overloaded, Retry::Yes),
        ] {
            *response.status_mut() = StatusCode::from_u16(status).unwrap();
            match outcome(protocol, set, &response) {
                Outcome::Fault(fault) => {
                    assert_eq!(fault.name(), "Strange", "{}", protocol.kind());
                    assert_eq!((fault.kind(), fault.retry()), (kind, retry), "{status}");
                }
                other => panic!("{other:?}"),
            }
        }
        let throttled = "ThrottlingException".parse().unwrap();
        response.headers_mut().insert("x-amzn-errortype", throttled);
        *response.status_mut() = StatusCode::BAD_REQUEST;
        assert!(matches!(
            outcome(protocol, set, &response),
            Outcome::Fault(fault) if fault.retry() == Retry::Throttled
        ));
    });
}

#[test]
fn responses_of_other_servers() {
    each(|protocol, set| {
        for (status, media_type) in [
            (502, "text/html"),
            (502, "application/json"),
            (404, "text/plain"),
        ] {
            let response = Response::builder()
                .status(status)
                .header(CONTENT_TYPE, media_type);
            let response = response.body(Bytes::from_static(b"<html>")).unwrap();
            match outcome(protocol, set, &response) {
                Outcome::Foreign(what) => {
                    assert!(what.contains(&status.to_string()), "{what}");
                    assert!(what.contains(protocol.kind().name()), "{what}");
                }
                other => panic!("{other:?}"),
            }
        }
    });
}

/// Clients of the query protocol read its error codes.
#[test]
fn codes_of_the_query_protocol() {
    each(|protocol, set| {
        let operation = set.operation(0);
        let busy = operation.find_error("Busy").unwrap();
        let details = Map::from_iter([("message", Value::from("later"))]);
        let fault = Fault::modelled(busy.id(), details.clone());
        let response = protocol.encode_error(busy, &fault).unwrap();
        assert_eq!(
            response.headers()["x-amzn-query-error"],
            "Queue.Busy;Sender"
        );
        assert_eq!(response.status(), 429);
        let fault = Fault::of_error(busy, details).with_head(response.headers());
        let error = fault.query_error().unwrap();
        assert_eq!((error.code.as_str(), error.sender), ("Queue.Busy", true));
        assert_eq!(fault.retry(), Retry::Throttled);
        // An error without a code has no header.
        let gone = operation.find_error("Gone").unwrap();
        let fault = Fault::modelled(gone.id(), Map::new());
        let response = protocol.encode_error(gone, &fault).unwrap();
        assert!(!response.headers().contains_key("x-amzn-query-error"));
        assert_eq!(Fault::of_error(gone, Map::new()).retry(), Retry::No);
        // Clients announce that they accept the header.
        let input = Value::Map(Map::new());
        let request = protocol.encode_input(operation, &polywire_codec::Dynamic(&input));
        assert_eq!(request.unwrap().headers()["x-amzn-query-mode"], "true");
    });
}

#[test]
fn retry_after() {
    each(|protocol, _| {
        let fault = Fault::new(FaultKind::Overloaded, "later");
        let fault = fault.with_retry_after(Duration::from_millis(1500));
        let response = protocol.encode_other(&fault);
        assert_eq!(response.headers()[RETRY_AFTER], "2");
        let read = Fault::new(FaultKind::Overloaded, "").with_head(response.headers());
        assert_eq!(read.retry_after(), Some(Duration::from_secs(2)));
    });
}

fn head(builder: request::Builder) -> request::Parts {
    builder.body(()).unwrap().into_parts().0
}

#[test]
fn targets_of_aws_json_requests() {
    let set = set();
    let protocol = ProtocolKind::AwsJson1_0.build(set.service(0)).unwrap();
    let with = |method: &str, target: &str| {
        let request = Request::builder().method(method).uri("/");
        let request = request.header(CONTENT_TYPE, "application/x-amz-json-1.0; charset=utf-8");
        head(request.header("x-amz-target", target))
    };
    // Clients of CloudTrail send a prefix that is not in its Smithy model.
    for target in ["Queue.Send", "com.amazonaws.queue.v20131101.Queue.Send"] {
        assert!(protocol.route(&with("POST", target)).is_ok(), "{target}");
    }
    for (target, says) in [
        ("Queue.Receive", "no operation Receive in service Queue"),
        ("Other.Send", "expected Queue.OPERATION"),
        ("Queue.Other.Send", "expected Queue.OPERATION"),
        ("MyQueue.Send", "expected Queue.OPERATION"),
        ("Send", "expected Queue.OPERATION"),
        ("", "expected Queue.OPERATION"),
    ] {
        let fault = protocol.route(&with("POST", target)).unwrap_err();
        assert_eq!(fault.kind(), FaultKind::UnknownOperation);
        assert!(fault.message().contains(says), "{fault}");
    }
    let fault = protocol.route(&with("GET", "Queue.Send")).unwrap_err();
    assert_eq!(fault.kind(), FaultKind::MethodNotAllowed);
    assert_eq!(protocol.encode_other(&fault).headers()[ALLOW], "POST");
    // The claim on a request of the other version is weak.
    let other = ProtocolKind::AwsJson1_1.build(set.service(0)).unwrap();
    let call = with("POST", "Queue.Send");
    assert_eq!(protocol.claim(&HeadSummary::new(&call)), Claim::Strong);
    assert_eq!(other.claim(&HeadSummary::new(&call)), Claim::Weak);
}

/// A proxy that filters by the header would see another operation than the one that runs.
#[test]
fn calls_of_rpc_v2_name_their_operation_once() {
    let set = set();
    for (kind, mark) in [
        (ProtocolKind::RpcV2Cbor, "rpc-v2-cbor"),
        (ProtocolKind::RpcV2Json, "rpc-v2-json"),
    ] {
        let protocol = kind.build(set.service(0)).unwrap();
        let call = || {
            let request = Request::post("/service/Queue/operation/Send");
            request.header("smithy-protocol", mark)
        };
        assert!(protocol.route(&head(call())).is_ok());
        for name in ["X-Amz-Target", "X-Amzn-Target"] {
            let call = head(call().header(name, "Queue.Other"));
            assert_eq!(protocol.claim(&HeadSummary::new(&call)), Claim::Strong);
            let fault = protocol.route(&call).unwrap_err();
            assert_eq!(fault.kind(), FaultKind::Malformed, "{fault}");
            assert_eq!(protocol.encode_other(&fault).status(), 400);
        }
    }
}

/// A server of rpcv2Cbor should accept the name of the service with its namespace, and one of
/// rpcv2Json must not:
/// <https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html#requests>,
/// <https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2-json.html#requests>.
#[test]
fn services_of_rpc_v2_with_their_namespace() {
    let set = set();
    for (kind, path, taken) in [
        (
            ProtocolKind::RpcV2Cbor,
            "/service/example.Queue/operation/Send",
            true,
        ),
        (
            ProtocolKind::RpcV2Cbor,
            "/v1/service/example.Queue/operation/Send",
            true,
        ),
        (
            ProtocolKind::RpcV2Cbor,
            "/service/other.Queue/operation/Send",
            false,
        ),
        (
            ProtocolKind::RpcV2Cbor,
            "/service/example.Queue/operation/example.Send",
            false,
        ),
        (
            ProtocolKind::RpcV2Json,
            "/v1/service/Queue/operation/Send",
            true,
        ),
        (
            ProtocolKind::RpcV2Json,
            "/service/example.Queue/operation/Send",
            false,
        ),
    ] {
        let protocol = kind.build(set.service(0)).unwrap();
        let routed = protocol.route(&head(Request::post(path)));
        assert_eq!(routed.is_ok(), taken, "{kind} {path}");
    }
}
