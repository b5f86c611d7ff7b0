//! What the task of a connection and the handles of a relay share.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use polywire_nostr::RelayUrl;
use tokio::sync::watch;

use crate::options::RelayOptions;
use crate::stats::Counters;

/// Whether there is a connection to a relay.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ConnectionState {
    /// The client is connecting.
    Connecting,
    /// There is a connection. Requests have been sent again on it.
    Connected,
    /// There is no connection. The client tries again after a wait.
    Waiting {
        /// How many connections have failed one after the other, this one included.
        attempt: u32,
        /// How long the client waits.
        wait: Duration,
        /// Why the last connection failed or ended.
        reason: Arc<str>,
    },
    /// The client does not connect any more.
    Closed {
        /// Why.
        reason: Arc<str>,
    },
}

impl ConnectionState {
    /// Whether there is a connection.
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

/// One for each relay.
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

    /// A number for one request. Its decimal digits are the id of the subscription on the wire.
    pub(crate) fn serial(&self) -> u64 {
        self.serials.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn current(&self) -> ConnectionState {
        self.state.borrow().clone()
    }
}
