//! Trying again: how long to wait, and when not to.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use polywire_schema::Timestamp;
use uuid::Uuid;

/// The longest pause before the first time, which doubles from one to the next.
const FIRST: Duration = Duration::from_millis(100);
/// The longest pause of all.
const LONGEST: Duration = Duration::from_secs(5);

/// How long to wait before trying for the nth time again, from 0 on: anything between
/// nothing and what doubles each time, so that many clients of a server that was away do
/// not come back together.
pub(super) fn pause(nth: u32) -> Duration {
    let most = FIRST.saturating_mul(1 << nth.min(16)).min(LONGEST);
    // Random, and no secret: two bytes of an id are as good as anything.
    let [first, second, ..] = *Uuid::new_v4().as_bytes();
    let share = u32::from(u16::from_be_bytes([first, second]));
    most.saturating_mul(share) / u32::from(u16::MAX)
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
    fn pauses_grow_to_an_end() {
        for nth in 0..40 {
            let most = FIRST.saturating_mul(1 << nth.min(16)).min(LONGEST);
            assert!(pause(nth) <= most, "{nth}");
        }
        // They differ, or nobody is kept apart.
        let all: Vec<Duration> = (0..20).map(|_| pause(10)).collect();
        assert!(all.iter().any(|one| *one != all[0]));
    }

    #[test]
    fn servers_say_when() {
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
