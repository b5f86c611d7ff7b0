//! Which of several endpoints to ask.

use std::time::Duration;

use crate::Time;

/// Picks among endpoints the better of two that chance names: the one that is expected to be done
/// sooner, by the calls that it has in flight and by how long its answers take of late.
///
/// Two random ones, and not the best of all: if each client asked the one that looks best, they would
/// all ask the same (Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing", 2001). An
/// endpoint whose calls keep failing is left out for a while, ever longer, and one that is new or back
/// is given its share bit by bit.
///
/// ```
/// use std::time::Duration;
/// use polywire_frame::Time;
/// use polywire_frame::flow::Balancer;
///
/// let mut balancer = Balancer::new(2);
/// let now = Time::ZERO;
/// // The first is slow, which its answers have told.
/// for (endpoint, millis) in [(0, 50), (1, 1)] {
///     balancer.started(endpoint);
///     balancer.ended(endpoint, now, true, Duration::from_millis(millis));
/// }
/// assert_eq!(balancer.pick(now, 0.1, 0.9), Some(1));
/// ```
#[derive(Clone, Debug)]
pub struct Balancer {
    endpoints: Vec<Endpoint>,
}

#[derive(Clone, Debug)]
struct Endpoint {
    in_flight: u32,
    /// Seconds; of answers of late, the last ten or so.
    latency: f64,
    failures: u32,
    /// How often it was left out since it last answered well.
    ejections: u32,
    /// Until when it is left out.
    ejected: Time,
    /// From when on it has had a share; it grows for so long.
    since: Time,
    usable: bool,
}

/// Failures one after the other that leave an endpoint out.
const MOST_FAILURES: u32 = 5;
/// How long it is left out the first time; each further time as much longer.
const EJECTION: Duration = Duration::from_secs(1);
const LONGEST_EJECTION: Duration = Duration::from_secs(30);
/// How long the share of one that is new or back takes to grow.
const SLOW_START: Duration = Duration::from_secs(5);
/// The weight of the last answer.
const LAST: f64 = 0.1;

impl Balancer {
    /// So many endpoints, all of which may be asked.
    #[must_use]
    pub fn new(endpoints: usize) -> Self {
        let endpoint = Endpoint {
            in_flight: 0,
            latency: 0.0,
            failures: 0,
            ejections: 0,
            ejected: Time::ZERO,
            since: Time::ZERO,
            usable: true,
        };
        Self {
            endpoints: vec![endpoint; endpoints],
        }
    }

    /// Says whether an endpoint can be asked at all: whether there is a connection, for instance. One
    /// that can again begins with a small share.
    pub fn set_usable(&mut self, endpoint: usize, now: Time, usable: bool) {
        let endpoint = &mut self.endpoints[endpoint];
        if usable && !endpoint.usable {
            endpoint.since = now;
            endpoint.failures = 0;
            // What was is no reason to leave it out.
            endpoint.ejections = 0;
            endpoint.ejected = now;
        }
        endpoint.usable = usable;
    }

    /// The endpoint to ask next; `first` and `second` are two numbers of chance from 0 to 1. Nothing, if
    /// none can be asked. Where all that can are left out for their failures, they are asked all the
    /// same: a poor chance is better than none.
    #[must_use]
    pub fn pick(&self, now: Time, first: f64, second: f64) -> Option<usize> {
        let fine = |endpoint: &Endpoint| endpoint.usable && endpoint.ejected <= now;
        self.pick_of(now, (first, second), fine)
            .or_else(|| self.pick_of(now, (first, second), |endpoint| endpoint.usable))
    }

    fn pick_of(
        &self,
        now: Time,
        (first, second): (f64, f64),
        fine: impl Fn(&Endpoint) -> bool,
    ) -> Option<usize> {
        let count = self.endpoints.iter().filter(|&one| fine(one)).count();
        if count == 0 {
            return None;
        }
        let nth = |n: usize| {
            let mut fine = self
                .endpoints
                .iter()
                .enumerate()
                .filter(|(_, one)| fine(one));
            fine.nth(n).map(|(index, _)| index)
        };
        let at = |chance: f64, of: usize| ((chance * of as f64) as usize).min(of - 1);
        let a = at(first, count);
        if count == 1 {
            return nth(a);
        }
        // Another than the first.
        let b = at(second, count - 1);
        let b = if b >= a { b + 1 } else { b };
        let (a, b) = (nth(a)?, nth(b)?);
        match self.endpoints[b].cost(now) < self.endpoints[a].cost(now) {
            true => Some(b),
            false => Some(a),
        }
    }

    /// A call of an endpoint begins.
    pub fn started(&mut self, endpoint: usize) {
        self.endpoints[endpoint].in_flight += 1;
    }

    /// A call has ended: whether it went well as far as the endpoint is concerned, and how long it took.
    /// A fault that is the caller's own went well.
    pub fn ended(&mut self, endpoint: usize, now: Time, well: bool, took: Duration) {
        let endpoint = &mut self.endpoints[endpoint];
        endpoint.in_flight = endpoint.in_flight.saturating_sub(1);
        if well {
            let took = took.as_secs_f64();
            endpoint.latency = match endpoint.latency {
                0.0 => took,
                before => before + LAST * (took - before),
            };
            endpoint.failures = 0;
            endpoint.ejections = 0;
            return;
        }
        if now < endpoint.ejected {
            // It began before.
            return;
        }
        endpoint.failures += 1;
        if endpoint.failures >= MOST_FAILURES {
            endpoint.failures = 0;
            endpoint.ejections += 1;
            let out = EJECTION.saturating_mul(endpoint.ejections);
            endpoint.ejected = now.after(out.min(LONGEST_EJECTION));
            endpoint.since = endpoint.ejected;
        }
    }

