//! What a server counts of frames.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use polywire_frame::{CallCounts, FaultCode};

/// What a server has done over frames and is doing, for metrics and tests. Over UDP a client that is known counts as a
/// connection.
///
/// Each call that has been answered is in exactly one of `replies`, `shed`, `late`, `deadlines`,
/// `cancelled` and `faults`; those whose connection ended first are in none. `open`, `at_work` and `connections` are of now, all others
/// sums since the server was made. What happens within a millisecond or two may not have been added yet.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct FrameStats {
    /// Calls that have come, with streams, subscriptions and publications.
    pub calls: u64,
    /// Calls that nobody waits for.
    pub one_ways: u64,
    /// Calls that were answered with a reply.
    pub replies: u64,
    /// Calls that were turned away before their handler began: the server was overloaded, or about to stop.
    pub shed: u64,
    /// Calls whose time was over when their turn came. Their handler did not begin.
    pub late: u64,
    /// Calls whose time was over while their handler was at work, or while they waited for a turn of their own.
    pub deadlines: u64,
    /// Calls that their caller gave up.
    pub cancelled: u64,
    /// Calls that ended in any other fault.
    pub faults: u64,
    /// Those of them that ended in `internal`: a mistake on this side.
    pub internal: u64,
    /// Connections that were made.
    pub accepted: u64,
    /// Bytes that came.
    pub bytes_in: u64,
    /// Bytes that were written, or handed over to be.
    pub bytes_out: u64,
    /// Connections that are open.
    pub connections: u64,
    /// Calls that are open.
    pub open: u64,
    /// Handlers that wait for something.
    pub at_work: u64,
    /// Calls that wait for a turn of their own, as they keep a processor busy.
    pub waiting: u64,
    /// Bytes that are taken of what [`ServerBuilder::body_memory`](crate::ServerBuilder::body_memory) bounds: of large
    /// inputs on all wires, and over frames of large answers that have not been written and of items that wait.
    pub memory: u64,
}

impl FrameStats {
    /// The same in the text format of Prometheus, version 0.0.4, for a page of metrics.
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
        let sums = [
            ("received", "Calls that have come", self.calls),
            ("one_ways", "Calls that nobody waits for", self.one_ways),
            ("connections_accepted", "Connections made", self.accepted),
            ("bytes_in", "Bytes that came", self.bytes_in),
            ("bytes_out", "Bytes that were written", self.bytes_out),
        ];
        let gauges = [
            ("connections", "Connections that are open", self.connections),
            ("open", "Calls that are open", self.open),
            ("at_work", "Handlers that wait for something", self.at_work),
            (
                "waiting",
                "Calls that wait for a turn, as they keep a processor busy",
                self.waiting,
            ),
            (
                "memory_bytes",
                "Bytes of inputs, answers and items that wait",
                self.memory,
            ),
        ];
        let mut text = String::from(
            "# HELP polywire_frames_calls_total Calls that were answered, by what they ended in.\n\
             # TYPE polywire_frames_calls_total counter\n",
        );
        // Writing to a string cannot fail.
        for (outcome, count) in outcomes {
            let _ = writeln!(
                text,
                "polywire_frames_calls_total{{outcome=\"{outcome}\"}} {count}"
            );
        }
        for (name, help, count) in sums {
            let name = format!("polywire_frames_{name}_total");
            let _ = writeln!(
                text,
                "# HELP {name} {help}.\n# TYPE {name} counter\n{name} {count}"
            );
        }
        for (name, help, count) in gauges {
            let name = format!("polywire_frames_{name}");
            let _ = writeln!(
                text,
                "# HELP {name} {help}.\n# TYPE {name} gauge\n{name} {count}"
            );
        }
        text
    }
}

/// The sums.
#[derive(Debug, Default)]
pub(crate) struct Sums([AtomicU64; 14]);

/// What is summed up.
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
    /// May go down.
    Connections,
    /// May go down.
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

    /// Changes a sum that may go down, of which `before` was added and `now` is to be.
    pub(super) fn change(&self, sum: Sum, before: u64, now: u64) {
        self.add(sum, now.saturating_sub(before));
        self.take(sum, before.saturating_sub(now));
    }

    fn of(&self, sum: Sum) -> u64 {
        self.0[sum as usize].load(Ordering::Relaxed)
    }

    /// Adds what a connection has counted.
    pub(super) fn add_all(&self, tally: &CallCounts) {
        self.add(Sum::Calls, tally.calls.into());
        self.add(Sum::OneWays, tally.one_ways.into());
        self.add(Sum::Replies, tally.replies.into());
        for (code, unstarted, count) in &tally.faults {
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
