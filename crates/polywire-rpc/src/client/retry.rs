//! Sending a failed call again.
//!
//! What is safe, how often and when depends on the client:
//!
//! - This client follows a [`RetryPolicy`] that the program chooses. [`CallError::is_repeatable`] says what is safe.
//!   `aws::Retries` is the policy of the SDKs of AWS, without I/O in `polywire_aws::retry`.
//! - The [XML-RPC client](crate::xmlrpc) retries only calls that the program marks as idempotent, by default twice: if the
//!   connection is refused, if an idle connection was closed, or after the time in `Retry-After`.
//! - The [client of frames](crate::frames) chooses another connection for each attempt, and its servers say in each fault
//!   whether the call was started. Its budget is that of `polywire_frame::flow`.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, response};
use polywire_protocol::{Fault, Outcome, PayloadStream};
use polywire_schema::{Body, Operation, OperationFlags, ShapeFlags};
use uuid::Uuid;

use super::web::Http;
use super::{Client, Exchange, ResponseMode};
use crate::CallError;
use crate::call::CallTimeout;

/// Decides which failed calls of a [`Client`] over HTTP are sent again, and when.
///
/// [`ClientBuilder::retry`](crate::ClientBuilder::retry) sets it. One policy can serve several clients, which share its
/// budget then.
///
/// ```
/// use std::time::Duration;
/// use polywire_rpc::client::{CallRetries, FailedAttempt, RetryPolicy};
///
/// /// Up to three attempts, 50 ms apart.
/// #[derive(Debug)]
/// struct Three;
///
/// impl RetryPolicy for Three {
///     fn max_attempts(&self) -> u32 {
///         3
///     }
///
///     fn start(&self) -> Box<dyn CallRetries> {
///         struct Call;
///         impl CallRetries for Call {
///             fn failed(&mut self, attempt: &FailedAttempt<'_>) -> Option<Duration> {
///                 let again = attempt.number < 3 && attempt.is_safe && attempt.error.is_retryable();
///                 again.then_some(Duration::from_millis(50))
///             }
///         }
///         Box::new(Call)
///     }
/// }
/// ```
pub trait RetryPolicy: fmt::Debug + Send + Sync + 'static {
    /// The largest number of attempts of a call, with the first.
    fn max_attempts(&self) -> u32;

    /// The state of a call that begins.
    fn start(&self) -> Box<dyn CallRetries>;
}

/// The attempts of one call.
pub trait CallRetries: Send {
    /// Asks whether an attempt can begin. `Some` is a time to wait; then the client asks again.
    fn wait(&mut self) -> Option<Duration> {
        None
    }

    /// Decides after a failed attempt: `Some` is the time after which the call is sent again. The client reports the
    /// failure instead if its deadline is earlier.
    fn failed(&mut self, attempt: &FailedAttempt<'_>) -> Option<Duration>;

    /// The call has succeeded.
    fn succeeded(&mut self) {}
}

/// An attempt that failed.
#[derive(Debug)]
#[non_exhaustive]
pub struct FailedAttempt<'a> {
    /// 1 for the first.
    pub number: u32,
    /// Why. A modelled error does not have its members yet.
    pub error: &'a CallError,
    /// The head of the response, if there was one.
    pub response: Option<&'a response::Parts>,
    /// Whether the request can be sent again: its body was not a stream that has been read.
    pub is_resendable: bool,
    /// Whether sending it again cannot do anything twice: nothing was sent, the operation is idempotent, or the server says
    /// that the call can be retried. Operations are idempotent with `@readonly`, `@idempotent`, an idempotency token, or an
    /// idempotent HTTP method (RFC 9110, section 9.2.2).
    pub is_safe: bool,
}

/// In the extensions of a request before an [`Interceptor`](super::Interceptor) sees it: which attempt of its call it is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Attempt {
    /// The same for all attempts of a call.
    pub call: Uuid,
    /// 1 for the first.
    pub number: u32,
    /// The largest number of attempts.
    pub max: u32,
}

impl Attempt {
    /// The only attempt of a call.
    pub(crate) fn only() -> Self {
        Self {
            call: Uuid::new_v4(),
            number: 1,
            max: 1,
        }
    }
}

impl Client {
    /// Sends a request until it succeeds, the policy stops, or the deadline passes.
    pub(super) async fn exchange_with_retries(
        &self,
        http: &Http,
        policy: &dyn RetryPolicy,
        mut request: Request<Bytes>,
        operation: Operation<'_>,
        mode: ResponseMode,
        mut show: Option<&mut impl FnMut(&Exchange)>,
    ) -> Result<(response::Parts, Body), CallError> {
        let timeout = CallTimeout::start(self.inner.deadline);
        let stream = request.extensions().get::<PayloadStream>();
        let is_resendable = stream.is_none_or(|PayloadStream(stream)| stream.as_blob().is_some());
        let is_idempotent = is_idempotent(operation, &request);
        let mut retries = policy.start();
        let mut attempt = Attempt {
            max: policy.max_attempts(),
            ..Attempt::only()
        };
        // Whether the server may have executed an earlier attempt.
        let mut is_started = false;
        loop {
            while let Some(wait) = retries.wait() {
                if !timeout.allows(wait) {
                    return Err(CallError::deadline(Some(self.inner.deadline)));
                }
                tokio::time::sleep(wait).await;
            }
            let mut sent = match is_resendable {
                true => request.clone(),
                false => std::mem::take(&mut request),
            };
            sent.extensions_mut().insert(attempt);
            let show = show.as_deref_mut();
            let sending = self.attempt_http(http, sent, Some(operation), mode, show, timeout);
            let result = sending.await;
            let failure = match &result {
                Ok((head, body)) => self.failure(operation, head, body),
                Err(error) => Some(error.clone()),
            };
            let Some(error) = failure else {
                retries.succeeded();
                return result;
            };
            let pause = retries.failed(&FailedAttempt {
                number: attempt.number,
                error: &error,
                response: result.as_ref().ok().map(|(head, _)| head),
                is_resendable,
                is_safe: error.is_repeatable(is_idempotent),
            });
            let pause = pause.filter(|pause| is_resendable && timeout.allows(*pause));
            let Some(pause) = pause else {
                return result.map_err(|error| match is_started {
                    true => error.after_attempts(),
                    false => error,
                });
            };
            tracing::debug!(%error, attempt = attempt.number, ?pause, "the call is sent again");
            is_started |= !error.is_unstarted();
            attempt.number = attempt.number.saturating_add(1);
            tokio::time::sleep(pause).await;
        }
    }

    /// The failure in a response, without the members of a modelled error. `None` for an output.
    fn failure(
        &self,
        operation: Operation<'_>,
        head: &response::Parts,
        body: &Body,
    ) -> Option<CallError> {
        let fault = match self.outcome(operation, head, body) {
            Ok(Outcome::Output) => return None,
            Ok(Outcome::Foreign(what)) => return Some(CallError::protocol(what)),
            Ok(Outcome::Fault(fault)) => fault,
            Ok(Outcome::Error(shape)) => {
                Fault::of_error(shape, Default::default()).with_status(head.status)
            }
            Err(error) => return Some(error),
        };
        Some(CallError::from(fault.with_head(&head.headers)))
    }
}

fn is_idempotent(operation: Operation<'_>, request: &Request<Bytes>) -> bool {
    operation.has(OperationFlags::READONLY)
        || operation.has(OperationFlags::IDEMPOTENT)
        || operation.input().has(ShapeFlags::TOKEN)
        || request.method().is_idempotent()
}
