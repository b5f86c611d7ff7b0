//! Limits in front of a service: connections and requests per address, and connections and calls in
//! total. Also panics in layers.

use std::num::NonZeroU32;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use polywire_protocol::FaultKind;
use polywire_protocol::ProtocolKind::{RestJson1, XmlRpc};
use polywire_rpc::layers::Firewall;
use polywire_rpc::{ServerBuilder, dynamic};
use polywire_schema::Map;
use tokio::net::TcpStream;
use tokio::sync::{Notify, mpsc};
use tower::Service;
use tower_http::compression::CompressionLayer;

use crate::support::{Site, Socket, WIRES, builder, call_of, request, within};

const CREATE: &str = r#"{"name":"kettle"}"#;

fn number(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap()
}

// Connections and calls.

#[tokio::test]
async fn connections_per_address() {
    let firewall = Firewall::new().connections_per_address(2);
    let site = Site::start(builder().firewall(firewall)).await;
    let mut open = Vec::new();
    for _ in 0..2 {
        let mut socket = site.open().await;
        socket.write(request("GET /status/200", &[], "")).await;
        assert_eq!(socket.reply().await.status, 200);
        open.push(socket);
    }
    // Connections over the limit are rejected, whether or not a request was sent.
    let mut silent = site.open().await;
    let mut loud = site.open().await;
    loud.write(request("POST /things", &[], "x".repeat(10_000)))
        .await;
    for socket in [&mut silent, &mut loud] {
        let reply = socket.reply().await;
        assert_eq!(reply.status, 503);
        assert_eq!(reply.header("retry-after"), Some("1"));
        assert!(reply.text().contains("Too many connections"));
        assert!(socket.ends().await);
    }
    // Open connections stay usable. A closed connection frees a slot.
    open[0].write(request("GET /status/200", &[], "")).await;
    assert_eq!(open[0].reply().await.status, 200);
    drop(open);
    within(async {
        loop {
            let mut socket = site.open().await;
            socket.write(request("GET /status/200", &[], "")).await;
            if socket.reply().await.status == 200 {
                break;
            }
        }
    })
    .await;
}

/// The limit counts the connections of all servers that share a firewall.
#[tokio::test]
async fn connections_of_all_servers() {
    let firewall = Firewall::new().connections(1);
    let server = builder().firewall(firewall).build().unwrap();
    let any_port = "127.0.0.1:0".parse().unwrap();
    let site = Site::of(server.listen(any_port).await.unwrap());
    let scgi = server.listen_scgi(any_port).await.unwrap();
    let mut first = site.open().await;
    first.write(request("GET /status/200", &[], "")).await;
    assert_eq!(first.reply().await.status, 200);
    let mut second = Socket::over(TcpStream::connect(scgi.address()).await.unwrap());
    let reply = second.raw().await;
    assert!(
        reply.starts_with("Status: 503 Service Unavailable\r\nRetry-After: 1\r\n"),
        "{reply}"
    );
}

#[tokio::test]
async fn requests_per_address() {
    // The burst is 3 and the rate 1 per second. The 6 requests take less than 3 seconds, so that at
    // least one is rejected.
    let firewall = Firewall::new().requests_per_address(number(1), number(3));
    let site = Site::start(builder().firewall(firewall)).await;
    let mut socket = site.open().await;
    let mut refused = 0;
    for kind in [
        RestJson1, RestJson1, RestJson1, RestJson1, XmlRpc, RestJson1,
    ] {
        socket
            .write(call_of(kind, "/things", "Create", CREATE))
            .await;
        let reply = socket.reply().await;
        if reply.status < 300 {
            continue;
        }
        refused += 1;
        assert_eq!(reply.status, 429);
        let seconds: u32 = reply.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=6).contains(&seconds), "{seconds}");
        // The rejection is in the protocol of the call.
        let (_, _, message) = reply.error(kind);
        assert!(message.contains("too many requests"), "{message}");
    }
    assert!(refused > 0);
    // The client maps the status to an overload fault.
    let fault = site.client(XmlRpc).fault("Create", CREATE).await;
    assert_eq!(fault.kind(), FaultKind::Overloaded);
    assert!(fault.retry_after().is_some());
}

/// A malformed request counts toward the rate limit. The reply closes the connection, whatever its
/// status.
#[tokio::test]
async fn malformed_requests_per_address() {
    let firewall = Firewall::new().requests_per_address(number(1), number(3));
    let site = Site::start(builder().firewall(firewall)).await;
    let mut statuses = Vec::new();
    for _ in 0..6 {
        let two_hosts = "GET /status/200 HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n";
        let reply = site.send(two_hosts).await;
        assert_eq!(reply.header("connection"), Some("close"));
        statuses.push(reply.status);
    }
    assert_eq!(statuses[..3], [400; 3]);
    assert!(statuses.contains(&429), "{statuses:?}");
}

