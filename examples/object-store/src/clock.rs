//! The time.

use std::time::{SystemTime, UNIX_EPOCH};

use polywire::schema::Timestamp;

/// Now, in whole seconds: `Last-Modified` has no others, and so the same object
/// has one time wherever it is shown.
#[must_use]
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = since.map_or(0, |since| since.as_secs());
    Timestamp::new(i64::try_from(seconds).unwrap_or(i64::MAX), 0)
}
