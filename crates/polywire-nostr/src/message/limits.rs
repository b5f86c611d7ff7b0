//! What a message may cost.

use crate::{FilterLimits, Limits};

/// What a message may cost. Each limit is inclusive.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub struct MessageLimits {
    /// Bytes of the whole text; at most 4 GiB whatever is set.
    pub bytes: usize,
    /// Limits of the event of a message.
    pub event: Limits,
    /// Limits of its filters.
    pub filter: FilterLimits,
}

impl MessageLimits {
    /// 2 MiB, with the default limits of events and filters.
    pub const DEFAULT: Self = Self {
        bytes: 2 << 20,
        event: Limits::DEFAULT,
        filter: FilterLimits::DEFAULT,
    };

    /// Replaces the limit of bytes.
    #[must_use]
    pub const fn with_bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// Replaces the limits of events.
    #[must_use]
    pub const fn with_event(mut self, event: Limits) -> Self {
        self.event = event;
        self
    }

    /// Replaces the limits of filters.
    #[must_use]
    pub const fn with_filter(mut self, filter: FilterLimits) -> Self {
        self.filter = filter;
        self
    }
}

impl Default for MessageLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
