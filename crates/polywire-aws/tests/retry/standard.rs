//! The standard mode.

use std::time::Duration;

use polywire_aws::retry::{
    Attempts, Decision, Failure, Modelled, Outcome, RetryQuota, RetrySettings, Stop,
    TransportError, retry_after,
};
use polywire_text::Timestamp;
use proptest::prelude::*;

const SETTINGS: RetrySettings = RetrySettings::STANDARD;

fn retry(seconds: f64) -> Decision {
    Decision::Retry {
        delay: Duration::from_secs_f64(seconds),
    }
}

/// A step of a call: the failure, the expected decision, and the tokens that are left.
type Step = (Failure, Decision, u32);

fn check(settings: &RetrySettings, quota: &mut RetryQuota, steps: &[Step]) -> Attempts {
    let mut attempts = Attempts::new();
    for (failure, expected, left) in steps {
        let found = attempts.failed(settings, quota, *failure, None, 1.0);
        assert_eq!((found, quota.available()), (*expected, *left));
    }
    attempts
}

#[test]
fn a_call_that_succeeds_puts_back_the_tokens_of_its_last_retry() {
    let mut quota = RetryQuota::new(&SETTINGS);
    let steps = [
        (Failure::Transient, retry(1.0), 495),
        (Failure::Transient, retry(2.0), 490),
    ];
    check(&SETTINGS, &mut quota, &steps).succeeded(&SETTINGS, &mut quota);
    assert_eq!(quota.available(), 495);
    Attempts::new().succeeded(&SETTINGS, &mut quota);
    assert_eq!(quota.available(), 496);
}

#[test]
fn the_third_attempt_is_the_last() {
    let mut quota = RetryQuota::new(&SETTINGS);
    let steps = [
        (Failure::Throttling, retry(1.0), 495),
        (Failure::Timeout, retry(2.0), 485),
        (Failure::Transient, Decision::Stop(Stop::MaxAttempts), 485),
    ];
    check(&SETTINGS, &mut quota, &steps);
}

#[test]
fn without_tokens_there_are_no_retries() {
    let mut settings = SETTINGS;
    settings.capacity = 5;
    let mut quota = RetryQuota::new(&settings);
    let steps = [
        (Failure::Timeout, Decision::Stop(Stop::QuotaExhausted), 5),
        (Failure::Transient, retry(2.0), 0),
    ];
    check(&settings, &mut quota, &steps);
    let steps = [(Failure::Transient, Decision::Stop(Stop::QuotaExhausted), 0)];
    check(&settings, &mut quota, &steps);
    // Successes fill the bucket again, up to its capacity.
    for expected in [1, 2, 3, 4, 5, 5] {
        Attempts::new().succeeded(&settings, &mut quota);
        assert_eq!(quota.available(), expected);
    }
}

#[test]
fn permanent_failures_are_not_retried() {
    let mut quota = RetryQuota::new(&SETTINGS);
    let steps = [(Failure::Permanent, Decision::Stop(Stop::NotRetryable), 500)];
    check(&SETTINGS, &mut quota, &steps);
}

#[test]
fn delays_double_up_to_20_seconds() {
    let delays = |settings: &RetrySettings, failure| -> Vec<f64> {
        (1..12)
            .map(|retry| settings.delay(failure, retry, 1.0).as_secs_f64())
            .collect()
    };
    let slow = [1.0, 2.0, 4.0, 8.0, 16.0, 20.0, 20.0, 20.0, 20.0, 20.0, 20.0];
    assert_eq!(delays(&SETTINGS, Failure::Transient), slow);
    let fast = [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 20.0, 20.0];
    assert_eq!(
        delays(&RetrySettings::STANDARD_2026, Failure::Transient),
        fast
    );
    assert_eq!(
        delays(&RetrySettings::STANDARD_2026, Failure::Throttling),
        slow
    );
}

