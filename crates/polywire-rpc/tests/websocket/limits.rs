//! Limits, and peers that are slow or silent.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use polywire_rpc::websocket::{
    CloseCode, Message, TrySendError, WebSocket, WebSocketEndpoint, WebSocketError, WebSocketLimits,
};

use crate::support::{
    BINARY, Frame, PING, PONG, Raw, TEXT, builder, echo_with, listen, masked, serve, url, within,
};

/// A short timeout.
const SHORT: Duration = Duration::from_millis(20);

#[tokio::test]
async fn the_queue_is_bounded_in_messages_and_in_bytes() {
    let limits = WebSocketLimits::DEFAULT.with_max_queued(3, 10_000);
    let (outcome_sender, outcome) = tokio::sync::oneshot::channel();
    let outcome_sender = Mutex::new(Some(outcome_sender));
    // The handler does not yield here, so no message leaves the queue.
    let endpoint = WebSocketEndpoint::new(move |socket: WebSocket| {
        let sender = socket.sender();
        let mut seen = Vec::new();
        for _ in 0..4 {
            seen.push(sender.try_send("abc").is_ok());
        }
        assert_eq!(sender.queued(), (3, 9));
        outcome_sender
            .lock()
            .unwrap()
            .take()
            .unwrap()
            .send(seen)
            .unwrap();
        async move { drop(socket) }
    });
    let running = serve(endpoint.limits(limits)).await;
    let mut socket = WebSocket::connect(&url(&running)).await.unwrap();
    assert_eq!(within(outcome).await.unwrap(), [true, true, true, false]);
    for _ in 0..3 {
        assert_eq!(within(socket.recv()).await, Some(Ok(Message::from("abc"))));
    }
    assert_eq!(within(socket.recv()).await, None);

    let endpoint = WebSocketEndpoint::new(|socket: WebSocket| {
        // An empty queue takes one message of any size.
        assert!(socket.try_send(vec![7; 20_000]).is_ok());
        let full = socket.try_send("a");
        assert_eq!(full, Err(TrySendError::Full(Message::from("a"))));
        // `send` waits until the queue has room.
        async move { socket.send("a").await.unwrap() }
    });
    let running = serve(endpoint.limits(limits)).await;
    let mut socket = WebSocket::connect(&url(&running)).await.unwrap();
    assert_eq!(within(socket.recv()).await.unwrap().unwrap().len(), 20_000);
    assert_eq!(within(socket.recv()).await, Some(Ok(Message::from("a"))));
}

#[tokio::test]
async fn a_slow_reader_is_closed_with_1008_and_a_reason() {
    let limits = WebSocketLimits::DEFAULT
        .with_max_queued(100, 100_000)
        .with_write_timeout(SHORT)
        .with_close_timeout(Duration::from_secs(60));
    let (outcome_sender, outcome) = tokio::sync::oneshot::channel();
    let outcome_sender = Mutex::new(Some(outcome_sender));
    let endpoint = WebSocketEndpoint::new(move |mut socket: WebSocket| {
        let outcome_sender = outcome_sender.lock().unwrap().take().unwrap();
        async move {
            let sender = socket.sender();
            while sender.send(vec![7; 10_000]).await.is_ok() {}
            let error = socket.recv().await;
            outcome_sender
                .send((error, socket.close_frame().unwrap()))
                .unwrap();
        }
    });
    let server = builder()
        .websocket("/", endpoint.limits(limits))
        .build()
        .unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let raw = Raw::connect_narrow(running.address()).await;
    let mut raw = raw.upgraded().await;
    let (error, frame) = within(outcome).await.unwrap();
    assert_eq!(error, Some(Err(WebSocketError::SlowReader(SHORT))));
    assert_eq!(frame.code, CloseCode::POLICY_VIOLATION);
    assert_eq!(server.websocket_stats().slow_readers, 1);
    // The peer reads now. It gets whole messages, then the close frame with the reason.
    loop {
        let frame = raw.frame().await.unwrap();
        if frame.first != BINARY {
            let (code, reason) = frame.close();
            assert_eq!(code, 1008);
            assert!(reason.contains("slow reader"), "{reason}");
            break;
        }
        assert_eq!(frame.payload.len(), 10_000);
    }
    raw.send(masked(crate::support::CLOSE, [3, 240])).await;
    raw.ends().await;
}

