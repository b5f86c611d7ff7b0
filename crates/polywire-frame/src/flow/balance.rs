//! Which of several endpoints to ask.

use std::time::Duration;

use super::Sample;
use crate::Time;

/// Picks among endpoints the better of two that chance names: the one that is expected to answer
/// sooner, by the calls that it has in flight, by how long its answers took of late, and by how many
/// calls were answered at all.
///
/// Two random ones, and not the best of all: if each client asked the one that looks best, they would
/// all ask the same (Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing", 2001). An
/// endpoint whose calls keep failing is left out for a while, ever longer, and one that is new or back
/// is given its share bit by bit.
///
/// How long answers take is a mean that goes up at once and down with the time ("peak EWMA", as
/// Finagle has it). What was seen loses its weight though nothing is asked, within some ten seconds:
/// an endpoint that was slow is asked again, by one call at first.
///
/// ```
/// use std::time::Duration;
/// use polywire_frame::Time;
/// use polywire_frame::flow::{Balancer, Sample};
///
/// let mut balancer = Balancer::new(2);
/// let now = Time::ZERO;
/// // The first is slow, which its answers have told.
/// for (endpoint, millis) in [(0, 50), (1, 1)] {
///     balancer.started(endpoint);
///     balancer.ended(endpoint, now, Sample::Answered(Duration::from_millis(millis)));
/// }
/// assert_eq!(balancer.pick(now, 0.1, 0.9), Some(1));
/// // A while later nobody knows whether it still is.
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
    /// Seconds; nothing, while it has answered nothing.
    latency: Option<f64>,
    /// When a call last ended that says how long answers take, or that they take as long as before.
    seen: Option<Time>,
    /// The share of calls that it did not answer, as of the last of them.
    unanswered: f64,
    failed: Time,
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
/// Seconds after which what was seen has a third of its weight.
const FADES: f64 = 10.0;
/// The weight of the last call, where it is about whether calls are answered.
const LAST: f64 = 0.1;
/// The least share of calls that is expected to be answered.
const LEAST_ANSWERED: f64 = 0.01;
/// Seconds that are expected of answers where nobody has given any.
const UNKNOWN: f64 = 1e-6;

impl Balancer {
    /// So many endpoints, all of which may be asked.
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
            endpoint.latency = None;
            endpoint.seen = None;
            endpoint.unanswered = 0.0;
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
        let (one, other) = (&self.endpoints[a], &self.endpoints[b]);
        // Until it has answered, who is asked for the first time is taken to be as fast as the other.
        let known = one.latency.or(other.latency).unwrap_or(UNKNOWN);
        match other.cost(now, known) < one.cost(now, known) {
            true => Some(b),
            false => Some(a),
        }
    }

    /// A call of an endpoint begins.
    pub fn started(&mut self, endpoint: usize) {
        self.endpoints[endpoint].in_flight += 1;
    }

    /// A call has ended, and this has come of it. A fault that is the caller's own is an answer.
    ///
    /// A call that was refused, or was not answered in its time, makes its endpoint look as much slower
    /// as it takes more calls to get one answered.
    pub fn ended(&mut self, endpoint: usize, now: Time, sample: Sample) {
        let endpoint = &mut self.endpoints[endpoint];
        endpoint.in_flight = endpoint.in_flight.saturating_sub(1);
        match sample {
            // It was asked, and nobody knows more than before.
            Sample::Nothing => endpoint.seen = Some(now),
            Sample::Answered(took) => endpoint.answered(now, took.as_secs_f64()),
            Sample::Late | Sample::Refused => endpoint.failed(now),
        }
    }

    /// Calls in flight to an endpoint.
    #[must_use]
    pub fn in_flight(&self, endpoint: usize) -> u32 {
        self.endpoints[endpoint].in_flight
    }
}

impl Endpoint {
    fn answered(&mut self, now: Time, took: f64) {
        let took = took.max(UNKNOWN);
        self.latency = Some(match self.latency {
            // The geometric mean: what was a thousand times as long is soon forgotten too.
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
            // It began before.
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

    /// How much of what is known of its answers still holds.
    fn known(&self, now: Time) -> f64 {
        self.seen.map_or(0.0, |seen| left(seen, now))
    }

    /// What a further call would wait, in seconds, where answers take as long as is `known` of others if
    /// this one has given none; more for one whose share is to be small.
    fn cost(&self, now: Time, known: f64) -> f64 {
        let latency = self.latency.unwrap_or(known);
        // Those in flight wait as long as others did before: that it is faster now is for one to show.
        let wait = latency * (f64::from(self.in_flight) + self.known(now));
        let answered = (1.0 - self.unanswered * left(self.failed, now)).max(LEAST_ANSWERED);
        let share = now.since(self.since).as_secs_f64() / SLOW_START.as_secs_f64();
        let started = self.since == Time::ZERO || share >= 1.0;
        let share = if started { 1.0 } else { share.max(0.05) };
        wait.max(UNKNOWN) / (answered * share)
    }
}

/// The weight that is left of what was seen then.
fn left(seen: Time, now: Time) -> f64 {
    (-now.since(seen).as_secs_f64() / FADES).exp()
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
            balancer.ended(endpoint, at(0), answered(1));
        }
        for _ in 0..MOST_FAILURES {
            balancer.started(0);
            balancer.ended(0, at(1_000), Sample::Late);
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
            balancer.ended(0, at(3_000), Sample::Late);
        }
        assert_eq!(share(&balancer, at(4_999)), 0);
        assert_eq!(share(&balancer, at(5_500)), 1_000);
    }

    #[test]
    fn what_was_in_flight_counts_once() {
        let mut balancer = Balancer::new(2);
        for _ in 0..100 {
            balancer.ended(0, at(0), Sample::Late);
        }
        // Left out for a second, and not for twenty, though the other has much to do.
        (0..10).for_each(|_| balancer.started(1));
        assert!((0..10).all(|_| balancer.pick(at(999), 0.0, 0.0) == Some(1)));
        assert_eq!(balancer.pick(at(10_000), 0.0, 0.0), Some(0));
    }

    #[test]
    fn where_nobody_is_well_somebody_is_asked() {
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

    /// Calls of a server that takes so long, one every `each` milliseconds while there is nothing else to
    /// do, from the one time to the other: how many of them the first of two endpoints got.
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
    fn who_was_slow_once_is_asked_again() {
        let mut balancer = Balancer::new(2);
        balancer.started(0);
        balancer.ended(0, at(0), answered(3_000));
        balancer.started(1);
        balancer.ended(1, at(0), answered(5));
        assert_eq!(asked(&mut balancer, (0, 10_000), 10, [5, 5]), 0);
        // As fast as the other, it has as much to do before long.
        asked(&mut balancer, (10_000, 100_000), 10, [5, 5]);
        let share = asked(&mut balancer, (100_000, 110_000), 10, [5, 5]);
        assert!((300..700).contains(&share), "{share} of 1,000");
    }

    /// What is tried is one call, and not all that come until it is answered.
    #[test]
    fn who_is_slow_for_good_is_asked_by_one_call_now_and_then() {
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
            // The other has ten calls in flight all the time.
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
    fn who_is_back_is_another() {
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

    /// It answers as fast as the other, where it does, and never refuses five one after the other.
    #[test]
    fn who_refuses_now_and_then_is_asked_less() {
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
    fn what_says_nothing_changes_nothing() {
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
        // Nor is one that never answers taken for a fast one, again and again.
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
