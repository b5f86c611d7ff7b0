//! SCGI: the same services and limits as over HTTP, with one request per connection.

use std::time::Duration;

use polywire_protocol::ProtocolKind::{self, XmlRpc};
use polywire_protocol::scgi::{self, Response, Variables};
use polywire_rpc::auth::BasicAuth;
use polywire_rpc::{Context, Timeouts, dynamic};
use polywire_schema::{Limits, Map};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use crate::support::{WIRES, builder, head_of, within};

const CREATE: &str = r#"{"name":"kettle"}"#;

fn block(variables: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in variables {
        block.extend_from_slice(format!("{name}\0{value}\0").as_bytes());
    }
    [format!("{}:", block.len()).as_bytes(), &block, b","].concat()
}

/// A call in the form in which a web server forwards it.
fn call_of(kind: ProtocolKind, path: &str, operation: &str, input: &str) -> Vec<u8> {
    let value = polywire_codec::json::read_value(input).unwrap();
    let body = match kind {
        ProtocolKind::RestJson1 => input.as_bytes().to_vec(),
        ProtocolKind::RpcV2Cbor => polywire_codec::cbor::write_value(&value).unwrap(),
        _ => polywire_codec::xmlrpc::write_call(operation, &[value]).unwrap(),
    };
    let (line, headers) = head_of(kind, path, operation);
    let (method, target) = line.split_once(' ').unwrap();
    let mut request = http::Request::builder().method(method).uri(target);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let (head, ()) = request.body(()).unwrap().into_parts();
    let mut bytes = Vec::new();
    scgi::write_request(&head, body.len() as u64, &mut bytes).unwrap();
    bytes.extend_from_slice(&body);
    bytes
}

/// The reply, read to the end of the connection; `None` if it is empty.
async fn reply<S: AsyncRead + Unpin>(stream: &mut S) -> Option<(Response, Vec<u8>)> {
    let mut bytes = Vec::new();
    within(stream.read_to_end(&mut bytes)).await.unwrap();
    if bytes.is_empty() {
        return None;
    }
    let response = scgi::ResponseReader::new(scgi::HEAD_LIMIT).feed(&bytes);
    let response = response.unwrap().unwrap();
    assert_eq!(response.length, Some(response.body_start.len() as u64));
    let body = response.body_start.to_vec();
    Some((response, body))
}

async fn ask<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, bytes: &[u8]) -> (u16, String) {
    within(stream.write_all(bytes)).await.unwrap();
    let (response, body) = reply(&mut stream).await.expect("a reply");
    let text = String::from_utf8_lossy(&body).into_owned();
    (response.head.status.as_u16(), text)
}

#[tokio::test]
async fn every_wire() {
    let server = builder().build().unwrap();
    let running = server.listen_scgi("127.0.0.1:0".parse().unwrap());
    let running = running.await.unwrap();
    for kind in WIRES {
        let stream = TcpStream::connect(running.address()).await.unwrap();
        let (status, text) = ask(stream, &call_of(kind, "/things", "Create", CREATE)).await;
        assert!((200..300).contains(&status), "{kind}: {text}");
        assert!(text.contains("kettle"), "{kind}: {text}");
        // Faults are in the protocol of the call.
        let stream = TcpStream::connect(running.address()).await.unwrap();
        let input = r#"{"how":"not there"}"#;
        let (_, text) = ask(stream, &call_of(kind, "/fail", "Fail", input)).await;
        assert!(text.contains("there is no such thing"), "{kind}: {text}");
    }
    within(running.shutdown()).await;
}