#[tokio::test]
async fn a_queue_that_stays_full_is_a_slow_reader_too() {
    let limits = WebSocketLimits::DEFAULT
        .with_max_queued(4, 1 << 20)
        .with_write_timeout(SHORT);
    let closed = Arc::new(AtomicBool::new(false));
    let closed_flag = Arc::clone(&closed);
    let endpoint = WebSocketEndpoint::new(move |socket: WebSocket| {
        let closed_flag = Arc::clone(&closed_flag);
        async move {
            // A broadcast with `try_send`, which does not wait for room in the queue.
            let sender = socket.sender();
            while sender.is_open() {
                let _ = sender.try_send(vec![7; 60_000]);
                tokio::task::yield_now().await;
            }
            assert_eq!(sender.closed().await.code, CloseCode::POLICY_VIOLATION);
            closed_flag.store(true, Ordering::Relaxed);
            drop(socket);
        }
    });
    let running = serve(endpoint.limits(limits)).await;
    let raw = Raw::connect_narrow(running.address()).await;
    let mut raw = raw.upgraded().await;
    let mut last = None;
    while let Some(frame) = raw.frame().await {
        last = Some(frame);
        if last.as_ref().is_some_and(|frame| frame.first != BINARY) {
            break;
        }
        // The peer reads one message per 100 ms, which is too slow.
        if !closed.load(Ordering::Relaxed) {
            tokio::time::sleep(SHORT * 5).await;
        }
    }
    assert_eq!(last.unwrap().close().0, 1008);
}

#[tokio::test]
async fn silent_peers_are_pinged_and_any_frame_counts_as_an_answer() {
    let limits = WebSocketLimits::DEFAULT.with_ping(Some(SHORT), Duration::from_secs(60));
    let running = serve(echo_with(limits)).await;
    let mut raw = Raw::open(&running).await;
    for _ in 0..3 {
        assert_eq!(raw.frame().await, Some(Frame::new(PING, "")));
        raw.send(masked(PONG, "")).await;
    }
    assert_eq!(raw.frame().await, Some(Frame::new(PING, "")));
    raw.send(masked(TEXT, "here")).await;
    assert_eq!(raw.frame().await, Some(Frame::new(TEXT, "here")));
    // polywire clients answer pings automatically.
    let mut socket = WebSocket::connect(&url(&running)).await.unwrap();
    tokio::time::sleep(SHORT * 5).await;
    socket.send("here").await.unwrap();
    assert_eq!(within(socket.recv()).await, Some(Ok(Message::from("here"))));
}

#[tokio::test]
async fn a_peer_without_pongs_is_closed() {
    let limits = WebSocketLimits::DEFAULT.with_ping(Some(SHORT), SHORT);
    let (outcome_sender, outcome) = tokio::sync::oneshot::channel();
    let outcome_sender = Mutex::new(Some(outcome_sender));
    let endpoint = WebSocketEndpoint::new(move |mut socket: WebSocket| {
        let outcome_sender = outcome_sender.lock().unwrap().take().unwrap();
        async move {
            outcome_sender
                .send((socket.recv().await, socket.close_frame()))
                .unwrap();
        }
    });
    let running = serve(endpoint.limits(limits)).await;
    let mut raw = Raw::open(&running).await;
    let (error, frame) = within(outcome).await.unwrap();
    assert_eq!(error, Some(Err(WebSocketError::NoPong(SHORT))));
    assert_eq!(frame.unwrap().code, CloseCode::ABNORMAL_CLOSURE);
    assert_eq!(raw.frame().await, Some(Frame::new(PING, "")));
    raw.ends().await;
}

#[tokio::test]
async fn a_connection_without_messages_is_closed_with_1001() {
    let limits = WebSocketLimits::DEFAULT.with_idle_timeout(Some(SHORT));
    let running = serve(echo_with(limits)).await;
    let mut raw = Raw::open(&running).await;
    let frame = raw.frame().await.unwrap();
    assert_eq!(frame.close(), (1001, "no messages for 20ms"));
}

