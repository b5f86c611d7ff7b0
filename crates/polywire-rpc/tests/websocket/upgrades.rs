//! Responses to upgrade requests.

use bytes::Bytes;
use http::Response;
use polywire_rpc::layers::CrossOrigin;
use polywire_rpc::server::BoundAddress;
use polywire_rpc::websocket::{WebSocket, WebSocketEndpoint};
use polywire_rpc::{BuildError, Methods, RunningServer, Server};
use tower_http::compression::CompressionLayer;
use tower_http::trace::TraceLayer;

use crate::support::{ASK, Raw, builder, echo, listen, serve, url, within};

/// Sends a request on a connection that stays open. Returns the status, the body and the head in lowercase.
async fn send_rejected(raw: &mut Raw, request: &str) -> (u16, String, String) {
    raw.send(request).await;
    let (head, body) = raw.answer().await;
    (
        head[9..12].parse().unwrap(),
        body,
        head.to_ascii_lowercase(),
    )
}

#[tokio::test]
async fn the_sample_of_the_rfc_is_accepted() {
    let running = serve(echo).await;
    let mut raw = Raw::connect(running.address()).await;
    raw.send(format!("{ASK}\r\n")).await;
    let head = raw.head().await.to_ascii_lowercase();
    assert!(head.starts_with("http/1.1 101 "), "{head}");
    for line in [
        "upgrade: websocket",
        "connection: upgrade",
        "sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=",
    ] {
        assert!(head.contains(&format!("\r\n{line}\r\n")), "{head}");
    }
    assert!(!head.contains("sec-websocket-protocol"), "{head}");
    assert!(!head.contains("content-length"), "{head}");
}

#[tokio::test]
async fn each_invalid_request_has_its_response() {
    let running = serve(echo).await;
    let mut raw = Raw::connect(running.address()).await;
    let without = |line: &str| {
        let start = ASK.find(line).unwrap();
        let end = start + ASK[start..].find("\r\n").unwrap() + 2;
        format!("{}{}\r\n", &ASK[..start], &ASK[end..])
    };
    let with = |line: &str, other: &str| {
        let start = ASK.find(line).unwrap();
        let end = start + ASK[start..].find("\r\n").unwrap();
        format!("{}{other}{}\r\n", &ASK[..start], &ASK[end..])
    };
    let more = |lines: &str| format!("{ASK}{lines}\r\n");
    for (request, status, word) in [
        (with("GET", "POST / HTTP/1.1"), 405, "method GET"),
        (with("GET", "GET / HTTP/1.0"), 400, "HTTP/1.1"),
        (without("Upgrade:"), 400, "header Upgrade"),
        (with("Upgrade:", "Upgrade: h2c"), 400, "header Upgrade"),
        (without("Connection:"), 400, "header Connection"),
        (
            with("Connection:", "Connection: keep-alive"),
            400,
            "header Connection",
        ),
        (without("Sec-WebSocket-Version"), 426, "version"),
        (
            with("Sec-WebSocket-Version", "Sec-WebSocket-Version: 8"),
            426,
            "13",
        ),
        (more("Sec-WebSocket-Version: 13\r\n"), 426, "13"),
        (without("Sec-WebSocket-Key"), 400, "Sec-WebSocket-Key"),
        (
            with("Sec-WebSocket-Key", "Sec-WebSocket-Key: short"),
            400,
            "16 bytes",
        ),
        (
            with(
                "Sec-WebSocket-Key",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZR==",
            ),
            400,
            "16 bytes",
        ),
        (
            more("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"),
            400,
            "one header",
        ),
        (more("Sec-WebSocket-Protocol: a, a\r\n"), 400, "unique"),
        (more("Sec-WebSocket-Protocol: a b\r\n"), 400, "names"),
        (more("Content-Length: 2\r\n") + "{}", 400, "no body"),
    ] {
        // HTTP/1.0 closes the connection, so this request gets its own.
        let last = request.contains("HTTP/1.0");
        let (found, body, head) = match last {
            true => send_rejected(&mut Raw::connect(running.address()).await, &request).await,
            false => send_rejected(&mut raw, &request).await,
        };
        assert_eq!(found, status, "{request}{body}");
        assert!(body.contains(word), "{request}{body}");
        if status == 426 {
            assert!(head.contains("sec-websocket-version: 13\r\n"), "{head}");
        }
        if status == 405 {
            assert!(head.contains("allow: get\r\n"), "{head}");
        }
    }
    // A request without Host violates RFC 9112, not RFC 6455.
    let request = without("Host");
    let (status, ..) = send_rejected(&mut raw, &request).await;
    assert_eq!(status, 400);
}

