//! The outcomes of the calls, and measurements of memory.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::child::resident;

/// Number of memory measurements.
pub(crate) const PARTS: u32 = 12;

/// Number of warm-up parts. In these, pools fill and the allocator reaches its peak.
const WARM: usize = 4;

/// Maximum growth of memory after the warm-up, in bytes: one or two arenas of the allocator,
/// which it needs when several large bodies coincide.
const NOISE: usize = 8 << 20;

/// The outcome of a call: a label if it is as expected, or a description of the actual answer.
pub(crate) type Outcome = Result<&'static str, String>;

/// A measurement of memory.
struct Sample {
    time: Duration,
    calls: u64,
    server: usize,
    callers: usize,
}

pub(crate) struct Record {
    number: AtomicU64,
    /// Number of calls per kind and outcome.
    outcomes: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    wrong: Mutex<Vec<String>>,
    samples: Mutex<Vec<Sample>>,
}

impl Record {
    pub(crate) fn new() -> Self {
        Self {
            number: AtomicU64::new(0),
            outcomes: Mutex::default(),
            wrong: Mutex::default(),
            samples: Mutex::default(),
        }
    }

    /// The number of the next call.
    pub(crate) fn next(&self) -> u64 {
        self.number.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn add(&self, kind: &'static str, outcome: Outcome) {
        let outcome = outcome.unwrap_or_else(|wrong| {
            let mut list = self.wrong.lock().unwrap();
            // The first 20 errors are enough for a diagnosis.
            if list.len() < 20 {
                list.push(format!("{kind}: {wrong}"));
            }
            "WRONG"
        });
        let mut all = self.outcomes.lock().unwrap();
        *all.entry((kind, outcome)).or_default() += 1;
    }

    /// Records the memory of the server, as given, and of this process.
    pub(crate) fn sample(&self, time: Duration, server: usize) {
        let calls = self.number.load(Ordering::Relaxed);
        let sample = Sample {
            time,
            calls,
            server,
            callers: resident(),
        };
        self.samples.lock().unwrap().push(sample);
    }

    /// Asserts that all outcomes are as expected and that memory is flat.
    pub(crate) fn verify(&self) {
        let wrong = self.wrong.lock().unwrap();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let samples = self.samples.lock().unwrap();
        let (warm, rest) = samples.split_at(WARM);
        let flat = |side: &str, of: fn(&Sample) -> usize| {
            let before = warm.iter().map(of).max().unwrap();
            let most = rest.iter().map(of).max().unwrap();
            let grown = most.saturating_sub(before);
            assert!(grown <= NOISE, "the {side} grew by {grown} bytes");
        };
        flat("server", |sample| sample.server);
        flat("callers", |sample| sample.callers);
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const KIB: usize = 1024;
        writeln!(f, "\n| after | calls | server, KiB | callers, KiB |")?;
        writeln!(f, "|--:|--:|--:|--:|")?;
        for sample in &*self.samples.lock().unwrap() {
            let seconds = sample.time.as_secs_f64();
            let (server, callers) = (sample.server / KIB, sample.callers / KIB);
            writeln!(
                f,
                "| {seconds:.0} s | {} | {server} | {callers} |",
                sample.calls
            )?;
        }
        writeln!(f, "\n| calls | outcome | how many |\n|---|---|--:|")?;
        for ((kind, outcome), count) in &*self.outcomes.lock().unwrap() {
            writeln!(f, "| {kind} | {outcome} | {count} |")?;
        }
        Ok(())
    }
}
