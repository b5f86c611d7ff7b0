//! Verification.

use std::time::Duration;

use polywire_text::Timestamp;

use super::SignatureError;
use super::error::ErrorKind;

/// The largest difference between the times of client and server: 15 minutes, as AWS has it.
pub const DEFAULT_MAX_SKEW: Duration = Duration::from_secs(15 * 60);

/// Rejects a time that differs from `now` by more than `max_skew`.
pub(super) fn check_skew(
    time: Timestamp,
    now: Timestamp,
    max_skew: Duration,
) -> Result<(), SignatureError> {
    // In seconds, because request times have no fraction.
    let difference = time.seconds().abs_diff(now.seconds());
    if difference > max_skew.as_secs() {
        return Err(SignatureError::new(
            ErrorKind::TooSkewed,
            format!(
                "the time of the request differs by {difference} s from the time of the server"
            ),
        ));
    }
    Ok(())
}
