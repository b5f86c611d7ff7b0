//! Which of several endpoints to call.

use std::time::Duration;

use super::Sample;
use crate::Time;

/// Picks the better of two random endpoints: the one that is expected to answer sooner, by its calls in flight, its recent
/// latency, and its share of answered calls.
///
/// Two random endpoints instead of the best of all: otherwise all clients would call the same one (Mitzenmacher, "The
/// Power of Two Choices in Randomized Load Balancing", 2001). An endpoint with repeated failures is ejected for a time
/// that grows with each ejection. A new or recovered endpoint gets its share gradually.
///
/// Latency is an average that rises at once and falls with time ("peak EWMA", as in Finagle). Observations lose their weight
/// within about ten seconds, so an endpoint that was slow is called again, with one call at first.
///
/// ```
/// use std::time::Duration;
/// use polywire_frame::Time;
/// use polywire_frame::flow::{Balancer, Sample};
///
/// let mut balancer = Balancer::new(2);
/// let now = Time::ZERO;
/// // The first endpoint is slow.
/// for (endpoint, millis) in [(0, 50), (1, 1)] {
///     balancer.started(endpoint);
///     balancer.ended(endpoint, now, Sample::Answered(Duration::from_millis(millis)));
/// }
/// assert_eq!(balancer.pick(now, 0.1, 0.9), Some(1));
/// // A minute later that is unknown.
/// balancer.started(1);
/// assert_eq!(balancer.pick(now.after(Duration::from_secs(60)), 0.1, 0.9), Some(0));
/// ```
#[derive(Clone, Debug)]
pub struct Balancer {
    endpoints: Vec<Endpoint>,
}

#[derive(Clone, Debug)]
struct Endpoint {
    in_flight: u32,
    /// Seconds; `None` before the first answer.
    latency: Option<f64>,
    /// When the latency was last observed.
    seen: Option<Time>,
    /// The share of calls without an answer, at the time `failed`.
    unanswered: f64,
    failed: Time,
    failures: u32,
    /// The number of ejections since the last answer.
    ejections: u32,
    /// The end of the last ejection.
    ejected: Time,
    /// When its share began to grow.
    since: Time,
    usable: bool,
}

/// Consecutive failures that eject an endpoint.
const MOST_FAILURES: u32 = 5;
/// The length of the first ejection; each further one is longer by this.
const EJECTION: Duration = Duration::from_secs(1);
const LONGEST_EJECTION: Duration = Duration::from_secs(30);
/// How long the share of a new or recovered endpoint grows.
const SLOW_START: Duration = Duration::from_secs(5);
/// Seconds after which an observation has a third of its weight.
const FADES: f64 = 10.0;
/// The weight of the last call in the share of unanswered calls.
const LAST: f64 = 0.1;
/// The lower limit of the expected share of answered calls.
const LEAST_ANSWERED: f64 = 0.01;
/// The expected latency, in seconds, before any answer.
const UNKNOWN: f64 = 1e-6;

impl Balancer {
    /// A number of endpoints, all usable.
    #[must_use]
    pub fn new(endpoints: usize) -> Self {
        let endpoint = Endpoint {
            in_flight: 0,
            latency: None,
            seen: None,
            unanswered: 0.0,
            failed: Time::ZERO,
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

    /// Sets whether an endpoint can be called, for example whether it has a connection. An endpoint that becomes usable
    /// begins with a small share.
    pub fn set_usable(&mut self, endpoint: usize, now: Time, usable: bool) {
        let endpoint = &mut self.endpoints[endpoint];
        if usable && !endpoint.usable {
            endpoint.since = now;
            endpoint.failures = 0;
            endpoint.ejections = 0;
            endpoint.ejected = now;
            endpoint.latency = None;
            endpoint.seen = None;
            endpoint.unanswered = 0.0;
        }
        endpoint.usable = usable;
    }

    /// The endpoint to call next. `first` and `second` are random numbers from 0 to 1. `None` if no endpoint is usable. If all
    /// usable endpoints are ejected, they are called nevertheless.
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
        // Different from the first.
        let b = at(second, count - 1);
        let b = if b >= a { b + 1 } else { b };
        let (a, b) = (nth(a)?, nth(b)?);
        let (one, other) = (&self.endpoints[a], &self.endpoints[b]);
        // An endpoint without an answer is assumed to be as fast as the other.
        let known = one.latency.or(other.latency).unwrap_or(UNKNOWN);
        match other.cost(now, known) < one.cost(now, known) {
            true => Some(b),
            false => Some(a),
        }
    }

    /// A call to an endpoint begins.
    pub fn started(&mut self, endpoint: usize) {
        self.endpoints[endpoint].in_flight += 1;
    }

    /// Records the outcome of a call. A fault caused by the caller is an answer.
    ///
    /// Rejected and late calls raise the expected latency of the endpoint by the number of calls needed for an answer.
    pub fn ended(&mut self, endpoint: usize, now: Time, sample: Sample) {
        let endpoint = &mut self.endpoints[endpoint];
        endpoint.in_flight = endpoint.in_flight.saturating_sub(1);
        match sample {
            // The latency is taken as unchanged.
            Sample::Nothing => endpoint.seen = Some(now),
            Sample::Answered(took) => endpoint.answered(now, took.as_secs_f64()),
            Sample::Late | Sample::Refused => endpoint.failed(now),
        }
    }

    /// The number of calls in flight to an endpoint.
    #[must_use]
    pub fn in_flight(&self, endpoint: usize) -> u32 {
        self.endpoints[endpoint].in_flight
    }
}

impl Endpoint {
    fn answered(&mut self, now: Time, took: f64) {
        let took = took.max(UNKNOWN);
        self.latency = Some(match self.latency {
            // The geometric mean, so that an extreme latency is forgotten quickly too.
            Some(before) if took < before => took * (before / took).powf(self.known(now)),
            _ => took,
        });
        self.seen = Some(now);
        self.unanswered *= 1.0 - LAST;
        self.failures = 0;
        self.ejections = 0;
    }

