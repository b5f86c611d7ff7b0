//! The rate limiter of the adaptive mode.

use std::time::Duration;

use polywire_aws::retry::RateLimiter;

fn at(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// The published table: time, whether the response is throttling, and the expected measured rate and limit.
#[test]
fn rates_follow_the_published_table() {
    let mut limiter = RateLimiter::new(Duration::ZERO);
    for (seconds, is_throttling, measured, limit) in [
        (0.2, false, 0.0, 0.5),
        (0.4, false, 0.0, 0.5),
        (0.6, false, 4.8, 0.5),
        (0.8, false, 4.8, 0.5),
        (1.0, false, 4.16, 0.5),
        (1.2, false, 4.16, 0.6912),
        (1.4, false, 4.16, 1.0976),
        (1.6, false, 5.632, 1.6384),
        (1.8, false, 5.632, 2.3328),
        (2.0, true, 4.3264, 3.02848),
        (2.2, false, 4.3264, 3.486_639),
        (2.4, false, 4.3264, 3.821_874),
        (2.6, false, 5.665_28, 4.053_386),
        (2.8, false, 5.665_28, 4.200_373),
        (3.0, false, 4.333_056, 4.282_037),
        (3.2, true, 4.333_056, 2.997_426),
        (3.4, false, 4.333_056, 3.452_226),
    ] {
        limiter.responded(at(seconds), is_throttling);
        let found = limiter.measured_rate();
        assert!(
            (found - measured).abs() < 1e-5,
            "{seconds}: measured {found}"
        );
        if let Some(found) = limiter.rate() {
            assert!((found - limit).abs() < 1e-5, "{seconds}: limit {found}");
        } else {
            assert!(seconds < 2.0);
        }
    }
}

#[test]
fn waits_are_as_long_as_the_next_token_takes() {
    let mut limiter = RateLimiter::new(Duration::ZERO);
    // Ten responses a second, then throttling.
    for step in 1..=100 {
        limiter.responded(at(f64::from(step) / 10.0), false);
    }
    limiter.responded(at(10.0), true);
    let rate = limiter.rate().unwrap();
    assert!((6.5..7.5).contains(&rate), "{rate}");
    // Calls as often as allowed, without responses: the bucket, then one per `1 / rate`.
    let (mut now, mut sent) = (10.0, 0);
    while now < 110.0 {
        match limiter.acquire(at(now)) {
            Ok(()) => sent += 1,
            Err(wait) => now += wait.as_secs_f64() + 1e-9,
        }
    }
    let expected = 100.0 * rate + rate;
    assert!(
        (f64::from(sent) - expected).abs() < rate + 2.0,
        "{sent} of {expected}"
    );
}

/// A service accepts five calls a second, and the client has 50 to send.
#[test]
fn a_throttled_client_settles_near_the_rate_of_the_service() {
    let mut limiter = RateLimiter::new(Duration::ZERO);
    let (mut accepted, mut throttled) = (0, 0);
    let (mut window, mut in_window) = (0, 0);
    for step in 0..6_000 {
        let now = f64::from(step) / 50.0;
        if limiter.acquire(at(now)).is_err() {
            continue;
        }
        if step / 50 != window {
            (window, in_window) = (step / 50, 0);
        }
        let is_throttling = in_window >= 5;
        in_window += u32::from(!is_throttling);
        limiter.responded(at(now), is_throttling);
        if now > 20.0 {
            accepted += u32::from(!is_throttling);
            throttled += u32::from(is_throttling);
        }
    }
    // Of 500 that the service would accept.
    assert!(accepted > 300, "{accepted} accepted");
    assert!(throttled < accepted / 2, "{throttled} throttled");
}

#[test]
fn time_does_not_go_back() {
    let mut limiter = RateLimiter::new(at(100.0));
    limiter.responded(at(200.0), true);
    limiter.responded(at(0.0), false);
    assert_eq!(limiter.acquire(at(0.0)), Ok(()));
    assert!(limiter.acquire(at(0.0)).unwrap_err() <= Duration::from_secs(2));
    limiter.responded(Duration::MAX, false);
    limiter.responded(Duration::MAX, true);
    let _ = limiter.acquire(Duration::MAX);
    assert!(limiter.rate().unwrap().is_finite());
}

/// The curve grows without bound, but the limit is at most twice the measured rate.
#[test]
fn a_slow_client_does_not_gain_a_high_limit() {
    let mut limiter = RateLimiter::new(Duration::ZERO);
    for second in 1..=1_000 {
        limiter.responded(at(f64::from(second)), second == 5);
    }
    assert!((limiter.measured_rate() - 1.0).abs() < 1e-6);
    assert!((limiter.rate().unwrap() - 2.0).abs() < 1e-6);
}
