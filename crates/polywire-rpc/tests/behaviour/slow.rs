//! Slow clients: timeouts close their connections, and other clients are still served.

use std::time::Duration;

use polywire_protocol::ProtocolKind::{RestJson1, XmlRpc};
use polywire_rpc::Timeouts;

use crate::support::{Site, WIRES, builder, call_of};

/// A server with timeouts of 200 ms for heads and bodies.
async fn site_with_short_timeouts() -> Site {
    let short = Duration::from_millis(200);
    Site::start(builder().timeouts(Timeouts::DEFAULT.with_head(short).with_body(short))).await
}

#[tokio::test]
async fn heads_byte_by_byte() {
    let site = site_with_short_timeouts().await;
    // The first connection is HTTP/1 from its first byte. The second one stops inside the HTTP/2
    // preface, before the version is known.
    for head in [
        "GET /status/200 HTTP/1.1\r\nHost: x\r\nX-",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r",
    ] {
        let mut socket = site.open().await;
        let drip = async {
            for byte in head.bytes().chain(std::iter::repeat(b'x')) {
                socket.write([byte]).await;
                if head.starts_with('P') && byte == b'\r' {
                    std::future::pending::<()>().await;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        // Other clients are served meanwhile.
        tokio::select! {
            () = drip => unreachable!(),
            () = async {
                for _ in 0..20 {
                    site.assert_still_serving().await;
                    tokio::time::sleep(Duration::from_millis(40)).await;
                }
            } => {}
        }
        socket.drain().await;
        assert!(socket.ends().await, "{head}");
    }
}

#[tokio::test]
async fn silent_connections() {
    let site = site_with_short_timeouts().await;
    // No bytes, two prefixes that could become HTTP/1 or HTTP/2, an incomplete head, and an HTTP/2
    // preface without frames.
    for word in [
        "",
        "P",
        "PRI * HTTP/2.0\r\n",
        "GET /status",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let mut socket = site.open().await;
        socket.write(word).await;
        socket.drain().await;
        site.assert_still_serving().await;
    }
}

/// The server detects a disconnect at once, even if the bytes so far could become HTTP/1 or HTTP/2.
#[tokio::test]
async fn peers_that_disconnect_after_one_byte() {
    let site = Site::start(builder().connections(50)).await;
    let mut sockets = Vec::new();
    for word in ["P", "PRI * HTTP/2.0\r\n"] {
        for _ in 0..25 {
            let mut socket = site.open().await;
            socket.write(word).await;
            sockets.push(socket);
        }
    }
    drop(sockets);
    // The connections had taken all 50 slots. Without the detection they would keep the slots for
    // 30 seconds, the head timeout.
    let soon = Duration::from_secs(10);
    tokio::time::timeout(soon, site.assert_still_serving())
        .await
        .unwrap();
}

#[tokio::test]
async fn idle_connections() {
    let site = site_with_short_timeouts().await;
    for kind in WIRES {
        let mut socket = site.open().await;
        socket
            .write(call_of(kind, "/add", "Add", r#"{"left":1,"right":2}"#))
            .await;
        assert_eq!(socket.reply().await.status, 200);
        assert!(socket.ends().await, "{kind}");
    }
    // The server closes the idle connection of the client between calls. The client opens a new
    // one.
    let client = site.client(RestJson1);
    for _ in 0..3 {
        client.call("Add", r#"{"left":1,"right":2}"#).await.unwrap();
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
}

#[tokio::test]
async fn idle_http2_connections() {
    let site = site_with_short_timeouts().await;
    let client = site.client_with(RestJson1, |builder| builder.http2(true));
    for _ in 0..3 {
        client.call("Add", r#"{"left":1,"right":2}"#).await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

#[tokio::test]
async fn stalled_bodies() {
    let site = site_with_short_timeouts().await;
    for kind in WIRES {
        let whole = call_of(kind, "/add", "Add", r#"{"left":1,"right":2}"#);
        let mut socket = site.open().await;
        socket.write(&whole[..whole.len() - 3]).await;
        let (reply, ()) = tokio::join!(socket.reply(), site.assert_still_serving());
        let (status, name, message) = reply.error(kind);
        assert!(message.contains("did not arrive"), "{kind}: {message}");
        match kind {
            XmlRpc => assert_eq!((status, name.as_str()), (200, "-32300")),
            _ => {
                assert_eq!(status, 408, "{kind}");
                assert!(name.ends_with("RequestTimeoutException"), "{name}");
            }
        }
        // The end of the request is unknown, so the connection cannot be reused.
        assert!(socket.ends().await);
    }
}

#[tokio::test]
async fn bodies_byte_by_byte() {
    let site = site_with_short_timeouts().await;
    let whole = call_of(RestJson1, "/add", "Add", r#"{"left":1,"right":2}"#);
    let mut socket = site.open().await;
    let body = whole.len() - 20;
    socket.write(&whole[..body]).await;
    // The gaps between bytes are shorter than the timeout, but the whole body takes longer.
    for byte in &whole[body..] {
        socket.write([*byte]).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(socket.reply().await.error(RestJson1).0, 408);
}

/// A client may close its write half after the request.
#[tokio::test]
async fn half_closed_clients() {
    let site = Site::plain().await;
    for kind in WIRES {
        let mut socket = site.open().await;
        socket
            .write(call_of(kind, "/fail", "Fail", r#"{"how":"soon"}"#))
            .await;
        socket.end().await;
        assert_eq!(socket.reply().await.status, 200, "{kind}");
        assert!(socket.ends().await);
    }
}

/// The connection of a client that sends a request and does not read the reply is closed.
#[tokio::test]
async fn clients_that_do_not_read() {
    let site = site_with_short_timeouts().await;
    let mut socket = site.open_narrow().await;
    let text = "x".repeat(15_000_000);
    let head = format!(
        "PUT /payload/text HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n",
        text.len()
    );
    socket.write(head + &text).await;
    // The unread reply is much larger than the socket buffers. The server closes the connection
    // after the timeout.
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert!(socket.drain().await < 15_000_000);
    site.assert_still_serving().await;
}

/// The head timeout also applies to the second request of a connection.
#[tokio::test]
async fn second_heads_byte_by_byte() {
    let site = site_with_short_timeouts().await;
    let mut socket = site.open().await;
    socket
        .write("GET /status/200 HTTP/1.1\r\nHost: x\r\n\r\n")
        .await;
    assert_eq!(socket.reply().await.status, 200);
    let drip = async {
        for byte in b"GET /status/200 HTTP/1.1\r\nHost: x\r\nX-"
            .iter()
            .chain(std::iter::repeat(&b'x'))
        {
            socket.write([*byte]).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let limit = Duration::from_millis(800);
    assert!(tokio::time::timeout(limit, drip).await.is_err());
    assert!(socket.ends().await);
}

/// A connection that sends a long response is not idle.
#[tokio::test]
async fn a_connection_that_sends_a_long_response_is_not_idle() {
    use polywire_rpc::Methods;
    use polywire_rpc::Server;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    const LEN: usize = 24 << 20;
    let short = Duration::from_millis(400);
    let methods = Methods::new().method("Long", |(): ()| async { "x".repeat(LEN) });
    let server = Server::methods(methods).timeouts(Timeouts::DEFAULT.with_head(short));
    let server = server.build().unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let mut socket = tokio::net::TcpStream::connect(running.address())
        .await
        .unwrap();
    let body = "<methodCall><methodName>Long</methodName><params/></methodCall>";
    let call = format!(
        "POST /RPC2 HTTP/1.1\r\nhost: a\r\ncontent-type: text/xml\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    for _ in 0..2 {
        socket.write_all(call.as_bytes()).await.unwrap();
        let mut tail = Vec::new();
        let mut buffer = vec![0; 1 << 20];
        // The response takes longer than the head timeout of 400 ms, but the pauses between reads
        // are much shorter.
        while !tail.ends_with(b"</methodResponse>") {
            let count = socket.read(&mut buffer).await.unwrap();
            assert!(count > 0);
            tail.extend_from_slice(&buffer[..count]);
            tail.drain(..tail.len().saturating_sub(64));
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
    }
}