    fn failed(&mut self, now: Time) {
        let unanswered = self.unanswered * left(self.failed, now);
        self.unanswered = unanswered + (1.0 - unanswered) * LAST;
        self.failed = now;
        if now < self.ejected {
            // The call began before the ejection.
            return;
        }
        self.failures += 1;
        if self.failures >= MOST_FAILURES {
            self.failures = 0;
            self.ejections += 1;
            let out = EJECTION.saturating_mul(self.ejections);
            self.ejected = now.after(out.min(LONGEST_EJECTION));
            self.since = self.ejected;
        }
    }

    /// The weight of the observed latency.
    fn known(&self, now: Time) -> f64 {
        self.seen.map_or(0.0, |seen| left(seen, now))
    }

    /// The expected wait of another call, in seconds, raised for an endpoint whose share still grows. `known`: the latency of
    /// an endpoint without answers.
    fn cost(&self, now: Time, known: f64) -> f64 {
        let latency = self.latency.unwrap_or(known);
        // Calls in flight are expected to take the observed latency; its weight only affects one further call.
        let wait = latency * (f64::from(self.in_flight) + self.known(now));
        let answered = (1.0 - self.unanswered * left(self.failed, now)).max(LEAST_ANSWERED);
        let share = now.since(self.since).as_secs_f64() / SLOW_START.as_secs_f64();
        let started = self.since == Time::ZERO || share >= 1.0;
        let share = if started { 1.0 } else { share.max(0.05) };
        wait.max(UNKNOWN) / (answered * share)
    }
}

/// The remaining weight of an observation.
fn left(seen: Time, now: Time) -> f64 {
    (-now.since(seen).as_secs_f64() / FADES).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reproducible random numbers.
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

    fn answered(millis: u64) -> Sample {
        Sample::Answered(Duration::from_millis(millis))
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
            balancer.ended(endpoint, at(1), answered(1));
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
    fn failing_endpoints_are_ejected_and_return_slowly() {
        let mut balancer = Balancer::new(2);
        let mut chance = chances();
        let mut share = |balancer: &Balancer, now: Time| {
            (0..1_000)
                .filter(|_| balancer.pick(now, chance(), chance()) == Some(0))
                .count()
        };
        for endpoint in [0, 1] {
            balancer.started(endpoint);
            balancer.ended(endpoint, at(0), answered(1));
        }
        for _ in 0..MOST_FAILURES {
            balancer.started(0);
            balancer.ended(0, at(1_000), Sample::Late);
        }
        assert_eq!(share(&balancer, at(1_999)), 0);
        // The endpoint is usable again, but costs more than an idle endpoint.
        assert_eq!(share(&balancer, at(2_100)), 0);
        for _ in 0..30 {
            balancer.started(1);
        }
        assert_eq!(share(&balancer, at(2_500)), 1_000);
        // The second ejection is longer.
        for _ in 0..MOST_FAILURES {
            balancer.ended(0, at(3_000), Sample::Late);
        }
        assert_eq!(share(&balancer, at(4_999)), 0);
        assert_eq!(share(&balancer, at(5_500)), 1_000);
    }

    #[test]
    fn failures_in_flight_cause_one_ejection() {
        let mut balancer = Balancer::new(2);
        for _ in 0..100 {
            balancer.ended(0, at(0), Sample::Late);
        }
        // The endpoint is ejected for 1 s and not for 20 s, although the other endpoint has calls in flight.
        (0..10).for_each(|_| balancer.started(1));
        assert!((0..10).all(|_| balancer.pick(at(999), 0.0, 0.0) == Some(1)));
        assert_eq!(balancer.pick(at(10_000), 0.0, 0.0), Some(0));
    }

    #[test]
    fn ejected_endpoints_are_called_if_there_are_no_others() {
        let mut balancer = Balancer::new(3);
        assert_eq!(Balancer::new(0).pick(at(0), 0.5, 0.5), None);
        for endpoint in 0..3 {
            for _ in 0..MOST_FAILURES {
                balancer.ended(endpoint, at(0), Sample::Late);
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

    /// Makes one call after another, every `each` milliseconds of the range `millis`. `took` is the latency of the two
    /// endpoints in milliseconds. Returns the number of calls of the first endpoint.
    fn asked(balancer: &mut Balancer, millis: (u64, u64), each: u64, took: [u64; 2]) -> usize {
        let mut chance = chances();
        let mut asked = [0; 2];
        for now in (millis.0..millis.1).step_by(each as usize) {
            let endpoint = balancer.pick(at(now), chance(), chance()).unwrap();
            asked[endpoint] += 1;
            balancer.started(endpoint);
            balancer.ended(endpoint, at(now), answered(took[endpoint]));
        }
        asked[0]
    }

    #[test]
    fn an_endpoint_that_was_slow_is_called_again() {
        let mut balancer = Balancer::new(2);
        balancer.started(0);
        balancer.ended(0, at(0), answered(3_000));
        balancer.started(1);
        balancer.ended(1, at(0), answered(5));
        assert_eq!(asked(&mut balancer, (0, 10_000), 10, [5, 5]), 0);
        // Once the endpoint is as fast as the other one, it gets an equal share.
        asked(&mut balancer, (10_000, 100_000), 10, [5, 5]);
        let share = asked(&mut balancer, (100_000, 110_000), 10, [5, 5]);
        assert!((300..700).contains(&share), "{share} of 1,000");
    }

    /// A slow endpoint is tried with one call, and gets no other call until that one is answered.
    #[test]
    fn a_slow_endpoint_gets_one_call_at_a_time() {
        let mut balancer = Balancer::new(2);
        for (endpoint, millis) in [(0, 3_000), (1, 5)] {
            balancer.started(endpoint);
            balancer.ended(endpoint, at(0), answered(millis));
        }
        let mut chance = chances();
        let mut open = None;
        let (mut tried, mut most) = (0, 0);
        for now in (0..600_000).step_by(10) {
            if open.is_some_and(|since| now - since >= 3_000) {
                balancer.ended(0, at(now), answered(3_000));
                open = None;
            }
            // The other endpoint has up to ten calls in flight.
            for _ in 0..10 {
                match balancer.pick(at(now), chance(), chance()).unwrap() {
                    0 => {
                        balancer.started(0);
                        tried += 1;
                        open = Some(now);
                        most = most.max(balancer.in_flight(0));
                    }
                    _ => balancer.started(1),
                }
            }
            while balancer.in_flight(1) > 0 {
                balancer.ended(1, at(now), answered(5));
            }
        }
        assert_eq!(most, 1);
        assert!((5..30).contains(&tried), "{tried} times in ten minutes");
    }

    #[test]
    fn a_reconnected_endpoint_starts_without_history() {
        let mut balancer = Balancer::new(2);
        for (endpoint, millis) in [(0, 3_000), (1, 5)] {
            balancer.started(endpoint);
            balancer.ended(endpoint, at(0), answered(millis));
        }
        balancer.set_usable(0, at(1_000), false);
        balancer.set_usable(0, at(2_000), true);
        asked(&mut balancer, (2_000, 8_000), 10, [5, 5]);
        let share = asked(&mut balancer, (8_000, 18_000), 10, [5, 5]);
        assert!((300..700).contains(&share), "{share} of 1,000");
    }

    /// The endpoint answers as fast as the other one, and never rejects five calls in a row, so it is not ejected.
    #[test]
    fn an_endpoint_that_rejects_some_calls_gets_fewer() {
        let mut balancer = Balancer::new(2);
        let mut chance = chances();
        let mut asked = [0; 2];
        for now in 0..20_000 {
            let endpoint = balancer.pick(at(now), chance(), chance()).unwrap();
            asked[endpoint] += 1;
            balancer.started(endpoint);
            let sample = match asked[0] % 4 {
                1 | 2 if endpoint == 0 => Sample::Refused,
                _ => answered(5),
            };
            balancer.ended(endpoint, at(now), sample);
        }
        assert!(asked[0] > 0 && asked[0] * 20 < asked[1], "{asked:?}");
    }

    #[test]
    fn calls_without_an_outcome_change_nothing() {
        let mut balancer = Balancer::new(2);
        for endpoint in [0, 1] {
            balancer.started(endpoint);
            balancer.ended(endpoint, at(0), answered(5));
        }
        for _ in 0..100 {
            balancer.started(0);
            balancer.ended(0, at(0), Sample::Nothing);
        }
        let share = asked(&mut balancer, (0, 10_000), 10, [5, 5]);
        assert!((300..700).contains(&share), "{share} of 1,000");
        // An endpoint without outcomes is not preferred as a fast one either.
        let mut balancer = Balancer::new(2);
        let mut chance = chances();
        let mut asked = [0; 2];
        for now in 0..1_000 {
            let endpoint = balancer.pick(at(now), chance(), chance()).unwrap();
            asked[endpoint] += 1;
            balancer.started(endpoint);
            let sample = [Sample::Nothing, answered(5)][endpoint];
            balancer.ended(endpoint, at(now), sample);
        }
        assert!((300..700).contains(&asked[0]), "{asked:?}");
    }
}
