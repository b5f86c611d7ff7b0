//! Deadlines of calls: the only place that combines and compares them.
//!
//! On a server the earlier of two deadlines counts, that of the caller and that of the server (`Timeouts::handler`):
//!
//! | | enforced by |
//! |---|---|
//! | HTTP, the caller's | pending authentication, `RequestBody` while the body arrives, then as the server's |
//! | HTTP, the server's, from the end of the body | `decode_on_pool`, then [`Invocation::poll`](super::Invocation::poll) |
//! | frames, the caller's | the state machine (`Connection::timeout`, UDP: `Server::timeout`), which ends the call |
//! | frames, the server's | [`Invocation::poll`](super::Invocation::poll), from the first time that the handler waits |
//! | frames, calls with streams | the caller's only |
//!
//! [`Deadline`] is a point on the clock of tokio, for handlers on all wires and clients over HTTP. [`FrameDeadline`] is a
//! point on the [`Clock`] of frames, whose state machines do no I/O. [`CallTimeout`] is a deadline and the
//! duration that it was made from, for errors that name the duration.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use polywire_frame::Time;
use polywire_protocol::{Fault, FaultKind};
use tokio::time::{Instant, timeout_at};

use super::admission::Rejection;
use crate::error::CallError;
use crate::frames::Clock;

/// The header in which a caller over HTTP says how many milliseconds it waits for the response: 1 to 8 digits.
pub(crate) const TIMEOUT_HEADER: HeaderName = HeaderName::from_static("polywire-timeout-ms");

/// The largest value of [`TIMEOUT_HEADER`]: about 28 hours.
const MAX_TIMEOUT_MS: u32 = 99_999_999;

/// The time after which the result of a call is of no use, if there is one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    pub(crate) const NONE: Self = Self(None);

    /// The deadline after a duration. [`Self::NONE`] if the clock cannot represent it.
    pub(crate) fn after(now: Instant, duration: Duration) -> Self {
        Self(now.checked_add(duration))
    }

    /// The deadline of an HTTP request, by its header [`TIMEOUT_HEADER`].
    ///
    /// # Errors
    ///
    /// The header is not 1 to 8 digits, or comes twice.
    pub(crate) fn of_request(headers: &HeaderMap) -> Result<Self, Fault> {
        // Comparing with the few names of a request is cheaper than hashing this one.
        let mut values = headers.iter().filter(|(name, _)| **name == TIMEOUT_HEADER);
        let Some((_, value)) = values.next() else {
            return Ok(Self::NONE);
        };
        let digits = value.as_bytes();
        let is_number = (1..=8).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
        if !is_number || values.next().is_some() {
            let message =
                format!("{TIMEOUT_HEADER}: expected one number of milliseconds, of 1 to 8 digits");
            return Err(Fault::new(FaultKind::Malformed, message));
        }
        let number = |sum: u64, digit: &u8| sum * 10 + u64::from(digit - b'0');
        let millis = digits.iter().fold(0, number);
        Ok(Self::after(Instant::now(), Duration::from_millis(millis)))
    }

    /// The earlier of two.
    pub(crate) fn earlier(self, other: Self) -> Self {
        match (self.0, other.0) {
            (Some(own), Some(other)) => Self(Some(own.min(other))),
            (own, other) => Self(own.or(other)),
        }
    }

    /// The deadline of a handler that starts now and may take `limit`.
    ///
    /// # Errors
    ///
    /// This deadline, that of the caller, is over.
    pub(crate) fn for_handler(self, limit: Duration) -> Result<Self, Fault> {
        let now = Instant::now();
        match self.is_over(now) {
            true => Err(expired()),
            false => Ok(self.earlier(Self::after(now, limit))),
        }
    }

    pub(crate) fn is_over(self, now: Instant) -> bool {
        self.0.is_some_and(|at| now >= at)
    }

    /// The time that is left. None if there is no deadline.
    pub(crate) fn left(self, now: Instant) -> Option<Duration> {
        self.0.map(|at| at.saturating_duration_since(now))
    }

    pub(crate) const fn instant(self) -> Option<Instant> {
        self.0
    }

    /// Waits until the deadline for something that comes before the handler of a call.
    ///
    /// # Errors
    ///
    /// That of the future, or [`expired`].
    pub(crate) async fn limit<T>(
        self,
        future: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, Fault> {
        match self.0 {
            None => future.await,
            Some(at) => match timeout_at(at, future).await {
                // A ready result may come late.
                Ok(Ok(_)) if self.is_over(Instant::now()) => Err(expired()),
                Ok(result) => result,
                Err(_) => Err(expired()),
            },
        }
    }

    /// Waits for a future until the deadline. None if the deadline comes first.
    async fn timeout<F: Future>(self, future: F) -> Option<F::Output> {
        match self.0 {
            None => Some(future.await),
            Some(at) => timeout_at(at, future).await.ok(),
        }
    }
}

/// A deadline on the [`Clock`] of frames.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct FrameDeadline(Time);

impl FrameDeadline {
    pub(crate) const NONE: Self = Self(Time::NEVER);

    #[inline]
    pub(crate) const fn at(time: Time) -> Self {
        Self(time)
    }

