//! Blobs with `@streaming`, over HTTP/1.1 and HTTP/2: bodies that are sent and read piece by piece.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod expect;
mod support;

use std::time::Duration;

use polywire_rpc::{CallErrorKind, Client, Timeouts};
use polywire_schema::{ByteStream, Map, StreamErrorKind, Value};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use self::support::{PIECE, Seen, Site, put, within};

/// More than all buffers between client and server hold.
const MANY: u64 = 400;

async fn for_both_versions<F: Future<Output = ()>>(test: impl Fn(Seen, Client) -> F) {
    for http2 in [false, true] {
        let site = Site::start(|builder| builder).await;
        let client = site.client(|builder| builder.http2(http2));
        within(test(site.seen.clone(), client)).await;
    }
}

#[tokio::test]
async fn a_handler_reads_the_body_while_it_arrives() {
    for_both_versions(|seen, client| async move {
        let stream = ByteStream::with_len(seen.pieces(MANY), MANY * PIECE as u64);
        let output = client.call("Put", put("a", stream)).await.unwrap();
        assert_eq!(output["count"].as_i64(), Some((MANY * PIECE as u64) as i64));
        assert!(output["pieces"].as_i64() > Some(1));
        // Of unknown length: in chunks over HTTP/1.1.
        let output = client
            .call("Put", put("a", ByteStream::new(seen.pieces(3))))
            .await;
        assert_eq!(output.unwrap()["count"].as_i64(), Some(3 * PIECE as i64));
        // In memory, and empty.
        let output = client
            .call("Put", put("a", Value::Blob(b"abc".as_slice().into())))
            .await;
        assert_eq!(output.unwrap()["count"].as_i64(), Some(3));
        let output = client.call("Put", Map::from_iter([("key", "a")])).await;
        assert_eq!(output.unwrap()["count"].as_i64(), Some(0));
    })
    .await;
}

#[tokio::test]
async fn a_client_reads_the_body_while_it_arrives() {
    for_both_versions(|seen, client| async move {
        for (key, len) in [
            (MANY.to_string(), Some(MANY * PIECE as u64)),
            (format!("{MANY}-unsized"), None),
        ] {
            let input = Map::from_iter([("key", key.as_str())]);
            let output = client.call_streaming("Get", input).await.unwrap();
            assert_eq!(output["key"].as_str(), Some(key.as_str()));
            let Value::Map(mut output) = output else {
                panic!()
            };
            let mut body = output.remove("body").and_then(Value::into_stream).unwrap();
            assert_eq!(body.len(), len);
            let mut count = 0;
            while let Some(piece) = body.next().await {
                count += piece.unwrap().len();
            }
            assert_eq!(count as u64, MANY * PIECE as u64);
        }
        assert_eq!(seen.dropped(), 0);
        // Clients that do not ask for a stream read it into memory, and errors are read too.
        let output = client
            .call("Get", Map::from_iter([("key", "2")]))
            .await
            .unwrap();
        assert_eq!(output["body"].as_blob().map(<[u8]>::len), Some(2 * PIECE));
        let error = client
            .call_streaming("Get", Map::from_iter([("key", "x")]))
            .await;
        assert_eq!(error.unwrap_err().to_string(), "NotThere: not there");
    })
    .await;
}

#[tokio::test]
async fn both_directions_stream_at_once() {
    for_both_versions(|seen, client| async move {
        let stream = ByteStream::new(seen.pieces(20));
        let input = Map::from_iter([("body", Value::from(stream))]);
        let output = client.call_streaming("Echo", input).await.unwrap();
        let Value::Map(mut output) = output else {
            panic!()
        };
        let body = output.remove("body").and_then(Value::into_stream).unwrap();
        let bytes = body.collect(20 * PIECE).await.unwrap();
        assert_eq!(bytes.len(), 20 * PIECE);
        assert_eq!((bytes[0], bytes[20 * PIECE - 1]), (19, 0));
    })
    .await;
}

