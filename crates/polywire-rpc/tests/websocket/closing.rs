//! How connections are closed, and what both peers observe.

use std::sync::Mutex;
use std::time::Duration;

use polywire_rpc::Timeouts;
use polywire_rpc::websocket::{
    CloseCode, CloseFrame, Message, SendError, TrySendError, WebSocket, WebSocketError,
    WebSocketLimits,
};

use crate::support::{
    CLOSE, Raw, TEXT, builder, echo, echo_with, listen, masked, serve, url, within,
};

#[tokio::test]
async fn the_server_closes_with_a_code_and_a_reason() {
    let running = serve(|socket: WebSocket| async move {
        socket.send("last").await.unwrap();
        socket.close(CloseFrame::new(CloseCode(4001), "go on elsewhere"));
        // No sender can send after the close.
        let late = socket.sender().try_send("late");
        assert_eq!(late, Err(TrySendError::Closed(Message::from("late"))));
    })
    .await;
    let mut socket = WebSocket::connect(&url(&running)).await.unwrap();
    let sender = socket.sender();
    assert_eq!(within(socket.recv()).await, Some(Ok(Message::from("last"))));
    assert_eq!(within(socket.recv()).await, None);
    let frame = CloseFrame::new(CloseCode(4001), "go on elsewhere");
    assert_eq!(socket.close_frame(), Some(frame.clone()));
    assert_eq!(within(sender.closed()).await, frame);
    assert!(!sender.is_open());
    let sent = within(sender.send("late")).await;
    assert_eq!(sent, Err(SendError(Message::from("late"))));
}

#[tokio::test]
async fn the_client_closes_and_the_server_answers_with_its_code() {
    let (outcome_sender, outcome) = tokio::sync::oneshot::channel();
    let outcome_sender = Mutex::new(Some(outcome_sender));
    let running = serve(move |mut socket: WebSocket| {
        let outcome_sender = outcome_sender.lock().unwrap().take().unwrap();
        async move {
            assert_eq!(socket.recv().await, Some(Ok(Message::from("last"))));
            assert_eq!(socket.recv().await, None);
            outcome_sender.send(socket.close_frame()).unwrap();
        }
    })
    .await;
    let mut raw = Raw::open(&running).await;
    raw.send(masked(TEXT, "last")).await;
    raw.send(masked(CLOSE, b"\x03\xe9bye")).await;
    assert_eq!(raw.frame().await.unwrap().close(), (1001, "bye"));
    raw.ends().await;
    let frame = within(outcome).await.unwrap();
    assert_eq!(frame, Some(CloseFrame::new(CloseCode::GOING_AWAY, "bye")));
}

#[tokio::test]
async fn a_close_frame_may_have_no_code() {
    let running = serve(echo).await;
    let mut raw = Raw::open(&running).await;
    raw.send(masked(CLOSE, "")).await;
    let frame = raw.frame().await.unwrap();
    assert_eq!((frame.first, frame.payload.len()), (CLOSE, 0));
    raw.ends().await;

    let socket = WebSocket::connect(&url(&running)).await.unwrap();
    let sender = socket.sender();
    socket.close(CloseFrame::new(CloseCode::NO_STATUS, ""));
    assert_eq!(within(sender.closed()).await.code, CloseCode::NO_STATUS);
}

#[tokio::test]
async fn invalid_codes_and_long_reasons_are_replaced() {
    for (frame, code, reason) in [
        (
            CloseFrame::new(CloseCode(1006), "never"),
            1011,
            "never".to_owned(),
        ),
        (CloseFrame::new(CloseCode(17), ""), 1011, String::new()),
        (
            CloseFrame::new(CloseCode(4999), "ä".repeat(100)),
            4999,
            "ä".repeat(61),
        ),
    ] {
        let sent = frame.clone();
        let running = serve(move |socket: WebSocket| {
            socket.close(sent.clone());
            async { drop(socket) }
        })
        .await;
        let mut raw = Raw::open(&running).await;
        assert_eq!(raw.frame().await.unwrap().close(), (code, &*reason));
    }
}

