//! Which calls may be retried.

use std::time::Duration;

use polywire_frame::FaultCode;

use crate::error::{CallError, CallErrorKind, FrameFault};

/// What is known about an operation besides its name.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallOptions<'a> {
    /// The operation is idempotent.
    pub(crate) idempotent: bool,
    /// The names of the errors of the model that are retryable.
    pub(crate) retryable: &'a [Box<str>],
}

/// Whether and how a failed call is retried.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum RetryDecision {
    /// The call fails.
    Never,
    /// As soon as there is another connection, without backoff, because the call was not sent. This does not add load, so
    /// it is not limited.
    OtherConnection,
    /// After this time and the backoff, if the retry budget allows it.
    After(Duration),
}

impl RetryDecision {
    pub(super) fn of(error: &CallError, options: &CallOptions<'_>) -> Self {
        match (error.kind(), error.as_frame_fault()) {
            (CallErrorKind::Connect, _) => Self::OtherConnection,
            (CallErrorKind::Disconnected, _) if options.idempotent => Self::After(Duration::ZERO),
            (_, Some(fault)) if may_repeat(fault, error.is_unstarted(), options) => {
                Self::After(fault.retry_after().unwrap_or_default())
            }
            // Rejections by this client go to the caller. Errors of encoding and decoding would repeat. After the deadline no
            // time is left.
            _ => Self::Never,
        }
    }
}

/// Whether a call with this fault may be sent again.
fn may_repeat(fault: &FrameFault, is_unstarted: bool, options: &CallOptions<'_>) -> bool {
    match fault.code() {
        // The condition of the server passes, but it may have executed the call unless it says otherwise.
        FaultCode::OVERLOADED | FaultCode::UNAVAILABLE => options.idempotent || is_unstarted,
        // The handler ran. The model says which errors leave no effects and may pass.
        FaultCode::MODELLED => {
            let mut retryable = options.retryable.iter();
            !options.retryable.is_empty()
                && fault
                    .name()
                    .is_some_and(|name| retryable.any(|known| **known == *name))
        }
        // The same call would fail again, or its caller does not wait any more.
        FaultCode::CANCELLED
        | FaultCode::DEADLINE
        | FaultCode::FORBIDDEN
        | FaultCode::INVALID
        | FaultCode::MALFORMED
        | FaultCode::NAMED
        | FaultCode::TOO_LARGE
        | FaultCode::UNAUTHENTICATED
        | FaultCode::UNKNOWN_OPERATION
        | FaultCode::UNSUPPORTED => false,
        // `internal`, and codes of later versions: the server may have executed the call.
        _ => options.idempotent,
    }
}

#[cfg(test)]
mod tests {
    use polywire_codec::cbor;
    use polywire_schema::{Map, Value};

    use super::*;
    use crate::frames::tickets::End;

    fn modelled(name: &str) -> CallError {
        let details = Map::from_iter([("__type", Value::from(name))]);
        let end = End::Fault {
            code: FaultCode::MODELLED,
            retry_after: 0,
            unstarted: false,
        };
        let payload = cbor::write_value(&Value::Map(details)).unwrap();
        CallError::from_end(end, &payload)
    }

    /// Errors that the model marks as retryable are retried even if the operation is not idempotent. Others are not.
    #[test]
    fn modelled_errors_that_are_retryable() {
        let options = CallOptions {
            idempotent: false,
            retryable: &["Busy".into(), "Throttled".into()],
        };
        for (name, again) in [
            ("weather#Busy", RetryDecision::After(Duration::ZERO)),
            ("Throttled", RetryDecision::After(Duration::ZERO)),
            ("weather#NotFound", RetryDecision::Never),
            ("weather#NotBusy", RetryDecision::Never),
        ] {
            assert_eq!(
                RetryDecision::of(&modelled(name), &options),
                again,
                "{name}"
            );
        }
        let idempotent = CallOptions {
            idempotent: true,
            retryable: &[],
        };
        assert_eq!(
            RetryDecision::of(&modelled("Busy"), &idempotent),
            RetryDecision::Never
        );
    }
}
