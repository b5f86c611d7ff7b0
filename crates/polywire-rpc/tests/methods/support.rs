//! Servers with named methods, and calls to them through the tower service, without a socket.

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use polywire_codec::xmlrpc;
use polywire_rpc::methods::Methods;
use polywire_rpc::{Server, ServerBuilder};
use polywire_schema::{Limits, Value};
use tower::ServiceExt;

/// Builds a server with these methods.
pub(crate) fn serve(methods: Methods) -> Server {
    build(Server::methods(methods))
}

pub(crate) fn build(builder: ServerBuilder) -> Server {
    match builder.build() {
        Ok(server) => server,
        Err(error) => panic!("{error}"),
    }
}

/// Sends a request. Returns the status and the body of the response.
pub(crate) async fn send(server: &Server, request: Request<Bytes>) -> (StatusCode, Bytes) {
    let response = server
        .clone()
        .oneshot(request.map(Full::new))
        .await
        .unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, body)
}

/// Posts an XML-RPC call and returns the body of the response.
pub(crate) async fn post(server: &Server, path: &str, body: impl Into<Bytes>) -> String {
    let request = Request::post(path).header("content-type", "text/xml");
    let (status, body) = send(server, request.body(body.into()).unwrap()).await;
    let text = String::from_utf8(body.to_vec()).unwrap();
    // Faults have status 200. Overload faults have status 503, so that proxies see them.
    let answered = status == StatusCode::OK || status == StatusCode::SERVICE_UNAVAILABLE;
    assert!(answered, "{status}: {text}");
    text
}

/// A fault: its code and its text.
pub(crate) type FaultPair = (i64, String);

pub(crate) fn read(answer: &str) -> Result<Value, FaultPair> {
    match xmlrpc::read_response(answer, &Limits::DEFAULT) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(fault)) => Err(fault_pair(&fault)),
        Err(error) => panic!("{error} in {answer}"),
    }
}

/// The code and the text of a fault struct.
pub(crate) fn fault_pair(fault: &Value) -> FaultPair {
    let text = fault["faultString"].as_str().unwrap().to_owned();
    (fault["faultCode"].as_i64().unwrap(), text)
}

/// Calls a method over XML-RPC.
pub(crate) async fn call(
    server: &Server,
    method: &str,
    parameters: &[Value],
) -> Result<Value, FaultPair> {
    let body = xmlrpc::write_call(method, parameters).unwrap();
    read(&post(server, "/RPC2", body).await)
}

/// Calls a method over CBOR. The server must offer its methods as the service `Sample`.
pub(crate) async fn call_cbor<T: serde::Serialize>(
    server: &Server,
    method: &str,
    parameters: &T,
) -> (StatusCode, Value) {
    let body = polywire_codec::cbor::to_vec(parameters).unwrap();
    let request = Request::post(format!("/service/Sample/operation/{method}"))
        .header("smithy-protocol", "rpc-v2-cbor")
        .body(Bytes::from(body))
        .unwrap();
    let (status, body) = send(server, request).await;
    (status, polywire_codec::cbor::read_value(&body).unwrap())
}
