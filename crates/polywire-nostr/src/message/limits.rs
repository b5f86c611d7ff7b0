//! Limits on messages.

use crate::{FilterLimits, Limits};

/// Limits on one message. Each limit is inclusive.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub struct MessageLimits {
    /// The length of the text in bytes. Values above 4 GiB count as 4 GiB.
    pub bytes: usize,
    /// Limits on an event.
    pub event: Limits,
    /// Limits on the filters.
    pub filter: FilterLimits,
}

impl MessageLimits {
    /// 2 MiB, with the default limits on events and filters.
    pub const DEFAULT: Self = Self {
        bytes: 2 << 20,
        event: Limits::DEFAULT,
        filter: FilterLimits::DEFAULT,
    };

    /// Sets the maximum length in bytes.
    #[must_use]
    pub const fn with_bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// Sets the limits on an event.
    #[must_use]
    pub const fn with_event(mut self, event: Limits) -> Self {
        self.event = event;
        self
    }

    /// Sets the limits on the filters.
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
