//! The delays between calls.

use std::time::Duration;

use polywire_aws::waiter::{Step, WaitFailure, Waiter};
use proptest::prelude::*;
use serde_json::json;

fn waiter(min: u64, max: u64) -> Waiter {
    let acceptors = json!([{ "state": "success", "matcher": { "errorType": "Never" } }]);
    Waiter::from_json(&json!({ "acceptors": acceptors, "minDelay": min, "maxDelay": max })).unwrap()
}

/// The delays in seconds of a waiter whose calls take no time.
fn delays(waiter: &Waiter, max_wait: u64, random: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut waiting = waiter.start(Duration::from_secs(max_wait));
    let (mut elapsed, mut delays) = (Duration::ZERO, Vec::new());
    loop {
        match waiting.responded(elapsed, &json!({}), Ok(&json!({})), random(delays.len())) {
            Step::Wait(delay) => {
                elapsed += delay;
                delays.push(delay.as_secs_f64());
            }
            step => {
                assert_eq!(step, Step::Failed(WaitFailure::TimedOut));
                return delays;
            }
        }
    }
}

#[test]
fn the_longest_delays_double_up_to_the_maximum() {
    let found = delays(&waiter(2, 120), 600, |_| 1.0);
    assert_eq!(
        found,
        [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 120.0, 120.0, 120.0, 114.0]
    );
    // Maxima that are no power of two times the minimum.
    assert_eq!(delays(&waiter(5, 7), 25, |_| 1.0), [5.0, 7.0, 7.0, 6.0]);
}

/// The example of the specification: its random delays, and the last call when the time ends.
#[test]
fn the_last_delay_is_the_remaining_time() {
    let example = [
        2.0, 3.0, 6.0, 6.0, 22.0, 62.0, 43.0, 24.0, 71.0, 42.0, 9.0, 6.0,
    ];
    let random = |attempt: usize| {
        let longest = f64::min(120.0, 2.0 * 2_f64.powi(attempt as i32));
        match example.get(attempt) {
            Some(delay) if longest > 2.0 => (delay - 2.0) / (longest - 2.0),
            _ => 0.0,
        }
    };
    let found = delays(&waiter(2, 120), 300, random);
    let rounded: Vec<f64> = found.iter().map(|delay| delay.round()).collect();
    let mut expected = example.to_vec();
    expected.push(4.0);
    assert_eq!(rounded, expected);
}

#[test]
fn without_time_there_is_one_call() {
    assert!(delays(&waiter(2, 120), 0, |_| 0.5).is_empty());
    assert_eq!(delays(&waiter(2, 120), 1, |_| 0.5), [1.0]);
}

#[test]
fn defaults_are_2_and_120_seconds() {
    let acceptors = json!([{ "state": "success", "matcher": { "success": true } }]);
    let waiter = Waiter::from_json(&json!({ "acceptors": acceptors })).unwrap();
    assert_eq!(waiter.min_delay(), Duration::from_secs(2));
    assert_eq!(waiter.max_delay(), Duration::from_secs(120));
}

proptest! {
    #[test]
    fn delays_stay_in_their_range_and_use_all_the_time(
        min in 1_u64..100,
        extra in 0_u64..1_000,
        max_wait in 0_u64..10_000,
        random in prop::collection::vec(any::<f64>(), 1..20),
    ) {
        let found = delays(&waiter(min, min + extra), max_wait, |attempt| random[attempt % random.len()]);
        let total: f64 = found.iter().sum();
        prop_assert!((total - max_wait as f64).abs() < 1e-3);
        for delay in found.iter().rev().skip(1) {
            prop_assert!((min as f64..=(min + extra) as f64).contains(delay), "{found:?}");
        }
    }
}
