//! What is counted, and how Prometheus reads it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The upper ends of the buckets of commits, in microseconds.
const COMMITS: [u64; 12] = [
    500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000,
    5_000_000,
];

#[derive(Debug, Default)]
pub(crate) struct Metrics {
    accepted: AtomicU64,
    /// By the code of the reason.
    rejected: Mutex<BTreeMap<&'static str, u64>>,
    subscriptions: AtomicI64,
    delivered: AtomicU64,
    /// How many commits took no longer than each of `COMMITS`, or longer than all.
    commits: [AtomicU64; COMMITS.len() + 1],
    commit_micros: AtomicU64,
    committed: AtomicU64,
}

impl Metrics {
    pub(crate) fn accepted(&self, events: usize) {
        self.accepted.fetch_add(events as u64, Ordering::Relaxed);
    }

    pub(crate) fn rejected(&self, code: &'static str) {
        let mut rejected = self.rejected.lock().unwrap_or_else(PoisonError::into_inner);
        *rejected.entry(code).or_default() += 1;
    }

    pub(crate) fn subscriptions(&self, more: i64) {
        self.subscriptions.fetch_add(more, Ordering::Relaxed);
    }

    pub(crate) fn delivered(&self, events: usize) {
        self.delivered.fetch_add(events as u64, Ordering::Relaxed);
    }

    pub(crate) fn committed(&self, time: Duration, events: usize) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let bucket = COMMITS.partition_point(|end| *end < micros);
        self.commits[bucket].fetch_add(1, Ordering::Relaxed);
        self.commit_micros.fetch_add(micros, Ordering::Relaxed);
        self.committed.fetch_add(events as u64, Ordering::Relaxed);
    }

    /// The page for Prometheus, to which others add their part.
    pub(crate) fn to_prometheus(&self, queued: usize) -> String {
        let mut text = String::new();
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let mut add = |name: &str, kind: &str, help: &str, values: &str| {
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "# HELP relay_{name} {help}.\n# TYPE relay_{name} {kind}\n{values}"
            );
        };
        let one = |name: &str, value: i128| format!("relay_{name} {value}\n");
        let counters = [
            (
                "events_accepted_total",
                "Events stored or broadcast",
                of(&self.accepted),
            ),
            (
                "events_committed_total",
                "Events written to the log",
                of(&self.committed),
            ),
            (
                "events_delivered_total",
                "New events sent to subscriptions",
                of(&self.delivered),
            ),
        ];
        for (name, help, value) in counters {
            add(name, "counter", help, &one(name, value.into()));
        }
        let rejected = self.rejected.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: String = rejected
            .iter()
            .map(|(code, count)| format!("relay_rejected_total{{reason=\"{code}\"}} {count}\n"))
            .collect();
        add(
            "rejected_total",
            "counter",
            "Messages rejected, by reason",
            &lines,
        );
        let open = self.subscriptions.load(Ordering::Relaxed);
        add(
            "subscriptions",
            "gauge",
            "Open subscriptions",
            &one("subscriptions", open.into()),
        );
        let name = "queue_bytes";
        add(
            name,
            "gauge",
            "Bytes of events that wait to be written",
            &one(name, queued as i128),
        );

        let name = "relay_commit_seconds";
        let (mut lines, mut sum) = (String::new(), 0);
        for (count, end) in self.commits.iter().zip(COMMITS) {
            sum += of(count);
            let end = end as f64 / 1e6;
            let _ = writeln!(lines, "{name}_bucket{{le=\"{end}\"}} {sum}");
        }
        sum += of(&self.commits[COMMITS.len()]);
        let seconds = of(&self.commit_micros) as f64 / 1e6;
        let _ = write!(
            lines,
            "{name}_bucket{{le=\"+Inf\"}} {sum}\n{name}_sum {seconds}\n{name}_count {sum}\n"
        );
        add(
            "commit_seconds",
            "histogram",
            "Time to write a group of events",
            &lines,
        );
        text
    }
}
