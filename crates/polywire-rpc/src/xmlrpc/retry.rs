//! Trying again: how long to wait, and when not to.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use polywire_frame::flow::Backoff;
use polywire_schema::Timestamp;

use crate::random::Random;

/// The pauses between attempts: the first is at most 100 ms, the longest 5 s.
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(5));

/// The pause after `failures` failed attempts, with jitter.
pub(super) fn pause(failures: u32) -> Duration {
    BACKOFF.wait(failures, Random::new(None).fraction())
}

/// What a server that is not to be called now says about later.
pub(super) fn retry_after(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    if !matches!(
        status,
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS
    ) {
        return None;
    }
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let at = Timestamp::parse_http_date(value).ok()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let at = Duration::from_secs(u64::try_from(at.seconds()).ok()?);
    Some(at.saturating_sub(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_maximum() {
        for failures in 1..40 {
            let most = Duration::from_millis(100 << (failures - 1).min(16)).min(BACKOFF.most());
            let pause = pause(failures);
            assert!(most / 2 <= pause && pause <= most, "{failures}: {pause:?}");
        }
        // Jitter spreads the retries of clients.
        let all: Vec<Duration> = (0..20).map(|_| pause(10)).collect();
        assert!(all.iter().any(|one| *one != all[0]));
    }

    #[test]
    fn retry_after_is_respected() {
        let after = |status, value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, value.parse().unwrap());
            retry_after(status, &headers)
        };
        let busy = StatusCode::SERVICE_UNAVAILABLE;
        assert_eq!(after(busy, "7"), Some(Duration::from_secs(7)));
        let past = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(after(busy, past), Some(Duration::ZERO));
        assert_eq!(after(busy, "soon"), None);
        assert_eq!(after(StatusCode::OK, "7"), None);
    }
}
