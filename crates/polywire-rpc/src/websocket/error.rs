//! Errors.

use std::time::Duration;

use http::StatusCode;

use super::message::{CloseCode, CloseFrame, Message};
use crate::connect::{TransportError, UrlError};

/// The reason why a connection failed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WebSocketError {
    /// The peer violated RFC 6455. The text describes the violation. The connection is closed with 1002.
    #[error("protocol violation: {0}")]
    Protocol(String),
    /// A text message or the reason of a close frame is not valid UTF-8. The connection is closed with 1007.
    #[error("text is not valid UTF-8")]
    InvalidUtf8,
    /// A message or frame exceeds its limit. The connection is closed with 1009.
    #[error("a message or frame has {bytes} bytes, the limit is {limit}")]
    TooLarge {
        /// The size in bytes: received, or announced by the frame header.
        bytes: usize,
        /// The limit in bytes: [`WebSocketLimits::max_message_bytes`](super::WebSocketLimits::max_message_bytes) or
        /// [`WebSocketLimits::max_frame_bytes`](super::WebSocketLimits::max_frame_bytes).
        limit: usize,
    },
    /// The peer reads too slowly. For [`WebSocketLimits::write_timeout`](super::WebSocketLimits::write_timeout), which
    /// is the value, it accepted no bytes or the send queue stayed full. The connection is closed with 1008.
    #[error("slow reader: no progress for {0:?}")]
    SlowReader(Duration),
    /// No bytes arrived within [`WebSocketLimits::pong_timeout`](super::WebSocketLimits::pong_timeout) after a ping.
    /// The value is that time. The connection is dropped without a close frame.
    #[error("no data within {0:?} after a ping")]
    NoPong(Duration),
    /// The incoming message exceeds the memory limit of the server
    /// ([`ServerBuilder::body_memory`](crate::ServerBuilder::body_memory)). The connection is closed with 1013.
    #[error("the memory limit for incoming messages is reached")]
    MemoryLimit,
    /// The connection ended without a close frame.
    #[error("the connection ended without a close frame")]
    Reset,
    /// Reading or writing failed. The text is the error of the operating system or of TLS.
    #[error("the connection failed: {0}")]
    Io(String),
}

impl WebSocketError {
    /// The close frame for the peer. An abnormal closure sends none.
    pub(super) fn close_frame(&self) -> CloseFrame {
        let (code, reason) = match self {
            Self::Protocol(reason) => (CloseCode::PROTOCOL_ERROR, reason.clone()),
            Self::InvalidUtf8 => (CloseCode::INVALID_PAYLOAD, self.to_string()),
            Self::TooLarge { .. } => (CloseCode::MESSAGE_TOO_BIG, self.to_string()),
            Self::SlowReader(_) => (CloseCode::POLICY_VIOLATION, self.to_string()),
            Self::MemoryLimit => (CloseCode::TRY_AGAIN_LATER, self.to_string()),
            Self::NoPong(_) | Self::Reset | Self::Io(_) => {
                (CloseCode::ABNORMAL_CLOSURE, String::new())
            }
        };
        CloseFrame::new(code, reason)
    }
}

/// The message was not sent because the connection is closed or closing.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the WebSocket is closed")]
pub struct SendError(pub Message);

/// The message was not sent. Both variants return it.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TrySendError {
    /// The send queue is full, or the server has no memory left for the message.
    #[error("the send queue is full")]
    Full(Message),
    /// The connection is closed or closing.
    #[error("the WebSocket is closed")]
    Closed(Message),
}

impl TrySendError {
    /// Returns the message.
    #[must_use]
    pub fn into_message(self) -> Message {
        match self {
            Self::Full(message) | Self::Closed(message) => message,
        }
    }
}

/// The reason why a client could not connect.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The URL is not a valid WebSocket URL, contains a user, or needs a feature or TLS setting that is not available.
    #[error("{0}")]
    Url(#[from] UrlError),
    /// The connection or the TLS handshake failed, or the server did not respond in time.
    #[error("{0}")]
    Transport(#[from] TransportError),
    /// The server responded to the upgrade request with a status other than 101.
    #[error("the server responded with {status}{}", suffix(.text))]
    Refused {
        /// The status of the response.
        status: StatusCode,
        /// The body of the response. Empty if the body has more than 1 KiB or could not be read. Bytes that are not
        /// UTF-8 are replaced by U+FFFD.
        text: String,
    },
    /// The response with status 101 violates RFC 6455, section 4.1, or a subprotocol of the client is not a token or
    /// is repeated. In the second case nothing was sent.
    #[error("the WebSocket handshake failed: {0}")]
    Handshake(String),
}

/// The text of a rejected upgrade, with its separator.
fn suffix(text: &str) -> String {
    match text.trim() {
        "" => String::new(),
        text => format!(": {}", text.escape_debug()),
    }
}
