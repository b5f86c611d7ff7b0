//! The end of a connection because of its age or because it is idle.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::Duration;

use polywire_frame::{Reason, Time};

use super::limits::FrameLimits;

/// Ends a connection because of its age, or because it is idle.
#[derive(Debug)]
pub(super) struct Lifetime {
    /// The time at which the connection reaches its maximum age.
    max_age: Time,
    idle: Option<Duration>,
    last_activity: Time,
    /// After the client was told that the connection ends: when it is closed, even with open calls.
    closes: Option<Time>,
    is_over: bool,
}

impl Lifetime {
    pub(super) fn new(limits: &FrameLimits, now: Time) -> Self {
        let age = limits.age.map(|age| {
            // A random number: the hash of a constant with a random key. Varies the age by up to a tenth.
            let random = RandomState::new().hash_one(0) as f64 / u64::MAX as f64;
            age.mul_f64(0.9 + random * 0.2)
        });
        Self {
            max_age: age.map_or(Time::NEVER, |age| now.after(age)),
            idle: limits.idle,
            last_activity: now,
            closes: None,
            is_over: false,
        }
    }

    /// Records activity.
    pub(super) const fn touch(&mut self, now: Time) {
        self.last_activity = now;
    }

    /// Sets when the connection is closed, after the client was told that it ends. Only the first call has an effect.
    pub(super) fn close_at(&mut self, closes: Time) {
        self.closes.get_or_insert(closes);
    }

    /// Whether the connection must be closed now, even with open calls.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// When [`Self::timeout`] is due. `is_idle` tells that no call is open.
    pub(super) fn next_timeout(&self, is_idle: bool) -> Time {
        match (self.closes, self.idle) {
            (Some(_), _) if self.is_over => Time::NEVER,
            (Some(closes), _) => closes,
            (None, Some(idle)) if is_idle => self.max_age.min(self.last_activity.after(idle)),
            _ => self.max_age,
        }
    }

    /// Why the connection ends now, if it does. The caller then calls [`Self::close_at`].
    pub(super) fn timeout(&mut self, now: Time, is_idle: bool) -> Option<Reason> {
        if let Some(closes) = self.closes {
            self.is_over = now >= closes;
            return None;
        }
        if now >= self.max_age {
            return Some(Reason::AGE);
        }
        if now < self.last_activity.after(self.idle?) {
            return None;
        }
        if is_idle {
            return Some(Reason::IDLE);
        }
        // A call without a reply is in progress.
        self.last_activity = now;
        None
    }
}
