//! What is counted, and how Prometheus reads it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The upper ends of the buckets of commits, in seconds.
const ENDS: [f64; 10] = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2.0];

#[derive(Debug, Default)]
pub(crate) struct Metrics {
    accepted: AtomicU64,
    delivered: AtomicU64,
    subscriptions: AtomicI64,
    /// By the code of the reason.
    rejected: Mutex<BTreeMap<&'static str, u64>>,
    commits: Mutex<Commits>,
}

/// How many commits took no longer than each end, how many there were, and their seconds.
#[derive(Debug, Default)]
struct Commits([u64; ENDS.len()], u64, f64);

impl Metrics {
    pub(crate) fn accepted(&self, events: usize) {
        self.accepted.fetch_add(events as u64, Ordering::Relaxed);
    }

    pub(crate) fn delivered(&self, events: usize) {
        self.delivered.fetch_add(events as u64, Ordering::Relaxed);
    }

    pub(crate) fn subscriptions(&self, more: i64) {
        self.subscriptions.fetch_add(more, Ordering::Relaxed);
    }

    pub(crate) fn rejected(&self, code: &'static str) {
        let mut rejected = self.rejected.lock().unwrap_or_else(PoisonError::into_inner);
        *rejected.entry(code).or_default() += 1;
    }

    pub(crate) fn committed(&self, time: Duration) {
        let seconds = time.as_secs_f64();
        let mut commits = self.commits.lock().unwrap_or_else(PoisonError::into_inner);
        for (count, end) in commits.0.iter_mut().zip(ENDS) {
            *count += u64::from(seconds <= end);
        }
        commits.1 += 1;
        commits.2 += seconds;
    }

    /// The page for Prometheus, to which others add their part.
    pub(crate) fn to_prometheus(&self, queued: usize) -> String {
        let mut text = String::new();
        let accepted = self.accepted.load(Ordering::Relaxed);
        let delivered = self.delivered.load(Ordering::Relaxed);
        let open = self.subscriptions.load(Ordering::Relaxed);
        for (name, kind, value) in [
            (
                "relay_events_accepted_total",
                "counter",
                accepted.to_string(),
            ),
            (
                "relay_events_delivered_total",
                "counter",
                delivered.to_string(),
            ),
            ("relay_subscriptions", "gauge", open.to_string()),
            ("relay_queue_bytes", "gauge", queued.to_string()),
        ] {
            // Writing to a string cannot fail, here and below.
            let _ = writeln!(text, "# TYPE {name} {kind}\n{name} {value}");
        }
        text += "# TYPE relay_rejected_total counter\n";
        let rejected = self.rejected.lock().unwrap_or_else(PoisonError::into_inner);
        for (code, count) in &*rejected {
            let _ = writeln!(text, "relay_rejected_total{{reason=\"{code}\"}} {count}");
        }
        text += "# TYPE relay_commit_seconds histogram\n";
        let commits = self.commits.lock().unwrap_or_else(PoisonError::into_inner);
        let Commits(counts, count, seconds) = &*commits;
        for (count, end) in counts.iter().zip(ENDS) {
            let _ = writeln!(text, "relay_commit_seconds_bucket{{le=\"{end}\"}} {count}");
        }
        let _ = writeln!(text, "relay_commit_seconds_bucket{{le=\"+Inf\"}} {count}");
        let _ = writeln!(text, "relay_commit_seconds_sum {seconds}");
        let _ = writeln!(text, "relay_commit_seconds_count {count}");
        text
    }
}