    /// The same point on the clock of tokio.
    #[inline]
    pub(crate) fn on_tokio(self, clock: Clock) -> Deadline {
        Deadline(clock.instant(self.0))
    }

    /// The deadline after a duration. [`Self::NONE`] if the clock cannot represent it.
    #[inline]
    pub(crate) fn after(now: Time, duration: Duration) -> Self {
        Self(now.after(duration))
    }

    /// The earlier of two.
    #[inline]
    pub(crate) fn earlier(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }

    #[inline]
    pub(crate) fn is_over(self, now: Time) -> bool {
        now >= self.0
    }

    /// The time that is left. Without a deadline, centuries.
    #[inline]
    pub(crate) const fn left(self, now: Time) -> Duration {
        self.0.since(now)
    }

    /// Whether time is left after a wait that begins now.
    pub(crate) fn allows(self, now: Time, wait: Duration) -> bool {
        wait < self.left(now)
    }

    /// The time that state machines are given. [`Time::NEVER`] if there is no deadline.
    #[inline]
    pub(crate) const fn time(self) -> Time {
        self.0
    }

    /// Waits for a future until the deadline. None if the deadline comes first.
    pub(crate) async fn timeout<F: Future>(self, clock: Clock, future: F) -> Option<F::Output> {
        // Pinned here, so that the inner future holds a pointer instead of a copy.
        let future = pin!(future);
        self.on_tokio(clock).timeout(future).await
    }

    /// Waits for a part of a call until the deadline.
    ///
    /// # Errors
    ///
    /// That of the future, or the deadline came first.
    pub(crate) async fn limit<T>(
        self,
        clock: Clock,
        future: impl Future<Output = Result<T, CallError>>,
    ) -> Result<T, CallError> {
        let result = self.timeout(clock, pin!(future)).await;
        result.unwrap_or_else(|| Err(CallError::deadline(None)))
    }
}

/// The time that a call over HTTP may take in all, with its retries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallTimeout {
    total: Duration,
    deadline: Deadline,
}

impl CallTimeout {
    /// A call that begins now and may take `total`.
    pub(crate) fn start(total: Duration) -> Self {
        let deadline = Deadline::after(Instant::now(), total);
        Self { total, deadline }
    }

    /// The time from the start of the call to the deadline.
    pub(crate) const fn total(self) -> Duration {
        self.total
    }

    /// Whether time is left after a wait that begins now.
    pub(crate) fn allows(self, wait: Duration) -> bool {
        let left = self.deadline.left(Instant::now());
        left.is_none_or(|left| wait < left)
    }

    /// Waits for a future until the deadline. None if the deadline comes first.
    pub(crate) async fn timeout<F: Future>(self, future: F) -> Option<F::Output> {
        self.deadline.timeout(pin!(future)).await
    }

    /// Tells the server in [`TIMEOUT_HEADER`] how much time is left. A request that has the header already loses it.
    ///
    /// The number is rounded up, so that the deadline of the server is never the earlier one: its fault would reach the
    /// caller instead of [`CallErrorKind::Deadline`](crate::CallErrorKind::Deadline), and XML-RPC cannot tell it from an
    /// overloaded server. A time that does not fit into the header is not sent.
    pub(crate) fn write_header(self, headers: &mut HeaderMap) {
        headers.remove(TIMEOUT_HEADER);
        let Some(left) = self.deadline.left(Instant::now()) else {
            return;
        };
        let millis = left.as_nanos().div_ceil(1_000_000).max(1);
        if let Ok(millis) = u32::try_from(millis)
            && millis <= MAX_TIMEOUT_MS
        {
            headers.insert(TIMEOUT_HEADER, HeaderValue::from(millis));
        }
    }
}

/// The fault of a call whose deadline passed before its handler started.
#[cold]
pub(crate) fn expired() -> Fault {
    Rejection::DeadlineExceeded.fault()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(timeout: CallTimeout) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.append(TIMEOUT_HEADER, HeaderValue::from(7));
        headers.append(TIMEOUT_HEADER, HeaderValue::from(8));
        timeout.write_header(&mut headers);
        let mut values = headers.get_all(TIMEOUT_HEADER).iter();
        let value = values.next();
        assert!(values.next().is_none());
        value.map(|value| value.to_str().unwrap().to_owned())
    }

    #[tokio::test(start_paused = true)]
    async fn the_header_has_the_remaining_time() {
        let timeout = CallTimeout::start(Duration::from_micros(10_900));
        assert_eq!(header(timeout).unwrap(), "11");
        for expected in ["6", "1", "1"] {
            tokio::time::advance(Duration::from_millis(5)).await;
            assert_eq!(header(timeout).unwrap(), expected);
        }
    }

    /// Servers read the longest time that the header can hold. Longer times have no header.
    #[tokio::test(start_paused = true)]
    async fn long_times_have_no_header() {
        let most = Duration::from_millis(99_999_999);
        let value = header(CallTimeout::start(most)).unwrap();
        let headers = HeaderMap::from_iter([(TIMEOUT_HEADER, value.parse().unwrap())]);
        let read = Deadline::of_request(&headers).unwrap();
        assert_eq!(read.left(Instant::now()), Some(most));
        for longer in [most + Duration::from_millis(1), Duration::MAX] {
            assert_eq!(header(CallTimeout::start(longer)), None);
        }
    }
}
