//! The polywire frame protocol in binary messages.

use polywire_rpc::frames::Client;
use polywire_rpc::websocket::{Message, WebSocket, WebSocketEndpoint};
use polywire_rpc::{BuildError, Methods, RunningServer, Server, ServerBuilder};
use polywire_schema::Blob;

use crate::support::{
    ASK, BINARY, CLOSE, PING, PONG, Raw, TEXT, builder, echo, listen, masked, within,
};

fn add_server() -> ServerBuilder {
    let methods = Methods::new()
        .method("Add", |(a, b): (i32, i32)| async move { a + b })
        .method("Echo", |(blob,): (Blob,)| async move { blob });
    Server::methods(methods)
        .frames(true)
        .websocket("/frames", WebSocketEndpoint::polywire_frames())
}

async fn client(running: &RunningServer) -> Client {
    let url = format!("ws://{}/frames", running.address());
    Client::connect(&url).await.unwrap()
}

#[tokio::test]
async fn calls_of_any_size_are_answered() {
    let running = listen(add_server()).await;
    let client = client(&running).await;
    let sum: i32 = within(client.call("Add", (2, 3))).await.unwrap();
    assert_eq!(sum, 5);
    let large = Blob::from(vec![7; 3_000_000]);
    let same: Blob = within(client.call("Echo", (large.clone(),))).await.unwrap();
    assert!(same == large);
    // 500 concurrent calls.
    let calls = (0..500).map(|number: i32| {
        let client = client.clone();
        tokio::spawn(async move { client.call::<i32>("Add", (number, 1)).await.unwrap() })
    });
    for (number, call) in calls.collect::<Vec<_>>().into_iter().enumerate() {
        assert_eq!(within(call).await.unwrap(), number as i32 + 1);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn frames_over_websockets_on_unix_sockets() {
    let folder = std::env::temp_dir().join(format!("polywire-ws-frames-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("ws.sock");
    let running = add_server()
        .build()
        .unwrap()
        .listen_unix(&path)
        .await
        .unwrap();
    let url = format!("ws+unix://{}:/frames", path.display());
    let client = Client::connect(&url).await.unwrap();
    let sum: i32 = within(client.call("Add", (2, 3))).await.unwrap();
    assert_eq!(sum, 5);
    drop(client);
    within(running.shutdown()).await;
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A raw connection with the subprotocol for frames. It has sent its hello in messages of one byte.
async fn raw(running: &RunningServer) -> Raw {
    let mut raw = Raw::connect(running.address()).await;
    let ask = ASK.replace("GET /", "GET /frames");
    raw.send(format!(
        "{ask}Sec-WebSocket-Protocol: polywire-frames\r\n\r\n"
    ))
    .await;
    let head = raw.head().await.to_ascii_lowercase();
    assert!(
        head.contains("sec-websocket-protocol: polywire-frames\r\n"),
        "{head}"
    );
    let hello = [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    for byte in b"\xf7PW\x01".iter().chain(&hello) {
        raw.send(masked(BINARY, [*byte])).await;
    }
    raw
}

#[tokio::test]
async fn message_boundaries_are_ignored_and_pings_are_answered() {
    let running = listen(add_server()).await;
    let mut raw = raw(&running).await;
    let mut came = Vec::new();
    while came.len() < 20 {
        let frame = raw.frame().await.unwrap();
        assert_eq!(frame.first, BINARY);
        came.extend(frame.payload);
    }
    assert_eq!(came[..4], *b"\xf7PW\x01");
    assert_eq!(came[8], 1, "a hello");
    raw.send(masked(PING, "?")).await;
    loop {
        let frame = raw.frame().await.unwrap();
        if frame.first == PONG {
            assert_eq!(frame.payload, b"?");
            break;
        }
    }
    raw.send(masked(CLOSE, [3, 232])).await;
    while let Some(frame) = raw.frame().await {
        if frame.first != BINARY {
            assert_eq!(frame.close().0, 1000);
        }
    }
}

#[tokio::test]
async fn text_messages_are_rejected() {
    let running = listen(add_server()).await;
    let mut raw = raw(&running).await;
    raw.send(masked(TEXT, "no frame")).await;
    loop {
        let frame = raw.frame().await.unwrap();
        if frame.first != BINARY {
            assert_eq!(frame.close(), (1003, "expected binary messages"));
            break;
        }
    }
}

#[tokio::test]
async fn clients_without_the_subprotocol_get_no_frames() {
    let running = listen(add_server().websocket("/", echo)).await;
    let url = format!("ws://{}/frames", running.address());
    let error = WebSocket::connect(&url).await.unwrap_err();
    assert!(error.to_string().contains("subprotocol"), "{error}");
    // A frames client gets an error from an endpoint without frames, and from a path without an endpoint.
    let url = format!("ws://{}/", running.address());
    let error = Client::connect(&url).await.unwrap_err().to_string();
    assert!(error.contains("polywire-frames"), "{error}");
    let url = format!("ws://{}/nowhere", running.address());
    let error = Client::connect(&url).await.unwrap_err().to_string();
    assert!(error.contains("404"), "{error}");
    let mut socket = WebSocket::connect(&format!("ws://{}/", running.address()))
        .await
        .unwrap();
    socket.send("still here").await.unwrap();
    assert_eq!(
        within(socket.recv()).await,
        Some(Ok(Message::from("still here")))
    );
}

#[tokio::test]
async fn shutdown_closes_frame_connections() {
    let server = add_server().build().unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let client = client(&running).await;
    let sum: i32 = within(client.call("Add", (2, 3))).await.unwrap();
    assert_eq!(sum, 5);
    let stats = server.websocket_stats();
    assert_eq!((stats.accepted, stats.connections), (1, 1));
    within(running.shutdown()).await;
    assert_eq!(server.websocket_stats().connections, 0);
}

#[test]
fn an_endpoint_for_frames_needs_frames_enabled() {
    let server = builder().websocket("/frames", WebSocketEndpoint::polywire_frames());
    assert_eq!(server.build().unwrap_err(), BuildError::NoFrames);
}
