//! What the processor can do: asked once, and answered from then on by one
//! load and one compare.
//!
//! This is the one place that decides. Code for wide registers is a function
//! with `#[target_feature]`, and the only way to call it is with an `Avx2`,
//! which only `avx2` gives out. Everything has a path for every processor of
//! its target besides, and both give the same answers.
//!
//! The environment variable `POLYWIRE_CPU`, read at the first question, turns
//! the wide paths off: `baseline` allows nothing but what every processor of
//! the target has (SSE2 on x86-64), `avx2` all that is known here, which is the
//! default, as is anything else. [`limit`] does the same for a program, and
//! counts from then on instead of the variable. Neither claims what the
//! processor does not have.

use std::ffi::OsStr;
use std::sync::atomic::{AtomicU8, Ordering};

/// A set of instructions, each a superset of the one before.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Level {
    /// What every processor of the target has: SSE2 on x86-64.
    Baseline,
    /// AVX2 with BMI1, BMI2, LZCNT and POPCNT: x86-64-v3 of the ABI, which
    /// processors have had since Haswell (2013) and Excavator (2015).
    Avx2,
}

/// Not asked yet; else [`Level`] and one.
static LEVEL: AtomicU8 = AtomicU8::new(UNKNOWN);

const UNKNOWN: u8 = 0;
const BASELINE: u8 = 1;
const AVX2: u8 = 2;

/// The processor has AVX2, BMI1, BMI2, LZCNT and POPCNT, and nobody has turned
/// them off.
// Invariant: made only below, where the processor was asked.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

/// Whether the wide paths may be taken.
#[inline]
pub(crate) fn avx2() -> Option<Avx2> {
    let level = match LEVEL.load(Ordering::Relaxed) {
        UNKNOWN => detect(),
        level => level,
    };
    (level == AVX2).then_some(Avx2(()))
}

/// What is used.
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

/// Allows at most `most` from here on, in the whole process; returns what is
/// used now. For tests and measurements: the answers are the same either way.
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

/// What the environment variable allows.
fn most(variable: Option<&OsStr>) -> Level {
    match variable {
        Some(name) if name == "baseline" => Level::Baseline,
        _ => Level::Avx2,
    }
}

/// What the processor has.
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
    fn no_more_is_used_than_there_is() {
        // Other tests set the limit too, so what is used is between these at any time.
        for most in [Level::Baseline, Level::Avx2] {
            assert!(limit(most) <= processor());
        }
    }

    #[test]
    fn the_variable_only_takes_away() {
        for (variable, expected) in [
            (None, Level::Avx2),
            (Some("avx2"), Level::Avx2),
            (Some("baseline"), Level::Baseline),
            (Some("Baseline"), Level::Avx2),
            (Some(""), Level::Avx2),
        ] {
            assert_eq!(most(variable.map(OsStr::new)), expected, "{variable:?}");
        }
        // Whatever it says and others set meanwhile, this was asked.
        assert!(detect() <= code(processor()));
        assert_ne!(detect(), UNKNOWN);
    }
}