#[tokio::test]
async fn incomplete_messages_count_against_the_memory_limit() {
    let limits = WebSocketLimits::DEFAULT.with_max_message_bytes(1 << 20);
    let server = builder()
        .limits(polywire_schema::Limits::DEFAULT.with_bytes(100_000))
        .body_memory(600_000)
        .websocket("/", echo_with(limits));
    let running = listen(server).await;
    // A message of 500,000 bytes fits. Its memory is released afterwards, so the next one fits too.
    for _ in 0..2 {
        let mut raw = Raw::open(&running).await;
        raw.send(masked(BINARY, vec![7; 500_000])).await;
        assert_eq!(raw.frame().await.unwrap().payload.len(), 500_000);
    }
    let mut raw = Raw::open(&running).await;
    raw.send(&masked(BINARY, vec![7; 1 << 20])[..900_000]).await;
    assert_eq!(raw.frame().await.unwrap().close().0, 1013);
}

#[tokio::test]
async fn control_frames_use_no_body_memory() {
    let server = builder()
        .limits(polywire_schema::Limits::DEFAULT.with_bytes(100_000))
        .body_memory(600_000)
        .websocket("/", echo_with(WebSocketLimits::DEFAULT));
    let running = listen(server).await;
    // One connection sends control frames between messages, the other between the fragments of a message.
    let mut between = Raw::open(&running).await;
    let mut within_one = Raw::open(&running).await;
    within_one.send(masked(BINARY & 0x7f, "a")).await;
    for raw in [&mut between, &mut within_one] {
        for round in 0..20 {
            let pings = [masked(PING, [7; 125]), masked(PONG, [7; 125])].concat();
            let mut pings = pings.repeat(250);
            pings.extend(masked(PING, [round]));
            raw.send(pings).await;
            // The server has read all control frames when it answers the last one.
            while raw.frame().await.unwrap() != Frame::new(PONG, [round]) {}
        }
    }
    let mut other = Raw::open(&running).await;
    other.send(masked(BINARY, vec![7; 500_000])).await;
    assert_eq!(other.frame().await.unwrap().payload.len(), 500_000);
    between.send(masked(TEXT, "here")).await;
    assert_eq!(between.frame().await, Some(Frame::new(TEXT, "here")));
    within_one.send(masked(0x80, "b")).await;
    assert_eq!(within_one.frame().await, Some(Frame::new(BINARY, "ab")));
}

#[tokio::test]
async fn empty_fragments_use_no_memory() {
    let limits = WebSocketLimits::DEFAULT.with_max_message_bytes(100_000);
    let server = builder()
        .limits(polywire_schema::Limits::DEFAULT.with_bytes(100_000))
        .body_memory(300_000)
        .websocket("/", echo_with(limits));
    let running = listen(server).await;
    let mut raw = Raw::open(&running).await;
    raw.send(masked(BINARY & 0x7f, "a")).await;
    raw.send(masked(0, "").repeat(100_000)).await;
    raw.send(masked(PING, "")).await;
    assert_eq!(raw.frame().await, Some(Frame::new(PONG, "")));
    let mut other = Raw::open(&running).await;
    other.send(masked(BINARY, vec![7; 90_000])).await;
    assert_eq!(other.frame().await.unwrap().payload.len(), 90_000);
    raw.send(masked(0x80, "b")).await;
    assert_eq!(raw.frame().await, Some(Frame::new(BINARY, "ab")));
}

#[tokio::test]
async fn connections_count_against_the_limit_of_the_server() {
    let running = listen(
        builder()
            .connections(1)
            .websocket("/", crate::support::echo),
    )
    .await;
    let first = Raw::open(&running).await;
    // The second connection waits until the first is closed.
    let waiting = tokio::spawn({
        let address = running.address();
        async move { Raw::connect(address).await.upgraded().await }
    });
    tokio::task::yield_now().await;
    drop(first);
    let mut second = within(waiting).await.unwrap();
    second.send(masked(TEXT, "two")).await;
    assert_eq!(second.frame().await, Some(Frame::new(TEXT, "two")));
}
