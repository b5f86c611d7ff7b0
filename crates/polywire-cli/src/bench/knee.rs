//! Searches for the highest sustained rate over several runs. Does not use a clock.
//!
//! Doubles the rate until it is not sustained, and then narrows the interval by bisection.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::numbers::{micros, percent, rate};
use super::report::Report;
use super::threshold::Threshold;
use super::warnings::MIN_RATE_RATIO;

/// The result of a rate.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Step {
    pub(super) asked: f64,
    pub(super) calls_per_second: f64,
    pub(super) success_rate: f64,
    pub(super) p99_us: f64,
    pub(super) sustained: bool,
    /// The reason if it was not sustained.
    pub(super) why: Option<String>,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "requested {}: {} calls/s, success {}, p99 {}",
            rate(self.asked),
            rate(self.calls_per_second),
            percent(self.success_rate),
            micros(self.p99_us)
        )?;
        match &self.why {
            Some(why) => write!(f, "; {why}"),
            None => f.write_str("; sustained"),
        }
    }
}

/// The minimum success rate of a sustained rate.
const MIN_SUCCESS_RATE: f64 = 0.999;

/// The maximum p99 in microseconds, if no threshold limits the latency.
const MAX_P99_US: f64 = 100_000.0;

/// Decides whether a rate was sustained.
pub(super) fn judge(
    asked: f64,
    report: &Report,
    thresholds: &[Threshold],
    old: Option<&Report>,
) -> Step {
    let missed =
        |threshold: &&Threshold| !threshold.is_knee() && !threshold.check(report, old).passed;
    let due = report.calls + report.skipped_sends;
    let latency = &report.latency_us;
    let why = if report.calls_per_second < asked * MIN_RATE_RATIO {
        Some(match report.generator.bottleneck {
            true => "the rate was not reached; the load generator is the bottleneck".to_owned(),
            false => "the rate was not reached".to_owned(),
        })
    } else if report.skipped_sends as f64 > due as f64 * (1.0 - MIN_SUCCESS_RATE) {
        Some("too many calls were skipped because the limit of open calls was reached".to_owned())
    } else if report.success_rate < MIN_SUCCESS_RATE {
        let most = report.errors.first().map_or("", |errors| &*errors.kind);
        Some(format!("too many calls failed, most of them with: {most}"))
    } else if let Some(threshold) = thresholds.iter().find(missed) {
        Some(format!("missed {threshold}"))
    } else if latency.p99 > MAX_P99_US && !thresholds.iter().any(Threshold::is_latency) {
        Some(format!("p99 above {}", micros(MAX_P99_US)))
    } else {
        None
    };
    Step {
        asked,
        calls_per_second: report.calls_per_second,
        success_rate: report.success_rate,
        p99_us: latency.p99,
        sustained: why.is_none(),
        why,
    }
}

/// The search. It confirms its result with a second run, because a rate may be sustained by chance.
#[derive(Clone, Debug)]
pub(super) struct Search {
    next: f64,
    /// Sustained rates in ascending order.
    sustained: Vec<f64>,
    not_sustained: Option<f64>,
    /// How often the highest rate was sustained.
    times: u32,
}

/// The search ends when the remaining interval is smaller than this factor.
const CONVERGENCE_FACTOR: f64 = 1.05;

/// The search gives up below this rate, in calls per second.
const MIN_RATE: f64 = 1.0;

/// The maximum rate, in calls per second.
const MAX_RATE: f64 = 1e8;

impl Search {
    /// Starts a search.
    pub(super) const fn new(first: f64) -> Self {
        Self {
            next: first,
            sustained: Vec::new(),
            not_sustained: None,
            times: 0,
        }
    }

    /// Returns the rate to try next. `None` if the search has ended.
    pub(super) fn next(&self) -> Option<f64> {
        let Some(below) = self.sustained() else {
            let hopeless = self.not_sustained.is_some_and(|above| above <= MIN_RATE);
            return (!hopeless).then_some(self.next);
        };
        let found = match self.not_sustained {
            Some(above) => above <= below * CONVERGENCE_FACTOR,
            None => below >= MAX_RATE,
        };
        match (found, self.times) {
            (false, _) => Some(self.next),
            (true, 0 | 1) => Some(below),
            (true, _) => None,
        }
    }

