//! Modelled errors and internal errors: the replies on each wire, and the faults that the client
//! reads.

use polywire_codec::xmlrpc;
use polywire_protocol::FaultKind;
use polywire_protocol::ProtocolKind::{RestJson1, RpcV2Cbor, XmlRpc};
use polywire_schema::{Limits, Map, Value};

use crate::support::{SECRET, Site, WIRES, call_of};

const NOT_THERE: &str = r#"{"how":"not there"}"#;

#[tokio::test]
async fn clients_read_modelled_errors() {
    let site = Site::plain().await;
    for kind in WIRES {
        let client = site.client(kind);
        let fault = client.fault("Fail", NOT_THERE).await;
        assert_eq!(fault.kind(), FaultKind::Modelled, "{kind}");
        assert_eq!(fault.shape(), "example.wire#NotThere", "{kind}");
        assert_eq!(fault.name(), "NotThere");
        // An XML-RPC fault has no HTTP status, so the client uses 500.
        let status = if kind == XmlRpc { 500 } else { 404 };
        assert_eq!(fault.status(), status, "{kind}");
        assert_eq!(fault.message(), "there is no such thing", "{kind}");
        let details = Map::from_iter([
            ("message", Value::from("there is no such thing")),
            ("kind", Value::from("city")),
            ("count", Value::from(3)),
        ]);
        assert_eq!(*fault.details(), details, "{kind}");

        // `Busy` is an error of the service. One of its members is a header in restJson1.
        let fault = client.fault("Fail", r#"{"how":"busy"}"#).await;
        assert_eq!(fault.shape(), "example.wire#Busy", "{kind}");
        assert_eq!(
            fault.details().get("retryAfter").and_then(Value::as_i64),
            Some(30)
        );

        let fault = client.fault("Fail", r#"{"how":"no details"}"#).await;
        assert_eq!(fault.shape(), "example.wire#NotThere", "{kind}");
        assert!(fault.details().is_empty(), "{kind}");
    }
}

#[tokio::test]
async fn modelled_errors_in_json() {
    let site = Site::plain().await;
    let reply = site
        .send(call_of(RestJson1, "/fail", "Fail", NOT_THERE))
        .await;
    assert_eq!(reply.status, 404);
    assert_eq!(reply.header("x-amzn-errortype"), Some("NotThere"));
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(
        reply.text(),
        r#"{"message":"there is no such thing","what-kind":"city","count":3}"#
    );
    let reply = site
        .send(call_of(RestJson1, "/fail", "Fail", r#"{"how":"busy"}"#))
        .await;
    assert_eq!(reply.status, 503);
    assert_eq!(reply.header("retry-after"), Some("30"));
    assert_eq!(reply.text(), r#"{"message":"later"}"#);
}

#[tokio::test]
async fn modelled_errors_in_cbor() {
    let site = Site::plain().await;
    let reply = site.send(call_of(RpcV2Cbor, "", "Fail", NOT_THERE)).await;
    assert_eq!(reply.status, 404);
    assert_eq!(reply.header("smithy-protocol"), Some("rpc-v2-cbor"));
    let body = polywire_codec::cbor::read_value(&reply.body).unwrap();
    let expected = Map::from_iter([
        ("__type", Value::from("example.wire#NotThere")),
        ("message", Value::from("there is no such thing")),
        ("kind", Value::from("city")),
        ("count", Value::from(3)),
    ]);
    assert_eq!(body, Value::from(expected));
    let reply = site
        .send(call_of(RpcV2Cbor, "", "Fail", r#"{"how":"busy"}"#))
        .await;
    assert_eq!(reply.status, 503);
    assert_eq!(reply.header("retry-after"), None);
}

/// An XML-RPC fault has two members. The request header `Polywire-Fault-Detail: yes` adds a third
/// member, `detail`.
#[tokio::test]
async fn modelled_errors_in_xmlrpc() {
    let site = Site::plain().await;
    let fault = async |value: Option<&str>| {
        let call = call_of(XmlRpc, "", "Fail", NOT_THERE);
        let call = match value {
            None => call,
            Some(value) => {
                let header = format!("\r\nPolywire-Fault-Detail: {value}\r\n\r\n");
                let call = String::from_utf8(call).unwrap();
                call.replacen("\r\n\r\n", &header, 1).into_bytes()
            }
        };
        let reply = site.send(call).await;
        assert_eq!(reply.status, 200);
        let read = xmlrpc::read_response(reply.text(), &Limits::DEFAULT);
        read.unwrap().unwrap_err()
    };
    let plain = Map::from_iter([
        ("faultCode", Value::from(404)),
        (
            "faultString",
            Value::from("NotThere: there is no such thing"),
        ),
    ]);
    assert_eq!(fault(None).await, Value::Map(plain.clone()));
    assert_eq!(fault(Some("no")).await, Value::Map(plain));
    let fault = fault(Some("yes")).await;
    let detail = Map::from_iter([
        ("__type", Value::from("example.wire#NotThere")),
        ("message", Value::from("there is no such thing")),
        ("kind", Value::from("city")),
        ("count", Value::from(3)),
    ]);
    let expected = Map::from_iter([
        ("faultCode", Value::from(404)),
        (
            "faultString",
            Value::from("NotThere: there is no such thing"),
        ),
        ("detail", Value::from(detail)),
    ]);
    assert_eq!(fault, Value::from(expected));
}

#[tokio::test]
async fn faults_that_no_model_knows() {
    let site = Site::plain().await;
    let call = r#"{"how":"invalid"}"#;
    let invalid = |kind| call_of(kind, "/fail", "Fail", call);
    let json = site.send(invalid(RestJson1)).await.error(RestJson1);
    assert_eq!(
        json,
        (400, "ValidationException".into(), "not like this".into())
    );
    let cbor = site.send(invalid(RpcV2Cbor)).await.error(RpcV2Cbor);
    let name = "smithy.framework#ValidationException";
    assert_eq!(cbor, (400, name.into(), "not like this".into()));
    let xml = site.send(invalid(XmlRpc)).await.error(XmlRpc);
    assert_eq!(xml, (200, "-32602".into(), "not like this".into()));

    for kind in WIRES {
        let fault = site.client(kind).fault("Fail", call).await;
        assert_eq!(
            (fault.kind(), fault.message()),
            (FaultKind::Invalid, "not like this")
        );
    }
}

/// An internal error fails one call. The reply contains no details, and the connection and the
/// server stay usable.
#[tokio::test]
async fn internal_errors_have_no_details() {
    let site = Site::plain().await;
    for kind in WIRES {
        let client = site.client(kind);
        let mut socket = site.open().await;
        for how in [
            "internal",
            "panic",
            "late panic",
            "unknown shape",
            "wrong details",
            "wrong output",
        ] {
            let input = format!(r#"{{"how":"{how}"}}"#);
            let fault = client.fault("Fail", &input).await;
            assert_eq!(fault.kind(), FaultKind::Internal, "{how} over {kind}");
            assert_eq!(
                fault.message(),
                "an internal error occurred",
                "{how} over {kind}"
            );

            socket.write(call_of(kind, "/fail", "Fail", &input)).await;
            let reply = socket.reply().await;
            let status = if kind == XmlRpc { 200 } else { 500 };
            assert_eq!(reply.status, status, "{how} over {kind}");
            let body = String::from_utf8_lossy(&reply.body);
            assert!(!body.contains(SECRET), "{how} over {kind}: {body}");
            assert!(!body.contains("Surprise"), "{how} over {kind}: {body}");
        }
        let input = r#"{"how":"not at all"}"#;
        socket.write(call_of(kind, "/fail", "Fail", input)).await;
        assert_eq!(socket.reply().await.status, 200);
    }
    site.assert_still_serving().await;
}
