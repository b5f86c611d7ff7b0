//! Named methods over RPC v2 CBOR.

use bytes::Bytes;
use ciborium::Value as Other;
use http::{Method, Request, StatusCode};
use polywire_codec::cbor;
use polywire_protocol::{Fault, FaultKind, ProtocolKind};
use polywire_rpc::{Context, Methods, Server};
use polywire_schema::{Map, Value};
use serde::{Deserialize, Serialize};

use crate::support::{call_cbor, send, serve};

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct City {
    name: String,
    population: Option<u32>,
}

fn server() -> Server {
    let methods = Methods::new()
        .method("sample.add", |(a, b): (i32, i32)| async move { a + b })
        .method("grow", |(mut city,): (City,)| async move {
            city.population = city.population.map(|count| count + 1);
            city
        })
        .method("fail", |(code,): (i64,)| async move {
            Err::<(), _>(Fault::coded(code, "as you wish"))
        })
        .method("break", |(): ()| async move {
            Err::<(), _>(Fault::internal("the password is 1234"))
        })
        .method("wire", |(): (), context: Context| async move {
            context.protocol() == ProtocolKind::RpcV2Cbor
        })
        .method("late", |(): ()| async move {
            Err::<(), _>(Fault::new(FaultKind::DeadlineExceeded, "too late"))
        })
        .values("echo", |parameters, _| async move {
            Ok(Value::List(parameters))
        })
        .cbor("Sample");
    serve(methods)
}

#[tokio::test]
async fn results_are_cbor_values() {
    let server = server();
    let (status, sum) = call_cbor(&server, "sample.add", &(2, 3)).await;
    assert_eq!((status, sum), (StatusCode::OK, Value::from(5)));
    let oslo = City {
        name: "Oslo".to_owned(),
        population: Some(717_709),
    };
    let (_, grown) = call_cbor(&server, "grow", &(oslo,)).await;
    assert_eq!(grown["population"].as_i64(), Some(717_710));
    let (_, wire) = call_cbor(&server, "wire", &Vec::<u8>::new()).await;
    assert_eq!(wire, Value::from(true));
}

#[tokio::test]
async fn calls_of_another_library_are_read() {
    let server = server();
    let mut body = Vec::new();
    let city = Other::Map(vec![
        ("population".into(), 1.into()),
        ("name".into(), "Bo".into()),
    ]);
    ciborium::into_writer(&Other::Array(vec![city]), &mut body).unwrap();
    let request = Request::post("/prefix/service/Sample/operation/grow")
        .header("smithy-protocol", "rpc-v2-cbor")
        .header("content-type", "application/cbor")
        .body(Bytes::from(body))
        .unwrap();
    let (status, answer) = send(&server, request).await;
    assert_eq!(status, StatusCode::OK);
    let read: City = ciborium::from_reader(&answer[..]).unwrap();
    assert_eq!((&*read.name, read.population), ("Bo", Some(2)));
}

#[tokio::test]
async fn values_keep_their_types() {
    let server = server();
    let timestamp = "2026-11-22T20:00:00.5Z".parse().unwrap();
    let parameters = Value::List(vec![
        Value::Blob(vec![0, 255].into()),
        Value::Timestamp(timestamp),
        Value::from(Map::from_iter([("null", Value::Null)])),
        Value::Double(0.1),
    ]);
    let body = cbor::write_value(&parameters).unwrap();
    let (status, answer) = send(&server, post("echo", body)).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(cbor::read_value(&answer).unwrap(), parameters);
}

fn post(method: &str, body: Vec<u8>) -> Request<Bytes> {
    Request::post(format!("/service/Sample/operation/{method}"))
        .header("smithy-protocol", "rpc-v2-cbor")
        .body(Bytes::from(body))
        .unwrap()
}

#[tokio::test]
async fn faults_have_a_type_a_code_and_a_message() {
    let server = server();
    let none = Vec::<u8>::new();
    for (method, body, status, kind, code, message) in [
        (
            "fail",
            cbor::to_vec(&(7,)),
            400,
            "ApplicationError",
            7,
            "as you wish",
        ),
        (
            "break",
            cbor::to_vec(&none),
            500,
            "InternalFailureException",
            -32603,
            "an internal error occurred",
        ),
        (
            "late",
            cbor::to_vec(&none),
            500,
            "DeadlineExceededException",
            -32400,
            "too late",
        ),
        (
            "nobody",
            cbor::to_vec(&none),
            400,
            "UnknownOperationException",
            -32601,
            "no method `nobody`",
        ),
        (
            "sample.add",
            cbor::to_vec(&(1, "x")),
            400,
            "SerializationException",
            -32602,
            "parameter 2: wrong type: expected an integer of 32 bits, found `x`, at byte 2, in [1]",
        ),
        (
            "sample.add",
            cbor::to_vec(&(1,)),
            400,
            "ValidationException",
            -32602,
            "missing: expected 2 parameters, found 1 parameter, at byte 2",
        ),
        (
            "sample.add",
            Ok(vec![0x82, 1]),
            400,
            "SerializationException",
            -32700,
            "parameter 2: ends too early",
        ),
    ] {
        let (found, fault) = send(&server, post(method, body.unwrap())).await;
        let fault = cbor::read_value(&fault).unwrap();
        assert_eq!(found.as_u16(), status, "{method} {fault:?}");
        assert_eq!(fault["__type"].as_str(), Some(kind), "{fault:?}");
        assert_eq!(fault["code"].as_i64(), Some(code), "{fault:?}");
        let text = fault["message"].as_str().unwrap();
        assert!(text.starts_with(message), "{text}");
    }
}

#[tokio::test]
async fn other_requests_are_not_found() {
    let server = server();
    // A request with another `smithy-protocol` or another service is not found.
    for (service, mark) in [("Sample", "rpc-v2-json"), ("Other", "rpc-v2-cbor")] {
        let request = Request::post(format!("/service/{service}/operation/wire"))
            .header("smithy-protocol", mark)
            .body(Bytes::from_static(&[0x80]))
            .unwrap();
        assert_eq!(send(&server, request).await.0, StatusCode::NOT_FOUND);
    }
    let mut request = post("wire", vec![0x80]);
    *request.method_mut() = Method::GET;
    assert_eq!(
        send(&server, request).await.0,
        StatusCode::METHOD_NOT_ALLOWED
    );
    // An empty body is a call without parameters.
    assert_eq!(
        send(&server, post("wire", Vec::new())).await.0,
        StatusCode::OK
    );
    // The method name in the path may be percent-encoded.
    let escaped = send(&server, post("sample%2Eadd", vec![0x82, 1, 2])).await;
    assert_eq!(escaped.1, [3_u8][..]);
}
