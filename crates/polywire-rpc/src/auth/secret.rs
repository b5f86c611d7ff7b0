//! Comparison of secrets.

use subtle::{Choice, ConstantTimeEq};

/// Compares a given secret with the expected one. The time depends on the length of the given one only.
///
/// ```
/// use polywire_rpc::auth::constant_time_eq;
///
/// assert!(constant_time_eq("correct horse", "correct horse"));
/// assert!(!constant_time_eq("correct house", "correct horse"));
/// assert!(!constant_time_eq("correct", "correct horse"));
/// assert!(constant_time_eq("", ""));
/// ```
#[must_use]
pub fn constant_time_eq(given: impl AsRef<[u8]>, expected: impl AsRef<[u8]>) -> bool {
    compare(given.as_ref(), expected.as_ref()).into()
}

pub(super) fn compare(given: &[u8], expected: &[u8]) -> Choice {
    let mut equal = (given.len() as u64).ct_eq(&(expected.len() as u64));
    // One step for each given byte, whatever the length of the expected secret.
    let expected = if expected.is_empty() { &[0] } else { expected };
    for (at, byte) in given.iter().enumerate() {
        equal &= byte.ct_eq(&expected[at % expected.len()]);
    }
    equal
}
