//! HTTP/1 at the byte level: requests and replies on a raw socket.

use std::time::Duration;

use polywire_protocol::ProtocolKind::XmlRpc;
use polywire_rpc::Timeouts;

use crate::support::{Site, builder, call_of, request};

const CALL: &str = "<?xml version=\"1.0\"?><methodCall><methodName>math.add</methodName><params>\
    <param><value><int>1</int></value></param><param><value><int>2</int></value></param>\
    </params></methodCall>";

/// An XML-RPC call with additional header lines.
fn call(version: &str, lines: &[&str], body: &str) -> Vec<u8> {
    let mut text = format!("POST /RPC2 HTTP/{version}\r\nHost: x\r\nContent-Type: text/xml\r\n");
    for line in lines {
        text.push_str(line);
        text.push_str("\r\n");
    }
    text.push_str("\r\n");
    text.push_str(body);
    text.into_bytes()
}

fn length() -> String {
    format!("Content-Length: {}", CALL.len())
}

/// The HTTP version and the `Connection` header determine whether a connection is kept alive.
#[tokio::test]
async fn keep_alive() {
    let site = Site::plain().await;
    for (version, line, kept) in [
        ("1.0", None, false),
        ("1.0", Some("Connection: keep-alive"), true),
        ("1.0", Some("Connection: Keep-Alive"), true),
        ("1.0", Some("Connection: close"), false),
        ("1.1", None, true),
        ("1.1", Some("Connection: keep-alive"), true),
        ("1.1", Some("Connection: close"), false),
        ("1.1", Some("Connection: x, close"), false),
    ] {
        let mut socket = site.open().await;
        let length = length();
        let lines: Vec<&str> = line.into_iter().chain([&*length]).collect();
        for _ in 0..if kept { 3 } else { 1 } {
            socket.write(call(version, &lines, CALL)).await;
            let reply = socket.reply().await;
            assert_eq!(reply.status, 200, "{version} {line:?}");
            assert!(reply.text().contains("3</"), "{}", reply.text());
            // In HTTP/1.0 the reply has to announce keep-alive, in HTTP/1.1 it has to announce a
            // close.
            let announced = match (version, kept) {
                ("1.0", true) => Some("keep-alive"),
                ("1.1", false) => Some("close"),
                _ => None,
            };
            let own = reply.header("connection");
            assert!(
                own == announced || announced.is_none(),
                "{version} {line:?}: {own:?}"
            );
        }
        if !kept {
            assert!(socket.ends().await, "{version} {line:?}");
        }
    }
}

/// Ambiguous body lengths are rejected. They allow request smuggling past a proxy.
#[tokio::test]
async fn conflicting_lengths() {
    let site = Site::plain().await;
    let chunked = format!("{:x}\r\n{CALL}\r\n0\r\n\r\n", CALL.len());
    let length = length();
    for (lines, body) in [
        (vec![&*length, "Content-Length: 5"], CALL),
        (vec!["Content-Length: 1, 2"], CALL),
        (vec!["Content-Length: +5"], CALL),
        (vec!["Content-Length: -5"], CALL),
        (vec!["Content-Length: 0x10"], CALL),
        (vec!["Content-Length: 99999999999999999999999"], CALL),
        (vec!["Content-Length: "], CALL),
        (vec!["Transfer-Encoding: x"], CALL),
        (vec!["Transfer-Encoding: chunked, gzip"], &chunked),
        (vec!["Content-Length : 5"], CALL),
        (vec![" Content-Length: 5"], CALL),
    ] {
        let mut socket = site.open().await;
        socket.write(call("1.1", &lines, body)).await;
        let reply = socket.reply().await;
        assert_eq!(reply.status, 400, "{lines:?}: {}", reply.text());
        socket.drain().await;
    }
    // HTTP/1.0 has no chunked coding.
    let mut socket = site.open().await;
    let lines = ["Transfer-Encoding: chunked"];
    socket.write(call("1.0", &lines, &chunked)).await;
    assert_eq!(socket.reply().await.status, 400);
    // With both headers, the body is read by its chunks (RFC 9112, section 6.3). The connection is
    // closed after the reply, so that bytes after the body are not answered as a request.
    let mut socket = site.open().await;
    let lines = ["Content-Length: 5", "Transfer-Encoding: chunked"];
    let mut bytes = call("1.1", &lines, &chunked);
    bytes.extend(request("GET /status/299", &[], ""));
    socket.write(bytes).await;
    let reply = socket.reply().await;
    assert_eq!(
        (reply.status, reply.header("connection")),
        (200, Some("close"))
    );
    assert!(!socket.raw().await.contains("299"));
    // A repeated `Content-Length` with the same value is accepted, because it is not ambiguous.
    let mut socket = site.open().await;
    socket.write(call("1.1", &[&*length, &*length], CALL)).await;
    assert_eq!(socket.reply().await.status, 200);
}

