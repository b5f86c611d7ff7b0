//! Which calls may be tried again.

use std::time::Duration;

use polywire_frame::FaultCode;

use crate::error::{CallError, CallErrorKind, FrameFault};

/// What is known of an operation beside its name.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallOptions<'a> {
    /// The operation is idempotent.
    pub(crate) idempotent: bool,
    /// The errors of the model that may be gone at the next try, by their names.
    pub(crate) retryable: &'a [Box<str>],
}

/// Whether and how a call that failed is tried again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Again {
    /// It is not.
    No,
    /// It was never sent: on another connection, at once. It is no further load on anybody.
    Elsewhere,
    /// After this time and the back-off, if the budget allows it.
    After(Duration),
}

impl Again {
    pub(super) fn of(error: &CallError, options: &CallOptions<'_>) -> Self {
        match (error.kind(), error.as_frame_fault()) {
            (CallErrorKind::Connect, _) => Self::Elsewhere,
            (CallErrorKind::Disconnected, _) if options.idempotent => Self::After(Duration::ZERO),
            (_, Some(fault)) if may_repeat(fault, error.is_unstarted(), options) => {
                Self::After(fault.retry_after().unwrap_or_default())
            }
            // What was turned away here is the caller's to know; what nobody could write or read
            // is the same next time; and what took too long has no time left.
            _ => Self::No,
        }
    }
}

/// As the table of faults in `docs/frame.md` has it.
fn may_repeat(fault: &FrameFault, is_unstarted: bool, options: &CallOptions<'_>) -> bool {
    match fault.code() {
        FaultCode::OVERLOADED | FaultCode::UNAVAILABLE => options.idempotent || is_unstarted,
        FaultCode::MODELLED => {
            let mut retryable = options.retryable.iter();
            !options.retryable.is_empty()
                && fault
                    .name()
                    .is_some_and(|name| retryable.any(|known| **known == *name))
        }
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
        // `internal`, and codes that are not known.
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
        let payload = cbor::to_vec(&Value::Map(details)).unwrap();
        CallError::from_end(end, &payload)
    }

    /// What a model calls retryable is tried again whatever else is known of the operation, and other
    /// errors of the model are not.
    #[test]
    fn errors_that_a_model_calls_retryable() {
        let options = CallOptions {
            idempotent: false,
            retryable: &["Busy".into(), "Throttled".into()],
        };
        for (name, again) in [
            ("weather#Busy", Again::After(Duration::ZERO)),
            ("Throttled", Again::After(Duration::ZERO)),
            ("weather#NotFound", Again::No),
            ("weather#NotBusy", Again::No),
        ] {
            assert_eq!(Again::of(&modelled(name), &options), again, "{name}");
        }
        let idempotent = CallOptions {
            idempotent: true,
            retryable: &[],
        };
        assert_eq!(Again::of(&modelled("Busy"), &idempotent), Again::No);
    }
}
