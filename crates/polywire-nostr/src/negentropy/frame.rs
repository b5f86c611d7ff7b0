//! The limit on the length of a message.

/// The maximum length of a sent message in bytes, before hexadecimal encoding.
///
/// If an answer would be longer, the side sends a part of it and one fingerprint for the remaining
/// range. The peer answers that fingerprint in its next message.
///
/// ```
/// use polywire_nostr::negentropy::FrameSizeLimit;
///
/// assert!(FrameSizeLimit::new(4096).is_some());
/// assert!(FrameSizeLimit::new(4095).is_none());
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FrameSizeLimit(usize);

impl FrameSizeLimit {
    /// The minimum limit: an initial message, or the fingerprints of one range, fit in it.
    pub const MIN: usize = 4096;

    /// No limit. An answer can then contain all stored ids: use it only with trusted peers.
    pub const UNLIMITED: Self = Self(usize::MAX);

    /// Bytes reserved for the elements that are written after a check: the bounds and the count of
    /// a list, its last id, and the last fingerprint.
    const RESERVE: usize = 200;

    /// Creates a limit. Returns `None` below [`MIN`](Self::MIN).
    #[must_use]
    pub const fn new(bytes: usize) -> Option<Self> {
        if bytes < Self::MIN {
            return None;
        }
        Some(Self(bytes))
    }

    /// Returns the limit in bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.0
    }

    /// Whether a message of `len` bytes may grow.
    pub(super) const fn has_room_after(self, len: usize) -> bool {
        len <= self.0 - Self::RESERVE
    }

    /// How many of `count` ids to list in a message of `len` bytes, including the id that reaches
    /// the limit.
    pub(super) fn ids_after(self, len: usize, count: usize) -> usize {
        match (self.0 - Self::RESERVE).checked_sub(len) {
            Some(room) => count.min(room / crate::EventId::LEN + 1),
            None => 0,
        }
    }
}

impl Default for FrameSizeLimit {
    /// 60,000 bytes: in hexadecimal this fits in 128 KiB, a common message limit of relays.
    fn default() -> Self {
        Self(60_000)
    }
}
