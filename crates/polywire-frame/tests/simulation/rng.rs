//! Seeded random numbers, and a runner for many seeds.

use std::io::Write;
use std::num::NonZero;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Pseudo-random numbers (splitmix64).
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(crate) fn in_range(&mut self, range: Range<u64>) -> u64 {
        range.start + self.next() % (range.end - range.start)
    }

    /// True with this probability, in thousandths.
    pub(crate) fn chance(&mut self, of_thousand: u64) -> bool {
        self.in_range(0..1_000) < of_thousand
    }

    pub(crate) fn choose<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.in_range(0..of.len() as u64) as usize]
    }
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap())
}

/// Runs `simulate` with `count` seeds on all processors, or with the seed in `POLYWIRE_SEED`. `simulate` returns the
/// number of occurrences of each event by name.
pub(crate) fn seeds(
    name: &str,
    count: u64,
    simulate: impl Fn(u64) -> Vec<(&'static str, u64)> + Sync,
) {
    let seeds = match number("POLYWIRE_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("POLYWIRE_SEEDS").unwrap_or(count),
    };
    let total = seeds.end - seeds.start;
    let next = AtomicU64::new(seeds.start);
    let sum: Mutex<Vec<(&str, u64)>> = Mutex::default();
    let run = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                break;
            }
            let counts =
                catch_unwind(AssertUnwindSafe(|| simulate(seed))).unwrap_or_else(|panic| {
                    // Directly to standard error: libtest shows captured output only at the end.
                    let _ = writeln!(
                        std::io::stderr(),
                        "{name}: seed {seed} failed; POLYWIRE_SEED={seed} runs it alone"
                    );
                    resume_unwind(panic)
                });
            let mut sum = sum.lock().unwrap();
            for (event, times) in counts {
                match sum.iter_mut().find(|(known, _)| *known == event) {
                    Some((_, sum)) => *sum += times,
                    None => sum.push((event, times)),
                }
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(run);
        }
    });
    let sum = sum.into_inner().unwrap();
    let sum: Vec<_> = sum
        .iter()
        .map(|(what, times)| format!("{times} {what}"))
        .collect();
    let _ = writeln!(
        std::io::stderr(),
        "{name}: {total} seeds: {}",
        sum.join(", ")
    );
    if total > 100 {
        assert!(sum.iter().all(|sum| !sum.starts_with("0 ")), "{sum:?}");
    }
}
