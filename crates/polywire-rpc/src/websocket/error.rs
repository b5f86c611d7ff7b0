//! What goes wrong.

use std::fmt;
use std::time::Duration;

use http::StatusCode;

use super::message::{CloseCode, CloseFrame, Message};
use crate::connect::{TransportError, UrlError};

/// Why a connection has failed.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum WebSocketError {
    /// The peer broke the protocol (RFC 6455). It is closed with 1002.
    Protocol(String),
    /// A text message is not UTF-8. The peer is closed with 1007.
    InvalidUtf8,
    /// A message or frame has more bytes than the limit. The peer is closed with 1009.
    TooLarge {
        /// As many as came or were announced.
        bytes: usize,
        /// As many as are allowed: [`WebSocketLimits::message_bytes`](super::WebSocketLimits::message_bytes) or
        /// [`WebSocketLimits::frame_bytes`](super::WebSocketLimits::frame_bytes).
        limit: usize,
    },
    /// The peer took too few messages for
    /// [`WebSocketLimits::write_timeout`](super::WebSocketLimits::write_timeout). It is closed with 1008.
    SlowReader(Duration),
    /// Nothing came for [`WebSocketLimits::pong_timeout`](super::WebSocketLimits::pong_timeout) after a ping.
    NoPong(Duration),
    /// There is no memory for what comes. The peer is closed with 1013.
    NoMemory,
    /// The connection ended without a close frame.
    Reset,
    /// The connection broke.
    Io(String),
}

impl WebSocketError {
    /// What the peer is told, if it is still there.
    pub(super) fn close_frame(&self) -> CloseFrame {
        let (code, reason) = match self {
            Self::Protocol(reason) => (CloseCode::PROTOCOL_ERROR, reason.clone()),
            Self::InvalidUtf8 => (CloseCode::INVALID_DATA, self.to_string()),
            Self::TooLarge { .. } => (CloseCode::TOO_LARGE, self.to_string()),
            Self::SlowReader(_) => (CloseCode::POLICY, self.to_string()),
            Self::NoMemory => (CloseCode::TRY_AGAIN, self.to_string()),
            Self::NoPong(_) | Self::Reset | Self::Io(_) => (CloseCode::ABNORMAL, String::new()),
        };
        CloseFrame::new(code, reason)
    }
}

impl fmt::Display for WebSocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protocol(reason) => write!(f, "the peer broke the protocol: {reason}"),
            Self::InvalidUtf8 => f.write_str("a text message is not UTF-8"),
            Self::TooLarge { bytes, limit } => {
                write!(
                    f,
                    "a message or frame of {bytes} bytes, the limit is {limit}"
                )
            }
            Self::SlowReader(time) => {
                write!(f, "a slow reader: its queue was full for {time:?}")
            }
            Self::NoPong(time) => write!(f, "no answer to a ping in {time:?}"),
            Self::NoMemory => f.write_str("no memory is left for what comes"),
            Self::Reset => f.write_str("the connection ended without a close frame"),
            Self::Io(reason) => write!(f, "the connection broke: {reason}"),
        }
    }
}

impl std::error::Error for WebSocketError {}

/// A message that was not sent, since the connection is closed or closing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SendError(pub Message);

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the WebSocket is closed")
    }
}

impl std::error::Error for SendError {}

/// A message that was not sent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TrySendError {
    /// The queue has no room for it.
    Full(Message),
    /// The connection is closed or closing.
    Closed(Message),
}

impl TrySendError {
    /// The message.
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

/// Why a client has no connection.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ConnectError {
    /// The URL is none of a WebSocket.
    Url(UrlError),
    /// The server cannot be reached.
    Transport(TransportError),
    /// The server answered the request for an upgrade otherwise.
    Refused {
        /// The status of its answer.
        status: StatusCode,
        /// The beginning of the body, at most 1 KiB.
        text: String,
    },
    /// The server agreed, but not as RFC 6455, section 4.1, asks for.
    Handshake(String),
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(error) => error.fmt(f),
            Self::Transport(error) => error.fmt(f),
            Self::Refused { status, text } => {
                write!(f, "the server answered {status}")?;
                match text.trim() {
                    "" => Ok(()),
                    text => write!(f, ": {}", text.escape_debug()),
                }
            }
            Self::Handshake(reason) => write!(f, "the WebSocket handshake: {reason}"),
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
