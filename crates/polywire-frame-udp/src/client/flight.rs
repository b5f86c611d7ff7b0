//! How many calls may be in flight.

use std::time::Duration;

use polywire_frame::Time;

/// The initial window.
const FIRST: u32 = 128;

/// The smallest window.
const LEAST: u32 = 4;

/// The largest window: there are no more slots.
const MOST: u32 = u16::MAX as u32;

/// Fewer losses than this are ignored.
const FEW: u32 = 3;

/// One loss in this many datagrams is ignored: radio links lose some at any rate.
const ONE_OF: u32 = 16;

/// The most datagrams that are resent in one wait while nothing is received from the server.
const MOST_PROBES: u32 = 16;

/// The window of calls in flight: sent, and neither answered nor confirmed.
///
/// As in TCP (RFC 5681), but few losses are ignored. Each answer raises the window by one until the first losses, later
/// a window's worth of answers does. Losses halve it.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlightWindow {
    window: u32,
    /// Below this, each answer raises the window.
    threshold: u32,
    /// Answers since the window was last raised, above the threshold.
    grows: u32,
    /// Recent answers and losses.
    arrived: u32,
    lost: u32,
    /// When the window was halved. Losses of datagrams sent before are ignored.
    halved: Time,
    /// The number of resent datagrams, and since when.
    again: u32,
    since: Time,
}

impl Default for FlightWindow {
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

impl FlightWindow {
    /// How many more calls may be sent.
    #[inline]
    pub(super) const fn room(&self, in_flight: u32) -> u32 {
        self.window.saturating_sub(in_flight)
    }

    /// A call was answered or confirmed. `in_flight` includes it.
    #[inline]
    pub(super) fn arrived(&mut self, in_flight: u32) {
        self.arrived += 1;
        self.forget();
        // A window that is not used needs not grow.
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

    /// A datagram that was sent at `sent` is lost. `in_flight` includes it.
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

    /// Halves the weight of earlier answers and losses.
    #[inline]
    const fn forget(&mut self) {
        if self.arrived + self.lost > 4 * self.window {
            self.arrived /= 2;
            self.lost /= 2;
        }
    }

    /// Whether one more datagram may be resent now. `wait` is the wait for an answer, `silent` whether nothing was received
    /// for longer than that.
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
    fn answers_grow_the_window_and_losses_halve_it_once_per_round_trip() {
        let mut flight = FlightWindow::default();
        assert_eq!(flight.room(28), 100);
        for _ in 0..128 {
            flight.arrived(128);
        }
        assert_eq!(flight.room(0), 256);
        // Few losses are ignored.
        for _ in 0..8 {
            flight.lost(at(1), at(1), 256);
        }
        assert_eq!(flight.room(0), 256);
        for _ in 0..200 {
            flight.lost(at(2), at(1), 256);
        }
        assert_eq!(flight.room(0), 128);
        // After a loss, the window grows slowly.
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
        // After losses, the window quickly returns to half of what was in flight.
        for _ in 0..46 {
            flight.arrived(50);
        }
        assert_eq!(flight.room(0), 50);
    }

    #[test]
    fn an_unused_window_does_not_grow() {
        let mut flight = FlightWindow::default();
        for _ in 0..10_000 {
            flight.arrived(2);
        }
        assert_eq!(flight.room(0), 128);
    }

    #[test]
    fn resent_datagrams_are_bounded_in_one_wait() {
        let wait = Duration::from_millis(10);
        let mut flight = FlightWindow::default();
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
