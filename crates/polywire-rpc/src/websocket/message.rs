//! Messages, and how a connection is closed.

use std::fmt;
use std::ops::Deref;

use bytes::Bytes;

/// A message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Message {
    /// Text in UTF-8.
    Text(Utf8Bytes),
    /// Any bytes.
    Binary(Bytes),
}

impl Message {
    /// A text message.
    pub fn text(text: impl Into<Utf8Bytes>) -> Self {
        Self::Text(text.into())
    }

    /// A binary message.
    pub fn binary(bytes: impl Into<Bytes>) -> Self {
        Self::Binary(bytes.into())
    }

    /// The text, if it is a text message.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Binary(_) => None,
        }
    }

    /// The payload of either kind.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Binary(bytes) => bytes,
        }
    }

    /// The bytes of the payload.
    #[must_use]
    pub fn len(&self) -> usize {
        self.as_bytes().len()
    }

    /// Whether the payload has no bytes.
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

/// Shared bytes that are UTF-8. Cloning copies nothing.
#[derive(Clone, Default, Eq, PartialEq)]
pub struct Utf8Bytes(pub(super) tungstenite::Utf8Bytes);

impl Utf8Bytes {
    /// A text of the program.
    #[must_use]
    pub const fn from_static(text: &'static str) -> Self {
        Self(tungstenite::Utf8Bytes::from_static(text))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The bytes, without copying them.
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

/// Why a connection is closed, as a number (RFC 6455, section 7.4).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct CloseCode(pub u16);

impl CloseCode {
    /// 1000: what the connection was for is done.
    pub const NORMAL: Self = Self(1000);
    /// 1001: a server stops, a page is left, or nothing was said for too long.
    pub const GOING_AWAY: Self = Self(1001);
    /// 1002: the peer broke the protocol.
    pub const PROTOCOL_ERROR: Self = Self(1002);
    /// 1003: a kind of message that this side does not take.
    pub const UNSUPPORTED: Self = Self(1003);
    /// 1005: the close frame had no code. Never sent.
    pub const NO_STATUS: Self = Self(1005);
    /// 1006: the connection ended without a close frame. Never sent.
    pub const ABNORMAL: Self = Self(1006);
    /// 1007: a text message that is not UTF-8.
    pub const INVALID_DATA: Self = Self(1007);
    /// 1008: a rule of this side was broken. Slow readers are closed with it.
    pub const POLICY: Self = Self(1008);
    /// 1009: a message that is too large.
    pub const TOO_LARGE: Self = Self(1009);
    /// 1011: an internal error; a handler panicked.
    pub const INTERNAL: Self = Self(1011);
    /// 1013: too much to do, come again later.
    pub const TRY_AGAIN: Self = Self(1013);

    /// Whether it may be sent: 1000 to 1003, 1007 to 1014, 3000 to 4999.
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

/// The code and the reason that a connection is closed with.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CloseFrame {
    /// The number.
    pub code: CloseCode,
    /// For people who read logs. At most 123 bytes are sent.
    pub reason: Utf8Bytes,
}

/// The bytes of a reason that a close frame has room for.
const REASON: usize = 123;

impl CloseFrame {
    /// A code and a reason.
    pub fn new(code: CloseCode, reason: impl Into<Utf8Bytes>) -> Self {
        let reason = reason.into();
        Self { code, reason }
    }

    /// As it is sent: with a code that may be, and a reason that has room.
    pub(super) fn to_wire(&self) -> Option<tungstenite::protocol::CloseFrame> {
        if self.code == CloseCode::NO_STATUS {
            return None;
        }
        let code = match self.code.is_sendable() {
            true => self.code.0,
            false => CloseCode::INTERNAL.0,
        };
        let mut end = self.reason.len().min(REASON);
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

    pub(super) fn of_wire(frame: Option<tungstenite::protocol::CloseFrame>) -> Self {
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
