//! The retries of the SDKs of AWS, with a clock and random numbers.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::HeaderMap;
use polywire_aws::retry::{
    Attempts, Decision, Failure, Modelled, Outcome, RateLimiter, RetryQuota, RetrySettings,
    TransportError, retry_after,
};
use polywire_protocol::{FaultKind, Retry};
use tokio::time::Instant;

use super::authenticator::now;
use crate::client::{CallRetries, FailedAttempt, RetryPolicy};
use crate::random::Random;
use crate::{CallError, CallErrorKind};

/// Retries as the SDKs of AWS do them ([`polywire_aws::retry`]): a quota for all calls of a client, delays with jitter that
/// grow, and the delay that the service asks for in `x-amz-retry-after` or `retry-after`.
///
/// Only calls are repeated that cannot do anything twice ([`FailedAttempt::is_safe`]).
/// [`with_any_operation`](Self::with_any_operation) drops this condition.
///
/// Clones share the quota.
///
/// ```
/// use polywire_protocol::ProtocolKind;
/// use polywire_rpc::aws::{Credentials, Retries, Signer};
/// use polywire_rpc::{Client, ClientBuilder, ServiceHandle};
///
/// fn dynamodb(service: ServiceHandle) -> ClientBuilder {
///     let credentials = Credentials::new("AKIDEXAMPLE", "a secret of 40 characters");
///     Client::builder(service, ProtocolKind::AwsJson1_0)
///         .interceptor(Signer::new(credentials, "us-east-1", "dynamodb"))
///         .retry(Retries::standard().with_max_attempts(4).with_any_operation(true))
/// }
/// ```
#[derive(Clone)]
pub struct Retries {
    settings: RetrySettings,
    is_adaptive: bool,
    any_operation: bool,
    shared: Arc<Shared>,
}

/// What all calls share. Locked briefly.
struct Shared {
    start: Instant,
    state: Mutex<State>,
}

struct State {
    quota: RetryQuota,
    limiter: RateLimiter,
    random: Random,
}

impl Retries {
    /// The standard mode: [`RetrySettings::STANDARD`].
    #[must_use]
    pub fn standard() -> Self {
        Self::new(RetrySettings::STANDARD, false)
    }

    /// The adaptive mode: the standard mode, and a limit of the rate of calls once the service has throttled one.
    #[must_use]
    pub fn adaptive() -> Self {
        Self::new(RetrySettings::STANDARD, true)
    }

    fn new(settings: RetrySettings, is_adaptive: bool) -> Self {
        let state = State {
            quota: RetryQuota::new(&settings),
            limiter: RateLimiter::new(Duration::ZERO),
            random: Random::new(None),
        };
        let shared = Shared {
            start: Instant::now(),
            state: Mutex::new(state),
        };
        Self {
            settings,
            is_adaptive,
            any_operation: false,
            shared: Arc::new(shared),
        }
    }

    /// The same mode with other numbers, and a quota of its own.
    #[must_use]
    pub fn with_settings(self, settings: RetrySettings) -> Self {
        Self {
            any_operation: self.any_operation,
            ..Self::new(settings, self.is_adaptive)
        }
    }

    /// Sets the largest number of attempts of a call, with the first. The default is 3; 0 means 1.
    #[must_use]
    pub const fn with_max_attempts(mut self, attempts: u32) -> Self {
        self.settings.max_attempts = attempts;
        self
    }

    /// Sets whether calls are also repeated if their operation is not known to be idempotent, and the server may have
    /// executed them: after a status 500, a timeout, or the end of the connection. The SDKs of AWS do this, as most of the
    /// operations of AWS lack the trait. Default: no.
    #[must_use]
    pub const fn with_any_operation(mut self, any_operation: bool) -> Self {
        self.any_operation = any_operation;
        self
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RetryPolicy for Retries {
    fn max_attempts(&self) -> u32 {
        self.settings.max_attempts.max(1)
    }

    fn start(&self) -> Box<dyn CallRetries> {
        Box::new(AwsCall {
            retries: self.clone(),
            attempts: Attempts::new(),
        })
    }
}

/// One call.
struct AwsCall {
    retries: Retries,
    attempts: Attempts,
}

impl CallRetries for AwsCall {
    fn wait(&mut self) -> Option<Duration> {
        if !self.retries.is_adaptive {
            return None;
        }
        let shared = &self.retries.shared;
        let now = shared.start.elapsed();
        shared.state().limiter.acquire(now).err()
    }

    fn failed(&mut self, attempt: &FailedAttempt<'_>) -> Option<Duration> {
        let own = &self.retries;
        let failure = classify(attempt);
        let elapsed = own.shared.start.elapsed();
        let mut state = own.shared.state();
        let state = &mut *state;
        if own.is_adaptive {
            let is_throttling = failure == Failure::Throttling;
            state.limiter.responded(elapsed, is_throttling);
        }
        let may_repeat = attempt.is_resendable && (attempt.is_safe || own.any_operation);
        let failure = match may_repeat {
            true => failure,
            false => Failure::Permanent,
        };
        let requested = attempt.response.and_then(|head| requested(&head.headers));
        let random = state.random.fraction();
        let decision =
            self.attempts
                .failed(&own.settings, &mut state.quota, failure, requested, random);
        match decision {
            Decision::Retry { delay } => Some(delay),
            Decision::Stop(_) => None,
        }
    }

    fn succeeded(&mut self) {
        let own = &self.retries;
        let elapsed = own.shared.start.elapsed();
        let mut state = own.shared.state();
        if own.is_adaptive {
            state.limiter.responded(elapsed, false);
        }
        let attempts = std::mem::take(&mut self.attempts);
        attempts.succeeded(&own.settings, &mut state.quota);
    }
}

fn requested(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    retry_after(text("x-amz-retry-after"), text("retry-after"), now())
}

fn classify(attempt: &FailedAttempt<'_>) -> Failure {
    let error = attempt.error;
    let fault = error.fault();
    let modelled = fault.and_then(|fault| match fault.retry() {
        // By its traits or its name.
        Retry::Throttled => Some(Modelled::Throttling),
        _ if fault.kind() != FaultKind::Modelled => None,
        Retry::Yes => Some(Modelled::Retryable),
        Retry::No => Some(Modelled::NotRetryable),
    });
    Outcome {
        code: fault.map(|fault| fault.name()),
        modelled,
        status: attempt.response.map(|head| match fault {
            // S3 has errors in responses that began before it knew.
            Some(fault) if head.status.is_success() => fault.status().as_u16(),
            _ => head.status.as_u16(),
        }),
        transport: match attempt.response {
            Some(_) => None,
            None => transport_error(error),
        },
    }
    .classify()
}

fn transport_error(error: &CallError) -> Option<TransportError> {
    let transport = error.transport()?;
    Some(match error.kind() {
        _ if transport.is_untrusted() => TransportError::Other,
        _ if transport.is_timeout() => TransportError::Timeout,
        CallErrorKind::Connect | CallErrorKind::Disconnected => TransportError::Connection,
        _ => TransportError::Other,
    })
}

impl fmt::Debug for Retries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retries")
            .field("settings", &self.settings)
            .field("is_adaptive", &self.is_adaptive)
            .field("any_operation", &self.any_operation)
            .finish_non_exhaustive()
    }
}
