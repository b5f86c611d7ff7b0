//! The ids of calls.

use std::fmt;

/// The id of a call: a slot, and how often the connection has used the slot before.
///
/// ```
/// use polywire_frame::CallId;
///
/// let id = CallId::new(3, 2);
/// assert_eq!((id.slot(), id.count()), (3, 2));
/// assert_eq!(u32::from(id), 0x0002_0003);
/// ```
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub struct CallId(u32);

impl CallId {
    /// The id of no call, for `CREDIT` of the whole connection.
    pub const NONE: u32 = u32::MAX;

    /// The id of the call with this count in this slot.
    #[inline]
    #[must_use]
    pub const fn new(slot: u16, count: u16) -> Self {
        Self((count as u32) << 16 | slot as u32)
    }

    /// The slot.
    #[inline]
    #[must_use]
    pub const fn slot(self) -> u16 {
        self.0 as u16
    }

    /// How often the slot was used before.
    #[inline]
    #[must_use]
    pub const fn count(self) -> u16 {
        (self.0 >> 16) as u16
    }

    /// The id as in a header.
    #[inline]
    #[must_use]
    pub const fn as_u32(self) -> u32 {
        self.0
    }
}

impl From<u32> for CallId {
    #[inline]
    fn from(id: u32) -> Self {
        Self(id)
    }
}

impl From<CallId> for u32 {
    #[inline]
    fn from(id: CallId) -> Self {
        id.0
    }
}

impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.slot(), self.count())
    }
}
