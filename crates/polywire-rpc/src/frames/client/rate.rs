//! How many calls begin a second.

use std::time::Duration;

use polywire_frame::Time;
use polywire_frame::flow::{AdaptiveRate, LeakyBucket, Sample, TokenBucket};

use crate::error::CallError;

/// How many calls a client begins a second. Calls wait for their turn, in the order in which they
/// came; further tries have to as well.
///
/// ```
/// use polywire_rpc::frames::{Client, Rate};
///
/// // A thousand a second in the long run, and up to fifty at once.
/// let builder = Client::builder().rate(Rate::token_bucket(1_000.0, 50));
/// # drop(builder);
/// ```
#[derive(Clone, Debug)]
pub struct Rate(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Adaptive(AdaptiveRate),
    Leaky(LeakyBucket),
    Token(TokenBucket),
}

/// When a call has its turn.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Turn {
    After(Duration),
    /// Not within [`AHEAD`], since nobody knows what the rate will be.
    Unknown,
}

/// How far ahead calls of a rate that changes are booked: enough for timers, which know milliseconds.
pub(super) const AHEAD: Duration = Duration::from_millis(5);

impl Rate {
    /// So many a second in the long run, and up to `burst` at once after a pause.
    #[must_use]
    pub fn token_bucket(per_second: f64, burst: u32) -> Self {
        Self(Kind::Token(TokenBucket::new(per_second, burst)))
    }

    /// So many a second, evenly: each has a time of its own. Where more than `waiting` wait for theirs,
    /// a call fails at once with [`CallErrorKind::QueueFull`](crate::CallErrorKind::QueueFull).
    #[must_use]
    pub fn leaky_bucket(per_second: f64, waiting: u32) -> Self {
        Self(Kind::Leaky(LeakyBucket::new(per_second, waiting)))
    }

    /// Between `least` and `most` a second, by how long answers take: more while they come as fast as
    /// the fastest of the last minute, and fewer when they take longer than twice that, or when the
    /// server turns calls away.
    #[must_use]
    pub fn adaptive(least: f64, most: f64) -> Self {
        Self(Kind::Adaptive(AdaptiveRate::new(least, most)))
    }

    /// When the next call has its turn, if its time allows that.
    pub(super) fn book(&mut self, now: Time, left: Duration) -> Result<Turn, CallError> {
        let wait = match &mut self.0 {
            Kind::Adaptive(rate) => {
                let booked = rate.book(now, left.min(AHEAD));
                return Ok(booked.map_or(Turn::Unknown, Turn::After));
            }
            Kind::Leaky(bucket) if bucket.is_full(now) => return Err(CallError::queue_full()),
            Kind::Leaky(bucket) => bucket.book(now, left),
            Kind::Token(bucket) => bucket.book(now, left),
        };
        wait.map(Turn::After)
            .ok_or_else(|| CallError::deadline(None))
    }

    /// Whether it wants to know what becomes of calls.
    pub(super) const fn learns(&self) -> bool {
        matches!(self.0, Kind::Adaptive(_))
    }

    /// A call has ended.
    pub(super) fn ended(&mut self, now: Time, sample: Sample) {
        if let Kind::Adaptive(rate) = &mut self.0 {
            rate.ended(now, sample);
        }
    }
}
