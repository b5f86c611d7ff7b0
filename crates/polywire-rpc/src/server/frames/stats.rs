//! Statistics of a server of frames.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use polywire_frame::{CallCounts, FaultCode};

use crate::prometheus;

/// Statistics of a server of frames, over all listeners. Over UDP a known client counts as a connection.
///
/// Each answered call is in exactly one of `replies`, `shed`, `late`, `deadlines`, `cancelled` and `faults`. A call whose
/// connection ended first is in none. `connections`, `open`, `at_work`, `waiting` and `memory` are current values; the
/// others are sums since the server was built. Events of the last two milliseconds may be missing.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct FrameStats {
    /// Received calls, including streams, subscriptions and published messages.
    pub calls: u64,
    /// Received calls without a reply.
    pub one_ways: u64,
    /// Calls that succeeded.
    pub replies: u64,
    /// Calls that were rejected before their handler started: the server was overloaded, or stopping.
    pub shed: u64,
    /// Calls whose deadline passed before their handler could start.
    pub late: u64,
    /// Calls whose deadline passed while their handler ran, or in the run queue.
    pub deadlines: u64,
    /// Calls that their callers cancelled.
    pub cancelled: u64,
    /// Calls that failed with any other fault.
    pub faults: u64,
    /// Those of them with the fault `internal`: an error of this server.
    pub internal: u64,
    /// Accepted connections.
    pub accepted: u64,
    /// Received bytes.
    pub bytes_in: u64,
    /// Sent bytes, including those that are being written.
    pub bytes_out: u64,
    /// Open connections.
    pub connections: u64,
    /// Open calls.
    pub open: u64,
    /// Handlers that have started and wait for something.
    pub at_work: u64,
    /// Calls in the run queue, of operations that use much processor time.
    pub waiting: u64,
    /// Bytes that are used of [`ServerBuilder::body_memory`](crate::ServerBuilder::body_memory): large inputs on all wires,
    /// and over frames large unsent replies and queued items.
    pub memory: u64,
}

impl FrameStats {
    /// Writes the statistics in the text format of Prometheus, version 0.0.4.
    ///
    /// ```
    /// use polywire_rpc::server::FrameStats;
    ///
    /// let text = FrameStats::default().to_prometheus();
    /// assert!(text.contains("\npolywire_frames_calls_total{outcome=\"shed\"} 0\n"));
    /// ```
    #[must_use]
    pub fn to_prometheus(&self) -> String {
        let outcomes = [
            ("reply", self.replies),
            ("shed", self.shed),
            ("late", self.late),
            ("deadline", self.deadlines),
            ("cancelled", self.cancelled),
            ("internal", self.internal),
            ("fault", self.faults.saturating_sub(self.internal)),
        ];
        let metrics = [
            ("received_total", "Received calls", self.calls),
            (
                "one_ways_total",
                "Received calls without a reply",
                self.one_ways,
            ),
            (
                "connections_accepted_total",
                "Accepted connections",
                self.accepted,
            ),
            ("bytes_in_total", "Received bytes", self.bytes_in),
            ("bytes_out_total", "Sent bytes", self.bytes_out),
            ("connections", "Open connections", self.connections),
            ("open", "Open calls", self.open),
            ("at_work", "Handlers that wait for something", self.at_work),
            ("waiting", "Calls in the run queue", self.waiting),
            (
                "memory_bytes",
                "Bytes of inputs, unsent replies and queued items",
                self.memory,
            ),
        ];
        let mut text = String::from(
            "# HELP polywire_frames_calls_total Answered calls by outcome.\n\
             # TYPE polywire_frames_calls_total counter\n",
        );
        for (outcome, count) in outcomes {
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "polywire_frames_calls_total{{outcome=\"{outcome}\"}} {count}"
            );
        }
        prometheus::write(&mut text, "polywire_frames", &metrics);
        text
    }
}

/// The sums behind [`FrameStats`], by [`Sum`].
#[derive(Debug, Default)]
pub(crate) struct Sums([AtomicU64; 14]);

/// An index of [`Sums`].
#[derive(Clone, Copy, Debug)]
pub(super) enum Sum {
    Calls,
    OneWays,
    Replies,
    Shed,
    Late,
    Deadlines,
    Cancelled,
    Faults,
    Internal,
    Accepted,
    BytesIn,
    BytesOut,
    Connections,
    Open,
}

impl Sums {
    pub(super) fn add(&self, sum: Sum, more: u64) {
        if more > 0 {
            self.0[sum as usize].fetch_add(more, Ordering::Relaxed);
        }
    }

    pub(super) fn take(&self, sum: Sum, less: u64) {
        if less > 0 {
            self.0[sum as usize].fetch_sub(less, Ordering::Relaxed);
        }
    }

    /// Changes a gauge from the value that was added before to the current one.
    pub(super) fn change(&self, sum: Sum, before: u64, now: u64) {
        self.add(sum, now.saturating_sub(before));
        self.take(sum, before.saturating_sub(now));
    }

    fn of(&self, sum: Sum) -> u64 {
        self.0[sum as usize].load(Ordering::Relaxed)
    }

    /// Adds the counts of a connection.
    pub(super) fn add_all(&self, counts: &CallCounts) {
        self.add(Sum::Calls, counts.calls.into());
        self.add(Sum::OneWays, counts.one_ways.into());
        self.add(Sum::Replies, counts.replies.into());
        for (code, unstarted, count) in &counts.faults {
            let sum = match (*code, unstarted) {
                (FaultCode::OVERLOADED | FaultCode::UNAVAILABLE, true) => Sum::Shed,
                (FaultCode::DEADLINE, true) => Sum::Late,
                (FaultCode::DEADLINE, false) => Sum::Deadlines,
                (FaultCode::CANCELLED, _) => Sum::Cancelled,
                _ => Sum::Faults,
            };
            self.add(sum, (*count).into());
            if *code == FaultCode::INTERNAL {
                self.add(Sum::Internal, (*count).into());
            }
        }
    }

    pub(super) fn stats(&self, at_work: u32, waiting: u32, memory: usize) -> FrameStats {
        FrameStats {
            calls: self.of(Sum::Calls),
            one_ways: self.of(Sum::OneWays),
            replies: self.of(Sum::Replies),
            shed: self.of(Sum::Shed),
            late: self.of(Sum::Late),
            deadlines: self.of(Sum::Deadlines),
            cancelled: self.of(Sum::Cancelled),
            faults: self.of(Sum::Faults),
            internal: self.of(Sum::Internal),
            accepted: self.of(Sum::Accepted),
            bytes_in: self.of(Sum::BytesIn),
            bytes_out: self.of(Sum::BytesOut),
            connections: self.of(Sum::Connections),
            open: self.of(Sum::Open),
            at_work: at_work.into(),
            waiting: waiting.into(),
            memory: memory as u64,
        }
    }
}