    /// Records the result of the current rate.
    pub(super) fn record(&mut self, sustained: bool) {
        let Some(record) = self.next() else { return };
        let again = self.sustained() == Some(record);
        match (sustained, again) {
            (true, true) => self.times += 1,
            (true, false) => {
                self.sustained.push(record);
                self.times = 1;
            }
            (false, _) => {
                if again {
                    self.sustained.pop();
                    // The knee may be between this rate and the previous one, which must be
                    // confirmed.
                    self.times = 1;
                }
                self.not_sustained = Some(record);
            }
        }
        self.next = match (self.sustained(), self.not_sustained) {
            (Some(below), None) => below * 2.0,
            (None, Some(above)) => above / 2.0,
            // Use the same factor up and down.
            (Some(below), Some(above)) => (below * above).sqrt(),
            (None, None) => self.next,
        };
    }

    /// Returns the highest sustained rate.
    pub(super) fn sustained(&self) -> Option<f64> {
        self.sustained.last().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates a service that sustains rates up to a capacity.
    fn search(first: f64, capacity: f64) -> (Option<f64>, usize) {
        let mut search = Search::new(first);
        let mut steps = 0;
        while let Some(rate) = search.next() {
            search.record(rate <= capacity);
            steps += 1;
            assert!(steps < 100, "no end");
        }
        (search.sustained(), steps)
    }

    /// Returns why a rate of 1,000 was not sustained.
    fn judged(change: impl FnOnce(&mut Report), thresholds: &[&str]) -> Option<String> {
        let mut report = Report::example();
        change(&mut report);
        let thresholds: Vec<Threshold> = thresholds
            .iter()
            .map(|text| text.parse().unwrap())
            .collect();
        let step = judge(1_000.0, &report, &thresholds, Some(&Report::example()));
        assert_eq!(step.sustained, step.why.is_none());
        step.why
    }

    #[test]
    fn judges_rates() {
        assert_eq!(judged(|_| (), &["p99<1ms", "knee>1000000"]), None);
        let slow = judged(|report| report.calls_per_second = 949.0, &[]);
        assert_eq!(slow.unwrap(), "the rate was not reached");
        let failed = judged(|report| report.success_rate = 0.99, &[]);
        assert!(failed.unwrap().starts_with("too many calls failed"));
        assert_eq!(judged(|_| (), &["p99<300us"]).unwrap(), "missed p99<300us");
        let skipped = judged(|report| report.skipped_sends = 100, &[]).unwrap();
        assert!(
            skipped.starts_with("too many calls were skipped"),
            "{skipped}"
        );
        let slower = |report: &mut Report| report.latency_us.p99 *= 1.5;
        assert_eq!(judged(slower, &["p99<1.4x"]).unwrap(), "missed p99<1.4x");
        assert_eq!(judged(slower, &["p99<1.6x"]), None);
        let late = |report: &mut Report| report.latency_us.p99 = 200_000.0;
        assert_eq!(judged(late, &[]).unwrap(), "p99 above 100 ms");
        assert_eq!(judged(late, &["p99<1s"]), None);
    }

    #[test]
    fn finds_the_knee_from_below_and_above() {
        for first in [1_000.0, 1e6, 123_456.0] {
            let (knee, steps) = search(first, 123_456.0);
            let knee = knee.unwrap();
            assert!(
                knee <= 123_456.0 && knee * CONVERGENCE_FACTOR >= 123_456.0,
                "{knee}"
            );
            assert!(steps <= 15, "{steps}");
        }
    }

    /// A rate that was sustained only once is not the knee.
    #[test]
    fn confirms_the_knee() {
        let mut search = Search::new(1_000.0);
        let mut lucky = 1;
        let mut tries = Vec::new();
        while let Some(rate) = search.next() {
            tries.push(rate);
            let luck = rate > 10_000.0 && lucky > 0;
            lucky -= u32::from(luck);
            search.record(luck || rate <= 10_000.0);
        }
        let knee = search.sustained().unwrap();
        assert!(
            knee <= 10_000.0 && knee * CONVERGENCE_FACTOR >= 10_000.0,
            "{tries:?}"
        );
        // The knee is record last, for the second time.
        assert_eq!(tries.iter().filter(|rate| **rate == knee).count(), 2);
    }

    #[test]
    fn search_terminates() {
        assert_eq!(search(1_000.0, 0.0).0, None);
        assert!(search(1_000.0, f64::INFINITY).0.unwrap() >= MAX_RATE);
    }
}
