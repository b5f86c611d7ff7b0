//! What came of the calls: counts and histograms, without a clock.
//!
//! A call belongs to the measured time if it was due within it, however long it takes. What is
//! counted by its end alone is the rate: replies that arrived within the measured time, also those
//! to calls of the warm-up, so that neither the calls under way at the beginning nor those at the
//! end bend it.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::ops::Range;
use std::time::Duration;

use hdrhistogram::Histogram;

use crate::print;

/// How a call ended.
pub(super) type Outcome = Result<(), Wrong>;

/// Why a call counts as failed.
pub(super) struct Wrong {
    /// What calls are counted by.
    pub(super) kind: &'static str,
    /// In words, which are asked for only a few times.
    pub(super) why: Box<dyn fmt::Display + Send>,
}

impl Wrong {
    pub(super) fn new(kind: &'static str, why: impl fmt::Display + Send + 'static) -> Self {
        let why = Box::new(why);
        Self { kind, why }
    }

    /// Whether a server said so, and it was not this program or its connection that failed.
    pub(super) fn was_answered(&self) -> bool {
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

impl fmt::Debug for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.why)
    }
}

/// Calls that failed in one way.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Errors {
    pub(super) count: u64,
    /// Up to [`SAMPLES`] that differ.
    pub(super) samples: Vec<String>,
}

/// The words that are kept of a kind of error.
pub(super) const SAMPLES: usize = 3;

/// Of so many errors of a kind the words are looked at: if a million calls fail, they fail alike.
const LOOKED_AT: u64 = 1_000;

/// The most characters of a sample.
const SAMPLE_LENGTH: usize = 400;

impl Errors {
    fn add(&mut self, why: &dyn fmt::Display) {
        self.count += 1;
        if self.samples.len() < SAMPLES && self.count <= LOOKED_AT {
            self.keep(why);
        }
    }

    fn keep(&mut self, why: &dyn fmt::Display) {
        let mut sample = String::new();
        // Writing to a string cannot fail.
        let _ = write!(sample, "{why}");
        // It may be what a server said.
        sample = print::harmless(&sample);
        if let Some((end, _)) = sample.char_indices().nth(SAMPLE_LENGTH) {
            sample.truncate(end);
            sample.push_str("...");
        }
        if self.samples.len() < SAMPLES && !self.samples.contains(&sample) {
            self.samples.push(sample);
        }
    }
}

/// What came of some calls. Times are in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Tally {
    /// From when a call was due to its reply; of calls without a reply nothing.
    pub(super) latency: Histogram<u64>,
    /// How much later calls were sent than they were due, in an open loop.
    pub(super) lateness: Histogram<u64>,
    /// Calls that were due within the measured time and sent.
    pub(super) sent: u64,
    /// Of those, with the reply that was expected.
    pub(super) replied: u64,
    /// Replies that arrived within the measured time.
    pub(super) arrived: u64,
    /// Calls that were due within the measured time and not sent, since too many were open.
    pub(super) skipped: u64,
    pub(super) errors: BTreeMap<&'static str, Errors>,
    /// Calls before the measured time, and how many of them failed.
    pub(super) warm_up: (u64, u64),
}

/// Three significant digits from a nanosecond on.
fn histogram() -> Histogram<u64> {
    #[expect(clippy::expect_used, reason = "three digits are possible")]
    Histogram::new(3).expect("a histogram of three digits")
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

    /// Forgets all, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.latency.reset();
        self.lateness.reset();
        self.errors.clear();
        (self.sent, self.replied, self.arrived, self.skipped) = (0, 0, 0, 0);
        self.warm_up = (0, 0);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        // They grow by themselves, so there is room for whatever the other has.
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

    /// How many calls failed.
    pub(super) fn failed(&self) -> u64 {
        self.errors.values().map(|errors| errors.count).sum()
    }

    /// Calls that have no answer at the end of the run.
    pub(super) fn unanswered(&mut self, count: u64, why: &str) {
        if count > 0 {
            let errors = self.errors.entry("unanswered").or_default();
            errors.count += count;
            errors.keep(&why);
        }
    }

    /// Whether every call failed, with errors that more time or less load do not change.
    pub(super) fn is_hopeless(&self) -> bool {
        const LASTING: [&str; 5] = ["different", "fault", "invalid", "status", "unreadable"];
        self.replied + self.arrived == 0
            && !self.errors.is_empty()
            && self.errors.keys().all(|kind| LASTING.contains(kind))
    }

    /// The part of the calls that got their reply, from 0 to 1; 0 if there were none.
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
    /// What has been counted since somebody took it away.
    pub(super) tally: Tally,
    /// Calls that are open.
    open: u64,
    /// Those of them that belong to the measured time.
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

    /// A call that was due then is sent now: times from the beginning of the run, as all of these.
    pub(super) fn sent(&mut self, window: &Range<Duration>, due: Duration, now: Duration) {
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

    /// A call that was due then has ended.
    pub(super) fn ended(
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
            Err(wrong) => self
                .tally
                .errors
                .entry(wrong.kind)
                .or_default()
                .add(&wrong.why),
        }
    }

    /// So many calls that were due then were not sent.
    pub(super) fn skipped(&mut self, window: &Range<Duration>, due: Duration, count: u64) {
        if due >= window.start {
            self.tally.skipped += count;
        }
    }

    /// Calls that are open, and those of them that belong to the measured time.
    pub(super) const fn open(&self) -> (u64, u64) {
        (self.open, self.open_measured)
    }
}