#[tokio::test]
async fn chunks() {
    let site = Site::plain().await;
    let mut socket = site.open().await;
    let (first, second) = CALL.split_at(50);
    let body = format!(
        "{:x};name=value\r\n{first}\r\n{:X}\r\n{second}\r\n0\r\n",
        first.len(),
        second.len()
    );
    let lines = ["Transfer-Encoding: chunked"];
    for _ in 0..2 {
        let bytes = call("1.1", &lines, &format!("{body}\r\n"));
        socket.write(bytes).await;
        let reply = socket.reply().await;
        assert!(reply.text().contains("3</"));
        assert_eq!(reply.header("connection"), None);
    }
    // Trailers are read, and the connection closes after the response.
    let bytes = call("1.1", &lines, &format!("{body}Trailer: x\r\n\r\n"));
    socket.write(bytes).await;
    let reply = socket.reply().await;
    assert!(reply.text().contains("3</"));
    assert_eq!(reply.header("connection"), Some("close"));
    assert!(socket.ends().await);
}

/// A recipient that accepts a bare LF as a line end (RFC 9112, section 2.2) sees the request end in
/// the middle of the trailers, followed by a second request. hyper reads on to the next CRLF, and
/// would read the body of the second request as a request. That request must not be answered.
#[tokio::test]
async fn a_bare_line_feed_in_trailers() {
    let site = Site::plain().await;
    let hidden = String::from_utf8(request("GET /status/299", &[], "")).unwrap();
    let seen = request(
        "PUT /payload/text",
        &[("Content-Type", "text/plain")],
        &hidden,
    );
    let seen = String::from_utf8(seen).unwrap();
    // `POST /RPC2` is answered after its body, and the connection is closed. The other requests may
    // be answered after the head. Then the bytes that hyper takes for the next request are
    // rejected.
    for (start, status) in [
        ("POST /RPC2", 200),
        ("POST /nowhere", 200),
        ("DELETE /RPC2", 405),
    ] {
        for trailers in ["X: y\n\n", "\n", "X: y\r\nZ: w\n\n", "X: y\n"] {
            let chunked = format!("{:x}\r\n{CALL}\r\n0\r\n", CALL.len());
            let headers = [
                ("Content-Type", "text/xml"),
                ("Transfer-Encoding", "chunked"),
            ];
            let mut bytes = request(start, &headers, "");
            bytes.extend_from_slice(chunked.as_bytes());
            let head = bytes.len();
            bytes.extend_from_slice(trailers.as_bytes());
            bytes.extend_from_slice(seen.as_bytes());
            for cut in [0, head] {
                let mut socket = site.open().await;
                socket.write(&bytes[..cut]).await;
                tokio::time::sleep(Duration::from_millis(20)).await;
                socket.write(&bytes[cut..]).await;
                let all = socket.raw().await;
                // If hyper rejects the trailers, the reply is an XML-RPC fault, also with status
                // 200.
                assert!(
                    all.starts_with(&format!("HTTP/1.1 {status} ")),
                    "{start} {trailers:?}: {all}"
                );
                let last = all.rfind("HTTP/1.1 ").unwrap();
                let (first, last) = all.split_at(last);
                assert!(
                    first.is_empty() || last.starts_with("HTTP/1.1 400 "),
                    "{start} {trailers:?}: {all}"
                );
                assert!(first.matches("HTTP/1.1 ").count() <= 1, "{all}");
                // A second reply has status 400 and closes the connection.
                assert!(
                    first.is_empty() || last.contains("connection: close"),
                    "{start} {trailers:?}: {all}"
                );
                assert!(!all.contains("HTTP/1.1 299"), "{all}");
            }
        }
    }
}

/// A connection stays open if the server replies before it has read a chunked body, and then reads
/// the body to its end.
#[tokio::test]
async fn chunked_bodies_with_an_early_reply() {
    let site = Site::plain().await;
    let mut socket = site.open().await;
    let chunked = format!("{:x}\r\n{CALL}\r\n0\r\n\r\n", CALL.len());
    let headers = [("Transfer-Encoding", "chunked")];
    let head = request("DELETE /RPC2", &headers, "");
    for cut in [0, 10, chunked.len()] {
        let (begin, end) = chunked.split_at(cut);
        socket.write([&head, begin.as_bytes()].concat()).await;
        let reply = socket.reply().await;
        assert_eq!((reply.status, reply.header("connection")), (405, None));
        // The next request may be in the same write as the rest of the body.
        let next = request("GET /status/299", &[], "");
        socket.write([end.as_bytes(), &next].concat()).await;
        assert_eq!(socket.reply().await.status, 299);
    }
}

