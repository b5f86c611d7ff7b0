//! What came of it.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::client::Ended;

/// The result of a load.
pub(crate) struct Report {
    /// Sorted.
    latencies: Vec<Duration>,
    wall: Duration,
    /// What this process took of a processor.
    own: Duration,
    /// What the server took.
    server: Option<Duration>,
}

impl Report {
    pub(crate) fn new(ended: Ended, wall: Duration, server: Option<Duration>) -> Self {
        let mut latencies = ended.latencies;
        latencies.sort_unstable();
        Self {
            latencies,
            wall,
            own: ended.processor,
            server,
        }
    }

    fn rate(&self) -> f64 {
        self.latencies.len() as f64 / self.wall.as_secs_f64()
    }

    /// The latency that so many of a hundred calls did not exceed, in microseconds.
    fn percentile(&self, hundredth: usize) -> f64 {
        // The nearest rank: the smallest that covers so many.
        let rank = (self.latencies.len() * hundredth).div_ceil(100).max(1);
        let latency = self.latencies.get(rank - 1);
        latency.map_or(0.0, |latency| latency.as_secs_f64() * 1e6)
    }

    /// A share of one processor.
    fn share(&self, time: Duration) -> f64 {
        time.as_secs_f64() / self.wall.as_secs_f64()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        json!({
            "requests": self.latencies.len(),
            "rate": self.rate(),
            "p50": self.percentile(50),
            "p90": self.percentile(90),
            "p99": self.percentile(99),
            "own_share": self.share(self.own),
            "server_share": self.server.map(|server| self.share(server)),
            "server_us": self.server.map(|server| {
                server.as_secs_f64() * 1e6 / self.latencies.len() as f64
            }),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} requests: {:.0} a second; p50 {:.0} us, p90 {:.0} us, p99 {:.0} us; the load took \
             {:.2} of a processor",
            self.latencies.len(),
            self.rate(),
            self.percentile(50),
            self.percentile(90),
            self.percentile(99),
            self.share(self.own),
        )?;
        match self.server {
            Some(server) => write!(f, ", the server {:.2}", self.share(server)),
            None => Ok(()),
        }
    }
}

/// What the threads of a process have had of a processor so far, user and system time
/// together. To the nanosecond, where `/proc/ID/stat` counts in steps of 10 ms, which
/// a whole load may take.
pub(crate) fn processor_of(process: u32) -> io::Result<Duration> {
    let mut sum = Duration::ZERO;
    for thread in fs::read_dir(format!("/proc/{process}/task"))? {
        sum += scheduled(&thread?.path().join("schedstat"))?;
    }
    Ok(sum)
}

/// The same of this thread alone.
pub(crate) fn processor_of_thread() -> io::Result<Duration> {
    scheduled(Path::new("/proc/thread-self/schedstat"))
}

fn scheduled(path: &Path) -> io::Result<Duration> {
    let text = fs::read_to_string(path)?;
    let first = text.split_whitespace().next();
    match first.and_then(|field| field.parse().ok()) {
        Some(nanoseconds) => Ok(Duration::from_nanos(nanoseconds)),
        None => Err(io::Error::other(format!(
            "{} is not as expected",
            path.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_ranks() {
        let second = Duration::from_secs(1);
        let ended = Ended {
            latencies: (1..=200).rev().map(Duration::from_micros).collect(),
            processor: second / 4,
        };
        let report = Report::new(ended, second, None);
        let ranks = [50, 90, 99].map(|hundredth| report.percentile(hundredth).round());
        assert_eq!(ranks, [100.0, 180.0, 198.0]);
        assert_eq!(report.rate(), 200.0);
        assert_eq!(report.json()["own_share"], 0.25);
    }
}
