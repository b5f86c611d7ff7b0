//! The memory of a server for the request bodies of all calls.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body::Frame;
use polywire_protocol::ProtocolKind::{RestJson1, XmlRpc};
use polywire_protocol::{Fault, FaultKind, ReadPlan, ServerProtocol, Validator};
use polywire_rpc::server::Validation;
use polywire_rpc::{
    BuildError, Call, Handler, HandlerFuture, Input, Server, ServerBuilder, dynamic,
};
use polywire_schema::{Limits, Map, Operation};
use tokio::sync::{Notify, mpsc};
use tower::Service;

use crate::support::{Caller, Site, WIRES, builder, call_of, within};

/// The limit of one body and of all bodies together, in bytes. It is larger than the buffers of
/// sockets.
const ALL: usize = 12 << 20;

/// A body of the pieces that are sent to the channel.
struct Pieces(mpsc::Receiver<Bytes>);

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let next = self.0.poll_recv(context);
        next.map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

/// A server whose memory for all bodies equals the limit of one body, as a `tower::Service` and on
/// a port.
async fn server(set: impl FnOnce(ServerBuilder) -> ServerBuilder) -> (Server, Site) {
    let limits = Limits::DEFAULT.with_bytes(ALL);
    let server = set(builder().limits(limits).body_memory(ALL))
        .build()
        .unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await;
    (server, Site::of(running.unwrap()))
}