#[tokio::test]
async fn a_handler_that_returns_closes_with_1000_and_one_that_panics_with_1011() {
    async fn handler(mut socket: WebSocket) {
        match socket.recv().await.unwrap().unwrap().as_text() {
            Some("panic") => panic!("a secret"),
            _ => socket.send("bye").await.unwrap(),
        }
    }
    let running = listen(builder().websocket("/", handler).websocket(
        "/at-once",
        |socket: WebSocket| {
            assert!(socket.protocol().is_some(), "a secret");
            async { drop(socket) }
        },
    ))
    .await;
    let mut raw = Raw::open(&running).await;
    raw.send(masked(TEXT, "return")).await;
    assert_eq!(raw.frame().await.unwrap().payload, b"bye");
    assert_eq!(raw.frame().await.unwrap().close(), (1000, ""));
    // Messages after the close are ignored. The close frame of the peer ends the connection.
    raw.send(masked(TEXT, "late")).await;
    raw.send(masked(CLOSE, [3, 232])).await;
    raw.ends().await;

    let mut raw = Raw::open(&running).await;
    raw.send(masked(TEXT, "panic")).await;
    assert_eq!(raw.frame().await.unwrap().close(), (1011, ""));

    let url = format!("{}at-once", url(&running));
    let mut socket = WebSocket::connect(&url).await.unwrap();
    assert_eq!(within(socket.recv()).await, None);
    assert_eq!(
        socket.close_frame().unwrap().code,
        CloseCode::INTERNAL_ERROR
    );
}

#[tokio::test]
async fn messages_are_received_after_this_side_has_closed() {
    let running = serve(|mut socket: WebSocket| async move {
        socket.close(CloseFrame::new(CloseCode::NORMAL_CLOSURE, ""));
        let message = socket.recv().await.unwrap().unwrap();
        assert_eq!(message.as_text(), Some("on its way"));
        assert_eq!(socket.recv().await, None);
    })
    .await;
    let mut raw = Raw::open(&running).await;
    assert_eq!(raw.frame().await.unwrap().close(), (1000, ""));
    raw.send(masked(TEXT, "on its way")).await;
    raw.send(masked(CLOSE, [3, 232])).await;
    raw.ends().await;
}

#[tokio::test]
async fn a_peer_that_answers_no_close_frame_is_disconnected() {
    let limits = WebSocketLimits::DEFAULT.with_close_timeout(Duration::from_millis(50));
    let endpoint =
        polywire_rpc::websocket::WebSocketEndpoint::new(|socket: WebSocket| async move {
            socket.close(CloseFrame::new(CloseCode::NORMAL_CLOSURE, ""));
            let frame = socket.sender().closed().await;
            assert_eq!(frame.code, CloseCode::NORMAL_CLOSURE);
        });
    let running = serve(endpoint.limits(limits)).await;
    let mut raw = Raw::open(&running).await;
    assert_eq!(raw.frame().await.unwrap().close(), (1000, ""));
    raw.ends().await;
}

