//! URLs with paths, Unix sockets and SCGI.

use polywire_rpc::xmlrpc::Client;
#[cfg(unix)]
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

#[cfg(unix)]
use crate::support::serve;
use crate::support::{ScriptedServer, ok, result};

#[tokio::test]
async fn paths_are_those_of_the_url() {
    let server = ScriptedServer::start(|_, _| ok("<int>1</int>")).await;
    let base = format!("http://{}", server.address);
    for (url, path) in [
        (base.clone(), "/RPC2"),
        (format!("{base}/"), "/"),
        (format!("{base}/xmlrpc.php?a=1"), "/xmlrpc.php?a=1"),
        (format!("{base}?a=1"), "/?a=1"),
    ] {
        let client = Client::new(&url).unwrap();
        client.call_values("m", &[]).await.unwrap();
        let line = format!("POST {path} HTTP/1.1");
        assert_eq!(server.seen().last().unwrap().line(), line, "{url}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn unix_sockets() {
    let folder = std::env::temp_dir().join(format!("polywire-socket-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("s.sock");
    let _ = std::fs::remove_file(&path);
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let list = seen.clone();
    tokio::spawn(async move {
        for connection in 0.. {
            let (stream, _) = listener.accept().await.unwrap();
            let script = Arc::new(|_: usize, _: &_| ok("<int>1</int>"));
            tokio::spawn(serve(stream, connection, script, list.clone()));
        }
    });
    let plain = path.to_str().unwrap();
    let encoded = plain.replace('/', "%2F");
    for (url, line) in [
        (format!("http+unix://{plain}"), "POST /RPC2 HTTP/1.1"),
        (format!("unix://{plain}"), "POST /RPC2 HTTP/1.1"),
        (format!("http+unix://{plain}/x"), "POST /x HTTP/1.1"),
        (format!("http+unix://{plain}:/x?y"), "POST /x?y HTTP/1.1"),
        (format!("http+unix://{encoded}/x"), "POST /x HTTP/1.1"),
    ] {
        let client = Client::new(&url).unwrap();
        client.call_values("m", &[]).await.unwrap();
        client.call_values("m", &[]).await.unwrap();
        let seen = seen.lock().unwrap();
        let [.., before, last] = &seen[..] else {
            panic!("nothing came")
        };
        assert_eq!(last.line(), line, "{url}");
        assert_eq!(last.header("host"), Some("localhost"));
        assert_eq!(before.connection, last.connection);
    }
    std::fs::remove_dir_all(&folder).unwrap();
    let client = Client::new(&format!("http+unix://{plain}")).unwrap();
    let error = client.call_values("m", &[]).await.unwrap_err().to_string();
    assert!(
        error.contains(plain) && error.contains("connecting to"),
        "{error}"
    );
}

/// An SCGI server that sends this answer. Its task returns the bytes of the request.
async fn scgi(answer: Vec<u8>, close: bool) -> (String, tokio::task::JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("scgi://{}", listener.local_addr().unwrap());
    let task = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut got = Vec::new();
        while !got.ends_with(b"</methodCall>") {
            assert!(stream.read_buf(&mut got).await.unwrap() > 0);
        }
        // The client may close before it has read the whole answer.
        let _ = stream.write_all(&answer).await;
        if !close {
            // Keeps the connection open until the client closes it.
            let _ = stream.read(&mut [0]).await;
        }
        got
    });
    (url, task)
}

#[tokio::test]
async fn scgi_calls_to_rtorrent() {
    let body = result("<string>0.9.8</string>");
    let length = body.len();
    let with_length = format!(
        "Status: 200 OK\r\nContent-Type: text/xml\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    let without = format!("Content-Type: text/xml\n\n{body}");
    let as_http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n\r\n{body}");
    for (answer, close) in [(with_length, false), (without, true), (as_http, true)] {
        let (url, task) = scgi(answer.into_bytes(), close).await;
        let client = Client::new(&url).unwrap();
        let value = client.call_values("system.client_version", &[]).await;
        assert_eq!(value.unwrap().as_str(), Some("0.9.8"));
        let got = String::from_utf8(task.await.unwrap()).unwrap();
        let (length, rest) = got.split_once(':').unwrap();
        let (head, body) = rest.split_at(length.parse().unwrap());
        assert!(head.starts_with("CONTENT_LENGTH\0"), "{head:?}");
        assert!(head.contains("\0SCGI\x001\0"), "{head:?}");
        assert!(head.contains("\0REQUEST_METHOD\0POST\0"), "{head:?}");
        assert!(head.contains("\0CONTENT_TYPE\0text/xml\0"), "{head:?}");
        assert!(head.contains("\0HTTP_HOST\x00127.0.0.1:"), "{head:?}");
        assert!(body.starts_with(",<?xml"), "{body:?}");
    }
}

#[tokio::test]
async fn invalid_scgi_replies_are_errors() {
    let long = format!("Content-Type: text/xml\n\n{}", result(&"x".repeat(4000)));
    // More headers than a `HeaderMap` holds, and a header without an end.
    let many: String = (0..40_000)
        .map(|number| format!("x{number}: 1\n"))
        .collect();
    let many = many + "\n";
    let endless = format!("X: {}", "x".repeat(70_000));
    for (answer, part) in [
        ("", "closed the connection before"),
        ("Hello\r\n\r\n", "no answer of a CGI program"),
        ("Status: 200 OK\r\n", "empty line after the head"),
        (&*endless, "no answer of a CGI program"),
        (&*many, "no answer of a CGI program"),
        (
            "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
            "one Content-Length",
        ),
        (
            "Status: 200 OK\r\nContent-Length: 99999\r\n\r\n",
            "more than 1000 bytes",
        ),
        (
            "Location: /other\r\n\r\n",
            "302 Found: it redirects to `/other`",
        ),
        (
            "Status: 200 OK\r\nContent-Length: 99\r\n\r\nabc",
            "before its answer was whole",
        ),
        ("Status: 500 No\r\n\r\nsorry", "500"),
        (&*long, "more than 1000 bytes"),
    ] {
        let (url, task) = scgi(answer.as_bytes().to_vec(), true).await;
        let limits = polywire_schema::Limits::DEFAULT.with_bytes(1000);
        let client = Client::builder(&url).unwrap().limits(limits);
        let client = client.build().unwrap();
        let error = client.call_values("m", &[]).await.unwrap_err().to_string();
        assert!(error.contains(part), "{answer}: {error}");
        assert!(error.starts_with(&url), "{error}");
        task.await.unwrap();
    }
}
