//! Pages with bodies, and handlers that end their connection.

use bytes::Bytes;
use http::{Request, Response};
use polywire_protocol::ProtocolKind::RestJson1;
use polywire_protocol::{Fault, ProtocolKind};
use polywire_rpc::auth::BearerAuth;
use polywire_rpc::layers::CrossOrigin;
use polywire_rpc::server::ConnectionFault;
use polywire_rpc::{Client, dynamic};
use polywire_schema::{Limits, Map, Value};
use tokio::io::AsyncReadExt;

use crate::support::{Caller, Site, builder, call_of, request, service};

const ADD: &str = r#"{"left":1,"right":2}"#;

/// Returns the method and the body.
fn echo(request: &Request<Bytes>) -> Response<Bytes> {
    let text = String::from_utf8_lossy(request.body());
    Response::new(format!("{} {text}", request.method()).into())
}

#[tokio::test]
async fn pages_receive_bodies() {
    let limits = Limits::DEFAULT.with_bytes(100_000);
    let site = Site::start(builder().limits(limits).pages(echo)).await;
    let mut socket = site.open().await;
    socket.write(request("PUT /_polywire/a", &[], "text")).await;
    assert_eq!(socket.reply().await.text(), "PUT text");
    socket.write(request("GET /_polywire/a", &[], "")).await;
    assert_eq!(socket.reply().await.text(), "GET ");
    let chunked = "POST /_polywire/a HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n\
        3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    socket.write(chunked).await;
    assert_eq!(socket.reply().await.text(), "POST abcde");
    let large = "x".repeat(100_001);
    socket.write(request("PUT /_polywire/a", &[], large)).await;
    let reply = socket.reply().await;
    assert_eq!(reply.status, 413);
    assert!(reply.text().contains("100000 bytes"), "{}", reply.text());
}

/// Bodies of callers that may not see the page are not read.
#[tokio::test]
async fn pages_with_bodies_are_protected() {
    let auth = BearerAuth::tokens([("ada", "secret")]).danger_without_tls();
    let site = Site::start(builder().authenticate(auth).pages(echo)).await;
    let reply = site.send(request("PUT /_polywire/a", &[], "text")).await;
    assert_eq!(reply.status, 401);

    let site = Site::start(builder().cross_origin(CrossOrigin::new()).pages(echo)).await;
    let foreign = [("origin", "https://other.example")];
    for (method, status) in [("PUT", 403), ("POST", 403), ("DELETE", 403), ("GET", 200)] {
        let line = format!("{method} /_polywire/a");
        let reply = site.send(request(&line, &foreign, "")).await;
        assert_eq!(reply.status, status, "{method}");
    }
}

#[tokio::test]
async fn handlers_end_their_connection() {
    let handler = dynamic(|input: Map, _| async move {
        let fault = match input.get("left").and_then(Value::as_i64) {
            Some(1) => ConnectionFault::Close,
            _ => ConnectionFault::Reset,
        };
        Err::<Map, _>(Fault::internal(fault))
    });
    let site = Site::start(builder().operation("Add", handler).frames(true)).await;
    let mut socket = site.open().await;
    socket.write(call_of(RestJson1, "/add", "Add", ADD)).await;
    assert!(socket.try_reply().await.is_none(), "no response");
    let mut stream = tokio::net::TcpStream::connect(site.address())
        .await
        .unwrap();
    let reset = call_of(RestJson1, "/add", "Add", r#"{"left":2,"right":2}"#);
    tokio::io::AsyncWriteExt::write_all(&mut stream, &reset)
        .await
        .unwrap();
    let error = stream.read_u8().await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);

    // Over HTTP/2 only the stream ends.
    let client = site.client_with(RestJson1, |builder| builder.http2(true));
    let error = client.call("Add", ADD).await.unwrap_err();
    assert!(error.fault().is_none(), "{error}");
    let fault = client.fault("Fail", r#"{"how":"not there"}"#).await;
    assert_eq!(fault.shape(), "example.wire#NotThere");

    // Over frames the caller gets a fault.
    let url = format!("tcp://{}", site.address());
    let client = Client::builder(service(), ProtocolKind::Frame)
        .connect(&url)
        .unwrap();
    let fault = Caller(client).fault("Add", ADD).await;
    assert_eq!(fault.message(), "an internal error occurred");
}
