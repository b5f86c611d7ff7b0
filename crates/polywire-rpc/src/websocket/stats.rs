//! Statistics.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::prometheus;

/// Statistics of the WebSocket connections of a server, over all its listeners.
///
/// A connection that carries frames counts in [`Self::accepted`] and [`Self::connections`] only. Its calls are in
/// [`FrameStats`](crate::server::FrameStats).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct WebSocketStats {
    /// The number of upgraded connections since the start of the server.
    pub accepted: u64,
    /// The number of refused upgrade requests since the start.
    pub refused: u64,
    /// The number of open connections. A connection is open until it is closed and its handler has returned.
    pub connections: u64,
    /// The number of received messages since the start.
    pub messages_in: u64,
    /// The number of written messages since the start.
    pub messages_out: u64,
    /// The number of connections that were closed as slow readers since the start.
    pub slow_readers: u64,
}

impl WebSocketStats {
    /// Formats the statistics in the text format of Prometheus.
    ///
    /// ```
    /// use polywire_rpc::websocket::WebSocketStats;
    ///
    /// let text = WebSocketStats::default().to_prometheus();
    /// assert!(text.contains("\npolywire_websocket_connections 0\n"));
    /// ```
    #[must_use]
    pub fn to_prometheus(&self) -> String {
        let metrics = [
            ("accepted_total", "Upgraded connections", self.accepted),
            ("refused_total", "Refused upgrades", self.refused),
            ("connections", "Open connections", self.connections),
            ("messages_in_total", "Messages received", self.messages_in),
            ("messages_out_total", "Messages written", self.messages_out),
            (
                "slow_readers_total",
                "Connections closed as slow readers",
                self.slow_readers,
            ),
        ];
        let mut text = String::new();
        prometheus::write(&mut text, "polywire_websocket", &metrics);
        text
    }
}

/// The counters of [`WebSocketStats`].
#[derive(Debug, Default)]
pub(crate) struct Counts([AtomicU64; 6]);

#[derive(Clone, Copy, Debug)]
pub(super) enum Count {
    Accepted,
    Refused,
    /// A gauge: it also decreases.
    Connections,
    MessagesIn,
    MessagesOut,
    SlowReaders,
}

impl Counts {
    pub(super) fn add(&self, count: Count, amount: u64) {
        if amount > 0 {
            self.0[count as usize].fetch_add(amount, Ordering::Relaxed);
        }
    }

    pub(super) fn sub(&self, count: Count, amount: u64) {
        self.0[count as usize].fetch_sub(amount, Ordering::Relaxed);
    }

    pub(crate) fn stats(&self) -> WebSocketStats {
        let of = |count: Count| self.0[count as usize].load(Ordering::Relaxed);
        WebSocketStats {
            accepted: of(Count::Accepted),
            refused: of(Count::Refused),
            connections: of(Count::Connections),
            messages_in: of(Count::MessagesIn),
            messages_out: of(Count::MessagesOut),
            slow_readers: of(Count::SlowReaders),
        }
    }
}
