//! A peer that violates the protocol gets the close code that RFC 6455 defines for the violation.

use std::sync::{Arc, Mutex};

use polywire_rpc::RunningServer;
use polywire_rpc::websocket::{
    CloseFrame, WebSocket, WebSocketEndpoint, WebSocketError, WebSocketLimits,
};

use crate::support::{BINARY, CLOSE, PING, Raw, TEXT, head, masked, serve, unmasked, within};

type CloseOutcome = (Option<WebSocketError>, Option<CloseFrame>);

/// A server that accepts 1,000 bytes per message and 500 per frame, and a channel with the final error and close frame
/// of each handler.
async fn strict() -> (
    RunningServer,
    tokio::sync::mpsc::UnboundedReceiver<CloseOutcome>,
) {
    let (outcome_sender, outcomes) = tokio::sync::mpsc::unbounded_channel();
    let outcome_sender = Arc::new(Mutex::new(outcome_sender));
    let limits = WebSocketLimits::DEFAULT
        .with_max_message_bytes(1_000)
        .with_max_frame_bytes(500);
    let endpoint = WebSocketEndpoint::new(move |mut socket: WebSocket| {
        let outcome_sender = Arc::clone(&outcome_sender);
        async move {
            let error = loop {
                match socket.recv().await {
                    Some(Ok(_)) => {}
                    Some(Err(error)) => break Some(error),
                    None => break None,
                }
            };
            assert_eq!(socket.recv().await, None);
            assert!(socket.try_send("late").is_err());
            outcome_sender
                .lock()
                .unwrap()
                .send((error, socket.close_frame()))
                .unwrap();
        }
    });
    (serve(endpoint.limits(limits)).await, outcomes)
}

#[tokio::test]
async fn each_violation_has_its_code() {
    let (running, mut outcomes) = strict().await;
    let part = masked(0x01, "part");
    let pieces = |first, second| [part.clone(), masked(first, second)].concat();
    let protocol = WebSocketError::Protocol(String::new());
    for (bytes, code, error) in [
        (unmasked(TEXT, "bare"), 1002, protocol.clone()),
        // Reserved bits, unknown opcodes, and invalid control frames.
        (masked(0xc1, "rsv"), 1002, protocol.clone()),
        (masked(0x83, "kind"), 1002, protocol.clone()),
        (masked(0x8b, "kind"), 1002, protocol.clone()),
        (masked(0x09, "part of a ping"), 1002, protocol.clone()),
        (masked(PING, [7; 126]), 1002, protocol.clone()),
        (masked(CLOSE, [3]), 1002, protocol.clone()),
        // A continuation frame without a first fragment, and a new message within a fragmented one.
        (masked(0x80, "end"), 1002, protocol.clone()),
        (pieces(TEXT, "new"), 1002, protocol.clone()),
        // Invalid UTF-8.
        (masked(TEXT, [0xff]), 1007, WebSocketError::InvalidUtf8),
        (
            masked(TEXT, [b'a', 0xc3]),
            1007,
            WebSocketError::InvalidUtf8,
        ),
        (
            pieces(0x80, "\u{e4}").replace_last(),
            1007,
            WebSocketError::InvalidUtf8,
        ),
        (
            masked(CLOSE, [3, 232, 0xff]),
            1007,
            WebSocketError::InvalidUtf8,
        ),
        // Frames over the limit, rejected before their payload arrives, and a message over the limit.
        (
            frame_start(501),
            1009,
            WebSocketError::TooLarge {
                bytes: 501,
                limit: 500,
            },
        ),
        (
            [
                masked(0x02, [7; 400]),
                masked(0x00, [7; 400]),
                masked(0x80, [7; 400]),
            ]
            .concat(),
            1009,
            WebSocketError::TooLarge {
                bytes: 1200,
                limit: 1000,
            },
        ),
        (
            frame_start(usize::MAX >> 1),
            1009,
            WebSocketError::TooLarge {
                bytes: usize::MAX >> 1,
                limit: 500,
            },
        ),
    ] {
        let mut raw = Raw::open(&running).await;
        raw.send(&bytes).await;
        let frame = raw.frame().await.unwrap();
        let (found, reason) = frame.close();
        assert_eq!(found, code, "{bytes:?}: {reason}");
        assert!(!reason.is_empty(), "{bytes:?}");
        raw.ends().await;
        drop(raw);
        let (found, frame) = within(outcomes.recv()).await.unwrap();
        match (found.unwrap(), error) {
            (WebSocketError::Protocol(_), WebSocketError::Protocol(_)) => {}
            (found, error) => assert_eq!(found, error, "{bytes:?}"),
        }
        assert_eq!(frame.unwrap().code.0, code);
    }
    // The server still accepts connections.
    let mut raw = Raw::open(&running).await;
    raw.send(masked(PING, "")).await;
    assert!(raw.frame().await.is_some());
}

/// The header and the masking key of a frame with a payload of `len` bytes, without the payload.
fn frame_start(len: usize) -> Vec<u8> {
    [&head(BINARY, 0x80, len)[..], &[1, 2, 3, 4]].concat()
}

/// Corrupts the last byte.
trait ReplaceLast {
    fn replace_last(self) -> Self;
}

impl ReplaceLast for Vec<u8> {
    fn replace_last(mut self) -> Self {
        *self.last_mut().unwrap() ^= 0x80;
        self
    }
}

#[tokio::test]
async fn messages_before_a_violation_are_received() {
    let (outcome_sender, outcomes) = tokio::sync::oneshot::channel();
    let outcome_sender = Mutex::new(Some(outcome_sender));
    let running = serve(move |mut socket: WebSocket| {
        let outcome_sender = outcome_sender.lock().unwrap().take().unwrap();
        async move {
            let mut seen = Vec::new();
            while let Some(next) = socket.recv().await {
                seen.push(next.map(|message| message.as_text().unwrap().to_owned()));
            }
            outcome_sender.send(seen).unwrap();
        }
    })
    .await;
    let mut raw = Raw::open(&running).await;
    let bytes = [
        masked(TEXT, "one"),
        masked(TEXT, "two"),
        unmasked(TEXT, "bare"),
    ];
    raw.send(bytes.concat()).await;
    let seen = within(outcomes).await.unwrap();
    assert_eq!(seen[..2], [Ok("one".to_owned()), Ok("two".to_owned())]);
    assert!(
        matches!(seen[2..], [Err(WebSocketError::Protocol(_))]),
        "{seen:?}"
    );
}

/// Unread bytes after a violation do not reset the connection before the peer has read the close frame.
#[tokio::test]
async fn the_close_code_arrives_despite_unread_bytes() {
    let (running, _outcomes) = strict().await;
    let mut raw = Raw::open(&running).await;
    let mut bytes = unmasked(TEXT, "bare");
    bytes.resize(300_000, 7);
    raw.send(bytes).await;
    assert_eq!(raw.frame().await.unwrap().close().0, 1002);
    raw.ends().await;
}

#[tokio::test]
async fn a_connection_that_is_reset_is_an_error() {
    let (running, mut outcomes) = strict().await;
    for partial in [&b""[..], &masked(TEXT, "half")[..3]] {
        let mut raw = Raw::open(&running).await;
        raw.send(partial).await;
        drop(raw);
        let (error, frame) = within(outcomes.recv()).await.unwrap();
        assert_eq!(error, Some(WebSocketError::Reset));
        assert_eq!(frame.unwrap().code.0, 1006);
    }
}
