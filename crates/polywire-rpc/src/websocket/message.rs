//! Messages and close frames.

use std::fmt;
use std::ops::Deref;

use bytes::Bytes;

/// A data message (RFC 6455, section 5.6). Its fragments are already joined.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Message {
    /// A text message.
    Text(Utf8Bytes),
    /// A binary message.
    Binary(Bytes),
}

impl Message {
    /// Creates a text message.
    pub fn text(text: impl Into<Utf8Bytes>) -> Self {
        Self::Text(text.into())
    }

    /// Creates a binary message.
    pub fn binary(bytes: impl Into<Bytes>) -> Self {
        Self::Binary(bytes.into())
    }

    /// Returns the text of a text message, and `None` for a binary message.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Binary(_) => None,
        }
    }

    /// Returns the payload. The payload of a text message is UTF-8.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Binary(bytes) => bytes,
        }
    }

    /// Returns the size of the payload, in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.as_bytes().len()
    }

    /// Returns whether the payload is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.as_bytes().is_empty()
    }

    pub(super) fn into_wire(self) -> tungstenite::Message {
        match self {
            Self::Text(Utf8Bytes(text)) => tungstenite::Message::Text(text),
            Self::Binary(bytes) => tungstenite::Message::Binary(bytes),
        }
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<Utf8Bytes> for Message {
    fn from(text: Utf8Bytes) -> Self {
        Self::Text(text)
    }
}

impl From<Bytes> for Message {
    fn from(bytes: Bytes) -> Self {
        Self::Binary(bytes)
    }
}

impl From<Vec<u8>> for Message {
    fn from(bytes: Vec<u8>) -> Self {
        Self::binary(bytes)
    }
}

/// Valid UTF-8 in shared bytes. A clone does not copy the bytes.
#[derive(Clone, Default, Eq, PartialEq)]
pub struct Utf8Bytes(pub(super) tungstenite::Utf8Bytes);

impl Utf8Bytes {
    /// Creates a value from a static string, without copying it.
    #[must_use]
    pub const fn from_static(text: &'static str) -> Self {
        Self(tungstenite::Utf8Bytes::from_static(text))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the bytes, without copying them.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        self.0.into()
    }
}

impl Deref for Utf8Bytes {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Utf8Bytes {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl From<&str> for Utf8Bytes {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Utf8Bytes {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl TryFrom<Bytes> for Utf8Bytes {
    type Error = std::str::Utf8Error;

    fn try_from(bytes: Bytes) -> Result<Self, Self::Error> {
        bytes.try_into().map(Self)
    }
}

impl From<Utf8Bytes> for Bytes {
    fn from(text: Utf8Bytes) -> Self {
        text.into_bytes()
    }
}

impl PartialEq<str> for Utf8Bytes {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Utf8Bytes {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Display for Utf8Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for Utf8Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// A status code of a close frame (RFC 6455, section 7.4, and the IANA WebSocket Close Code Number Registry).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct CloseCode(pub u16);

impl CloseCode {
    /// 1000: the purpose of the connection is fulfilled.
    pub const NORMAL_CLOSURE: Self = Self(1000);
    /// 1001: the server stops, the browser leaves the page, or [`idle_timeout`](super::WebSocketLimits::idle_timeout)
    /// has expired.
    pub const GOING_AWAY: Self = Self(1001);
    /// 1002: the peer violated the protocol.
    pub const PROTOCOL_ERROR: Self = Self(1002);
    /// 1003: a type of message that the endpoint does not accept.
    pub const UNSUPPORTED_DATA: Self = Self(1003);
    /// 1005: the received close frame had no code. It is not sent as a number: a frame with it is sent without a code.
    pub const NO_STATUS: Self = Self(1005);
    /// 1006: the connection ended without a close frame. It is not sent.
    pub const ABNORMAL_CLOSURE: Self = Self(1006);
    /// 1007: text that is not valid UTF-8.
    pub const INVALID_PAYLOAD: Self = Self(1007);
    /// 1008: a message violates a policy of the endpoint. It is also sent to slow readers.
    pub const POLICY_VIOLATION: Self = Self(1008);
    /// 1009: a message or frame is too large.
    pub const MESSAGE_TOO_BIG: Self = Self(1009);
    /// 1011: an internal error, such as a panic of the handler.
    pub const INTERNAL_ERROR: Self = Self(1011);
    /// 1013: the server is overloaded. The client should connect again later.
    pub const TRY_AGAIN_LATER: Self = Self(1013);

    /// Returns whether a close frame may contain the code: 1000 to 1003, 1007 to 1014 and 3000 to 4999.
    #[must_use]
    pub const fn is_sendable(self) -> bool {
        matches!(self.0, 1000..=1003 | 1007..=1014 | 3000..=4999)
    }
}

impl fmt::Display for CloseCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The code and the reason of a close frame (RFC 6455, section 5.5.1).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CloseFrame {
    /// The status code.
    pub code: CloseCode,
    /// A text for logs. At most 123 bytes are sent: a longer text is cut at a character boundary.
    pub reason: Utf8Bytes,
}

/// The maximum size of a reason: a control frame has at most 125 bytes, and the code has 2.
const MAX_REASON_BYTES: usize = 123;

impl CloseFrame {
    /// Creates a close frame.
    pub fn new(code: CloseCode, reason: impl Into<Utf8Bytes>) -> Self {
        let reason = reason.into();
        Self { code, reason }
    }

    /// The frame to send: with a code that may be sent, and the reason cut to its maximum size.
    pub(super) fn to_wire(&self) -> Option<tungstenite::protocol::CloseFrame> {
        if self.code == CloseCode::NO_STATUS {
            return None;
        }
        let code = match self.code.is_sendable() {
            true => self.code.0,
            false => CloseCode::INTERNAL_ERROR.0,
        };
        let mut end = self.reason.len().min(MAX_REASON_BYTES);
        while !self.reason.is_char_boundary(end) {
            end -= 1;
        }
        let reason = match end == self.reason.len() {
            true => self.reason.0.clone(),
            false => self.reason[..end].into(),
        };
        Some(tungstenite::protocol::CloseFrame {
            code: code.into(),
            reason,
        })
    }

    pub(super) fn from_wire(frame: Option<tungstenite::protocol::CloseFrame>) -> Self {
        match frame {
            Some(frame) => Self::new(CloseCode(frame.code.into()), Utf8Bytes(frame.reason)),
            None => Self::new(CloseCode::NO_STATUS, ""),
        }
    }
}

impl fmt::Display for CloseFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.code.fmt(f)?;
        match self.reason.is_empty() {
            true => Ok(()),
            false => write!(f, " ({})", self.reason.escape_debug()),
        }
    }
}