/// A handler that waits for a notification.
fn server_with_waiting_handler() -> (ServerBuilder, Arc<Notify>, mpsc::UnboundedReceiver<()>) {
    let (started, begins) = mpsc::unbounded_channel();
    let go = Arc::new(Notify::new());
    let gone = Arc::clone(&go);
    let handler = dynamic(move |mut input: Map, _| {
        started.send(()).unwrap();
        let go = Arc::clone(&gone);
        async move {
            go.notified().await;
            input.insert("id", 7);
            Ok(input)
        }
    });
    (builder().operation("Create", handler), go, begins)
}

#[tokio::test]
async fn calls_in_flight() {
    let (builder, go, mut begins) = server_with_waiting_handler();
    let pages = |_: &http::Request<Bytes>| http::Response::new(Bytes::from("busy"));
    let site = Site::start(builder.calls(2).pages(pages)).await;
    let mut busy = Vec::new();
    for _ in 0..2 {
        let mut socket = site.open().await;
        socket.write(request("POST /things", &[], CREATE)).await;
        within(begins.recv()).await.unwrap();
        busy.push(socket);
    }
    for kind in WIRES {
        let mut socket = site.open().await;
        socket
            .write(call_of(kind, "/add", "Add", r#"{"left":1,"right":2}"#))
            .await;
        let reply = socket.reply().await;
        assert_eq!(reply.header("retry-after"), Some("1"), "{kind}");
        let (status, _, message) = reply.error(kind);
        assert_eq!(status, 503, "{kind}");
        assert!(
            message.contains("2 calls are in progress"),
            "{kind}: {message}"
        );
        // The connection stays open. A request for an unknown path is rejected too.
        socket.write(request("PATCH /nowhere", &[], "")).await;
        assert_eq!(socket.reply().await.status, 503);
        let fault = site
            .client(kind)
            .fault("Add", r#"{"left":1,"right":2}"#)
            .await;
        assert_eq!(fault.kind(), FaultKind::Overloaded, "{kind}");
    }
    // Monitoring pages are served during overload.
    let mut socket = site.open().await;
    socket.write(request("GET /_polywire/", &[], "")).await;
    assert_eq!(socket.reply().await.text(), "busy");
    // A call that ends frees a slot.
    go.notify_one();
    go.notify_one();
    for socket in &mut busy {
        assert_eq!(socket.reply().await.status, 201);
    }
    socket.write(request("GET /status/202", &[], "")).await;
    assert_eq!(socket.reply().await.status, 202);
}

/// A call whose client resets the connection releases its slot when the handler ends. The handler
/// continues, because the server does not distinguish a reset from a half-close.
#[tokio::test]
async fn callers_that_disconnect() {
    let (builder, go, mut begins) = server_with_waiting_handler();
    let site = Site::start(builder.calls(1)).await;
    for _ in 0..3 {
        let socket = within(async {
            loop {
                let mut socket = site.open().await;
                socket.write(request("POST /things", &[], CREATE)).await;
                tokio::select! {
                    started = begins.recv() => {
                        started.unwrap();
                        break socket;
                    }
                    reply = socket.reply() => assert_eq!(reply.status, 503),
                }
            }
        })
        .await;
        socket.reset();
        drop(socket);
        go.notify_one();
    }
}

/// `tower::Service` accepts any type of request body.
#[tokio::test]
async fn boxed_bodies_are_read() {
    let layer = CompressionLayer::new();
    let mut server = builder().http_layer(layer).build().unwrap();
    let body = Full::new(Bytes::from(CREATE)).boxed();
    let request = http::Request::post("/things").header("content-type", "application/json");
    let response = Service::call(&mut server, request.body(body).unwrap());
    assert_eq!(response.await.unwrap().status(), 201);
}

/// A panic in a layer fails one request. The connection stays usable.
#[tokio::test]
async fn layers_that_panic() {
    let layer = tower::util::MapRequestLayer::new(|request: http::Request<_>| {
        assert_ne!(request.uri().path(), "/status/205", "a bug");
        request
    });
    let site = Site::start(builder().http_layer(layer)).await;
    let mut socket = site.open().await;
    for (path, status) in [(201, 201), (205, 500), (201, 201)] {
        let line = format!("GET /status/{path}");
        socket.write(request(&line, &[], "")).await;
        let reply = socket.reply().await;
        assert_eq!(reply.status, status);
        assert!(!reply.text().contains("a bug"), "{}", reply.text());
    }
}