#[tokio::test]
async fn a_handler_that_does_not_read_stops_the_sender() {
    for_both_versions(|seen, client| async move {
        let stream = ByteStream::new(seen.pieces(100_000));
        let call = tokio::spawn(async move { client.call("Put", put("stuck", stream)).await });
        let mut read = 0;
        // The source is asked for pieces until the buffers are full.
        while read == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
            read = seen.read();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(seen.dropped(), 0);
        assert!(seen.read() <= PIECE as u64 * 4);
        call.abort();
        let _ = call.await;
        // The client drops the source when the call is cancelled.
        while seen.dropped() == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_handler_can_return_before_the_end() {
    for_both_versions(|seen, client| async move {
        let stream = ByteStream::with_len(seen.pieces(50), 50 * PIECE as u64);
        let output = client.call("Put", put("first", stream)).await.unwrap();
        assert_eq!(output["pieces"].as_i64(), Some(1));
        // The connection or its successor is usable.
        let output = client
            .call("Put", put("a", ByteStream::new(seen.pieces(1))))
            .await;
        assert_eq!(output.unwrap()["count"].as_i64(), Some(PIECE as i64));
    })
    .await;
}

#[tokio::test]
async fn a_body_that_ends_early_is_an_error_of_the_handler() {
    let site = Site::start(|builder| builder).await;
    for head in ["content-length: 100", "transfer-encoding: chunked"] {
        let mut socket = TcpStream::connect(site.running.address()).await.unwrap();
        let chunk = if head.starts_with('t') {
            "5\r\nhello\r\n"
        } else {
            "hello"
        };
        let request = format!("PUT /objects/a HTTP/1.1\r\nhost: a\r\n{head}\r\n\r\n{chunk}");
        socket.write_all(request.as_bytes()).await.unwrap();
        while site.seen.read() % 5 != 0 || site.seen.read() == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        drop(socket);
        let error = site.seen.error().await;
        assert_eq!(error.kind(), StreamErrorKind::Interrupted);
        assert!(
            error.to_string().contains("the body ended too early"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_source_that_fails_is_no_complete_body() {
    for_both_versions(|seen, client| async move {
        // Of a request.
        let mut pieces = seen.pieces(5);
        pieces.fails_at = Some(2);
        let error = client
            .call("Put", put("a", ByteStream::new(pieces)))
            .await
            .unwrap_err();
        assert!(error.to_string().contains("the disk is gone"), "{error}");
        let error = seen.error().await;
        assert_eq!(error.kind(), StreamErrorKind::Interrupted);
        // Of a response, with and without a known length.
        for key in ["5-fails", "5-short"] {
            let input = Map::from_iter([("key", key)]);
            let output = client.call_streaming("Get", input).await.unwrap();
            let Value::Map(mut output) = output else {
                panic!()
            };
            let body = output.remove("body").and_then(Value::into_stream).unwrap();
            let error = body.collect(100 * PIECE).await.unwrap_err();
            assert_eq!(error.kind(), StreamErrorKind::Interrupted, "{error}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_source_must_have_its_announced_length() {
    for_both_versions(|seen, client| async move {
        for len in [PIECE as u64 / 2, 4 * PIECE as u64] {
            let stream = ByteStream::with_len(seen.pieces(2), len);
            let error = client.call("Put", put("a", stream)).await.unwrap_err();
            assert!(error.to_string().contains("the stream"), "{error}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_client_that_disconnects_drops_the_source() {
    for_both_versions(|seen, client| async move {
        let key = (100 * MANY).to_string();
        let output = client
            .call_streaming("Get", Map::from_iter([("key", key)]))
            .await
            .unwrap();
        drop(output);
        drop(client);
        while seen.dropped() == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn waits_for_bytes_are_limited() {
    let timeouts = Timeouts::DEFAULT.with_body(Duration::from_millis(50));
    let site = Site::start(|builder| builder.timeouts(timeouts)).await;
    let mut socket = TcpStream::connect(site.running.address()).await.unwrap();
    let request = "PUT /objects/a HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nhello";
    socket.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(site.seen.error().await.kind(), StreamErrorKind::TimedOut);
    let mut response = vec![0; 12];
    within(socket.read_exact(&mut response)).await.unwrap();
    assert_eq!(response, b"HTTP/1.1 408");
}

#[tokio::test]
async fn the_total_time_is_limited() {
    let timeouts = Timeouts::DEFAULT.with_stream(Duration::from_millis(100));
    let site = Site::start(|builder| builder.timeouts(timeouts)).await;
    let mut socket = TcpStream::connect(site.running.address()).await.unwrap();
    let request = "PUT /objects/a HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n\r\n";
    socket.write_all(request.as_bytes()).await.unwrap();
    let (mut read, mut write) = socket.into_split();
    let sender = tokio::spawn(async move {
        while write.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    let mut response = vec![0; 12];
    within(read.read_exact(&mut response)).await.unwrap();
    assert!(
        response == b"HTTP/1.1 408" || response == b"HTTP/1.1 504",
        "{response:?}"
    );
    sender.abort();
}

#[tokio::test]
async fn a_deadline_can_be_longer_than_a_clock_counts() {
    let site = Site::start(|builder| builder).await;
    let client = site.client(|builder| builder.deadline(Duration::MAX));
    let stream = ByteStream::new(site.seen.pieces(3));
    let output = within(client.call("Put", put("a", stream))).await.unwrap();
    assert_eq!(output["count"].as_i64(), Some(3 * PIECE as i64));
    let input = Map::from_iter([("key", "9-unsized")]);
    let Value::Map(mut output) = within(client.call_streaming("Get", input)).await.unwrap() else {
        panic!()
    };
    let body = output.remove("body").and_then(Value::into_stream).unwrap();
    assert_eq!(
        within(body.collect(9 * PIECE)).await.unwrap().len(),
        9 * PIECE
    );
}

#[tokio::test]
async fn the_size_can_be_limited() {
    let site = Site::start(|builder| builder.stream_bytes(PIECE as u64)).await;
    let client = site.client(|builder| builder);
    for stream in [
        ByteStream::with_len(site.seen.pieces(2), 2 * PIECE as u64),
        ByteStream::new(site.seen.pieces(2)),
    ] {
        let error = within(client.call("Put", put("a", stream)))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), CallErrorKind::Fault, "{error}");
        assert!(
            error.to_string().contains("longer than 65536 bytes"),
            "{error}"
        );
    }
    let stream = ByteStream::new(site.seen.pieces(1));
    within(client.call("Put", put("a", stream))).await.unwrap();
}

#[tokio::test]
async fn a_length_can_be_required() {
    let site = Site::start(|builder| builder).await;
    let client = site.client(|builder| builder);
    let call = |stream: ByteStream| {
        client.call("PutSized", Map::from_iter([("body", Value::from(stream))]))
    };
    within(call(ByteStream::with_len(
        site.seen.pieces(1),
        PIECE as u64,
    )))
    .await
    .unwrap();
    within(call(ByteStream::from("in memory"))).await.unwrap();
    let error = within(call(ByteStream::new(site.seen.pieces(1))))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("@requiresLength"), "{error}");
}
