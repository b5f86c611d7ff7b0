//! Compressed replies and requests.

use std::io::{Read, Write};

use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use polywire_rpc::xmlrpc::Client;
use polywire_schema::{Limits, Value};

use crate::support::{Action, ScriptedServer, http, ok, result};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const GZIP: &str = "Content-Encoding: gzip\r\n";

#[tokio::test]
async fn answers_in_gzip_are_decompressed() {
    let server = ScriptedServer::start(|_, _| {
        let body = gzip(result("<string>squeezed</string>").as_bytes());
        Action::Answer(http("200 OK", GZIP, body))
    })
    .await;
    let client = Client::new(&server.url()).unwrap();
    let value = client.call_values("m", &[]).await.unwrap();
    assert_eq!(value.as_str(), Some("squeezed"));
}

#[tokio::test]
async fn a_decompression_bomb_is_stopped() {
    let server = ScriptedServer::start(|_, _| {
        let body = gzip(result(&"x".repeat(50_000_000)).as_bytes());
        Action::Answer(http("200 OK", GZIP, body))
    })
    .await;
    let limits = Limits::DEFAULT.with_bytes(1_000_000);
    let client = Client::builder(&server.url()).unwrap().limits(limits);
    let client = client.build().unwrap();
    let text = client.call_values("m", &[]).await.unwrap_err().to_string();
    // The limit applies during decompression, not afterwards.
    assert!(text.contains("more than 1000000 bytes"), "{text}");
    assert!(text.contains("Limits::bytes"), "{text}");
}

/// gzip members without output cost the client time, but no limit on bytes counts them. Their
/// number is limited instead.
#[tokio::test]
async fn many_empty_members_are_rejected() {
    let server = ScriptedServer::start(|_, _| {
        let body = [
            gzip(b"").repeat(500_000),
            gzip(result("<int>1</int>").as_bytes()),
        ]
        .concat();
        Action::Answer(http("200 OK", GZIP, body))
    })
    .await;
    let client = Client::new(&server.url()).unwrap();
    let error = client.call_values("m", &[]).await.unwrap_err();
    let source = std::error::Error::source(&error).map(ToString::to_string);
    let text = format!("{error}: {source:?}");
    assert!(text.contains("no gzip"), "{text}");
    assert!(
        text.contains("17 members for 0 bytes are too many"),
        "{text}"
    );
}

/// The client checks the status before the content coding. aria2 sends `Content-Encoding:
/// gzip` with the empty bodies of its 401 and 404 replies.
#[tokio::test]
async fn the_status_comes_before_the_coding() {
    let server = ScriptedServer::start(|nth, _| {
        Action::Answer(match nth {
            0 => http("401 Unauthorized", GZIP, ""),
            _ => http("404 Not Found", GZIP, "not gzip at all"),
        })
    })
    .await;
    let client = Client::new(&server.url()).unwrap();
    for status in ["401", "404"] {
        let text = client.call_values("m", &[]).await.unwrap_err().to_string();
        assert!(text.contains(status), "{text}");
        assert!(!text.contains("gzip"), "{text}");
    }
}

#[tokio::test]
async fn other_codings_and_invalid_gzip_are_errors() {
    let server = ScriptedServer::start(|nth, _| {
        Action::Answer(match nth {
            0 => http("200 OK", "Content-Encoding: br\r\n", "x"),
            _ => http("200 OK", GZIP, "not gzip at all"),
        })
    })
    .await;
    let client = Client::new(&server.url()).unwrap();
    for part in ["`br`", "no gzip"] {
        let text = client.call_values("m", &[]).await.unwrap_err().to_string();
        assert!(text.contains(part), "{text}");
    }
}

#[tokio::test]
async fn calls_are_compressed_if_configured() {
    let server = ScriptedServer::start(|_, _| ok("<int>1</int>")).await;
    let client = Client::builder(&server.url()).unwrap();
    let client = client.compress_from(Some(1000)).build().unwrap();
    client.call_values("short", &[]).await.unwrap();
    let long = Value::from("x".repeat(5000));
    client.call_values("long", &[long]).await.unwrap();
    let seen = server.seen();
    assert_eq!(seen[0].header("content-encoding"), None);
    assert_eq!(seen[1].header("content-encoding"), Some("gzip"));
    assert!(seen[1].body.len() < 500);
    let mut text = String::new();
    GzDecoder::new(&seen[1].body[..])
        .read_to_string(&mut text)
        .unwrap();
    assert!(text.contains("<methodName>long</methodName>"));
}
