//! Looks for the highest rate that is sustained: a search over runs, without a clock.
//!
//! Rates are doubled until one is not sustained, then the gap is halved until it is small.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::report::Report;
use super::threshold::Threshold;
use super::warnings::KEPT;
use super::words::{micros, percent, rate};

/// What came of a rate.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Step {
    pub(super) asked: f64,
    pub(super) calls_per_second: f64,
    pub(super) success_rate: f64,
    pub(super) p99_us: f64,
    pub(super) sustained: bool,
    /// Why not.
    pub(super) why: Option<String>,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} asked for: {} calls/s, success {}, p99 {}",
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

/// The success that a sustained rate has at least.
const SUCCESS: f64 = 0.999;

/// The p99 that it has at most where no threshold says other, in microseconds.
const LATENCY: f64 = 100_000.0;

/// Whether a rate was sustained.
pub(super) fn judge(
    asked: f64,
    report: &Report,
    thresholds: &[Threshold],
    old: Option<&Report>,
) -> Step {
    let missed = |threshold: &&Threshold| {
        !threshold.is_of_the_knee() && !threshold.check(report, old).passed
    };
    let due = report.calls + report.skipped_sends;
    let latency = &report.latency_us;
    let why = if report.calls_per_second < asked * KEPT {
        Some(match report.generator.bottleneck {
            true => "the rate was not reached; the generator is the bottleneck".to_owned(),
            false => "the rate was not reached".to_owned(),
        })
    } else if report.skipped_sends as f64 > due as f64 * (1.0 - SUCCESS) {
        Some("too many sends were skipped: as many calls were open as may be".to_owned())
    } else if report.success_rate < SUCCESS {
        let most = report.errors.first().map_or("", |errors| &*errors.kind);
        Some(format!("too many calls failed, most of them so: {most}"))
    } else if let Some(threshold) = thresholds.iter().find(missed) {
        Some(format!("missed {threshold}"))
    } else if latency.p99 > LATENCY && !thresholds.iter().any(Threshold::is_of_latency) {
        Some(format!("a p99 above {}", micros(LATENCY)))
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

/// The search. What it finds it tries once more: a rate that was sustained by chance is none.
#[derive(Clone, Debug)]
pub(super) struct Search {
    next: f64,
    /// In their order, the highest last.
    sustained: Vec<f64>,
    not_sustained: Option<f64>,
    /// How often the highest was sustained.
    times: u32,
}

/// Rates that differ by less than a twentieth are one.
const CLOSE: f64 = 1.05;

/// Where nothing is sustained, the search gives up below this many calls a second.
const LEAST: f64 = 1.0;

/// What no program of ours sends.
const MOST: f64 = 1e8;

impl Search {
    /// Begins with this rate.
    pub(super) const fn new(first: f64) -> Self {
        Self {
            next: first,
            sustained: Vec::new(),
            not_sustained: None,
            times: 0,
        }
    }

    /// The rate to try next, or none if the knee is known.
    pub(super) fn next(&self) -> Option<f64> {
        let Some(below) = self.sustained() else {
            let hopeless = self.not_sustained.is_some_and(|above| above <= LEAST);
            return (!hopeless).then_some(self.next);
        };
        let found = match self.not_sustained {
            Some(above) => above <= below * CLOSE,
            None => below >= MOST,
        };
        match (found, self.times) {
            (false, _) => Some(self.next),
            (true, 0 | 1) => Some(below),
            (true, _) => None,
        }
    }

    /// Tells what came of the rate.
    pub(super) fn tried(&mut self, sustained: bool) {
        let Some(tried) = self.next() else { return };
        let again = self.sustained() == Some(tried);
        match (sustained, again) {
            (true, true) => self.times += 1,
            (true, false) => {
                self.sustained.push(tried);
                self.times = 1;
            }
            (false, _) => {
                if again {
                    self.sustained.pop();
                    // Between it and the one before it is the knee, if that holds.
                    self.times = 1;
                }
                self.not_sustained = Some(tried);
            }
        }
        self.next = match (self.sustained(), self.not_sustained) {
            (Some(below), None) => below * 2.0,
            (None, Some(above)) => above / 2.0,
            // The same factor up and down.
            (Some(below), Some(above)) => (below * above).sqrt(),
            (None, None) => self.next,
        };
    }

    /// The highest rate that was sustained.
    pub(super) fn sustained(&self) -> Option<f64> {
        self.sustained.last().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches where rates up to the capacity are sustained.
    fn search(first: f64, capacity: f64) -> (Option<f64>, usize) {
        let mut search = Search::new(first);
        let mut steps = 0;
        while let Some(rate) = search.next() {
            search.tried(rate <= capacity);
            steps += 1;
            assert!(steps < 100, "no end");
        }
        (search.sustained(), steps)
    }

    /// Why a rate of 1,000 was not sustained.
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
    fn what_sustained_means() {
        assert_eq!(judged(|_| (), &["p99<1ms", "knee>1000000"]), None);
        let slow = judged(|report| report.calls_per_second = 949.0, &[]);
        assert_eq!(slow.unwrap(), "the rate was not reached");
        let failed = judged(|report| report.success_rate = 0.99, &[]);
        assert!(failed.unwrap().starts_with("too many calls failed"));
        assert_eq!(judged(|_| (), &["p99<300us"]).unwrap(), "missed p99<300us");
        let skipped = judged(|report| report.skipped_sends = 100, &[]).unwrap();
        assert!(
            skipped.starts_with("too many sends were skipped"),
            "{skipped}"
        );
        let slower = |report: &mut Report| report.latency_us.p99 *= 1.5;
        assert_eq!(judged(slower, &["p99<1.4x"]).unwrap(), "missed p99<1.4x");
        assert_eq!(judged(slower, &["p99<1.6x"]), None);
        let late = |report: &mut Report| report.latency_us.p99 = 200_000.0;
        assert_eq!(judged(late, &[]).unwrap(), "a p99 above 100 ms");
        assert_eq!(judged(late, &["p99<1s"]), None);
    }

    #[test]
    fn the_knee_is_found_from_below_and_above() {
        for first in [1_000.0, 1e6, 123_456.0] {
            let (knee, steps) = search(first, 123_456.0);
            let knee = knee.unwrap();
            assert!(knee <= 123_456.0 && knee * CLOSE >= 123_456.0, "{knee}");
            assert!(steps <= 15, "{steps}");
        }
    }

    /// What was sustained once by chance is not the knee.
    #[test]
    fn a_knee_is_confirmed() {
        let mut search = Search::new(1_000.0);
        let mut lucky = 1;
        let mut tries = Vec::new();
        while let Some(rate) = search.next() {
            tries.push(rate);
            let luck = rate > 10_000.0 && lucky > 0;
            lucky -= u32::from(luck);
            search.tried(luck || rate <= 10_000.0);
        }
        let knee = search.sustained().unwrap();
        assert!(knee <= 10_000.0 && knee * CLOSE >= 10_000.0, "{tries:?}");
        // The last that was tried is the knee, for the second time.
        assert_eq!(tries.iter().filter(|rate| **rate == knee).count(), 2);
    }

    #[test]
    fn a_search_ends() {
        assert_eq!(search(1_000.0, 0.0).0, None);
        assert!(search(1_000.0, f64::INFINITY).0.unwrap() >= MOST);
    }
}
