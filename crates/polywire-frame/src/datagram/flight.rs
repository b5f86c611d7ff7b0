//! How many datagrams may be on their way.

use std::time::Duration;

use crate::Time;

/// What may be on its way before anything is known of the network.
const FIRST: u32 = 128;

/// What may always be.
const LEAST: u32 = 4;

/// More is never needed: there are no more slots.
const MOST: u32 = u16::MAX as u32;

/// Losses that have to come together before they mean something.
const FEW: u32 = 3;

/// Of so many datagrams one may be lost without meaning anything: radio loses some, whatever is sent.
const ONE_OF: u32 = 16;

/// Datagrams that were sent again at once while nothing at all comes from the server: it has enough to do
/// with them, if it is there.
const MOST_PROBES: u32 = 16;

/// How many calls may be on their way, by what became of those before.
///
/// As TCP does it (RFC 5681), but that few losses mean nothing: each answer lets one more call go until the first
/// losses, and then as many answers as there are calls on their way; losses halve. A call that the server has said to
/// have is not on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    window: u32,
    /// Up to here each answer lets one more go.
    threshold: u32,
    /// Answers since the window last grew, beyond that.
    grows: u32,
    /// Of the last few.
    arrived: u32,
    lost: u32,
    /// When it was halved. What was sent before says nothing about what is sent now.
    halved: Time,
    /// How many were sent again, since when.
    again: u32,
    since: Time,
}

impl Default for Flight {
    fn default() -> Self {
        Self {
            window: FIRST,
            threshold: MOST,
            grows: 0,
            arrived: 0,
            lost: 0,
            halved: Time::ZERO,
            again: 0,
            since: Time::ZERO,
        }
    }
}

impl Flight {
    /// How many more calls may go when so many are on their way.
    #[inline]
    pub(super) const fn room(&self, in_flight: u32) -> u32 {
        self.window.saturating_sub(in_flight)
    }

    /// A call has arrived, and that is known; so many were on their way, with it.
    #[inline]
    pub(super) fn arrived(&mut self, in_flight: u32) {
        self.arrived += 1;
        self.forget();
        // Who does not use what he has needs no more.
        if in_flight < self.window / 2 || self.window >= MOST {
            return;
        }
        if self.window >= self.threshold {
            self.grows += 1;
            if self.grows < self.window {
                return;
            }
            self.grows = 0;
        }
        self.window += 1;
    }

    /// A datagram is lost that was sent then; so many were on their way, with it.
    #[cold]
    pub(super) fn lost(&mut self, now: Time, sent: Time, in_flight: u32) {
        if sent < self.halved {
            return;
        }
        self.lost += 1;
        if self.lost >= FEW && self.lost * ONE_OF > self.lost + self.arrived {
            self.window = (self.window.min(in_flight) / 2).max(LEAST);
            self.threshold = (in_flight / 2).max(LEAST);
            (self.arrived, self.lost, self.grows) = (0, 0, 0);
            self.halved = now;
        }
        self.forget();
    }

    /// What is long ago counts for less.
    #[inline]
    const fn forget(&mut self) {
        if self.arrived + self.lost > 4 * self.window {
            self.arrived /= 2;
            self.lost /= 2;
        }
    }

    /// Whether one more may be sent again now, where `wait` is how long one waits for an answer. `silent`, if nothing
    /// has come for longer than that.
    pub(super) fn may_repeat(&mut self, now: Time, wait: Duration, silent: bool) -> bool {
        if now.since(self.since) >= wait {
            (self.since, self.again) = (now, 0);
        }
        let most = match silent {
            true => MOST_PROBES.min(self.window),
            false => self.window,
        };
        let may = self.again < most;
        self.again += u32::from(may);
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO.after(Duration::from_millis(millis))
    }

    #[test]
    fn answers_grow_and_losses_halve_once_a_round() {
        let mut flight = Flight::default();
        assert_eq!(flight.room(28), 100);
        for _ in 0..128 {
            flight.arrived(128);
        }
        assert_eq!(flight.room(0), 256);
        // Some losses mean nothing.
        for _ in 0..8 {
            flight.lost(at(1), at(1), 256);
        }
        assert_eq!(flight.room(0), 256);
        for _ in 0..200 {
            flight.lost(at(2), at(1), 256);
        }
        assert_eq!(flight.room(0), 128);
        // From there on slowly.
        for _ in 0..128 + 129 {
            flight.arrived(128);
        }
        assert_eq!(flight.room(0), 130);
        for round in 3..99 {
            for _ in 0..200 {
                flight.lost(at(round), at(round), 100);
            }
        }
        assert_eq!(flight.room(0), 4);
        assert_eq!(flight.room(9), 0);
        // A network that is back is used again at once, as far as half of what it was.
        for _ in 0..46 {
            flight.arrived(50);
        }
        assert_eq!(flight.room(0), 50);
    }

    #[test]
    fn who_sends_little_gets_no_more() {
        let mut flight = Flight::default();
        for _ in 0..10_000 {
            flight.arrived(2);
        }
        assert_eq!(flight.room(0), 128);
    }

    #[test]
    fn only_so_many_go_again_in_one_wait() {
        let wait = Duration::from_millis(10);
        let mut flight = Flight::default();
        let mut sent = |now, silent| {
            (0..999)
                .filter(|_| flight.may_repeat(now, wait, silent))
                .count()
        };
        assert_eq!(sent(at(10), true), 16);
        assert_eq!(sent(at(19), true), 0);
        assert_eq!(sent(at(19), false), 112);
        assert_eq!(sent(at(20), false), 128);
    }
}
