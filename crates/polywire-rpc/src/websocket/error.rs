//! Errors.

use std::fmt;
use std::time::Duration;

use http::StatusCode;

use super::message::{CloseCode, CloseFrame, Message};
use crate::connect::{TransportError, UrlError};

/// The reason why a connection failed.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum WebSocketError {
    /// The peer violated RFC 6455. The text describes the violation. The connection is closed with 1002.
    Protocol(String),
    /// A text message or the reason of a close frame is not valid UTF-8. The connection is closed with 1007.
    InvalidUtf8,
    /// A message or frame exceeds its limit. The connection is closed with 1009.
    TooLarge {
        /// The size in bytes: received, or announced by the frame header.
        bytes: usize,
        /// The limit in bytes: [`WebSocketLimits::max_message_bytes`](super::WebSocketLimits::max_message_bytes) or
        /// [`WebSocketLimits::max_frame_bytes`](super::WebSocketLimits::max_frame_bytes).
        limit: usize,
    },
    /// The peer reads too slowly. For [`WebSocketLimits::write_timeout`](super::WebSocketLimits::write_timeout), which
    /// is the value, it accepted no bytes or the send queue stayed full. The connection is closed with 1008.
    SlowReader(Duration),
    /// No bytes arrived within [`WebSocketLimits::pong_timeout`](super::WebSocketLimits::pong_timeout) after a ping.
    /// The value is that time. The connection is dropped without a close frame.
    NoPong(Duration),
    /// The incoming message exceeds the memory limit of the server
    /// ([`ServerBuilder::body_memory`](crate::ServerBuilder::body_memory)). The connection is closed with 1013.
    MemoryLimit,
    /// The connection ended without a close frame.
    Reset,
    /// Reading or writing failed. The text is the error of the operating system or of TLS.
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

impl fmt::Display for WebSocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protocol(reason) => write!(f, "protocol violation: {reason}"),
            Self::InvalidUtf8 => f.write_str("text is not valid UTF-8"),
            Self::TooLarge { bytes, limit } => {
                write!(
                    f,
                    "a message or frame has {bytes} bytes, the limit is {limit}"
                )
            }
            Self::SlowReader(time) => {
                write!(f, "slow reader: no progress for {time:?}")
            }
            Self::NoPong(time) => write!(f, "no data within {time:?} after a ping"),
            Self::MemoryLimit => f.write_str("the memory limit for incoming messages is reached"),
            Self::Reset => f.write_str("the connection ended without a close frame"),
            Self::Io(reason) => write!(f, "the connection failed: {reason}"),
        }
    }
}

impl std::error::Error for WebSocketError {}

/// The message was not sent because the connection is closed or closing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SendError(pub Message);

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the WebSocket is closed")
    }
}

impl std::error::Error for SendError {}

/// The message was not sent. Both variants return it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TrySendError {
    /// The send queue is full, or the server has no memory left for the message.
    Full(Message),
    /// The connection is closed or closing.
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

impl fmt::Display for TrySendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "the send queue is full",
            Self::Closed(_) => "the WebSocket is closed",
        })
    }
}

impl std::error::Error for TrySendError {}

/// The reason why a client could not connect.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ConnectError {
    /// The URL is not a valid WebSocket URL, contains a user, or needs a feature or TLS setting that is not available.
    Url(UrlError),
    /// The connection or the TLS handshake failed, or the server did not respond in time.
    Transport(TransportError),
    /// The server responded to the upgrade request with a status other than 101.
    Refused {
        /// The status of the response.
        status: StatusCode,
        /// The body of the response. Empty if the body has more than 1 KiB or could not be read. Bytes that are not
        /// UTF-8 are replaced by U+FFFD.
        text: String,
    },
    /// The response with status 101 violates RFC 6455, section 4.1, or a subprotocol of the client is not a token or
    /// is repeated. In the second case nothing was sent.
    Handshake(String),
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(error) => error.fmt(f),
            Self::Transport(error) => error.fmt(f),
            Self::Refused { status, text } => {
                write!(f, "the server responded with {status}")?;
                match text.trim() {
                    "" => Ok(()),
                    text => write!(f, ": {}", text.escape_debug()),
                }
            }
            Self::Handshake(reason) => write!(f, "the WebSocket handshake failed: {reason}"),
        }
    }
}

impl std::error::Error for ConnectError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Url(error) => Some(error),
            Self::Transport(error) => Some(error),
            _ => None,
        }
    }
}

impl From<UrlError> for ConnectError {
    fn from(error: UrlError) -> Self {
        Self::Url(error)
    }
}

impl From<TransportError> for ConnectError {
    fn from(error: TransportError) -> Self {
        Self::Transport(error)
    }
}