#[test]
fn dynamodb_has_four_attempts() {
    let settings = RetrySettings::DYNAMODB_2026;
    let mut quota = RetryQuota::new(&settings);
    let steps = [
        (Failure::Transient, retry(0.025), 486),
        (Failure::Transient, retry(0.05), 472),
        (Failure::Transient, retry(0.1), 458),
        (Failure::Transient, Decision::Stop(Stop::MaxAttempts), 458),
    ];
    check(&settings, &mut quota, &steps);
}

/// The published table of `x-amz-retry-after`.
#[test]
fn a_requested_delay_is_honored_within_limits() {
    let settings = RetrySettings::STANDARD_2026;
    for (header, seconds) in [
        ("1500", 1.5),
        ("0", 0.05),
        ("10000", 5.05),
        ("invalid", 0.05),
        ("-100", 0.05),
        ("99999999999999999999999", 0.05),
    ] {
        let mut quota = RetryQuota::new(&settings);
        let mut attempts = Attempts::new();
        let requested = retry_after(
            Some(header),
            None,
            Timestamp::parse_epoch_seconds("0").unwrap(),
        );
        let found = attempts.failed(&settings, &mut quota, Failure::Transient, requested, 1.0);
        assert_eq!(
            (found, quota.available()),
            (retry(seconds), 486),
            "{header}"
        );
        attempts.succeeded(&settings, &mut quota);
        assert_eq!(quota.available(), 500);
    }
}

#[test]
fn failures_are_classified() {
    let none = Outcome::default();
    let code = |code: &'static str, status| Outcome {
        code: Some(code),
        status: Some(status),
        ..none
    };
    let status = |status| Outcome {
        status: Some(status),
        ..none
    };
    let transport = |error| Outcome {
        transport: Some(error),
        ..none
    };
    let modelled = |modelled, outcome| Outcome {
        modelled: Some(modelled),
        ..outcome
    };
    for (outcome, expected) in [
        (none, Failure::Permanent),
        (code("RequestTimeout", 400), Failure::Transient),
        (code("ValidationException", 400), Failure::Permanent),
        (code("Unknown", 503), Failure::Transient),
        (status(200), Failure::Permanent),
        (status(429), Failure::Throttling),
        (status(500), Failure::Transient),
        (status(501), Failure::Permanent),
        (status(504), Failure::Transient),
        (transport(TransportError::Connection), Failure::Transient),
        (transport(TransportError::Timeout), Failure::Timeout),
        (transport(TransportError::Other), Failure::Permanent),
        (
            modelled(Modelled::Retryable, code("A", 400)),
            Failure::Transient,
        ),
        (
            modelled(Modelled::Throttling, code("A", 400)),
            Failure::Throttling,
        ),
        (
            modelled(Modelled::Retryable, status(429)),
            Failure::Transient,
        ),
        (
            modelled(Modelled::NotRetryable, status(429)),
            Failure::Permanent,
        ),
        (
            modelled(Modelled::NotRetryable, status(500)),
            Failure::Transient,
        ),
    ] {
        assert_eq!(outcome.classify(), expected, "{outcome:?}");
    }
}

proptest! {
    #[test]
    fn delays_and_tokens_stay_in_their_ranges(
        failures in prop::collection::vec((0..4_usize, any::<f64>(), any::<Option<u32>>()), 0..40),
    ) {
        let mut quota = RetryQuota::new(&SETTINGS);
        let mut attempts = Attempts::new();
        for (kind, random, requested) in failures {
            let failure = [Failure::Permanent, Failure::Throttling, Failure::Timeout, Failure::Transient][kind];
            let requested = requested.map(|seconds| Duration::from_secs(seconds.into()));
            match attempts.failed(&SETTINGS, &mut quota, failure, requested, random) {
                Decision::Retry { delay } => prop_assert!(delay <= Duration::from_secs(25)),
                Decision::Stop(_) => {
                    if kind == 3 {
                        std::mem::take(&mut attempts).succeeded(&SETTINGS, &mut quota);
                    }
                    attempts = Attempts::new();
                }
            }
            prop_assert!(quota.available() <= 500);
        }
    }
}
