//! How many calls may be retried.

use super::window::Window;
use crate::Time;

/// The seconds of the window.
const SECONDS: f64 = 10.0;
const CALLS: usize = 0;
const RETRIES: usize = 1;

/// A budget of retries: a share of the calls of the last ten seconds, plus a number per second, for clients with few calls.
///
/// Without a budget, each layer that retries multiplies the load of an overloaded server. The defaults are 20% and 10 per
/// second.
///
/// ```
/// use polywire_frame::Time;
/// use polywire_frame::flow::RetryBudget;
///
/// let mut budget = RetryBudget::new(0.2, 0.0);
/// for _ in 0..10 {
///     budget.called(Time::ZERO);
/// }
/// // Two of ten, and no more.
/// let tries = [(); 3].map(|()| budget.withdraw(Time::ZERO));
/// assert_eq!(tries, [true, true, false]);
/// ```
#[derive(Clone, Debug)]
pub struct RetryBudget {
    share: f64,
    per_second: f64,
    window: Window,
}

impl RetryBudget {
    /// A share of the calls, from 0 to 1, and additional retries per second.
    #[must_use]
    pub const fn new(share: f64, per_second: f64) -> Self {
        Self {
            share,
            per_second,
            window: Window::of_ten(1),
        }
    }

    /// Counts the first attempt of a call.
    #[inline]
    pub fn called(&mut self, now: Time) {
        self.window.count(now, CALLS);
    }

    /// Whether a call may be retried. Counts the retry if so.
    pub fn withdraw(&mut self, now: Time) -> bool {
        let [calls, retries] = self.window.sums(now);
        let allowed = self.share * calls + self.per_second * SECONDS;
        if retries + 1.0 > allowed {
            return false;
        }
        self.window.count(now, RETRIES);
        true
    }
}

impl Default for RetryBudget {
    fn default() -> Self {
        Self::new(0.2, 10.0)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(seconds: u64) -> Time {
        Time::ZERO.after(Duration::from_secs(seconds))
    }

    fn withdrawn(budget: &mut RetryBudget, now: Time) -> usize {
        (0..10_000).take_while(|_| budget.withdraw(now)).count()
    }

    #[test]
    fn retries_are_a_share_of_calls_and_a_minimum_per_second() {
        let mut budget = RetryBudget::default();
        assert_eq!(withdrawn(&mut budget, at(0)), 100);
        for _ in 0..1_000 {
            budget.called(at(1));
        }
        assert_eq!(withdrawn(&mut budget, at(1)), 200);
    }

    #[test]
    fn calls_expire_after_ten_seconds() {
        let mut budget = RetryBudget::new(0.5, 0.0);
        budget.called(at(0));
        budget.called(at(0));
        assert_eq!(withdrawn(&mut budget, at(9)), 1);
        // At 10 s, the first two calls have expired, and the retry has not. At 19 s, the retry has expired too.
        budget.called(at(10));
        budget.called(at(10));
        assert_eq!(withdrawn(&mut budget, at(10)), 0);
        assert_eq!(withdrawn(&mut budget, at(19)), 1);
        assert_eq!(withdrawn(&mut budget, at(1_000)), 0);
    }

    #[test]
    fn a_storm_stays_below_the_share() {
        // The server fails all calls, and each call requests ten retries.
        let mut budget = RetryBudget::default();
        let (mut calls, mut retries) = (0_u32, 0);
        for millis in 0..60_000 {
            let now = Time::from_nanos(millis * 1_000_000);
            calls += 1;
            budget.called(now);
            retries += (0..10).filter(|_| budget.withdraw(now)).count();
        }
        let rate = (f64::from(calls) + retries as f64) / f64::from(calls);
        assert!(rate < 1.22, "{rate} times the calls were sent");
    }
}
