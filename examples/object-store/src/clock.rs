//! The time.

use std::time::{SystemTime, UNIX_EPOCH};

/// The seconds since 1970. The store keeps no fractions, because `Last-Modified` has none: so an object has the same
/// time in all responses.
#[must_use]
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = since.map_or(0, |since| since.as_secs());
    i64::try_from(seconds).unwrap_or(i64::MAX)
}
