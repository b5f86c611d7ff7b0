//! What stands in front of a service: limits by address and in all, and users.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use polywire_protocol::FaultKind;
use polywire_protocol::ProtocolKind::{RestJson1, XmlRpc};
use polywire_rpc::layers::{BasicAuth, CheckFuture, Checker, Firewall};
use polywire_rpc::server::Peer;
use polywire_rpc::{Context, ServerBuilder, dynamic};
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
    // The third is told so before it has said anything, and although it says much.
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
    // Those that are in go on, and one that goes makes room.
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

/// All connections of all servers that a firewall stands before.
#[tokio::test]
async fn connections_in_all() {
    let firewall = Firewall::new().connections(1);
    let server = builder().firewall(firewall).build().unwrap();
    let place = "127.0.0.1:0".parse().unwrap();
    let site = Site::of(server.listen(place).await.unwrap());
    let scgi = server.listen_scgi(place).await.unwrap();
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
    // One an hour would do as well: no request of the test comes late enough.
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
        // In the caller's wire.
        let (_, _, message) = reply.error(kind);
        assert!(message.contains("too many requests"), "{message}");
    }
    assert!(refused > 0);
    // Our client knows what that is.
    let fault = site.client(XmlRpc).fault("Create", CREATE).await;
    assert_eq!(fault.kind(), FaultKind::Overloaded);
    assert!(fault.retry_after().is_some());
}

/// A malformed request counts as any other does, and ends its connection whatever the answer is.
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

