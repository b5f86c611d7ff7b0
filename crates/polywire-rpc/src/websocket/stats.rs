//! What is counted.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// What has come and gone over the WebSockets of a server, at all of its listeners together. Frames over WebSocket
/// count as connections here; their calls are in [`FrameStats`](crate::server::FrameStats).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct WebSocketStats {
    /// Connections that were upgraded.
    pub accepted: u64,
    /// Requests for an upgrade that were refused.
    pub refused: u64,
    /// Connections that are open.
    pub connections: u64,
    /// Messages that came whole.
    pub messages_in: u64,
    /// Messages that were written.
    pub messages_out: u64,
    /// Connections that were closed since their peers read too slowly.
    pub slow_readers: u64,
}

impl WebSocketStats {
    /// The same as Prometheus reads it.
    ///
    /// ```
    /// use polywire_rpc::websocket::WebSocketStats;
    ///
    /// let text = WebSocketStats::default().to_prometheus();
    /// assert!(text.contains("\npolywire_websocket_connections 0\n"));
    /// ```
    #[must_use]
    pub fn to_prometheus(&self) -> String {
        let values = [
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
        for (name, help, value) in values {
            let kind = match name.ends_with("_total") {
                true => "counter",
                false => "gauge",
            };
            let name = format!("polywire_websocket_{name}");
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "# HELP {name} {help}.\n# TYPE {name} {kind}\n{name} {value}"
            );
        }
        text
    }
}

/// The counts themselves.
#[derive(Debug, Default)]
pub(crate) struct Counts([AtomicU64; 6]);

#[derive(Clone, Copy, Debug)]
pub(super) enum Count {
    Accepted,
    Refused,
    /// May go down.
    Connections,
    MessagesIn,
    MessagesOut,
    SlowReaders,
}

impl Counts {
    pub(super) fn add(&self, count: Count, more: u64) {
        if more > 0 {
            self.0[count as usize].fetch_add(more, Ordering::Relaxed);
        }
    }

    pub(super) fn take(&self, count: Count, less: u64) {
        self.0[count as usize].fetch_sub(less, Ordering::Relaxed);
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