#[tokio::test]
async fn handlers_see_the_peer_and_the_variables() {
    let (send, mut seen) = mpsc::unbounded_channel();
    let handler = dynamic(move |input: Map, context: Context| {
        let variables = context.extensions().get::<Variables>();
        let software = variables.and_then(|all| all.get("SERVER_SOFTWARE"));
        let caller = context.caller();
        let facts = (
            context.peer().map(|address| address.to_string()),
            caller.is_encrypted(),
            caller.is_local(),
            software.map(str::to_owned),
        );
        send.send(facts).unwrap();
        async { Ok(input) }
    });
    let server = builder().operation("Create", handler).build().unwrap();
    let running = server.listen_scgi("127.0.0.1:0".parse().unwrap());
    let running = running.await.unwrap();
    let length = CREATE.len().to_string();
    let own = [
        ("CONTENT_LENGTH", &*length),
        ("SCGI", "1"),
        ("REQUEST_METHOD", "POST"),
        ("REQUEST_URI", "/things"),
        ("CONTENT_TYPE", "application/json"),
    ];
    let front = [
        ("REMOTE_ADDR", "192.0.2.7"),
        ("REMOTE_PORT", "4711"),
        ("HTTPS", "on"),
        ("SERVER_SOFTWARE", "nginx/1.22"),
    ];
    let bytes = [&block(&[&own[..], &front].concat()), CREATE.as_bytes()].concat();
    ask(TcpStream::connect(running.address()).await.unwrap(), &bytes).await;
    let facts = within(seen.recv()).await.unwrap();
    let address = Some("192.0.2.7:4711".to_owned());
    assert_eq!(facts, (address, true, false, Some("nginx/1.22".to_owned())));
    // Without these variables the caller is the peer of the connection.
    let stream = TcpStream::connect(running.address()).await.unwrap();
    let address = Some(stream.local_addr().unwrap().to_string());
    ask(stream, &[&block(&own), CREATE.as_bytes()].concat()).await;
    assert_eq!(
        within(seen.recv()).await.unwrap(),
        (address, false, true, None)
    );
}

/// Authentication also removes the credentials from the SCGI variables, which repeat the header.
#[tokio::test]
async fn handlers_do_not_see_credentials() {
    let (send, mut seen) = mpsc::unbounded_channel();
    let handler = dynamic(move |input: Map, context: Context| {
        let variables = context.extensions().get::<Variables>().unwrap();
        let secret = variables.get("HTTP_AUTHORIZATION").map(str::to_owned);
        let host = variables.get("HTTP_HOST").map(str::to_owned);
        let has_header = context.headers().contains_key("authorization");
        let user = context.user().map(str::to_owned);
        send.send((user, secret, host, has_header)).unwrap();
        async { Ok(input) }
    });
    let auth = BasicAuth::users("kitchen", [("ada", "horse")]);
    let server = builder().operation("Create", handler).authenticate(auth);
    let running = server.build().unwrap();
    let running = running.listen_scgi("127.0.0.1:0".parse().unwrap());
    let running = running.await.unwrap();
    let length = CREATE.len().to_string();
    let variables = block(&[
        ("CONTENT_LENGTH", &length),
        ("SCGI", "1"),
        ("REQUEST_METHOD", "POST"),
        ("REQUEST_URI", "/things"),
        ("CONTENT_TYPE", "application/json"),
        ("HTTP_AUTHORIZATION", "Basic YWRhOmhvcnNl"),
        ("HTTP_HOST", "a"),
    ]);
    let stream = TcpStream::connect(running.address()).await.unwrap();
    ask(stream, &[&variables, CREATE.as_bytes()].concat()).await;
    let facts = within(seen.recv()).await.unwrap();
    let (user, host) = (Some("ada".to_owned()), Some("a".to_owned()));
    assert_eq!(facts, (user, None, host, false));
}

