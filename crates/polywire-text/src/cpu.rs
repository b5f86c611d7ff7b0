//! Detection of vector instructions. The result is cached: later queries are one load and one
//! comparison.
//!
//! Functions that need AVX2 have `#[target_feature]`, and take an `Avx2` as a proof, which only
//! this module creates. All of them have an alternative with the same results.
//!
//! The environment variable `POLYWIRE_CPU` is read at the first query. `baseline` turns AVX2 off;
//! any other value has no effect. [`limit`] does the same at run time, and overrides the variable.
//! Neither turns on instructions that the processor does not have.

use std::ffi::OsStr;
use std::sync::atomic::{AtomicU8, Ordering};

/// A set of instructions. Each includes the one before.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Level {
    /// The instructions that all processors of the target have: SSE2 on x86-64.
    Baseline,
    /// AVX2, BMI1, BMI2, LZCNT and POPCNT: x86-64-v3, since Haswell (2013) and Excavator (2015).
    Avx2,
}

/// `UNKNOWN` before the first query.
static LEVEL: AtomicU8 = AtomicU8::new(UNKNOWN);

const UNKNOWN: u8 = 0;
const BASELINE: u8 = 1;
const AVX2: u8 = 2;

/// The proof that the processor has AVX2, BMI1, BMI2, LZCNT and POPCNT.
// Invariant: only created in `avx2`.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

/// The proof, if the processor has AVX2 and it is not turned off.
#[inline]
pub(crate) fn avx2() -> Option<Avx2> {
    let level = match LEVEL.load(Ordering::Relaxed) {
        UNKNOWN => detect(),
        level => level,
    };
    (level == AVX2).then_some(Avx2(()))
}

/// The level in use.
///
/// ```
/// use polywire_text::cpu::{self, Level};
///
/// assert!(cpu::level() >= Level::Baseline);
/// ```
#[must_use]
pub fn level() -> Level {
    match avx2() {
        Some(_) => Level::Avx2,
        None => Level::Baseline,
    }
}

/// Limits the level of the whole process, for tests and measurements. Returns the level in use.
///
/// ```
/// use polywire_text::cpu::{self, Level};
///
/// assert_eq!(cpu::limit(Level::Baseline), Level::Baseline);
/// assert_eq!(cpu::limit(Level::Avx2), cpu::level());
/// ```
pub fn limit(most: Level) -> Level {
    LEVEL.store(code(processor().min(most)), Ordering::Relaxed);
    level()
}

const fn code(level: Level) -> u8 {
    match level {
        Level::Baseline => BASELINE,
        Level::Avx2 => AVX2,
    }
}

#[cold]
fn detect() -> u8 {
    let most = most(std::env::var_os("POLYWIRE_CPU").as_deref());
    let found = code(processor().min(most));
    LEVEL.store(found, Ordering::Relaxed);
    found
}

/// The limit of the environment variable.
fn most(variable: Option<&OsStr>) -> Level {
    match variable {
        Some(name) if name == "baseline" => Level::Baseline,
        _ => Level::Avx2,
    }
}

/// The level of the processor.
fn processor() -> Level {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
    {
        return Level::Avx2;
    }
    Level::Baseline
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_at_most_the_processor() {
        // Other tests set the limit concurrently.
        for most in [Level::Baseline, Level::Avx2] {
            assert!(limit(most) <= processor());
        }
    }

    #[test]
    fn the_variable_only_lowers_the_level() {
        for (variable, expected) in [
            (None, Level::Avx2),
            (Some("avx2"), Level::Avx2),
            (Some("baseline"), Level::Baseline),
            (Some("Baseline"), Level::Avx2),
            (Some(""), Level::Avx2),
        ] {
            assert_eq!(most(variable.map(OsStr::new)), expected, "{variable:?}");
        }
        // Other tests may have set a limit.
        assert!(detect() <= code(processor()));
        assert_ne!(detect(), UNKNOWN);
    }
}
