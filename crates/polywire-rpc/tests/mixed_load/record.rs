//! The results of the calls, and the memory over time.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::child::resident;

/// The number of measurements of memory.
pub(crate) const PARTS: u32 = 12;

/// The parts that warm up: pools fill, and the allocator reaches its maximum.
const WARM: usize = 4;

/// The largest growth of memory after that: one or two arenas of the allocator, which
/// are allocated when large bodies coincide.
const NOISE: usize = 8 << 20;

/// The result of a call: as expected, or the actual value.
pub(crate) type Became = Result<&'static str, String>;

/// The memory at one time.
struct Look {
    time: Duration,
    calls: u64,
    server: usize,
    callers: usize,
}

pub(crate) struct Record {
    number: AtomicU64,
    /// The number of calls of each kind with each result.
    became: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    wrong: Mutex<Vec<String>>,
    looks: Mutex<Vec<Look>>,
}

impl Record {
    pub(crate) fn new() -> Self {
        Self {
            number: AtomicU64::new(0),
            became: Mutex::default(),
            wrong: Mutex::default(),
            looks: Mutex::default(),
        }
    }

    /// The number of the next call.
    pub(crate) fn next(&self) -> u64 {
        self.number.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn add(&self, kind: &'static str, became: Became) {
        let became = became.unwrap_or_else(|wrong| {
            let mut list = self.wrong.lock().unwrap();
            // Enough to find the cause.
            if list.len() < 20 {
                list.push(format!("{kind}: {wrong}"));
            }
            "WRONG"
        });
        let mut all = self.became.lock().unwrap();
        *all.entry((kind, became)).or_default() += 1;
    }

    /// Measures the memory: of the server, as it reports, and of this process.
    pub(crate) fn look(&self, time: Duration, server: usize) {
        let calls = self.number.load(Ordering::Relaxed);
        let look = Look {
            time,
            calls,
            server,
            callers: resident(),
        };
        self.looks.lock().unwrap().push(look);
    }

    /// All results were as expected, and memory did not grow.
    pub(crate) fn verify(&self) {
        let wrong = self.wrong.lock().unwrap();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let looks = self.looks.lock().unwrap();
        let (warm, rest) = looks.split_at(WARM);
        let flat = |side: &str, of: fn(&Look) -> usize| {
            let before = warm.iter().map(of).max().unwrap();
            let most = rest.iter().map(of).max().unwrap();
            let grown = most.saturating_sub(before);
            assert!(grown <= NOISE, "the {side} grew by {grown} bytes");
        };
        flat("server", |look| look.server);
        flat("callers", |look| look.callers);
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const KIB: usize = 1024;
        writeln!(f, "\n| after | calls | server, KiB | callers, KiB |")?;
        writeln!(f, "|--:|--:|--:|--:|")?;
        for look in &*self.looks.lock().unwrap() {
            let seconds = look.time.as_secs_f64();
            let (server, callers) = (look.server / KIB, look.callers / KIB);
            writeln!(
                f,
                "| {seconds:.0} s | {} | {server} | {callers} |",
                look.calls
            )?;
        }
        writeln!(f, "\n| calls | became | how many |\n|---|---|--:|")?;
        for ((kind, became), count) in &*self.became.lock().unwrap() {
            writeln!(f, "| {kind} | {became} | {count} |")?;
        }
        Ok(())
    }
}