/// A handler that waits until it is told.
fn waiting() -> (ServerBuilder, Arc<Notify>, mpsc::UnboundedReceiver<()>) {
    let (begun, begins) = mpsc::unbounded_channel();
    let go = Arc::new(Notify::new());
    let gone = Arc::clone(&go);
    let handler = dynamic(move |mut input: Map, _| {
        begun.send(()).unwrap();
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
    let (builder, go, mut begins) = waiting();
    let pages = |_: &http::request::Parts| http::Response::new(Bytes::from("busy"));
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
        // On the same connection, and also if nobody claims it.
        socket.write(request("PATCH /nowhere", &[], "")).await;
        assert_eq!(socket.reply().await.status, 503);
        let fault = site
            .client(kind)
            .fault("Add", r#"{"left":1,"right":2}"#)
            .await;
        assert_eq!(fault.kind(), FaultKind::Overloaded, "{kind}");
    }
    // Who watches the server still can.
    let mut socket = site.open().await;
    socket.write(request("GET /_polywire/", &[], "")).await;
    assert_eq!(socket.reply().await.text(), "busy");
    // One that ends makes room.
    go.notify_one();
    go.notify_one();
    for socket in &mut busy {
        assert_eq!(socket.reply().await.status, 201);
    }
    socket.write(request("GET /status/202", &[], "")).await;
    assert_eq!(socket.reply().await.status, 202);
}

/// A caller that is killed in the middle of its call: the handler goes on, since it
/// cannot be told from one that has only ended its half, and gives the place back.
#[tokio::test]
async fn callers_that_leave() {
    let (builder, go, mut begins) = waiting();
    let site = Site::start(builder.calls(1)).await;
    for _ in 0..3 {
        let socket = within(async {
            loop {
                let mut socket = site.open().await;
                socket.write(request("POST /things", &[], CREATE)).await;
                tokio::select! {
                    begun = begins.recv() => {
                        begun.unwrap();
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

// Users.

fn basic(text: &str) -> String {
    let mut value = b"Basic ".to_vec();
    polywire_text::base64::push(&mut value, text.as_bytes());
    String::from_utf8(value).unwrap()
}

/// A server of users whose handler tells who calls.
fn for_users(auth: BasicAuth) -> (ServerBuilder, mpsc::UnboundedReceiver<Option<String>>) {
    let (send, seen) = mpsc::unbounded_channel();
    let handler = dynamic(move |mut input: Map, context: Context| {
        // The password stays outside.
        assert!(!context.headers().contains_key("authorization"));
        send.send(context.user().map(str::to_owned)).unwrap();
        input.insert("id", 7);
        async { Ok(input) }
    });
    (
        builder().operation("Create", handler).http_layer(auth),
        seen,
    )
}

async fn status_for(site: &Site, value: Option<&str>) -> u16 {
    let mut socket = site.open().await;
    let headers: Vec<(&str, &str)> = value
        .iter()
        .map(|value| ("Authorization", *value))
        .collect();
    socket
        .write(request("POST /things", &headers, CREATE))
        .await;
    let reply = socket.reply().await;
    if reply.status == 401 {
        let challenge = r#"Basic realm="the \"kitchen\"", charset="UTF-8""#;
        assert_eq!(reply.header("www-authenticate"), Some(challenge));
    }
    reply.status
}

#[tokio::test]
async fn users() {
    let known = [
        ("ada", "correct horse"),
        ("zoë", "a:b"),
        ("ada", "second"),
        ("empty", ""),
    ];
    let (builder, mut seen) = for_users(BasicAuth::users("the \"kitchen\"", known));
    let site = Site::start(builder).await;
    for (text, user) in [
        ("ada:correct horse", "ada"),
        ("zoë:a:b", "zoë"),
        ("ada:second", "ada"),
        ("empty:", "empty"),
    ] {
        assert_eq!(status_for(&site, Some(&basic(text))).await, 201, "{text}");
        assert_eq!(within(seen.recv()).await.unwrap().as_deref(), Some(user));
    }
    for text in [
        "ada:correct house",
        "ada:correct horse ",
        "ada:correct",
        "ada:",
        "ada",
        "ada:a:b",
        "ADA:correct horse",
        ":",
        "",
        "empty:x",
    ] {
        assert_eq!(status_for(&site, Some(&basic(text))).await, 401, "{text}");
    }
    let good = basic("ada:second");
    let bearer = good.replace("Basic", "Bearer");
    for value in ["", "Basic", "Basic !", "Basic YQ=", "Basicx", &bearer] {
        assert_eq!(status_for(&site, Some(value)).await, 401, "{value}");
    }
    assert_eq!(status_for(&site, None).await, 401);
    let lower = good.replace("Basic ", "basic  ");
    assert_eq!(status_for(&site, Some(&lower)).await, 201);
    // Two, of which nobody knows which counts.
    let mut socket = site.open().await;
    let twice = [("Authorization", &*good), ("Authorization", &*good)];
    socket.write(request("POST /things", &twice, CREATE)).await;
    assert_eq!(socket.reply().await.status, 401);
}

#[tokio::test]
async fn checkers() {
    struct Slow(AtomicUsize);
    impl Checker for Slow {
        fn check<'a>(&'a self, user: &'a str, password: &'a str) -> CheckFuture<'a> {
            Box::pin(async move {
                tokio::task::yield_now().await;
                self.0.fetch_add(1, Ordering::Relaxed);
                user == password
            })
        }
    }
    let slow = BasicAuth::new("the \"kitchen\"", Slow(AtomicUsize::new(0)));
    let function = BasicAuth::checking("the \"kitchen\"", |user, password| user == password);
    for auth in [slow, function] {
        let (builder, _seen) = for_users(auth);
        let site = Site::start(builder).await;
        assert_eq!(status_for(&site, Some(&basic("x:x"))).await, 201);
        assert_eq!(status_for(&site, Some(&basic("x:y"))).await, 401);
    }
}

/// Passwords that anybody on the way could read are refused, right or wrong.
#[tokio::test]
async fn passwords_without_tls() {
    let known = || BasicAuth::users("the \"kitchen\"", [("ada", "secret")]);
    let far = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 1);
    for (auth, peer, good, bad) in [
        (known(), Some(far), 403, 403),
        (known(), None, 403, 403),
        (
            known(),
            Some(SocketAddr::from(([127, 0, 0, 1], 1))),
            201,
            401,
        ),
        (known().danger_without_tls(), Some(far), 201, 401),
    ] {
        let (builder, _seen) = for_users(auth);
        let mut server = builder.build().unwrap();
        for (text, status) in [("ada:secret", good), ("ada:wrong", bad)] {
            let request = http::Request::post("/things")
                .header("content-type", "application/json")
                .header("authorization", basic(text))
                .extension(peer.map(Peer::from).unwrap_or_default())
                .body(Full::new(Bytes::from(CREATE)))
                .unwrap();
            let response = Service::call(&mut server, request).await.unwrap();
            assert_eq!(response.status(), status, "{peer:?} {text}");
        }
    }
}

/// The type of the request body does not matter.
#[tokio::test]
async fn boxed_bodies_are_read() {
    let layer = CompressionLayer::new();
    let mut server = builder().http_layer(layer).build().unwrap();
    let body = Full::new(Bytes::from(CREATE)).boxed();
    let request = http::Request::post("/things").header("content-type", "application/json");
    let response = Service::call(&mut server, request.body(body).unwrap());
    assert_eq!(response.await.unwrap().status(), 201);
}

/// A bug in a layer costs one request and not the connection.
#[tokio::test]
async fn layers_that_panic() {
    struct Careless;
    impl Checker for Careless {
        fn check<'a>(&'a self, user: &'a str, _: &'a str) -> CheckFuture<'a> {
            Box::pin(async move {
                tokio::task::yield_now().await;
                assert_eq!(user, "ada", "nobody thought of others");
                true
            })
        }
    }
    let site = Site::start(builder().http_layer(BasicAuth::new("kitchen", Careless))).await;
    // ada:x, and bob:x.
    let with = |user| request("GET /status/201", &[("Authorization", user)], "");
    let (ada, bob) = (with("Basic YWRhOng="), with("Basic Ym9iOng="));
    let mut socket = site.open().await;
    for (request, status) in [(&ada, 201), (&bob, 500), (&ada, 201)] {
        socket.write(request).await;
        let reply = socket.reply().await;
        assert_eq!(reply.status, status);
        assert!(!reply.text().contains("nobody thought"), "{}", reply.text());
    }
}