/// Transfer codings that another recipient may interpret differently are rejected (RFC 9112,
/// sections 6.1 and 7).
#[tokio::test]
async fn transfer_codings() {
    let site = Site::plain().await;
    let chunked = format!("{:x}\r\n{CALL}\r\n0\r\n\r\n", CALL.len());
    for (lines, status) in [
        (&["Transfer-Encoding: chunked"][..], 200),
        (&["Transfer-Encoding: Chunked"], 200),
        // A list may have empty elements (RFC 9110, section 5.6.1.2).
        (&["Transfer-Encoding: , chunked"], 200),
        (&["Transfer-Encoding: chunked, chunked"], 400),
        (&["Transfer-Encoding: chunked,\tCHUNKED"], 400),
        (
            &["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
            400,
        ),
        (&["Transfer-Encoding: gzip, chunked"], 501),
        (
            &["Transfer-Encoding: gzip", "Transfer-Encoding: chunked"],
            501,
        ),
        (&["Transfer-Encoding: identity, chunked"], 501),
    ] {
        let mut socket = site.open().await;
        let mut bytes = call("1.1", lines, &chunked);
        bytes.extend(request("GET /status/299", &[], ""));
        socket.write(bytes).await;
        let reply = socket.reply().await;
        assert_eq!(reply.status, status, "{lines:?}: {}", reply.text());
        if status == 200 {
            assert_eq!(socket.reply().await.status, 299, "{lines:?}");
        } else {
            assert_eq!(reply.header("connection"), Some("close"), "{lines:?}");
            assert_eq!(socket.raw().await, "", "{lines:?}");
        }
    }
}

/// Requests with a missing, repeated or invalid host are rejected, because a proxy may authorize
/// requests by host (RFC 9112, section 3.2).
#[tokio::test]
async fn hosts() {
    let site = Site::plain().await;
    for (start, lines, status) in [
        ("GET /status/299 HTTP/1.1", &["Host: x"][..], 299),
        ("GET /status/299 HTTP/1.1", &["Host:"], 299),
        ("GET /status/299 HTTP/1.1", &["Host: [::1]:8080"], 299),
        ("GET /status/299 HTTP/1.0", &[], 299),
        // If the target has a host, `Host` is ignored (section 3.2.2), but still required.
        ("GET http://y/status/299 HTTP/1.1", &["Host: x"], 299),
        ("GET http://y/status/299 HTTP/1.1", &[], 400),
        ("GET http://u@y/status/299 HTTP/1.1", &["Host: y"], 400),
        ("GET /status/299 HTTP/1.1", &[], 400),
        ("GET /status/299 HTTP/1.1", &["X-Host: x"], 400),
        ("GET /status/299 HTTP/1.1", &["Host: x", "Host: x"], 400),
        ("GET /status/299 HTTP/1.1", &["Host: x", "Host: y"], 400),
        ("GET /status/299 HTTP/1.0", &["Host: x", "host: y"], 400),
        ("GET /status/299 HTTP/1.1", &["Host: x, y"], 400),
        ("GET /status/299 HTTP/1.1", &["Host: u@x"], 400),
        ("GET /status/299 HTTP/1.1", &["Host: x/y"], 400),
        ("GET /status/299 HTTP/1.0", &["Host: x:y"], 400),
        ("GET /status/299 HTTP/1.1", &["Host: \u{e9}"], 400),
    ] {
        let mut socket = site.open().await;
        let head = format!("{start}\r\n{}\r\n\r\n", lines.join("\r\n"));
        let head = head.replace("\r\n\r\n\r\n", "\r\n\r\n");
        socket.write(&head).await;
        let reply = socket.reply().await;
        assert_eq!(reply.status, status, "{head}{}", reply.text());
        if status == 400 {
            assert_eq!(reply.header("connection"), Some("close"), "{head}");
            assert!(socket.ends().await, "{head}");
        }
    }
    // The body of the rejected request is not read as a request.
    let mut socket = site.open().await;
    let body = "GET /status/299 HTTP/1.1\r\nHost: x\r\n\r\n";
    let length = format!("Content-Length: {}", body.len());
    socket.write(call("1.1", &["Host: y", &length], body)).await;
    assert_eq!(socket.reply().await.status, 400);
    assert_eq!(socket.raw().await, "");
}

#[tokio::test]
async fn two_calls_in_one_write() {
    let site = Site::plain().await;
    let mut socket = site.open().await;
    let length = length();
    let other = CALL.replace("<int>1<", "<int>5<");
    let both = [
        call("1.1", &[&length], CALL),
        call("1.1", &[&length], &other),
    ];
    socket.write(both.concat()).await;
    assert!(socket.reply().await.text().contains("3</"));
    assert!(socket.reply().await.text().contains("7</"));
    // The first call is slower. The replies keep the order of the requests.
    let slow = call_of(XmlRpc, "", "Fail", r#"{"how":"soon"}"#);
    socket
        .write([slow, call("1.1", &[&length], &other)].concat())
        .await;
    assert!(socket.reply().await.text().contains("soon"));
    assert!(socket.reply().await.text().contains("7</"));
}

/// A GET with a browser at the path of XML-RPC gets a readable explanation.
#[tokio::test]
async fn browsers_at_the_path_of_xml_rpc() {
    let site = Site::plain().await;
    let mut socket = site.open().await;
    socket.write(request("GET /RPC2", &[], "")).await;
    let reply = socket.reply().await;
    assert_eq!(reply.status, 405);
    assert_eq!(reply.header("allow"), Some("POST"));
    assert!(reply.text().contains("POST"), "{}", reply.text());
    socket.write(request("HEAD /RPC2", &[], "")).await;
    let bare = socket.head_reply().await;
    assert_eq!(bare.status, 405);
    assert_eq!(bare.header("allow"), Some("POST"));
    assert_eq!(
        bare.header("content-length"),
        reply.header("content-length")
    );
    // The reply to HEAD has no body, so that the next reply follows its head.
    let length = length();
    socket.write(call("1.1", &[&length], CALL)).await;
    assert_eq!(socket.reply().await.status, 200);
}

/// A request that arrives byte by byte is served if it is complete before the timeout. Otherwise
/// the connection is closed.
#[tokio::test]
async fn requests_byte_by_byte() {
    let site = Site::plain().await;
    let mut socket = site.open().await;
    for byte in call("1.1", &[&length()], CALL) {
        socket.write([byte]).await;
        tokio::task::yield_now().await;
    }
    assert!(socket.reply().await.text().contains("3</"));

    let short = Duration::from_millis(200);
    let timeouts = Timeouts::DEFAULT.with_head(short).with_body(short);
    let site = Site::start(builder().timeouts(timeouts)).await;
    let whole = call("1.1", &[&length()], CALL);
    let body = whole.len() - CALL.len();
    // After a timeout in the head the connection is closed without a reply. After a timeout in the
    // body the reply is an error.
    for (quick, announced) in [(0, false), (body, true)] {
        let mut socket = site.open().await;
        socket.write(&whole[..quick]).await;
        let reply = tokio::select! {
            reply = async {
                for byte in &whole[quick..] {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    socket.write([*byte]).await;
                }
                socket.try_reply().await
            } => reply,
        };
        match reply {
            Some(reply) if announced => assert!(reply.text().contains("did not arrive")),
            reply => assert!(reply.is_none() && !announced, "{reply:?}"),
        }
        site.assert_still_serving().await;
    }
}

/// `Expect: 100-continue` in HTTP/1.1, and in HTTP/1.0, where it has no meaning. The call is served
/// either way.
#[tokio::test]
async fn expectations() {
    let site = Site::plain().await;
    let mut socket = site.open().await;
    let lines = [&*length(), "Expect: 100-continue"];
    socket.write(call("1.1", &lines, "")).await;
    assert_eq!(socket.reply().await.status, 100);
    socket.write(CALL).await;
    assert!(socket.reply().await.text().contains("3</"));
    // A client that sends the body without waiting for status 100 is served too.
    socket.write(call("1.1", &lines, CALL)).await;
    let mut reply = socket.reply().await;
    if reply.status == 100 {
        reply = socket.reply().await;
    }
    assert!(reply.text().contains("3</"));
    let mut socket = site.open().await;
    socket.write(call("1.0", &lines, CALL)).await;
    let mut reply = socket.reply().await;
    if reply.status == 100 {
        reply = socket.reply().await;
    }
    assert!(reply.text().contains("3</"));
}

/// Clients disconnect after every seventh byte of a request. Every other connection is reset.
#[tokio::test]
async fn clients_that_disconnect_mid_request() {
    let site = Site::plain().await;
    let whole = call("1.1", &[&length()], CALL);
    for end in (0..=whole.len()).step_by(7) {
        let mut socket = site.open().await;
        socket.write(&whole[..end]).await;
        if end % 2 == 0 {
            socket.reset();
        }
        drop(socket);
    }
    site.assert_still_serving().await;
}
