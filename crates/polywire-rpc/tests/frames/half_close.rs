//! Clients that shut down their write side and still read, and connections above the limit per address.

use std::time::Duration;

use polywire_protocol::Fault;
use polywire_rpc::frames::Client;
use polywire_rpc::layers::Firewall;
use polywire_rpc::{RunningServer, Server, ServerBuilder, StreamCall};

use crate::raw::{GOAWAY, REPLY, Raw};
use crate::support::methods;

async fn start(with: impl FnOnce(ServerBuilder) -> ServerBuilder) -> RunningServer {
    let methods = methods().stream("Sum", |(): (), mut call: StreamCall| async move {
        let mut sum = 0;
        while let Some(number) = call.next::<i64>().await? {
            sum += number;
        }
        Ok::<_, Fault>(sum)
    });
    let server = with(Server::methods(methods).frames(true)).build().unwrap();
    server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap()
}

/// Calls `Sleep` and `Sum`, sends `rest` and shuts down the write side. Returns the kind and code of each received
/// frame.
async fn answers(running: &RunningServer, rest: &[u8]) -> Vec<(u8, u16)> {
    let mut raw = Raw::connect(running.address()).await;
    // `[100]` in CBOR.
    raw.call(0, "Sleep", 0, b"\x81\x18\x64");
    raw.call(1, "Sum", 0, b"\x80");
    raw.end(rest).await;
    let mut answers = Vec::new();
    while let Some(frame) = raw.next().await {
        answers.push((frame.kind, frame.code));
    }
    answers
}

#[tokio::test]
async fn a_half_closed_client_gets_its_replies() {
    let running = start(|builder| builder).await;
    // Without the flag `OPEN`, `Sum` receives no items.
    let mut found = answers(&running, b"").await;
    found.sort_unstable();
    assert_eq!(found, [(REPLY, 0), (REPLY, 0)]);
    // An incomplete frame at the end of the input is a protocol error.
    assert_eq!(
        answers(&running, &[1, 0, 0]).await.last(),
        Some(&(GOAWAY, 0x10))
    );
    running.shutdown().await;
}

#[tokio::test]
async fn without_half_close_open_calls_get_no_replies() {
    let running = start(|builder| builder.half_close(false)).await;
    let found = answers(&running, b"").await;
    // `Sum` may be answered before the server sees the end of the input. `Sleep` is not answered.
    assert!(found.is_empty() || found == [(REPLY, 0)], "{found:?}");
    running.shutdown().await;
}

/// A client that sends only HELLO and shuts down its write side is disconnected, and the server can shut down.
#[tokio::test]
async fn half_closed_connections_without_calls_are_closed() {
    let running = start(|builder| builder).await;
    let mut raw = Raw::connect(running.address()).await;
    raw.end(b"").await;
    assert!(raw.next().await.is_none());
    running.shutdown().await;
}

#[tokio::test]
async fn a_connection_above_the_limit_gets_goaway() {
    let firewall = Firewall::new().connections_per_address(1);
    let running = start(|builder| builder.firewall(firewall)).await;
    let url = format!("tcp://{}", running.address());
    let client = Client::connect(&url).await.unwrap();
    client.call::<i32>("Add", (2, 3)).await.unwrap();
    let mut raw = Raw::connect(running.address()).await;
    let goaway = raw.next().await.unwrap();
    assert_eq!((goaway.kind, goaway.code), (GOAWAY, 0x03));
    assert!(raw.next().await.is_none());
    let second = Client::builder()
        .endpoint(&url)
        .connect_timeout(Duration::from_secs(5))
        .connect()
        .await;
    let words = second.unwrap_err().to_string();
    assert!(words.contains("too many connections"), "{words}");
    drop(client);
    running.shutdown().await;
}
