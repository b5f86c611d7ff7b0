//! How long a connection lives.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::Duration;

use polywire_frame::{Reason, Time};

use super::limits::FrameLimits;

/// When a connection ends although nobody has asked for it.
#[derive(Debug)]
pub(super) struct Life {
    /// When it is old enough.
    old: Time,
    idle: Option<Duration>,
    /// When something last happened on it.
    moved: Time,
    /// When it is closed, whatever is open then, once it was said that it ends.
    closes: Option<Time>,
    over: bool,
}

impl Life {
    pub(super) fn new(limits: &FrameLimits, now: Time) -> Self {
        let age = limits.age.map(|age| {
            // The hash of nothing by a key that nobody knows is a number that nobody knows: up to a tenth
            // more or less of the time.
            let chance = RandomState::new().hash_one(0) as f64 / u64::MAX as f64;
            age.mul_f64(0.9 + chance * 0.2)
        });
        Self {
            old: age.map_or(Time::NEVER, |age| now.after(age)),
            idle: limits.idle,
            moved: now,
            closes: None,
            over: false,
        }
    }

    /// Something happens.
    pub(super) const fn moves(&mut self, now: Time) {
        self.moved = now;
    }

    /// It was said that the connection ends, then at the latest. The first word holds.
    pub(super) fn leaves(&mut self, closes: Time) {
        self.closes.get_or_insert(closes);
    }

    /// Whether it is to be closed, whatever is open.
    pub(super) const fn is_over(&self) -> bool {
        self.over
    }

    /// When it wants to be asked again; `rests`, if no call is open.
    pub(super) fn next_timeout(&self, rests: bool) -> Time {
        match (self.closes, self.idle) {
            // It has been said that it is.
            (Some(_), _) if self.over => Time::NEVER,
            (Some(closes), _) => closes,
            (None, Some(idle)) if rests => self.old.min(self.moved.after(idle)),
            _ => self.old,
        }
    }

    /// Why the connection ends now, if it does. [`Self::leaves`] is to be told then.
    pub(super) fn timeout(&mut self, now: Time, rests: bool) -> Option<Reason> {
        if let Some(closes) = self.closes {
            self.over = now >= closes;
            return None;
        }
        if now >= self.old {
            return Some(Reason::AGE);
        }
        let idle = self.idle?;
        if !rests {
            // Something is being done that is no call of the connection.
            if now >= self.moved.after(idle) {
                self.moved = now;
            }
            return None;
        }
        (now >= self.moved.after(idle)).then_some(Reason::IDLE)
    }
}
