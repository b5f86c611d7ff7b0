//! The attempts of one call.

use std::time::Duration;

use polywire_text::Timestamp;

use super::{Failure, RetryQuota, RetrySettings};

/// What to do after a failed attempt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Decision {
    /// Wait, and send the call again.
    Retry {
        /// How long to wait.
        delay: Duration,
    },
    /// Report the failure to the caller.
    Stop(Stop),
}

/// Why a call is not retried.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Stop {
    /// A retry would fail again.
    NotRetryable,
    /// The call had all its attempts.
    MaxAttempts,
    /// Too many calls of the client have failed lately. Clients of operations that are called in a loop and wait for
    /// messages, such as `ReceiveMessage` of SQS, should wait for [`RetrySettings::delay`] before they report this.
    QuotaExhausted,
}

/// Counts the attempts of one call, and remembers the tokens of its last retry.
#[derive(Clone, Debug, Default)]
pub struct Attempts {
    failed: u32,
    /// The tokens that the last retry took.
    taken: Option<u32>,
}

impl Attempts {
    /// Before the first attempt.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of attempts that have failed.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.failed
    }

    /// Decides after a failed attempt. `requested` is the time that the service asks for ([`retry_after`]), and
    /// `random` is from 0 to 1.
    ///
    /// A requested time raises the delay, but by no more than [`RetrySettings::longest_extension`]: a service cannot
    /// stop a client for long.
    pub fn failed(
        &mut self,
        settings: &RetrySettings,
        quota: &mut RetryQuota,
        failure: Failure,
        requested: Option<Duration>,
        random: f64,
    ) -> Decision {
        self.failed = self.failed.saturating_add(1);
        if failure == Failure::Permanent {
            return Decision::Stop(Stop::NotRetryable);
        }
        if self.failed >= settings.max_attempts {
            return Decision::Stop(Stop::MaxAttempts);
        }
        let cost = settings.cost(failure);
        if !quota.take(cost) {
            return Decision::Stop(Stop::QuotaExhausted);
        }
        self.taken = Some(cost);
        let computed = settings.delay(failure, self.failed, random);
        let longest = computed.saturating_add(settings.longest_extension);
        let requested = requested.unwrap_or_default().min(longest);
        Decision::Retry {
            delay: computed.max(requested),
        }
    }

    /// The last attempt succeeded: puts back the tokens of the last retry, or adds one if there was none.
    pub fn succeeded(self, settings: &RetrySettings, quota: &mut RetryQuota) {
        quota.put(self.taken.unwrap_or(settings.success_increment));
    }
}

/// The time that a service asks a client to wait: the header `x-amz-retry-after` in milliseconds, else `Retry-After`
/// (RFC 9110, section 10.2.3) in seconds or as a date, for which `now` is needed. Values that are neither are ignored.
///
/// ```
/// use std::time::Duration;
/// use polywire_aws::retry::retry_after;
/// use polywire_text::Timestamp;
///
/// let now = Timestamp::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT")?;
/// let wait = |amz, plain| retry_after(amz, plain, now);
/// assert_eq!(wait(Some("1500"), Some("9")), Some(Duration::from_millis(1500)));
/// assert_eq!(wait(None, Some("9")), Some(Duration::from_secs(9)));
/// assert_eq!(wait(None, Some("Sun, 06 Nov 1994 08:50:00 GMT")), Some(Duration::from_secs(23)));
/// assert_eq!(wait(None, Some("soon")), None);
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
#[must_use]
pub fn retry_after(
    x_amz_retry_after: Option<&str>,
    retry_after: Option<&str>,
    now: Timestamp,
) -> Option<Duration> {
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse::<u64>().ok()).flatten()
    };
    if let Some(millis) = x_amz_retry_after.and_then(|text| number(text.trim())) {
        return Some(Duration::from_millis(millis));
    }
    let text = retry_after?.trim();
    if let Some(seconds) = number(text) {
        return Some(Duration::from_secs(seconds));
    }
    let date = Timestamp::parse_http_date(text).ok()?;
    let seconds = date.seconds().saturating_sub(now.seconds());
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}
