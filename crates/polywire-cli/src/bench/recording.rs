//! Counts and histograms of calls. Does not use a clock.
//!
//! A call is measured if it was due within the measured time, however long it takes. Only the rate
//! is counted by arrival: it includes all replies that arrive within the measured time, also those
//! of the warm-up. So open calls at the start and the end do not bias the rate.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::ops::Range;
use std::time::Duration;

use hdrhistogram::Histogram;

use crate::print;

/// The result of a call.
pub(super) type Outcome = Result<(), CallFailure>;

/// A failed call.
pub(super) struct CallFailure {
    /// The kind of error, by which failures are counted.
    pub(super) kind: &'static str,
    /// The message. It is formatted only for the first few failures.
    pub(super) why: Box<dyn fmt::Display + Send>,
}

impl CallFailure {
    pub(super) fn new(kind: &'static str, why: impl fmt::Display + Send + 'static) -> Self {
        let why = Box::new(why);
        Self { kind, why }
    }

    /// Whether the server responded with an error, as opposed to a failure of this program or the
    /// connection.
    pub(super) fn is_server_response(&self) -> bool {
        const BY_A_SERVER: [&str; 5] = [
            "different",
            "fault",
            "overloaded",
            "unavailable",
            "unreadable",
        ];
        BY_A_SERVER.contains(&self.kind)
    }
}

impl fmt::Debug for CallFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.why)
    }
}

/// Failures of the same kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Errors {
    pub(super) count: u64,
    /// Up to [`SAMPLES`] different messages.
    pub(super) samples: Vec<String>,
}

/// The maximum number of sample messages per kind of error.
pub(super) const SAMPLES: usize = 3;

/// The number of failures per kind whose messages are compared. Later failures are usually the
/// same.
const MAX_COMPARED: u64 = 1_000;

/// The maximum length of a sample message, in characters.
const SAMPLE_LENGTH: usize = 400;

impl Errors {
    fn add(&mut self, why: &dyn fmt::Display) {
        self.count += 1;
        if self.samples.len() < SAMPLES && self.count <= MAX_COMPARED {
            self.keep(why);
        }
    }

    fn keep(&mut self, why: &dyn fmt::Display) {
        let mut sample = String::new();
        let _ = write!(sample, "{why}");
        // The message may come from the server.
        sample = print::escape_controls(&sample);
        if let Some((end, _)) = sample.char_indices().nth(SAMPLE_LENGTH) {
            sample.truncate(end);
            sample.push_str("...");
        }
        if self.samples.len() < SAMPLES && !self.samples.contains(&sample) {
            self.samples.push(sample);
        }
    }
}

/// Counters and histograms of calls. Times are in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    /// From when a call was due to its reply. Excludes calls without a reply.
    pub(super) latency: Histogram<u64>,
    /// How late calls were sent, in open loops.
    pub(super) lateness: Histogram<u64>,
    /// Measured calls that were sent.
    pub(super) sent: u64,
    /// Measured calls with an expected reply.
    pub(super) replied: u64,
    /// Replies that arrived within the measured time.
    pub(super) arrived: u64,
    /// Measured calls that were not sent because too many were open.
    pub(super) skipped: u64,
    pub(super) errors: BTreeMap<&'static str, Errors>,
    /// Calls before the measured time, and failed ones among them.
    pub(super) warm_up: (u64, u64),
}

/// Three significant digits, from one nanosecond.
fn histogram() -> Histogram<u64> {
    #[expect(clippy::expect_used, reason = "3 is a valid number of digits")]
    Histogram::new(3).expect("histogram with 3 significant digits")
}

impl Tally {
    pub(super) fn new() -> Self {
        Self {
            latency: histogram(),
            lateness: histogram(),
            sent: 0,
            replied: 0,
            arrived: 0,
            skipped: 0,
            errors: BTreeMap::new(),
            warm_up: (0, 0),
        }
    }

