//! Writing that the messages of both directions share.

use crate::json::push_string;

/// Appends a message: a compact JSON array that begins with the message type.
pub(super) struct MessageWriter<'o>(&'o mut Vec<u8>);

impl<'o> MessageWriter<'o> {
    #[inline]
    pub(super) fn new(out: &'o mut Vec<u8>, message_type: &str) -> Self {
        out.extend_from_slice(b"[\"");
        out.extend_from_slice(message_type.as_bytes());
        out.push(b'"');
        Self(out)
    }

    /// Appends an item that `write` writes as JSON.
    #[inline]
    pub(super) fn with(self, write: impl FnOnce(&mut Vec<u8>)) -> Self {
        self.0.push(b',');
        write(self.0);
        self
    }

    /// Appends an item that is JSON text.
    #[inline]
    pub(super) fn json(self, json: &[u8]) -> Self {
        self.with(|out| out.extend_from_slice(json))
    }

    /// Appends a string.
    #[inline]
    pub(super) fn text(self, text: &str) -> Self {
        self.with(|out| push_string(out, text))
    }

    #[inline]
    pub(super) fn end(self) {
        self.0.push(b']');
    }
}
