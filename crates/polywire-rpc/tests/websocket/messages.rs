//! Messages arrive whole and in order, in both directions.

use bytes::Bytes;
use polywire_rpc::websocket::{Message, WebSocket, WebSocketEndpoint, WebSocketLimits};

use crate::support::{
    BINARY, Frame, PING, PONG, Raw, TEXT, echo, echo_with, masked, serve, url, within,
};

#[tokio::test]
async fn text_and_binary_messages_are_echoed() {
    let running = serve(echo).await;
    let mut socket = WebSocket::connect(&url(&running)).await.unwrap();
    let large = "ä".repeat(400_000);
    let messages = [
        Message::text(""),
        Message::text("häßlich"),
        Message::binary(vec![0, 1, 255]),
        Message::binary(Bytes::new()),
        Message::text(large.clone()),
        Message::binary(large),
    ];
    for message in &messages {
        socket.send(message.clone()).await.unwrap();
    }
    for message in messages {
        assert_eq!(within(socket.recv()).await, Some(Ok(message)));
    }
}

#[tokio::test]
async fn many_messages_keep_their_order() {
    let running = serve(echo).await;
    let mut socket = WebSocket::connect(&url(&running)).await.unwrap();
    let sender = socket.sender();
    let sending = tokio::spawn(async move {
        for number in 0..20_000 {
            sender.send(number.to_string()).await.unwrap();
        }
    });
    for number in 0..20_000 {
        let message = within(socket.recv()).await.unwrap().unwrap();
        assert_eq!(message.as_text(), Some(&*number.to_string()));
    }
    sending.await.unwrap();
}

#[tokio::test]
async fn fragments_are_one_message_with_pings_in_between() {
    let running = serve(echo).await;
    let mut raw = Raw::open(&running).await;
    // Two fragments that split a character, and an empty fragment between them.
    raw.send(masked(0x01, &"ä".as_bytes()[..1])).await;
    raw.send(masked(PING, "there?")).await;
    raw.send(masked(0x00, "")).await;
    raw.send(masked(0x80, &"ä".as_bytes()[1..])).await;
    assert_eq!(raw.frame().await, Some(Frame::new(PONG, "there?")));
    assert_eq!(raw.frame().await, Some(Frame::new(TEXT, "ä")));
    // One byte per write.
    for byte in masked(BINARY, "slowly") {
        raw.send([byte]).await;
    }
    assert_eq!(raw.frame().await, Some(Frame::new(BINARY, "slowly")));
}

#[tokio::test]
async fn frames_sent_with_the_upgrade_request_are_received() {
    let running = serve(echo).await;
    let mut raw = Raw::connect(running.address()).await;
    let mut bytes = format!("{}\r\n", crate::support::ASK).into_bytes();
    bytes.extend(masked(TEXT, "early"));
    raw.send(bytes).await;
    assert!(raw.head().await.starts_with("HTTP/1.1 101 "));
    assert_eq!(raw.frame().await, Some(Frame::new(TEXT, "early")));
}

#[tokio::test]
async fn senders_work_from_other_tasks_while_the_handler_waits() {
    let running = serve(|mut socket: WebSocket| async move {
        let sender = socket.sender();
        let task = tokio::spawn(async move {
            for number in 0..10 {
                sender.send(format!("news {number}")).await.unwrap();
            }
        });
        while let Some(Ok(_)) = socket.recv().await {}
        task.await.unwrap();
    })
    .await;
    let mut socket = WebSocket::connect(&url(&running)).await.unwrap();
    for number in 0..10 {
        let message = within(socket.recv()).await.unwrap().unwrap();
        assert_eq!(message.as_text(), Some(&*format!("news {number}")));
    }
}

#[tokio::test]
async fn a_handler_that_does_not_read_blocks_the_peer_without_losing_messages() {
    let (start_sender, start) = tokio::sync::oneshot::channel::<()>();
    let start = std::sync::Mutex::new(Some(start));
    let running = serve(move |mut socket: WebSocket| {
        let start = start.lock().unwrap().take().unwrap();
        async move {
            start.await.unwrap();
            let mut bytes = 0;
            while let Some(Ok(message)) = socket.recv().await {
                bytes += message.len();
                if message.as_text() == Some("end") {
                    socket.send(bytes.to_string()).await.unwrap();
                }
            }
        }
    })
    .await;
    let limits = WebSocketLimits::DEFAULT.with_max_queued(10_000, 64 << 20);
    let connecting = WebSocket::builder(&url(&running)).limits(limits).connect();
    let mut socket = connecting.await.unwrap();
    for _ in 0..1_000 {
        socket.send(vec![7; 30_000]).await.unwrap();
    }
    socket.send("end").await.unwrap();
    // 30 MB exceed all buffers on the path, so some messages are still in the queue of the client.
    start_sender.send(()).unwrap();
    let message = within(socket.recv()).await.unwrap().unwrap();
    assert_eq!(message.as_text(), Some("30000003"));
}

#[tokio::test]
async fn text_is_shared_not_copied() {
    let running = serve(echo_with(WebSocketLimits::DEFAULT)).await;
    let mut socket = WebSocket::connect(&url(&running)).await.unwrap();
    socket.send("one").await.unwrap();
    let Some(Ok(Message::Text(text))) = within(socket.recv()).await else {
        panic!("no text");
    };
    let place = text.as_ptr();
    let bytes: Bytes = text.clone().into();
    assert_eq!(bytes.as_ptr(), place);
    assert_eq!(text, "one");
}

/// The broadcast runs on other threads than the connections. The clients read and write at the same time.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_broadcast_reaches_all_whole_and_in_order() {
    const CLIENTS: usize = 20;
    const MESSAGES: usize = 2_000;
    let (join, mut joined) = tokio::sync::mpsc::unbounded_channel();
    let limits = WebSocketLimits::DEFAULT.with_max_queued(16, 10_000);
    let endpoint = WebSocketEndpoint::new(move |mut socket: WebSocket| {
        join.send(socket.sender()).unwrap();
        async move {
            while let Some(Ok(message)) = socket.recv().await {
                if socket.send(message).await.is_err() {
                    break;
                }
            }
        }
    });
    let running = serve(endpoint.limits(limits)).await;
    let url = url(&running);
    let clients: Vec<_> = (0..CLIENTS)
        .map(|own| {
            let url = url.clone();
            tokio::spawn(async move {
                let mut socket = WebSocket::connect(&url).await.unwrap();
                let sender = socket.sender();
                let sending = tokio::spawn(async move {
                    for number in 0..MESSAGES {
                        sender.send(format!("own {own} {number}")).await.unwrap();
                    }
                });
                let (mut news, mut echoes) = (0, 0);
                while news < MESSAGES || echoes < MESSAGES {
                    let message = within(socket.recv()).await.unwrap().unwrap();
                    let text = message.as_text().unwrap();
                    if text == format!("news {news}") {
                        news += 1;
                    } else {
                        assert_eq!(text, format!("own {own} {echoes}"));
                        echoes += 1;
                    }
                }
                sending.await.unwrap();
            })
        })
        .collect();
    let mut senders = Vec::new();
    while senders.len() < CLIENTS {
        senders.push(within(joined.recv()).await.unwrap());
    }
    for number in 0..MESSAGES {
        for sender in &senders {
            within(sender.send(format!("news {number}"))).await.unwrap();
        }
    }
    for client in clients {
        within(client).await.unwrap();
    }
    within(running.shutdown()).await;
}
