//! The CPU usage of a thread, where the system provides it.

use std::fs;
use std::time::{Duration, Instant};

use super::state::Run;

/// The CPU usage of a thread in the measured time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::bench) struct Usage {
    /// The fraction of time in which the thread ran, from 0 to 1.
    pub(in crate::bench) busy: f64,
    /// The fraction of time in which the thread was runnable but had no CPU.
    pub(in crate::bench) waiting: f64,
}

/// Nanoseconds of running, and of waiting for a CPU.
type Counters = (u64, u64);

/// Returns the counters of this thread.
fn counters() -> Option<Counters> {
    parse(&fs::read_to_string("/proc/thread-self/schedstat").ok()?)
}

fn parse(text: &str) -> Option<Counters> {
    let mut words = text.split_ascii_whitespace();
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

fn usage_between(before: Counters, after: Counters, wall: Duration) -> Usage {
    let part = |before: u64, after: u64| {
        after.saturating_sub(before) as f64 / wall.as_nanos().max(1) as f64
    };
    Usage {
        busy: part(before.0, after.0).min(1.0),
        waiting: part(before.1, after.1).min(1.0),
    }
}

/// Measures the current thread from the end of the warm-up to the end of the run.
pub(super) async fn measure_thread(run: &Run) -> Option<Usage> {
    tokio::time::sleep_until(run.at(run.window().start)).await;
    let (before, begin) = (counters()?, Instant::now());
    loop {
        let (now, end) = (run.now(), run.end());
        if now >= end {
            break;
        }
        tokio::time::sleep((end - now).min(Duration::from_millis(20))).await;
    }
    Some(usage_between(before, counters()?, begin.elapsed()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_the_time() {
        let before = parse("1000 200 7\n").unwrap();
        let after = parse("900001000 100000200 9\n").unwrap();
        let usage = usage_between(before, after, Duration::from_secs(1));
        assert_eq!((usage.busy, usage.waiting), (0.9, 0.1));
        assert_eq!(parse("x"), None);
    }
}
