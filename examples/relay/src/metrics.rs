//! Metrics in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The upper bounds of the buckets for commit times, in seconds.
const BOUNDS: [f64; 10] = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2.0];

#[derive(Debug, Default)]
pub(crate) struct Metrics {
    accepted: AtomicU64,
    delivered: AtomicU64,
    subscriptions: AtomicI64,
    /// By code.
    rejected: Mutex<BTreeMap<&'static str, u64>>,
    commits: Mutex<Commits>,
}

/// A histogram of commit times.
#[derive(Debug, Default)]
struct Commits {
    buckets: [u64; BOUNDS.len()],
    count: u64,
    seconds: f64,
}

impl Metrics {
    pub(crate) fn accepted(&self, events: usize) {
        self.accepted.fetch_add(events as u64, Ordering::Relaxed);
    }

    pub(crate) fn delivered(&self, events: usize) {
        self.delivered.fetch_add(events as u64, Ordering::Relaxed);
    }

    pub(crate) fn subscriptions(&self, change: i64) {
        self.subscriptions.fetch_add(change, Ordering::Relaxed);
    }

    pub(crate) fn rejected(&self, code: &'static str) {
        let mut rejected = self.rejected.lock().unwrap_or_else(PoisonError::into_inner);
        *rejected.entry(code).or_default() += 1;
    }

    pub(crate) fn committed(&self, time: Duration) {
        let seconds = time.as_secs_f64();
        let mut commits = self.commits.lock().unwrap_or_else(PoisonError::into_inner);
        for (bucket, bound) in commits.buckets.iter_mut().zip(BOUNDS) {
            *bucket += u64::from(seconds <= bound);
        }
        commits.count += 1;
        commits.seconds += seconds;
    }

    /// Returns the metrics. `queued`: the bytes of events in the queue of the writer.
    pub(crate) fn to_prometheus(&self, queued: usize) -> String {
        let accepted = self.accepted.load(Ordering::Relaxed);
        let delivered = self.delivered.load(Ordering::Relaxed);
        let open = self.subscriptions.load(Ordering::Relaxed);
        let mut text = format!(
            "# TYPE relay_events_accepted_total counter\n\
             relay_events_accepted_total {accepted}\n\
             # TYPE relay_events_delivered_total counter\n\
             relay_events_delivered_total {delivered}\n\
             # TYPE relay_subscriptions gauge\n\
             relay_subscriptions {open}\n\
             # TYPE relay_queue_bytes gauge\n\
             relay_queue_bytes {queued}\n\
             # TYPE relay_rejected_total counter\n"
        );
        // Writing to a string does not fail.
        let rejected = self.rejected.lock().unwrap_or_else(PoisonError::into_inner);
        for (code, count) in &*rejected {
            let _ = writeln!(text, "relay_rejected_total{{reason=\"{code}\"}} {count}");
        }
        text += "# TYPE relay_commit_seconds histogram\n";
        let commits = self.commits.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, seconds) = (commits.count, commits.seconds);
        for (bucket, le) in commits.buckets.iter().zip(BOUNDS) {
            let _ = writeln!(text, "relay_commit_seconds_bucket{{le=\"{le}\"}} {bucket}");
        }
        let _ = writeln!(text, "relay_commit_seconds_bucket{{le=\"+Inf\"}} {count}");
        let _ = writeln!(text, "relay_commit_seconds_sum {seconds}");
        let _ = writeln!(text, "relay_commit_seconds_count {count}");
        text
    }
}
