//! State that the connection task shares with the handles of a relay.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use polywire_nostr::RelayUrl;
use tokio::sync::watch;

use crate::options::RelayOptions;
use crate::stats::Counters;

/// The state of the connection to a relay.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ConnectionState {
    /// The client is connecting.
    Connecting,
    /// The client is connected, and has queued all pending requests.
    Connected,
    /// The client waits before the next connection attempt.
    Waiting {
        /// The number of consecutive failed connections.
        attempt: u32,
        /// The back-off before the next attempt.
        wait: Duration,
        /// The reason why the last connection failed or ended.
        reason: Arc<str>,
    },
    /// The client does not reconnect: it was shut down, or the URL is invalid.
    Closed {
        /// The reason.
        reason: Arc<str>,
    },
}

impl ConnectionState {
    /// Whether the client is connected.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        *self == Self::Connected
    }
}

impl fmt::Display for ConnectionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connecting => f.write_str("connecting"),
            Self::Connected => f.write_str("connected"),
            Self::Waiting {
                attempt, reason, ..
            } => write!(f, "not connected after {attempt} attempts: {reason}"),
            Self::Closed { reason } => write!(f, "closed: {reason}"),
        }
    }
}

/// The shared state of one relay.
pub(crate) struct Shared {
    pub(crate) url: RelayUrl,
    pub(crate) options: RelayOptions,
    pub(crate) counters: Counters,
    pub(crate) state: watch::Sender<ConnectionState>,
    serials: AtomicU64,
}

impl Shared {
    pub(crate) fn new(url: RelayUrl, options: RelayOptions) -> Self {
        Self {
            url,
            options,
            counters: Counters::default(),
            state: watch::Sender::new(ConnectionState::Connecting),
            serials: AtomicU64::new(1),
        }
    }

    /// Returns a unique number for a request. Its decimal digits are the subscription id on the
    /// wire.
    pub(crate) fn serial(&self) -> u64 {
        self.serials.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn current(&self) -> ConnectionState {
        self.state.borrow().clone()
    }
}