#[tokio::test]
async fn a_peer_that_reads_slowly_delays_the_close_frame_no_longer_than_the_write_timeout() {
    const MESSAGES: usize = 1000;
    let limits = WebSocketLimits::DEFAULT
        .with_max_queued(MESSAGES, 100 << 20)
        .with_write_timeout(Duration::from_millis(500))
        .with_close_timeout(Duration::from_secs(60));
    let endpoint =
        polywire_rpc::websocket::WebSocketEndpoint::new(|socket: WebSocket| async move {
            for _ in 0..MESSAGES {
                socket.try_send(vec![7; 50_000]).unwrap();
            }
        });
    let running = serve(endpoint.limits(limits)).await;
    let raw = Raw::connect_narrow(running.address()).await;
    let mut raw = raw.upgraded().await;
    // The peer keeps reading, so it is not a slow reader. With 10 ms per message it would need 10 s for all messages.
    let mut received = 0;
    let frame = loop {
        let frame = raw.frame().await.unwrap();
        if frame.first == CLOSE {
            break frame;
        }
        assert_eq!(frame.payload.len(), 50_000);
        received += 1;
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert_eq!(frame.close(), (1000, ""));
    assert!(received < MESSAGES, "nothing was dropped");
    raw.send(masked(CLOSE, [3, 232])).await;
    raw.ends().await;
}

#[tokio::test]
async fn shutdown_closes_with_1001() {
    let (outcome_sender, mut outcome) = tokio::sync::mpsc::unbounded_channel();
    let running = serve(move |mut socket: WebSocket| {
        let outcome_sender = outcome_sender.clone();
        async move {
            while let Some(Ok(message)) = socket.recv().await {
                socket.send(message).await.unwrap();
            }
            outcome_sender
                .send(socket.close_frame().unwrap().code)
                .unwrap();
        }
    })
    .await;
    let mut socket = WebSocket::connect(&url(&running)).await.unwrap();
    let mut raw = Raw::open(&running).await;
    socket.send("one").await.unwrap();
    within(socket.recv()).await.unwrap().unwrap();
    let stopping = tokio::spawn(running.shutdown());
    assert_eq!(within(socket.recv()).await, None);
    let frame = socket.close_frame().unwrap();
    assert_eq!(
        frame,
        CloseFrame::new(CloseCode::GOING_AWAY, "the server is stopping")
    );
    assert_eq!(
        raw.frame().await.unwrap().close(),
        (1001, "the server is stopping")
    );
    raw.send(masked(CLOSE, [3, 233])).await;
    raw.ends().await;
    // Shutdown ends when all connections are closed.
    within(stopping).await.unwrap();
    for _ in 0..2 {
        assert_eq!(outcome.recv().await, Some(CloseCode::GOING_AWAY));
    }
}

#[tokio::test]
async fn shutdown_ends_at_its_timeout_despite_silent_peers() {
    let timeouts = Timeouts::DEFAULT.with_shutdown(Duration::from_millis(100));
    let endpoint = echo_with(WebSocketLimits::DEFAULT);
    let running = listen(builder().timeouts(timeouts).websocket("/", endpoint)).await;
    let mut raw = Raw::open(&running).await;
    within(running.shutdown()).await;
    assert_eq!(raw.frame().await.unwrap().close().0, 1001);
    raw.ends().await;
}

#[tokio::test]
async fn a_client_that_is_dropped_sends_all_and_closes() {
    let (outcome_sender, outcome) = tokio::sync::oneshot::channel();
    let outcome_sender = Mutex::new(Some(outcome_sender));
    let running = serve(move |mut socket: WebSocket| {
        let outcome_sender = outcome_sender.lock().unwrap().take().unwrap();
        async move {
            let mut count = 0;
            while let Some(Ok(_)) = socket.recv().await {
                count += 1;
            }
            outcome_sender
                .send((count, socket.close_frame().unwrap().code))
                .unwrap();
        }
    })
    .await;
    let socket = WebSocket::connect(&url(&running)).await.unwrap();
    for _ in 0..500 {
        socket.send(vec![7; 10_000]).await.unwrap();
    }
    drop(socket);
    assert_eq!(
        within(outcome).await.unwrap(),
        (500, CloseCode::NORMAL_CLOSURE)
    );
}

#[tokio::test]
async fn a_client_sees_a_closed_server() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let gone = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut raw = Raw::of(stream);
        raw.accept_upgrade().await;
    });
    let mut socket = WebSocket::connect(&format!("ws://{address}"))
        .await
        .unwrap();
    gone.await.unwrap();
    assert_eq!(
        within(socket.recv()).await,
        Some(Err(WebSocketError::Reset))
    );
    assert_eq!(socket.recv().await, None);
    assert_eq!(
        socket.close_frame().unwrap().code,
        CloseCode::ABNORMAL_CLOSURE
    );
}