/// The form that scripts for rTorrent use: no method, no path, no content type.
#[cfg(unix)]
#[tokio::test]
async fn the_shortest_call_over_a_unix_socket() {
    let path = std::env::temp_dir().join(format!("polywire-scgi-{}", std::process::id()));
    let server = builder().build().unwrap();
    let running = server.listen_scgi_unix(&path).await.unwrap();
    let body = polywire_codec::xmlrpc::write_call("math.add", &[1.into(), 2.into()]).unwrap();
    let length = body.len().to_string();
    let head = block(&[("CONTENT_LENGTH", &length), ("SCGI", "1")]);
    let stream = tokio::net::UnixStream::connect(&path).await.unwrap();
    let (status, text) = ask(stream, &[head, body].concat()).await;
    assert_eq!(status, 200);
    assert!(
        text.contains("3</int>") || text.contains("3</i4>"),
        "{text}"
    );
    within(running.shutdown()).await;
    assert!(!path.exists());
}

#[tokio::test]
async fn invalid_requests() {
    let short = Duration::from_millis(200);
    let limits = Limits::DEFAULT.with_bytes(1_000);
    let server = builder()
        .limits(limits)
        .timeouts(Timeouts::DEFAULT.with_head(short).with_body(short));
    let running = server.build().unwrap();
    let running = running.listen_scgi("127.0.0.1:0".parse().unwrap());
    let running = running.await.unwrap();
    let open = async || TcpStream::connect(running.address()).await.unwrap();
    for (bytes, status, words) in [
        (&b"POST /RPC2 HTTP/1.1\r\n"[..], 400, "at byte 0"),
        (b"17:CONTENT_LENGTH\x000\x00;", 400, "at byte 20"),
        (b"99999999:", 400, "65536"),
        (b"300:CONTENT_LENGTH\x00", 408, "did not arrive"),
    ] {
        let (own, text) = ask(open().await, bytes).await;
        assert_eq!(own, status, "{text}");
        assert!(text.contains(words), "{text}");
    }
    // A truncated head.
    let mut stream = open().await;
    stream.write_all(b"24:CONTENT_LENGTH").await.unwrap();
    stream.shutdown().await.unwrap();
    let (response, text) = reply(&mut stream).await.unwrap();
    assert_eq!(response.head.status, 400);
    assert!(
        String::from_utf8(text)
            .unwrap()
            .contains("28 bytes of a head")
    );
    // An empty request.
    let mut stream = open().await;
    stream.shutdown().await.unwrap();
    assert!(reply(&mut stream).await.is_none());
    // Bodies that are truncated, that stall, and that are too large.
    let head = |length| {
        let own = [
            ("CONTENT_LENGTH", length),
            ("SCGI", "1"),
            ("REQUEST_URI", "/RPC2"),
            ("CONTENT_TYPE", "text/xml"),
        ];
        block(&own)
    };
    let mut stream = open().await;
    let bytes = [&head("50")[..], b"<methodCall>"].concat();
    stream.write_all(&bytes).await.unwrap();
    stream.shutdown().await.unwrap();
    let (_, text) = reply(&mut stream).await.unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("ended too early"), "{text}");
    let (_, text) = ask(open().await, &bytes).await;
    assert!(text.contains("did not arrive"), "{text}");
    let bytes = [&head("500000")[..], &[b'x'; 500_000]].concat();
    let (_, text) = ask(open().await, &bytes).await;
    assert!(text.contains("1000 bytes"), "{text}");
    // The server keeps serving.
    let (_, text) = ask(open().await, &call_of(XmlRpc, "", "Nothing", "{}")).await;
    assert!(text.contains("<params>"), "{text}");
}

#[tokio::test]
async fn calls_in_progress_end() {
    let server = builder().build().unwrap();
    let running = server.listen_scgi("127.0.0.1:0".parse().unwrap());
    let running = running.await.unwrap();
    let stream = TcpStream::connect(running.address()).await.unwrap();
    let call = call_of(XmlRpc, "", "Fail", r#"{"how":"soon"}"#);
    let (answer, ()) = tokio::join!(ask(stream, &call), running.shutdown());
    assert_eq!(answer.0, 200);
    assert!(answer.1.contains("soon"), "{}", answer.1);
}