#[tokio::test]
async fn header_tokens_are_compared_case_insensitively() {
    let running = serve(echo).await;
    let mut raw = Raw::connect(running.address()).await;
    raw.send(
        "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: foo, WebSocket\r\nConnection: keep-alive, UPGRADE\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    )
    .await;
    assert!(raw.head().await.starts_with("HTTP/1.1 101 "));
}

#[tokio::test]
async fn subprotocols_are_agreed_on() {
    let endpoint = |required| {
        let endpoint = WebSocketEndpoint::new(|socket: WebSocket| async move {
            let name = socket.protocol().unwrap_or("none").to_owned();
            socket.send(name).await.unwrap();
        });
        match required {
            true => endpoint.protocols(["two", "one"]).require_protocol(),
            false => endpoint.protocols(["two", "one"]),
        }
    };
    let offers = builder()
        .websocket("/", endpoint(false))
        .websocket("/required", endpoint(true));
    let running = listen(offers).await;
    for (path, offered, agreed) in [
        ("/", &["one", "two", "three"][..], Ok("two")),
        ("/", &["three", "one"], Ok("one")),
        ("/", &["three"], Ok("none")),
        ("/", &[], Ok("none")),
        ("/required", &["one"], Ok("one")),
        ("/required", &["three"], Err(())),
        ("/required", &[], Err(())),
    ] {
        let url = format!("ws://{}{path}", running.address());
        let mut connecting = WebSocket::builder(&url);
        for name in offered {
            connecting = connecting.protocol(name);
        }
        match (connecting.connect().await, agreed) {
            (Ok(mut socket), Ok(agreed)) => {
                let own = socket.protocol().unwrap_or("none").to_owned();
                let other = socket.recv().await.unwrap().unwrap();
                assert_eq!(
                    (&*own, other.as_text()),
                    (agreed, Some(agreed)),
                    "{offered:?}"
                );
            }
            (Err(error), Err(())) => {
                let error = error.to_string();
                assert!(
                    error.contains("400") && error.contains("subprotocol"),
                    "{error}"
                );
            }
            (socket, _) => panic!("{path} {offered:?}: {socket:?}"),
        }
    }
}

#[tokio::test]
async fn other_requests_to_the_same_path_are_answered() {
    let endpoint = WebSocketEndpoint::new(echo).http_fallback(|head| {
        let accept = head.headers.get("accept")?;
        (accept == "application/nostr+json").then(|| Response::new(Bytes::from("{\"name\":\"r\"}")))
    });
    let running = serve(endpoint).await;
    let mut raw = Raw::connect(running.address()).await;
    let request = "GET / HTTP/1.1\r\nHost: a\r\nAccept: application/nostr+json\r\n\r\n";
    let (status, body, _) = send_rejected(&mut raw, request).await;
    assert_eq!((status, &*body), (200, "{\"name\":\"r\"}"));
    let request = "GET / HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n";
    let (status, body, head) = send_rejected(&mut raw, request).await;
    assert_eq!(status, 426, "{body}");
    assert!(head.contains("upgrade: websocket\r\n"), "{head}");
    // Another path has no endpoint and returns 404.
    let request = "GET /other HTTP/1.1\r\nHost: a\r\n\r\n";
    assert_eq!(send_rejected(&mut raw, request).await.0, 404);
    let request = format!("{ASK}\r\n").replace("GET /", "GET /other");
    assert_eq!(send_rejected(&mut raw, &request).await.0, 404);
    // The connection can still be upgraded.
    raw.upgraded().await;
}

#[tokio::test]
async fn protocols_of_the_server_answer_at_the_same_path() {
    let methods = Methods::new().method("Add", |(a, b): (i32, i32)| async move { a + b });
    let server = Server::methods(methods.path("/")).websocket("/", echo);
    let running = listen(server).await;
    let client = polywire_rpc::xmlrpc::Client::new(&format!("http://{}/", running.address()));
    let sum: i32 = client.unwrap().call("Add", (2, 3)).await.unwrap();
    assert_eq!(sum, 5);
    Raw::open(&running).await;
}

#[tokio::test]
async fn cross_origin_settings_apply_per_endpoint() {
    let pages = || CrossOrigin::new().allow("https://kettle.example").unwrap();
    let server = builder()
        .cross_origin(CrossOrigin::new())
        .websocket("/server", echo)
        .websocket("/any", WebSocketEndpoint::new(echo).any_origin())
        .websocket("/own", WebSocketEndpoint::new(echo).cross_origin(pages()));
    let running = listen(server).await;
    for (path, origin, status) in [
        ("/server", "https://elsewhere.example", 403),
        ("/server", "https://kettle.example", 403),
        ("/server", "http://localhost", 101),
        ("/any", "https://elsewhere.example", 101),
        ("/own", "https://elsewhere.example", 403),
        ("/own", "https://kettle.example", 101),
        ("/own", "null", 403),
    ] {
        upgrade_from(&running, path, origin, status).await;
    }
}

#[tokio::test]
async fn cross_origin_pages_are_rejected_unless_allowed() {
    let frames = WebSocketEndpoint::polywire_frames;
    let server = builder()
        .frames(true)
        .websocket("/", echo)
        .websocket("/any", WebSocketEndpoint::new(echo).any_origin())
        .websocket("/frames", frames())
        .websocket("/frames/any", frames().any_origin());
    let running = listen(server).await;
    for (path, origin, status) in [
        ("/", "https://elsewhere.example", 403),
        ("/", "null", 403),
        ("/", "http://localhost", 101),
        ("/any", "https://elsewhere.example", 101),
        ("/frames", "https://elsewhere.example", 403),
        ("/frames", "http://localhost", 101),
        ("/frames/any", "https://elsewhere.example", 101),
    ] {
        upgrade_from(&running, path, origin, status).await;
    }
    // Clients that are not browsers send no Origin header.
    Raw::open(&running).await;
    // The setting of the server applies to all its endpoints.
    let pages = CrossOrigin::new().allow("https://kettle.example").unwrap();
    let running = listen(builder().cross_origin(pages).websocket("/", echo)).await;
    upgrade_from(&running, "/", "https://kettle.example", 101).await;
}

/// Asserts the status of an upgrade request with this Origin header.
async fn upgrade_from(running: &RunningServer, path: &str, origin: &str, status: u16) {
    let mut raw = Raw::connect(running.address()).await;
    let protocol = "Sec-WebSocket-Protocol: polywire-frames";
    let request = format!("{ASK}{protocol}\r\nOrigin: {origin}\r\n\r\n");
    raw.send(request.replace("GET /", &format!("GET {path}")))
        .await;
    let head = raw.head().await;
    assert!(
        head.starts_with(&format!("HTTP/1.1 {status} ")),
        "{path} {origin}: {head}"
    );
}

#[tokio::test]
async fn statistics_are_exported() {
    let server = builder()
        .websocket("/", echo)
        .pages(|_| Response::new(Bytes::from("pages")))
        .build()
        .unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let mut socket = WebSocket::connect(&url(&running)).await.unwrap();
    socket.send("one").await.unwrap();
    socket.recv().await.unwrap().unwrap();
    let mut raw = Raw::connect(running.address()).await;
    send_rejected(&mut raw, &format!("{ASK}Sec-WebSocket-Version: 13\r\n\r\n")).await;
    let stats = server.websocket_stats();
    assert_eq!(
        (stats.accepted, stats.connections, stats.refused),
        (1, 1, 1)
    );
    assert_eq!((stats.messages_in, stats.messages_out), (1, 1));
    let (status, body, _) = send_rejected(
        &mut raw,
        "GET /_polywire/metrics HTTP/1.1\r\nHost: a\r\n\r\n",
    )
    .await;
    assert_eq!(status, 200);
    assert!(
        body.contains("\npolywire_websocket_accepted_total 1\n"),
        "{body}"
    );
}

#[tokio::test]
async fn connections_without_upgrade_are_rejected() {
    // The server is called as a tower service, so there is no connection to take over.
    let server = builder().websocket("/", echo).build().unwrap();
    let mut request = http::Request::new(http_body_util::Empty::<Bytes>::new());
    for line in ASK.split("\r\n").skip(1).filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(": ").unwrap();
        let name = http::HeaderName::try_from(name).unwrap();
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    let answer = tower::ServiceExt::oneshot(server, request).await.unwrap();
    assert_eq!(answer.status(), 501);
}

/// Layers that wrap response bodies leave the response with status 101 as it is.
#[tokio::test]
async fn upgrades_pass_through_layers() {
    let server = builder()
        .websocket("/", echo)
        .http_layer(CompressionLayer::new())
        .http_layer(TraceLayer::new_for_http());
    let running = listen(server).await;
    let mut socket = WebSocket::connect(&url(&running)).await.unwrap();
    socket.send("hello").await.unwrap();
    let message = within(socket.recv()).await.unwrap().unwrap();
    assert_eq!(message, "hello".into());
    let mut raw = Raw::connect(running.address()).await;
    raw.send(format!("{ASK}\r\n")).await;
    let head = raw.head().await.to_ascii_lowercase();
    assert!(head.starts_with("http/1.1 101 "), "{head}");
    assert!(!head.contains("transfer-encoding"), "{head}");
}

#[test]
fn invalid_paths_are_rejected() {
    for path in ["", "socket", "/a?b", "/a#b"] {
        let error = builder().websocket(path, echo).build().unwrap_err();
        assert_eq!(error, BuildError::WebSocketPath(path.to_owned()));
    }
    let twice = builder().websocket("/a", echo).websocket("/a", echo);
    let error = twice.build().unwrap_err();
    assert!(error.to_string().contains("`/a`"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn unix_sockets_are_upgraded_too() {
    let folder = std::env::temp_dir().join(format!("polywire-ws-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("ws.sock");
    let server = builder()
        .websocket("/chat", |socket: WebSocket| async move {
            let uid = socket.peer().credentials().unwrap().uid;
            socket
                .send(format!("{uid} {}", socket.uri()))
                .await
                .unwrap();
        })
        .build()
        .unwrap();
    let running = server.listen_unix(&path).await.unwrap().into_any();
    assert!(matches!(running.bound_address(), BoundAddress::Unix(_)));
    let url = format!("ws+unix://{}:/chat?a=1", path.display());
    let mut socket = WebSocket::connect(&url).await.unwrap();
    let message = socket.recv().await.unwrap().unwrap();
    assert!(
        message.as_text().unwrap().ends_with(" /chat?a=1"),
        "{message:?}"
    );
    running.shutdown().await;
    std::fs::remove_dir_all(&folder).unwrap();
}
