//! Invalid requests on every wire. The client gets an error in its own protocol with the right
//! status, and the server keeps serving.

use polywire_protocol::FaultKind;
use polywire_protocol::ProtocolKind::{RestJson1, RpcV2Cbor, XmlRpc};
use polywire_schema::Limits;

use crate::support::{Site, WIRES, builder, call_of, head_of, post, request};

/// A request body, and the expected status, error name and part of the error message.
type Case<'a> = (&'a [u8], u16, &'a str, &'a str);

#[tokio::test]
async fn json_bodies() {
    let site = Site::plain().await;
    let mut socket = site.open().await;
    let malformed = "SerializationException";
    let cases: [Case<'_>; 13] = [
        (b"{", 400, malformed, "byte 1"),
        (b"nonsense", 400, malformed, "byte 0"),
        (b"[1]", 400, malformed, "expected"),
        (b"7", 400, malformed, "expected"),
        (br#"{"left":1,"right":2,}"#, 400, malformed, "byte 20"),
        (br#"{"left":1,"right":2} x"#, 400, malformed, "byte 21"),
        (br#"{"left":1,"left":2,"right":3}"#, 400, malformed, "left"),
        (
            b"{\"left\":1,\"right\":2,\"note\":\"\xff\"}",
            400,
            malformed,
            "",
        ),
        (br#"{"left":"1","right":2}"#, 400, malformed, "left"),
        (br#"{"left":1.5,"right":2}"#, 400, malformed, "left"),
        (br#"{"left":1,"right":2147483648}"#, 400, malformed, "right"),
        (br#"{"left":1}"#, 400, "ValidationException", "'/right'"),
        (
            br#"{"left":null,"right":2}"#,
            400,
            "ValidationException",
            "'/left'",
        ),
    ];
    for (body, status, name, word) in cases {
        // All bodies are sent on one connection, which stays open.
        socket.write(post(RestJson1, "/add", "Add", body)).await;
        let error = socket.reply().await.error(RestJson1);
        let body = String::from_utf8_lossy(body);
        assert_eq!((error.0, error.1.as_str()), (status, name), "{body}");
        assert!(error.2.contains(word), "{body}: {}", error.2);
    }
    site.assert_still_serving().await;
}

#[tokio::test]
async fn cbor_bodies() {
    let site = Site::plain().await;
    let mut socket = site.open().await;
    let malformed = "smithy.framework#SerializationException";
    let invalid = "smithy.framework#ValidationException";
    let cases: [Case<'_>; 9] = [
        (b"\xa1", 400, malformed, ""),
        (b"\xa2\x64left\x01\x65right", 400, malformed, ""),
        (b"\xff", 400, malformed, ""),
        (b"\x80", 400, malformed, ""),
        (b"\xa2\x64left\x01\x65right\x02\x00", 400, malformed, ""),
        (b"\xa2\x64left\x61x\x65right\x02", 400, malformed, "left"),
        (
            b"\xa2\x64left\x01\x65right\x1b\xff\xff\xff\xff\xff\xff\xff\xff",
            400,
            malformed,
            "right",
        ),
        (b"\xa1\x64left\x01", 400, invalid, "'/right'"),
        (b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff", 400, malformed, ""),
    ];
    for (body, status, name, word) in cases {
        socket.write(post(RpcV2Cbor, "", "Add", body)).await;
        let error = socket.reply().await.error(RpcV2Cbor);
        assert_eq!((error.0, error.1.as_str()), (status, name), "{body:x?}");
        assert!(error.2.contains(word), "{body:x?}: {}", error.2);
    }
    // An empty body is a structure without members.
    socket.write(post(RpcV2Cbor, "", "Add", "")).await;
    let error = socket.reply().await.error(RpcV2Cbor);
    assert_eq!((error.0, error.1.as_str()), (400, invalid));
    site.assert_still_serving().await;
}

#[tokio::test]
async fn xmlrpc_bodies() {
    let site = Site::plain().await;
    let mut socket = site.open().await;
    let call = |parameters: &str| {
        format!(
            "<methodCall><methodName>Create</methodName><params>{parameters}</params></methodCall>"
        )
    };
    let member = |value: &str| {
        call(&format!(
            "<param><value><struct><member><name>name</name><value>{value}</value></member>\
             </struct></value></param>"
        ))
    };
    let cases: [(String, &str, &str); 13] = [
        (String::new(), "-32700", ""),
        ("<methodCall>".to_owned(), "-32700", ""),
        ("no XML".to_owned(), "-32700", ""),
        (member("x")[..100].to_owned(), "-32700", ""),
        (member("&nbsp;"), "-32700", ""),
        (
            format!("<!DOCTYPE x>{}", member("x")),
            "-32700",
            "document types",
        ),
        (
            format!("<?xml version='1.0' encoding='utf-16'?>{}", member("ö")),
            "-32701",
            "UTF-8",
        ),
        ("<html/>".to_owned(), "-32600", "methodCall"),
        (member("<int>5</int>"), "-32602", "name"),
        (member("<array><data/></array>"), "-32602", "name"),
        (
            call("<param><value><struct/></value></param>"),
            "-32602",
            "'/name'",
        ),
        (call("<param><value>text</value></param>"), "-32602", ""),
        (
            "<methodCall><methodName>create</methodName><params/></methodCall>".to_owned(),
            "-32601",
            "`create`",
        ),
    ];
    for (body, code, word) in cases {
        socket.write(post(XmlRpc, "", "", &body)).await;
        let error = socket.reply().await.error(XmlRpc);
        assert_eq!(
            (error.0, error.1.as_str()),
            (200, code),
            "{body}: {}",
            error.2
        );
        assert!(error.2.contains(word), "{body}: {}", error.2);
    }
    socket
        .write(post(XmlRpc, "", "", b"<methodCall>\xff"))
        .await;
    assert_eq!(socket.reply().await.error(XmlRpc).1, "-32702");
    site.assert_still_serving().await;
}

#[tokio::test]
async fn faults_that_clients_understand() {
    // The server has a lower string limit than the client. The client reads the reason from the
    // fault.
    let site = Site::start(builder().limits(Limits::DEFAULT.with_string(8))).await;
    for kind in WIRES {
        let fault = site
            .client(kind)
            .fault("Create", r#"{"name":"too long for it"}"#)
            .await;
        assert_eq!(fault.kind(), FaultKind::Malformed, "{kind}: {fault}");
        assert!(fault.message().contains('8'), "{kind}: {fault}");
    }
}

#[tokio::test]
async fn paths_and_methods() {
    let site = Site::plain().await;
    let reply = site.send(request("GET /nowhere", &[], "")).await;
    let (status, name, message) = reply.error(RestJson1);
    assert_eq!((status, name.as_str()), (404, "UnknownOperationException"));
    assert!(message.contains("/nowhere"), "{message}");

    let reply = site.send(request("GET /add", &[], "")).await;
    assert_eq!(reply.header("allow"), Some("POST"));
    let error = reply.error(RestJson1);
    assert_eq!(
        (error.0, error.1.as_str()),
        (405, "MethodNotAllowedException")
    );
    let reply = site.send(request("POST /payload/text", &[], "x")).await;
    assert_eq!(reply.header("allow"), Some("PUT"));
    let reply = site.send(request("BREW /add", &[], "")).await;
    assert_eq!(reply.error(RestJson1).0, 405);

    let cbor = [("smithy-protocol", "rpc-v2-cbor")];
    for path in ["Subtract", "add", ""] {
        let path = format!("POST /service/Wire/operation/{path}");
        let error = site.send(request(&path, &cbor, "")).await.error(RpcV2Cbor);
        let name = "smithy.framework#UnknownOperationException";
        assert_eq!((error.0, error.1.as_str()), (404, name), "{path}");
    }
    let line = "POST /service/Other/operation/Add";
    assert_eq!(
        site.send(request(line, &cbor, "")).await.error(RpcV2Cbor).0,
        404
    );
    let reply = site
        .send(request("GET /service/Wire/operation/Add", &cbor, ""))
        .await;
    assert_eq!(reply.header("allow"), Some("POST"));
    assert_eq!(reply.error(RpcV2Cbor).0, 405);

    let reply = site.send(request("GET /RPC2", &[], "")).await;
    assert_eq!(reply.header("allow"), Some("POST"));
    assert_eq!(reply.error(XmlRpc).0, 405);
    site.assert_still_serving().await;
}

#[tokio::test]
async fn requests_without_a_protocol() {
    // Without restJson1, no protocol claims a request that is neither CBOR nor XML-RPC.
    let site = Site::start(builder().protocol(XmlRpc).protocol(RpcV2Cbor)).await;
    let reply = site.send(request("GET /nowhere", &[], "")).await;
    assert_eq!(reply.status, 404);
    assert_eq!(
        reply.header("content-type"),
        Some("text/plain; charset=utf-8")
    );
}

#[tokio::test]
async fn media_types() {
    let site = Site::plain().await;
    let body = r#"{"left":1,"right":2}"#;
    for sent in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonx",
        "",
    ] {
        let reply = site
            .send(request("POST /add", &[("Content-Type", sent)], body))
            .await;
        let (status, name, message) = reply.error(RestJson1);
        assert_eq!(
            (status, name.as_str()),
            (415, "UnsupportedMediaTypeException"),
            "{sent}"
        );
        assert!(message.contains("application/json"), "{message}");
    }
    for sent in [
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/json;x=y",
    ] {
        let reply = site
            .send(request("POST /add", &[("Content-Type", sent)], body))
            .await;
        assert_eq!(reply.status, 200, "{sent}");
    }
    let picture = [("Content-Type", "image/gif")];
    let reply = site
        .send(request("PUT /payload/blob/x", &picture, "GIF89a"))
        .await;
    assert_eq!(reply.error(RestJson1).0, 415);

    let headers = [
        ("smithy-protocol", "rpc-v2-cbor"),
        ("content-type", "application/json"),
    ];
    let reply = site
        .send(request("POST /service/Wire/operation/Add", &headers, body))
        .await;
    let error = reply.error(RpcV2Cbor);
    let name = "smithy.framework#UnsupportedMediaTypeException";
    assert_eq!((error.0, error.1.as_str()), (415, name));
    site.assert_still_serving().await;
}

#[tokio::test]
async fn accepted_types() {
    let site = Site::plain().await;
    let get = "GET /status/200";
    for accept in [
        "text/html",
        "image/*",
        "application/xml, text/plain;q=0.5",
        "application/json;q=0",
    ] {
        let reply = site.send(request(get, &[("Accept", accept)], "")).await;
        let (status, name, _) = reply.error(RestJson1);
        assert_eq!(
            (status, name.as_str()),
            (406, "NotAcceptableException"),
            "{accept}"
        );
    }
    for accept in [
        "*/*",
        "application/*",
        "text/html, application/json;q=0.1",
        "APPLICATION/JSON",
    ] {
        let reply = site.send(request(get, &[("Accept", accept)], "")).await;
        assert_eq!(reply.status, 200, "{accept}");
    }
    let headers = [
        ("smithy-protocol", "rpc-v2-cbor"),
        ("accept", "application/json"),
    ];
    let reply = site
        .send(request(
            "POST /service/Wire/operation/Nothing",
            &headers,
            "",
        ))
        .await;
    assert_eq!(reply.error(RpcV2Cbor).0, 406);
}

#[tokio::test]
async fn too_deep() {
    let site = Site::start(builder().limits(Limits::DEFAULT.with_depth(8))).await;
    // The depth limit is 8. A person with 3 nested `friends` lists is accepted, one with 20 is
    // rejected.
    let person = |depth: usize| {
        let open = r#"{"name":"n","friends":["#.repeat(depth);
        format!(r#"{{"person":{open}{}}}"#, "]}".repeat(depth))
    };
    for kind in WIRES {
        let shallow = site.send(call_of(kind, "/deep", "Deep", &person(3))).await;
        let body = String::from_utf8_lossy(&shallow.body);
        assert_eq!(shallow.status, 200, "{kind}");
        assert!(!body.contains("fault"), "{kind}: {body}");

        let (status, name, message) = site
            .send(call_of(kind, "/deep", "Deep", &person(20)))
            .await
            .error(kind);
        assert!(message.contains("depth"), "{kind}: {message}");
        match kind {
            XmlRpc => assert_eq!((status, name.as_str()), (200, "-32600")),
            _ => assert!(
                status == 400 && name.ends_with("SerializationException"),
                "{name}"
            ),
        }
    }
    // The depth limit also applies to an unknown member, which is skipped.
    let skipped = format!(
        r#"{{"unknown":{}1{}}}"#,
        "[".repeat(5_000),
        "]".repeat(5_000)
    );
    let reply = site.send(post(RestJson1, "/deep", "Deep", skipped)).await;
    assert_eq!(reply.error(RestJson1).0, 400);
    site.assert_still_serving().await;
}

/// A server whose limit for bodies is 1,000 bytes.
async fn small() -> Site {
    Site::start(builder().limits(Limits::DEFAULT.with_bytes(1_000))).await
}

fn assert_too_large(kind: polywire_protocol::ProtocolKind, error: &(u16, String, String)) {
    assert!(error.2.contains("1000 bytes"), "{kind}: {}", error.2);
    match kind {
        XmlRpc => assert_eq!((error.0, error.1.as_str()), (200, "-32600")),
        _ => {
            assert_eq!(error.0, 413, "{kind}");
            assert!(
                error.1.ends_with("RequestEntityTooLargeException"),
                "{}",
                error.1
            );
        }
    }
}

#[tokio::test]
async fn too_large_by_its_length() {
    let site = small().await;
    for kind in WIRES {
        let (line, mut headers) = head_of(kind, "/add", "Add");
        // The server rejects the request because of its `Content-Length`. The body is never sent.
        headers.push(("Content-Length", "1001"));
        let reply = site.send(request(&line, &headers, "")).await;
        assert_too_large(kind, &reply.error(kind));
    }
    site.assert_still_serving().await;
}

/// A client that sends a whole body over the limit before it reads can read the reply. The
/// connection is not reset.
#[tokio::test]
async fn a_fully_sent_oversized_body_gets_a_readable_413() {
    let site = small().await;
    for kind in WIRES {
        for size in [1_001, 100_000, 8_000_000] {
            let mut socket = site.open().await;
            socket
                .write_all(post(kind, "/add", "Add", vec![b' '; size]))
                .await;
            assert_too_large(kind, &socket.reply().await.error(kind));
            // After the server has read the whole body, the connection can be reused.
            socket
                .write(call_of(kind, "/things", "Create", r#"{"name":"n"}"#))
                .await;
            assert!(matches!(socket.reply().await.status, 200 | 201), "{kind}");
        }
    }
    // The same applies if the server replies before the body for another reason, here status 404.
    let mut socket = site.open().await;
    socket
        .write_all(post(RestJson1, "/nowhere", "", vec![b' '; 8_000_000]))
        .await;
    assert_eq!(socket.reply().await.error(RestJson1).0, 404);
    site.assert_still_serving().await;
}

#[tokio::test]
async fn too_large_in_chunks() {
    let site = small().await;
    for kind in WIRES {
        let (line, mut headers) = head_of(kind, "/add", "Add");
        headers.push(("Transfer-Encoding", "chunked"));
        let mut socket = site.open().await;
        socket.write(request(&line, &headers, "")).await;
        let chunk = format!("190\r\n{}\r\n", " ".repeat(400));
        socket.write(chunk.repeat(3)).await;
        assert_too_large(kind, &socket.reply().await.error(kind));
    }
    site.assert_still_serving().await;
}

#[tokio::test]
async fn chunks() {
    let site = small().await;
    for kind in WIRES {
        let whole = call_of(kind, "/things", "Create", r#"{"name":"in chunks"}"#);
        let start = whole
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .unwrap()
            + 4;
        let (line, mut headers) = head_of(kind, "/things", "Create");
        headers.push(("Transfer-Encoding", "chunked"));
        let mut socket = site.open().await;
        socket.write(request(&line, &headers, "")).await;
        for byte in &whole[start..] {
            socket
                .write([b"1\r\n", [*byte].as_slice(), b"\r\n"].concat())
                .await;
        }
        socket.write("0\r\n\r\n").await;
        let reply = socket.reply().await;
        assert!(matches!(reply.status, 200 | 201), "{kind}: {reply:?}");
        assert!(String::from_utf8_lossy(&reply.body).contains("in chunks"));
    }
}

#[tokio::test]
async fn broken_chunks() {
    let site = Site::plain().await;
    for kind in WIRES {
        let (line, mut headers) = head_of(kind, "/add", "Add");
        headers.push(("Transfer-Encoding", "chunked"));
        let mut socket = site.open().await;
        socket.write(request(&line, &headers, "")).await;
        socket.write("zz\r\nno length\r\n").await;
        let (status, name, _) = socket.reply().await.error(kind);
        match kind {
            XmlRpc => assert_eq!((status, name.as_str()), (200, "-32300")),
            _ => assert!(
                status == 400 && name.ends_with("SerializationException"),
                "{name}"
            ),
        }
        assert!(socket.ends().await);
    }
    site.assert_still_serving().await;
}

/// The body of a request with both `Transfer-Encoding` and `Content-Length` is read by its chunks.
/// The bytes after the last chunk must not be answered as another request (RFC 9112, section 6.3).
#[tokio::test]
async fn bytes_after_the_last_chunk_are_not_a_request() {
    let site = Site::plain().await;
    let headers = [
        ("Transfer-Encoding", "chunked"),
        ("Content-Type", "application/json"),
    ];
    let mut socket = site.open().await;
    let smuggled = "0\r\n\r\nGET /status/299 HTTP/1.1\r\nHost: x\r\n\r\n";
    socket
        .write(request("POST /names", &headers, smuggled))
        .await;
    while let Some(reply) = socket.try_reply().await {
        assert_ne!(reply.status, 299);
    }
    site.assert_still_serving().await;
}

/// A client that closes its write half in the middle of a body receives an error.
#[tokio::test]
async fn truncated_bodies() {
    let site = Site::plain().await;
    for kind in WIRES {
        let whole = call_of(kind, "/add", "Add", r#"{"left":1,"right":2}"#);
        let mut socket = site.open().await;
        socket.write(&whole[..whole.len() - 3]).await;
        socket.end().await;
        let (status, name, message) = socket.reply().await.error(kind);
        assert!(message.contains("too early"), "{kind}: {message}");
        match kind {
            XmlRpc => assert_eq!((status, name.as_str()), (200, "-32300")),
            _ => assert!(
                status == 400 && name.ends_with("SerializationException"),
                "{name}"
            ),
        }
        assert!(socket.ends().await);
    }
    site.assert_still_serving().await;
}

#[tokio::test]
async fn clients_that_disconnect() {
    let site = Site::plain().await;
    for kind in WIRES {
        let whole = call_of(kind, "/add", "Add", r#"{"left":1,"right":2}"#);
        // The client disconnects after every seventh byte of the request, and after the last byte.
        for end in (0..=whole.len()).step_by(7).chain([whole.len()]) {
            let mut socket = site.open().await;
            socket.write(&whole[..end]).await;
            drop(socket);
        }
    }
    site.assert_still_serving().await;
}

#[tokio::test]
async fn non_http_bytes_get_400_or_a_close() {
    let site = Site::plain().await;
    let mut random = 1_u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 24) as u8
    })
    .take(4_096)
    .collect();
    for garbage in [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".as_slice(),
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"POST /add HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        b"POST /add HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
        &noise,
    ] {
        let mut socket = site.open().await;
        socket.write(garbage).await;
        if let Some(reply) = socket.try_reply().await {
            assert_eq!(reply.status, 400, "{}", garbage.escape_ascii());
        }
        assert!(socket.ends().await, "{}", garbage.escape_ascii());
    }
    let mut socket = site.open().await;
    let long = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(1 << 20));
    socket.write(long).await;
    if let Some(reply) = socket.try_reply().await {
        assert_eq!(reply.status, 431);
    }
    // An HTTP/2 preface followed by bytes that are no frames.
    let mut socket = site.open().await;
    socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
    socket.write(&noise).await;
    socket.drain().await;
    site.assert_still_serving().await;
}

/// The total size of a request head is limited, so that incomplete heads use little memory.
#[tokio::test]
async fn heads_that_do_not_end() {
    let site = Site::plain().await;
    let lines = |count: usize| {
        let line = format!("X: {}\r\n", "x".repeat(995));
        format!(
            "GET /status/201 HTTP/1.1\r\nHost: x\r\n{}",
            line.repeat(count)
        )
    };
    let reply = site.send(lines(60) + "\r\n").await;
    assert_eq!(reply.status, 201);
    // The head is incomplete. It is rejected because the bytes so far exceed the limit.
    let mut socket = site.open().await;
    socket.write(lines(90)).await;
    assert_eq!(socket.reply().await.status, 431);
    site.assert_still_serving().await;
}
