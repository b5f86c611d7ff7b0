//! Streams that wait for `100 Continue`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use polywire_protocol::ProtocolKind;
use polywire_rpc::Client;
use polywire_schema::{ByteStream, Map, StreamError, Value};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{service, within};

const MIB: u64 = 1024 * 1024;

/// One piece of a MiB, and how often it was read.
fn body() -> (ByteStream, Arc<AtomicU64>) {
    let read: Arc<AtomicU64> = Arc::default();
    let counter = Arc::clone(&read);
    let mut left = Some(Bytes::from(vec![7; MIB as usize]));
    let source = PollFn(move || {
        counter.fetch_add(1, Ordering::SeqCst);
        left.take().map(Ok)
    });
    (ByteStream::with_len(source, MIB), read)
}

struct PollFn<F>(F);

impl<F> futures_core::Stream for PollFn<F>
where
    F: FnMut() -> Option<Result<Bytes, StreamError>> + Unpin,
{
    type Item = Result<Bytes, StreamError>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        std::task::Poll::Ready((self.0)())
    }
}

fn put(stream: ByteStream) -> Map {
    Map::from_iter([("key", Value::from("a")), ("body", Value::from(stream))])
}

async fn read_head(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        bytes.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(bytes).unwrap().to_ascii_lowercase()
}

async fn client(from: Option<u64>) -> (TcpListener, Client) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let builder = Client::builder(service(), ProtocolKind::RestJson1).expect_continue_from(from);
    (listener, builder.connect(&url).unwrap())
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

#[tokio::test]
async fn the_body_follows_the_consent() {
    let (listener, client) = client(Some(MIB)).await;
    let (stream, read) = body();
    let call = tokio::spawn(async move { client.call("Put", put(stream)).await });
    let (mut socket, _) = within(listener.accept()).await.unwrap();
    let head = within(read_head(&mut socket)).await;
    assert!(head.contains("\r\nexpect: 100-continue\r\n"), "{head}");
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(read.load(Ordering::SeqCst), 0);
    // Other informational responses are no consent.
    socket
        .write_all(b"HTTP/1.1 103 Early Hints\r\n\r\n")
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(read.load(Ordering::SeqCst), 0);
    let started = Instant::now();
    socket
        .write_all(b"HTTP/1.1 100 Continue\r\n\r\n")
        .await
        .unwrap();
    let mut bytes = vec![0; MIB as usize];
    within(socket.read_exact(&mut bytes)).await.unwrap();
    assert!(bytes.iter().all(|byte| *byte == 7));
    assert!(started.elapsed() < Duration::from_millis(500));
    socket.write_all(OK).await.unwrap();
    within(call).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_body_that_is_rejected_is_not_sent() {
    let (listener, client) = client(Some(MIB)).await;
    let (stream, read) = body();
    let call = tokio::spawn(async move { client.call("Put", put(stream)).await });
    let (mut socket, _) = within(listener.accept()).await.unwrap();
    within(read_head(&mut socket)).await;
    let text = "HTTP/1.1 403 F\r\nx-amzn-errortype: Denied\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
    socket.write_all(text.as_bytes()).await.unwrap();
    let error = within(call).await.unwrap().unwrap_err();
    assert_eq!(error.fault().unwrap().name(), "Denied", "{error}");
    // The connection ends without the body.
    let mut rest = Vec::new();
    let _ = within(socket.read_to_end(&mut rest)).await;
    assert!(rest.is_empty());
    assert_eq!(read.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn servers_without_consent_get_the_body_after_a_second() {
    let (listener, client) = client(Some(MIB)).await;
    let call = tokio::spawn(async move { client.call("Put", put(body().0)).await });
    let (mut socket, _) = within(listener.accept()).await.unwrap();
    within(read_head(&mut socket)).await;
    let started = Instant::now();
    let mut bytes = vec![0; MIB as usize];
    within(socket.read_exact(&mut bytes)).await.unwrap();
    let waited = started.elapsed();
    assert!(
        (Duration::from_millis(900)..Duration::from_secs(5)).contains(&waited),
        "{waited:?}"
    );
    socket.write_all(OK).await.unwrap();
    within(call).await.unwrap().unwrap();
}

#[tokio::test]
async fn short_streams_and_clients_without_it_do_not_wait() {
    for from in [None, Some(MIB + 1)] {
        let (listener, client) = client(from).await;
        let call = tokio::spawn(async move { client.call("Put", put(body().0)).await });
        let (mut socket, _) = within(listener.accept()).await.unwrap();
        let head = within(read_head(&mut socket)).await;
        assert!(!head.contains("expect"), "{head}");
        let mut bytes = vec![0; MIB as usize];
        within(socket.read_exact(&mut bytes)).await.unwrap();
        socket.write_all(OK).await.unwrap();
        within(call).await.unwrap().unwrap();
    }
}