fn input(len: usize) -> String {
    format!(r#"{{"name":"{}"}}"#, "x".repeat(len))
}

#[tokio::test]
async fn all_bodies_together() {
    let (mut server, site) = server(|builder| builder).await;
    // A body that stays incomplete and leaves less memory than a body of 300 KiB needs.
    let (send, pieces) = mpsc::channel(1);
    let request = Request::post("/things").header("Content-Type", "application/json");
    let request = request.body(Pieces(pieces)).unwrap();
    let stuck = tokio::spawn(Service::call(&mut server, request));
    let text = input(ALL - 124 * 1024);
    let (most, last) = text.split_at(text.len() - 1);
    for piece in most.as_bytes().chunks(100_000) {
        within(send.send(Bytes::copy_from_slice(piece)))
            .await
            .unwrap();
    }
    // The channel holds one piece. The second send completes only after the server has read all
    // earlier pieces.
    within(send.send(Bytes::new())).await.unwrap();
    within(send.send(Bytes::new())).await.unwrap();

    for kind in WIRES {
        let mut socket = site.open().await;
        // The server reads the whole body, so that the client can read the reply.
        socket
            .write_all(call_of(kind, "/things", "Create", &input(10_000_000)))
            .await;
        let (status, name, message) = socket.reply().await.error(kind);
        assert!(message.contains("try again"), "{kind}: {message}");
        match kind {
            XmlRpc => assert_eq!((status, name.as_str()), (503, "-32400")),
            _ => {
                assert_eq!(status, 503, "{kind}");
                assert!(name.ends_with("ServiceUnavailableException"), "{name}");
            }
        }
        let fault = site.client(kind).fault("Create", &input(300 * 1024)).await;
        assert_eq!(fault.kind(), FaultKind::Overloaded, "{kind}");
        let http2 = site.client_with(kind, |builder| builder.http2(true));
        let fault = http2.fault("Create", &input(10_000_000)).await;
        assert_eq!(fault.kind(), FaultKind::Overloaded, "{kind}");
        // A body of 100 KiB still fits. The first 64 KiB of a body do not count, so a body of 60
        // KiB always fits.
        creates(&site.client(kind), 100 * 1024).await;
        for _ in 0..50 {
            creates(&site.client(kind), 60 * 1024).await;
        }
    }

    within(send.send(Bytes::copy_from_slice(last.as_bytes())))
        .await
        .unwrap();
    drop(send);
    let response = within(stuck).await.unwrap().unwrap();
    assert_eq!(response.status(), StatusCode::CREATED);
    // The memory of all calls has been released.
    for _ in 0..3 {
        for kind in WIRES {
            creates(&site.client(kind), 1_000_000).await;
        }
    }
}

async fn creates(client: &Caller, len: usize) {
    client.call("Create", &input(len)).await.unwrap();
}

/// A body counts until its call ends, not only while it is received.
#[tokio::test]
async fn bodies_of_calls_in_progress() {
    let entered = Arc::new(Notify::new());
    let release = Arc::new(Notify::new());
    let (inside, gate) = (Arc::clone(&entered), Arc::clone(&release));
    let slow = dynamic(move |_: Map, _| {
        let (inside, gate) = (Arc::clone(&inside), Arc::clone(&gate));
        async move {
            inside.notify_one();
            gate.notified().await;
            Ok(Map::new())
        }
    });
    let (_, site) = server(|builder| builder.operation("Names", slow)).await;
    let client = site.client(RestJson1);
    let caller = client.clone();
    let text = format!(r#"{{"text":"{}"}}"#, "x".repeat(ALL - 124 * 1024));
    let call = tokio::spawn(async move { caller.call("Names", &text).await });
    within(entered.notified()).await;
    let fault = client.fault("Create", &input(500 * 1024)).await;
    assert_eq!(fault.kind(), FaultKind::Overloaded);
    release.notify_one();
    within(call).await.unwrap().unwrap();
    creates(&client, 500 * 1024).await;

    // Incomplete and invalid bodies release their memory too.
    for _ in 0..5 {
        let whole = call_of(RestJson1, "/things", "Create", &input(ALL - 124 * 1024));
        let mut socket = site.open().await;
        socket.write(&whole[..whole.len() - 5]).await;
        drop(socket);
        let wrong = format!(r#"{{"name":["{}"]}}"#, "x".repeat(ALL - 124 * 1024));
        let reply = site
            .send(call_of(RestJson1, "/things", "Create", &wrong))
            .await;
        assert!(matches!(reply.status, 400 | 503), "{}", reply.status);
    }
    // The server detects the last disconnect with a delay.
    let mut overloaded = 0;
    while let Err(error) = client.call("Create", &input(ALL - 124 * 1024)).await {
        let kind = error.fault().map(Fault::kind);
        assert_eq!(kind, Some(FaultKind::Overloaded));
        overloaded += 1;
        assert!(overloaded < 1_000, "never given back");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

/// The decoded input of a call counts too, until the call ends.
#[tokio::test]
async fn decoded_inputs() {
    decoded_inputs_count(builder()).await;
}

#[tokio::test]
async fn decoded_inputs_without_validation() {
    decoded_inputs_count(builder().validation(Validation::Off)).await;
}

async fn decoded_inputs_count(builder: ServerBuilder) {
    let entered = Arc::new(Notify::new());
    let release = Arc::new(Notify::new());
    let (inside, gate) = (Arc::clone(&entered), Arc::clone(&release));
    let slow = dynamic(move |input: Map, _| {
        let (inside, gate) = (Arc::clone(&inside), Arc::clone(&gate));
        async move {
            inside.notify_one();
            gate.notified().await;
            Ok(input)
        }
    });
    let limits = Limits::DEFAULT.with_bytes(1 << 20);
    let server = builder.limits(limits).body_memory(8 << 20);
    let server = server.operation("DocumentPayload", slow).build().unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await;
    let site = Arc::new(Site::of(running.unwrap()));
    // A decoded item takes 32 bytes.
    let list = |items: usize| {
        let list = format!("[{}1]", "1,".repeat(items - 1));
        let call = call_of(RestJson1, "/payload/document", "DocumentPayload", &list);
        String::from_utf8(call).unwrap().replacen("POST", "PUT", 1)
    };
    for _ in 0..3 {
        // The decoded input takes about 6 of 8 MiB while the handler runs.
        let (caller, call) = (Arc::clone(&site), list(190_000));
        let first = tokio::spawn(async move { caller.send(call).await.status });
        within(entered.notified()).await;
        let reply = site.send(list(190_000)).await;
        let (status, _, message) = reply.error(RestJson1);
        assert_eq!(status, 503, "{message}");
        assert!(
            message.contains("the decoded input takes about"),
            "{message}"
        );
        release.notify_one();
        assert_eq!(within(first).await.unwrap(), 200);
    }
    // The decoded input exceeds the total memory, so that a retry cannot succeed.
    let reply = site.send(list(400_000)).await;
    let (status, _, message) = reply.error(RestJson1);
    assert_eq!(status, 413, "{message}");
    assert!(message.contains("ServerBuilder::body_memory"), "{message}");
}

/// Large bodies are decoded on a separate thread pool. The handler is called on the thread of the
/// connection.
#[tokio::test]
async fn large_bodies_are_decoded_on_a_pool() {
    let (seen, mut threads) = mpsc::unbounded_channel();
    let (read, mut read_by) = mpsc::unbounded_channel();
    let inner = dynamic(move |input: Map, _| {
        seen.send(std::thread::current().id()).unwrap();
        async move { Ok(input) }
    });
    let handler = DecodeThreadRecorder { inner, read };
    let (_, site) = server(|builder| builder.operation("Names", handler)).await;
    let client = site.client(RestJson1);
    let own = std::thread::current().id();
    for (len, is_on_pool) in [(1_000, false), (100_000, true), (60_000, false)] {
        let text = format!(r#"{{"text":"{}"}}"#, "x".repeat(len));
        client.call("Names", &text).await.unwrap();
        assert_eq!(read_by.recv().await.unwrap() != own, is_on_pool, "{len}");
        assert_eq!(threads.recv().await.unwrap(), own, "{len}");
    }
}

/// A handler that reports the thread that decodes its input.
struct DecodeThreadRecorder<H> {
    inner: H,
    read: mpsc::UnboundedSender<std::thread::ThreadId>,
}

impl<H: Handler> Handler for DecodeThreadRecorder<H> {
    fn decode(
        &self,
        protocol: &dyn ServerProtocol,
        operation: Operation<'_>,
        request: &ReadPlan<'_>,
        validator: Option<&Validator>,
    ) -> Result<Input, Fault> {
        self.read.send(std::thread::current().id()).unwrap();
        self.inner.decode(protocol, operation, request, validator)
    }

    fn call(&self, call: Call) -> HandlerFuture {
        self.inner.call(call)
    }
}

#[test]
fn body_memory_below_one_body_is_a_build_error() {
    let error = builder().body_memory(1_000).build().unwrap_err();
    assert_eq!(
        error,
        BuildError::BodyMemory(1_000, Limits::DEFAULT.bytes())
    );
    assert!(error.to_string().contains("1000 bytes"), "{error}");
    // The default grows with the limit of a body.
    let large = Limits::DEFAULT.with_bytes(1 << 30);
    assert!(builder().limits(large).build().is_ok());
}