    /// Resets all counters without releasing memory.
    pub(super) fn clear(&mut self) {
        self.latency.reset();
        self.lateness.reset();
        self.errors.clear();
        (self.sent, self.replied, self.arrived, self.skipped) = (0, 0, 0, 0);
        self.warm_up = (0, 0);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        // The histograms grow as needed.
        let added = self.latency.add(&other.latency);
        debug_assert!(added.is_ok());
        let added = self.lateness.add(&other.lateness);
        debug_assert!(added.is_ok());
        self.sent += other.sent;
        self.replied += other.replied;
        self.arrived += other.arrived;
        self.skipped += other.skipped;
        self.warm_up.0 += other.warm_up.0;
        self.warm_up.1 += other.warm_up.1;
        for (kind, errors) in &other.errors {
            let own = self.errors.entry(kind).or_default();
            own.count += errors.count;
            for sample in &errors.samples {
                own.keep(sample);
            }
        }
    }

    /// Returns the number of failed calls.
    pub(super) fn failed(&self) -> u64 {
        self.errors.values().map(|errors| errors.count).sum()
    }

    /// Counts calls without a reply at the end of the run.
    pub(super) fn unanswered(&mut self, count: u64, why: &str) {
        if count > 0 {
            let errors = self.errors.entry("unanswered").or_default();
            errors.count += count;
            errors.keep(&why);
        }
    }

    /// Whether every call failed with an error that does not depend on time or load.
    pub(super) fn has_failed_permanently(&self) -> bool {
        const PERMANENT: [&str; 5] = ["different", "fault", "invalid", "status", "unreadable"];
        self.replied + self.arrived == 0
            && !self.errors.is_empty()
            && self.errors.keys().all(|kind| PERMANENT.contains(kind))
    }

    /// Returns the fraction of calls with an expected reply, from 0 to 1. 0 if there are none.
    pub(super) fn success_rate(&self) -> f64 {
        match self.sent {
            0 => 0.0,
            sent => self.replied as f64 / sent as f64,
        }
    }
}

/// Counts the calls of a thread.
#[derive(Debug)]
pub(super) struct Recorder {
    /// The counts since they were last collected.
    pub(super) tally: Tally,
    /// The number of open calls.
    open: u64,
    /// The number of open calls that are measured.
    open_measured: u64,
}

impl Recorder {
    pub(super) fn new() -> Self {
        Self {
            tally: Tally::new(),
            open: 0,
            open_measured: 0,
        }
    }

    /// Counts a call when it is sent. All times are relative to the start of the run.
    pub(super) fn record_sent(&mut self, window: &Range<Duration>, due: Duration, now: Duration) {
        self.open += 1;
        if due < window.start {
            self.tally.warm_up.0 += 1;
            return;
        }
        self.open_measured += 1;
        self.tally.sent += 1;
        if due < now {
            record(&mut self.tally.lateness, now - due);
        }
    }

    /// Counts a call when it ends.
    pub(super) fn record_end(
        &mut self,
        window: &Range<Duration>,
        due: Duration,
        now: Duration,
        outcome: &Outcome,
    ) {
        self.open -= 1;
        if outcome.is_ok() && window.contains(&now) {
            self.tally.arrived += 1;
        }
        if due < window.start {
            self.tally.warm_up.1 += u64::from(outcome.is_err());
            return;
        }
        self.open_measured -= 1;
        match outcome {
            Ok(()) => {
                self.tally.replied += 1;
                record(&mut self.tally.latency, now.saturating_sub(due));
            }
            Err(failure) => self
                .tally
                .errors
                .entry(failure.kind)
                .or_default()
                .add(&failure.why),
        }
    }

    /// Counts calls that were due but not sent.
    pub(super) fn record_skipped(&mut self, window: &Range<Duration>, due: Duration, count: u64) {
        if due >= window.start {
            self.tally.skipped += count;
        }
    }

    /// Returns the number of open calls, and of measured ones among them.
    pub(super) const fn open(&self) -> (u64, u64) {
        (self.open, self.open_measured)
    }
}

/// Longer times are recorded as this.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

