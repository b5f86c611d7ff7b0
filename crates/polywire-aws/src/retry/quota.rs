//! The tokens that retries cost.

use super::RetrySettings;

/// A bucket of tokens that all calls of a client share. Retries take tokens, and calls that succeed put them back, so
/// that a client stops retrying while most calls fail.
#[derive(Clone, Debug)]
pub struct RetryQuota {
    /// At most `capacity`.
    available: u32,
    capacity: u32,
}

impl RetryQuota {
    /// A full bucket.
    #[must_use]
    pub fn new(settings: &RetrySettings) -> Self {
        Self {
            available: settings.capacity,
            capacity: settings.capacity,
        }
    }

    /// The tokens that are left.
    #[must_use]
    pub fn available(&self) -> u32 {
        self.available
    }

    /// Takes `tokens`, or none if there are not enough. Returns whether it did.
    pub(super) fn take(&mut self, tokens: u32) -> bool {
        match self.available.checked_sub(tokens) {
            Some(rest) => {
                self.available = rest;
                true
            }
            None => false,
        }
    }

    /// Puts `tokens` back; the bucket never has more than its capacity.
    pub(super) fn put(&mut self, tokens: u32) {
        self.available = self.available.saturating_add(tokens).min(self.capacity);
    }
}