/// The longest time that is told apart from longer ones.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

fn record(histogram: &mut Histogram<u64>, time: Duration) {
    let nanos = time.min(LONGEST).as_nanos() as u64;
    // It grows by itself up to there.
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

    fn wrong(why: &'static str) -> Outcome {
        Err(Wrong::new("fault", why))
    }

    #[test]
    fn a_call_belongs_to_the_time_in_which_it_was_due() {
        let mut recorder = Recorder::new();
        // Of the warm-up; its reply arrives within the window.
        recorder.sent(&WINDOW, millis(90), millis(95));
        recorder.ended(&WINDOW, millis(90), millis(110), &Ok(()));
        // Measured, from when it was due; its reply arrives behind the window.
        recorder.sent(&WINDOW, millis(1_000), millis(1_050));
        recorder.ended(&WINDOW, millis(1_000), millis(1_300), &Ok(()));
        // Of the warm-up, and failed.
        recorder.sent(&WINDOW, millis(0), millis(0));
        recorder.ended(&WINDOW, millis(0), millis(500), &wrong("x"));
        let tally = &recorder.tally;
        assert_eq!((tally.sent, tally.replied, tally.arrived), (1, 1, 1));
        assert_eq!((tally.warm_up, tally.failed()), ((2, 1), 0));
        assert!(tally.latency.equivalent(tally.latency.max(), 300_000_000));
        assert!(tally.lateness.equivalent(tally.lateness.max(), 50_000_000));
        assert_eq!(tally.success_rate(), 1.0);
    }

    #[test]
    fn what_is_open_is_known() {
        let mut recorder = Recorder::new();
        recorder.sent(&WINDOW, millis(50), millis(50));
        recorder.sent(&WINDOW, millis(150), millis(150));
        assert_eq!(recorder.open(), (2, 1));
        recorder.ended(&WINDOW, millis(150), millis(160), &Ok(()));
        assert_eq!(recorder.open(), (1, 0));
    }

    #[test]
    fn errors_are_counted_by_kind_with_samples_that_differ() {
        let mut recorder = Recorder::new();
        for why in ["a", "b", "a", "c", "d", "a"] {
            recorder.sent(&WINDOW, millis(200), millis(200));
            recorder.ended(&WINDOW, millis(200), millis(201), &wrong(why));
        }
        recorder.skipped(&WINDOW, millis(50), 7);
        recorder.skipped(&WINDOW, millis(200), 3);
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
    fn a_run_is_hopeless_if_nothing_can_change() {
        let hopeless = |outcomes: &[Outcome]| {
            let mut recorder = Recorder::new();
            for outcome in outcomes {
                recorder.sent(&WINDOW, millis(200), millis(200));
                recorder.ended(&WINDOW, millis(200), millis(201), outcome);
            }
            recorder.tally.is_hopeless()
        };
        let other = || Err(Wrong::new("overloaded", "x"));
        assert!(hopeless(&[wrong("a"), wrong("b")]));
        assert!(!hopeless(&[]));
        assert!(!hopeless(&[wrong("a"), Ok(()), wrong("b")]));
        assert!(!hopeless(&[other(), other()]));
        assert!(!hopeless(&[wrong("a"), other()]));
    }

    #[test]
    fn samples_are_short() {
        let mut errors = Errors::default();
        errors.add(&"ö".repeat(10_000));
        assert_eq!(errors.samples[0].chars().count(), SAMPLE_LENGTH + 3);
    }
}