fn record(histogram: &mut Histogram<u64>, time: Duration) {
    let nanos = time.min(LONGEST).as_nanos() as u64;
    // The histogram grows up to this value.
    let recorded = histogram.record(nanos);
    debug_assert!(recorded.is_ok());
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    const WINDOW: Range<Duration> = millis(100)..millis(1_100);

    fn failure(why: &'static str) -> Outcome {
        Err(CallFailure::new("fault", why))
    }

    #[test]
    fn calls_are_measured_by_due_time() {
        let mut recorder = Recorder::new();
        // A call of the warm-up whose reply arrives within the measured time.
        recorder.record_sent(&WINDOW, millis(90), millis(95));
        recorder.record_end(&WINDOW, millis(90), millis(110), &Ok(()));
        // A measured call whose reply arrives after the measured time.
        recorder.record_sent(&WINDOW, millis(1_000), millis(1_050));
        recorder.record_end(&WINDOW, millis(1_000), millis(1_300), &Ok(()));
        // A failed call of the warm-up.
        recorder.record_sent(&WINDOW, millis(0), millis(0));
        recorder.record_end(&WINDOW, millis(0), millis(500), &failure("x"));
        let tally = &recorder.tally;
        assert_eq!((tally.sent, tally.replied, tally.arrived), (1, 1, 1));
        assert_eq!((tally.warm_up, tally.failed()), ((2, 1), 0));
        assert!(tally.latency.equivalent(tally.latency.max(), 300_000_000));
        assert!(tally.lateness.equivalent(tally.lateness.max(), 50_000_000));
        assert_eq!(tally.success_rate(), 1.0);
    }

    #[test]
    fn counts_open_calls() {
        let mut recorder = Recorder::new();
        recorder.record_sent(&WINDOW, millis(50), millis(50));
        recorder.record_sent(&WINDOW, millis(150), millis(150));
        assert_eq!(recorder.open(), (2, 1));
        recorder.record_end(&WINDOW, millis(150), millis(160), &Ok(()));
        assert_eq!(recorder.open(), (1, 0));
    }

    #[test]
    fn counts_errors_by_kind_with_distinct_samples() {
        let mut recorder = Recorder::new();
        for why in ["a", "b", "a", "c", "d", "a"] {
            recorder.record_sent(&WINDOW, millis(200), millis(200));
            recorder.record_end(&WINDOW, millis(200), millis(201), &failure(why));
        }
        recorder.record_skipped(&WINDOW, millis(50), 7);
        recorder.record_skipped(&WINDOW, millis(200), 3);
        let mut all = Tally::new();
        all.merge(&recorder.tally);
        all.merge(&recorder.tally);
        all.unanswered(2, "z");
        all.unanswered(0, "y");
        let faults = &all.errors["fault"];
        assert_eq!(
            (faults.count, faults.samples.join(" ")),
            (12, "a b c".to_owned())
        );
        assert_eq!(all.errors["unanswered"].count, 2);
        assert_eq!(
            (all.skipped, all.failed(), all.success_rate()),
            (6, 14, 0.0)
        );
        all.clear();
        assert_eq!((all.sent, all.failed(), all.latency.len()), (0, 0, 0));
    }

    #[test]
    fn detects_permanent_failure() {
        let hopeless = |outcomes: &[Outcome]| {
            let mut recorder = Recorder::new();
            for outcome in outcomes {
                recorder.record_sent(&WINDOW, millis(200), millis(200));
                recorder.record_end(&WINDOW, millis(200), millis(201), outcome);
            }
            recorder.tally.has_failed_permanently()
        };
        let other = || Err(CallFailure::new("overloaded", "x"));
        assert!(hopeless(&[failure("a"), failure("b")]));
        assert!(!hopeless(&[]));
        assert!(!hopeless(&[failure("a"), Ok(()), failure("b")]));
        assert!(!hopeless(&[other(), other()]));
        assert!(!hopeless(&[failure("a"), other()]));
    }

    #[test]
    fn samples_are_short() {
        let mut errors = Errors::default();
        errors.add(&"ö".repeat(10_000));
        assert_eq!(errors.samples[0].chars().count(), SAMPLE_LENGTH + 3);
    }
}
