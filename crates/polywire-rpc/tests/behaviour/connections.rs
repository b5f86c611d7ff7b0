//! Connections: keep-alive, close, pipelining, limits, and HTTP/2.

use std::net::SocketAddr;
use std::time::Duration;

use polywire_protocol::ProtocolKind::RestJson1;
use polywire_rpc::{BuildError, Client, Timeouts};
use polywire_schema::Limits;

use crate::support::{Site, Socket, WIRES, builder, call_of, request, service, within};

const ADD: &str = r#"{"left":1,"right":2}"#;

#[tokio::test]
async fn kept_alive() {
    let site = Site::plain().await;
    let mut socket = site.open().await;
    // Calls on different wires, one after the other on one connection.
    for _ in 0..3 {
        for kind in WIRES {
            socket
                .write(call_of(kind, "/add", "Add", r#"{"left":1,"right":2}"#))
                .await;
            let reply = socket.reply().await;
            assert!(reply.status == 200 || kind == polywire_protocol::ProtocolKind::XmlRpc);
        }
    }
    socket
        .write(request("GET /status/201", &[("Connection", "close")], ""))
        .await;
    let reply = socket.reply().await;
    assert_eq!(
        (reply.status, reply.header("connection")),
        (201, Some("close"))
    );
    assert!(socket.ends().await);
}

#[tokio::test]
async fn pipelined() {
    let site = Site::plain().await;
    let mut socket = site.open().await;
    let mut all = Vec::new();
    for number in 200..250 {
        all.extend(request(&format!("GET /status/{number}"), &[], ""));
        all.extend(request(
            "POST /names",
            &[],
            format!(r#"{{"long":{number}}}"#),
        ));
    }
    socket.write(all).await;
    for number in 200..250 {
        // 204 and 205 have no body. hyper sends a `Content-Length` with all other replies.
        assert_eq!(socket.reply().await.status, number);
        assert_eq!(
            socket.reply().await.text(),
            format!(r#"{{"long":{number}}}"#)
        );
    }
}

/// Some clients send a line feed after the body that is not included in `Content-Length`. Extra
/// bytes after the last request must not prevent its reply.
#[tokio::test]
async fn bytes_after_the_last_request() {
    let site = Site::plain().await;
    for behind in ["\r\n", "x", "GET /status/200 HTTP/1.1\r\nHost: x\r\n\r\n"] {
        let mut last = request("POST /add", &[("Connection", "close")], ADD);
        last.extend_from_slice(behind.as_bytes());
        let mut socket = site.open().await;
        socket.write(last).await;
        assert_eq!(socket.reply().await.status, 200, "{behind:?}");
    }
    // An empty line between requests is skipped.
    let mut socket = site.open().await;
    for _ in 0..2 {
        socket.write(request("POST /add", &[], ADD)).await;
        socket.write("\r\n").await;
        assert_eq!(socket.reply().await.status, 200);
    }
}

#[tokio::test]
async fn http_1_0() {
    let site = Site::plain().await;
    let mut socket = site.open().await;
    socket.write("GET /status/200 HTTP/1.0\r\n\r\n").await;
    assert_eq!(socket.reply().await.status, 200);
    assert!(socket.ends().await);

    let mut socket = site.open().await;
    for _ in 0..2 {
        socket
            .write("GET /status/200 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            .await;
        let reply = socket.reply().await;
        assert_eq!(
            (reply.status, reply.header("connection")),
            (200, Some("keep-alive"))
        );
    }
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let site = Site::plain().await;
    let mut socket = site.open().await;
    let get = request("GET /files/b/p/end?download", &[], "");
    let head = request("HEAD /files/b/p/end?download", &[], "");
    socket.write(&get).await;
    let full = socket.reply().await;
    socket.write(&head).await;
    let short = socket.head_reply().await;
    assert_eq!(short.status, 200);
    assert_eq!(
        short.header("content-length"),
        full.header("content-length")
    );
    // Errors have no body either, and the next reply starts at the right byte.
    for (line, status) in [("HEAD /nowhere", 404), ("HEAD /add", 405)] {
        socket.write(request(line, &[], "")).await;
        assert_eq!(socket.head_reply().await.status, status);
    }
    socket.write(&get).await;
    assert_eq!(socket.reply().await.body, full.body);
}

#[tokio::test]
async fn expect_continue() {
    let site = Site::plain().await;
    let mut socket = site.open().await;
    let headers = [
        ("Expect", "100-continue"),
        ("Content-Length", "20"),
        ("Content-Type", "application/json"),
    ];
    socket.write(request("POST /add", &headers, "")).await;
    assert_eq!(socket.reply().await.status, 100);
    socket.write(ADD).await;
    assert_eq!(socket.reply().await.status, 200);

    // A request whose body is over the limit is rejected before the body is sent.
    let headers = [
        ("Expect", "100-continue"),
        ("Content-Length", "99999999999"),
    ];
    socket.write(request("POST /add", &headers, "")).await;
    assert_eq!(socket.reply().await.status, 413);
}

#[tokio::test]
async fn http2_with_prior_knowledge() {
    let site = Site::plain().await;
    for kind in WIRES {
        let client = site.client_with(kind, |builder| builder.http2(true));
        assert_eq!(
            client.call("Add", ADD).await.unwrap(),
            r#"{"sum":3}"#,
            "{kind}"
        );
        let fault = client.fault("Fail", r#"{"how":"not there"}"#).await;
        assert_eq!(fault.shape(), "example.wire#NotThere", "{kind}");
        let fault = client.fault("Fail", r#"{"how":"late panic"}"#).await;
        assert_eq!(fault.message(), "an internal error occurred", "{kind}");
        // 50 concurrent calls on one connection.
        let calls: Vec<_> = (0..50)
            .map(|number| {
                let client = client.clone();
                tokio::spawn(async move {
                    let input = format!(r#"{{"left":{number},"right":1}}"#);
                    client.call("Add", &input).await.unwrap()
                })
            })
            .collect();
        for (number, call) in calls.into_iter().enumerate() {
            assert_eq!(call.await.unwrap(), format!(r#"{{"sum":{}}}"#, number + 1));
        }
    }
}

#[tokio::test]
async fn http2_bodies_that_are_too_large() {
    let site = Site::start(builder().limits(Limits::DEFAULT.with_bytes(1_000))).await;
    for kind in WIRES {
        let client = site.client_with(kind, |builder| builder.http2(true));
        let input = format!(r#"{{"name":"{}"}}"#, "x".repeat(5_000_000));
        let fault = client.fault("Create", &input).await;
        assert!(fault.message().contains("1000 bytes"), "{kind}: {fault}");
        // The connection stays usable.
        assert_eq!(
            client.call("Add", ADD).await.unwrap(),
            r#"{"sum":3}"#,
            "{kind}"
        );
    }
}

#[tokio::test]
async fn http2_host_prefix() {
    let site = Site::plain().await;
    let client = site.client_with(RestJson1, |builder| builder.http2(true));
    let input = r#"{"tenant":"acme","note":"n"}"#;
    assert_eq!(client.call("Hosted", input).await.unwrap(), input);
}

/// A client rejects a URL with user information. The error does not contain the password.
#[test]
fn users_in_urls() {
    for url in ["http://ada:secret@localhost:1", "http://ada@localhost/path"] {
        let client = Client::builder(service(), RestJson1).connect(url);
        let error = client.unwrap_err().to_string();
        assert!(error.contains("header authorization"), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
    // An `@` in the path is not part of the authority.
    let client = Client::builder(service(), RestJson1).connect("http://localhost:1/@ada");
    assert!(client.is_ok(), "{client:?}");
}

#[tokio::test]
async fn the_limit_on_connections() {
    let site = Site::start(builder().connections(2)).await;
    let mut first = site.open().await;
    let mut second = site.open().await;
    for socket in [&mut first, &mut second] {
        socket.write(request("GET /status/200", &[], "")).await;
        assert_eq!(socket.reply().await.status, 200);
    }
    // The connection is established, but the server does not read from it yet.
    let mut third = site.open().await;
    third.write(request("GET /status/202", &[], "")).await;
    let early = tokio::time::timeout(Duration::from_millis(300), third.reply()).await;
    assert!(early.is_err(), "{early:?}");
    // The other connections are still served.
    first.write(request("GET /status/200", &[], "")).await;
    assert_eq!(first.reply().await.status, 200);
    drop(second);
    assert_eq!(third.reply().await.status, 202);
}

/// The connection limit applies to the whole server: here two HTTP listeners on different threads
/// and an SCGI listener. No listener reserves a slot for a future connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_limit_on_connections_applies_to_all_listeners() {
    let any = || "127.0.0.1:0".parse().unwrap();
    let server = builder().connections(2).build().unwrap();
    let (send, address) = std::sync::mpsc::channel();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let elsewhere = server.clone();
    let worker = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(async {
            let running = elsewhere.listen(any()).await.unwrap();
            send.send(running.address()).unwrap();
            let _ = stopped.await;
            running.shutdown().await;
        });
    });
    let here = server.listen(any()).await.unwrap();
    let scgi = server.listen_scgi(any()).await.unwrap();
    let there = address.recv().unwrap();
    let open = async |address: SocketAddr| {
        Socket::over(tokio::net::TcpStream::connect(address).await.unwrap())
    };
    let get = request("GET /status/200", &[], "");
    let mut first = open(here.address()).await;
    let mut second = open(there).await;
    for socket in [&mut first, &mut second] {
        socket.write(&get).await;
        assert_eq!(socket.reply().await.status, 200);
    }
    let mut third = open(scgi.address()).await;
    third.write(b"no SCGI").await;
    // The third connection is over the limit. The server does not reply within 300 ms.
    let early = tokio::time::timeout(Duration::from_millis(300), third.raw()).await;
    assert!(early.is_err(), "{early:?}");
    drop(first);
    let response = third.raw().await;
    assert!(response.starts_with("Status: 400"), "{response}");
    // One free slot is enough for both HTTP listeners, one connection after the other.
    for address in [here.address(), there, here.address()] {
        let mut socket = open(address).await;
        socket.write(&get).await;
        assert_eq!(socket.reply().await.status, 200);
    }
    drop(second);
    let _ = stop.send(());
    within(scgi.shutdown()).await;
    within(here.shutdown()).await;
    worker.join().unwrap();
}

/// Maximum values of settings mean no limit. A limit of 0 connections is a build error.
#[tokio::test]
async fn extreme_settings() {
    let site = Site::start(
        builder().connections(usize::MAX).timeouts(
            Timeouts::DEFAULT
                .with_head(Duration::MAX)
                .with_body(Duration::MAX)
                .with_handler(Duration::MAX)
                .with_shutdown(Duration::MAX),
        ),
    )
    .await;
    for kind in WIRES {
        let client = site.client_with(kind, |builder| builder.http2(true));
        assert_eq!(client.call("Add", ADD).await.unwrap(), r#"{"sum":3}"#);
        let slow = client.call("Fail", r#"{"how":"soon"}"#).await;
        assert!(slow.is_ok(), "{slow:?}");
    }
    site.assert_still_serving().await;
    let mut site = site;
    site.stop().await;
    let error = builder().connections(0).build().unwrap_err();
    assert_eq!(error, BuildError::NoConnections);
}