    /// A call has ended in something that says nothing about the endpoint.
    pub fn abandoned(&mut self, endpoint: usize) {
        let endpoint = &mut self.endpoints[endpoint];
        endpoint.in_flight = endpoint.in_flight.saturating_sub(1);
    }

    /// Calls in flight to an endpoint.
    #[must_use]
    pub fn in_flight(&self, endpoint: usize) -> u32 {
        self.endpoints[endpoint].in_flight
    }
}

impl Endpoint {
    /// What a further call would wait, in seconds; more for one whose share is to be small.
    fn cost(&self, now: Time) -> f64 {
        // One that has not answered yet is taken for a fast one.
        let latency = self.latency.max(1e-6);
        let share = now.since(self.since).as_secs_f64() / SLOW_START.as_secs_f64();
        let started = self.since == Time::ZERO || share >= 1.0;
        let share = if started { 1.0 } else { share.max(0.05) };
        latency * f64::from(self.in_flight + 1) / share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chance that anybody can repeat.
    fn chances() -> impl FnMut() -> f64 {
        let mut state = 1_u64;
        move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    fn at(millis: u64) -> Time {
        Time::ZERO.after(Duration::from_millis(millis))
    }

    #[test]
    fn equal_endpoints_get_equal_shares() {
        let mut balancer = Balancer::new(4);
        let mut chance = chances();
        let mut shares = [0; 4];
        for _ in 0..8_000 {
            let endpoint = balancer.pick(at(1), chance(), chance()).unwrap();
            shares[endpoint] += 1;
            balancer.started(endpoint);
            balancer.ended(endpoint, at(1), true, Duration::from_millis(1));
        }
        for share in shares {
            assert!((1_000..4_000).contains(&share), "{shares:?}");
        }
    }

    #[test]
    fn calls_in_flight_keep_the_load_even() {
        let mut balancer = Balancer::new(10);
        let mut chance = chances();
        for _ in 0..1_000 {
            let endpoint = balancer.pick(at(1), chance(), chance()).unwrap();
            balancer.started(endpoint);
        }
        let loads: Vec<_> = (0..10).map(|one| balancer.in_flight(one)).collect();
        let (least, most) = (loads.iter().min().unwrap(), loads.iter().max().unwrap());
        assert!(most - least <= 5, "{loads:?}");
    }

    #[test]
    fn who_fails_is_left_out_and_comes_back_slowly() {
        let mut balancer = Balancer::new(2);
        let mut chance = chances();
        let mut share = |balancer: &Balancer, now: Time| {
            (0..1_000)
                .filter(|_| balancer.pick(now, chance(), chance()) == Some(0))
                .count()
        };
        for endpoint in [0, 1] {
            balancer.started(endpoint);
            balancer.ended(endpoint, at(0), true, Duration::from_millis(1));
        }
        for _ in 0..MOST_FAILURES {
            balancer.started(0);
            balancer.ended(0, at(1_000), false, Duration::ZERO);
        }
        assert_eq!(share(&balancer, at(1_999)), 0);
        // It is back, and dearer than the other for as long as that has little to do.
        assert_eq!(share(&balancer, at(2_100)), 0);
        for _ in 0..30 {
            balancer.started(1);
        }
        assert_eq!(share(&balancer, at(2_500)), 1_000);
        // Failing again is longer.
        for _ in 0..MOST_FAILURES {
            balancer.ended(0, at(3_000), false, Duration::ZERO);
        }
        assert_eq!(share(&balancer, at(4_999)), 0);
        assert_eq!(share(&balancer, at(5_500)), 1_000);
    }

    #[test]
    fn what_was_in_flight_counts_once() {
        let mut balancer = Balancer::new(2);
        for _ in 0..100 {
            balancer.ended(0, at(0), false, Duration::ZERO);
        }
        // Left out for a second, and not for twenty.
        assert!((0..10).all(|_| balancer.pick(at(999), 0.0, 0.0) == Some(1)));
        assert_eq!(balancer.pick(at(10_000), 0.0, 0.0), Some(0));
    }

    #[test]
    fn where_nobody_is_well_somebody_is_asked() {
        let mut balancer = Balancer::new(3);
        assert_eq!(Balancer::new(0).pick(at(0), 0.5, 0.5), None);
        for endpoint in 0..3 {
            for _ in 0..MOST_FAILURES {
                balancer.ended(endpoint, at(0), false, Duration::ZERO);
            }
        }
        balancer.set_usable(2, at(0), false);
        assert!(matches!(balancer.pick(at(0), 0.0, 0.0), Some(0 | 1)));
        for endpoint in 0..2 {
            balancer.set_usable(endpoint, at(0), false);
        }
        assert_eq!(balancer.pick(at(0), 1.0, 1.0), None);
        balancer.set_usable(2, at(0), true);
        assert_eq!(balancer.pick(at(0), 1.0, 1.0), Some(2));
    }
}
