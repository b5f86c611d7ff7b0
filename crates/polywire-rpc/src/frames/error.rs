//! Why a call over frames has no result.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use polywire_codec::cbor;
use polywire_frame::FaultCode;
use polywire_schema::{Error, Map, Value};

use super::cause::Cause;
use super::room::Full;
use super::tickets::End;

/// Why a call has no result. Each call ends in a reply or in one of these.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CallError {
    /// Its time was over.
    Deadline,
    /// The connection ended before the answer came, or could not be made.
    Disconnected {
        /// Whether some of the call may have reached the server. If not, to repeat it is safe.
        sent: bool,
        /// Why.
        why: Cause,
    },
    /// The server has answered with a fault.
    Fault(Box<FrameFault>),
    /// As many calls or bytes wait already as may.
    Full,
    /// The call cannot be written: what is wrong with it.
    Invalid(String),
    /// The server turns most calls away: this one was not sent.
    Throttled,
    /// The answer is not what was expected.
    Unreadable(Arc<str>),
}

/// A fault as the server told it.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameFault {
    code: FaultCode,
    retry_after: u32,
    unstarted: bool,
    details: Map,
}

impl FrameFault {
    /// The code.
    #[must_use]
    pub const fn code(&self) -> FaultCode {
        self.code
    }

    /// Whether nothing of the call was carried out, so that to repeat it is safe.
    #[must_use]
    pub const fn is_unstarted(&self) -> bool {
        self.unstarted
    }

    /// How long the server asks to wait before another try.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        match self.retry_after {
            0 => None,
            millis => Some(Duration::from_millis(millis as u64)),
        }
    }

    /// The name of the error: a shape of the model, or a name that the server gave it. Empty, if it
    /// has none.
    #[must_use]
    pub fn name(&self) -> &str {
        let name = self.details.get("__type").and_then(Value::as_str);
        name.unwrap_or_default()
    }

    /// What the server says for people.
    #[must_use]
    pub fn message(&self) -> &str {
        let message = self.details.get("message").and_then(Value::as_str);
        message.unwrap_or_default()
    }

    /// All that the server has said.
    #[must_use]
    pub const fn details(&self) -> &Map {
        &self.details
    }
}

impl CallError {
    pub(super) fn from_end(end: End, payload: &[u8]) -> Self {
        match end {
            End::Reply | End::Large(_) => {
                Self::Unreadable("a reply where a fault was expected".into())
            }
            End::Deadline => Self::Deadline,
            End::Lost { sent, why } => Self::Disconnected { sent, why },
            End::Fault {
                code,
                retry_after,
                unstarted,
            } => {
                let details = cbor::from_slice(payload)
                    .ok()
                    .and_then(|value| match value {
                        Value::Map(details) => Some(details),
                        _ => None,
                    });
                Self::Fault(Box::new(FrameFault {
                    code,
                    retry_after,
                    unstarted,
                    details: details.unwrap_or_default(),
                }))
            }
        }
    }

    pub(super) fn unreadable(error: &Error) -> Self {
        Self::Unreadable(error.to_string().into())
    }

    /// The fault, if the server answered with one.
    #[must_use]
    pub fn as_fault(&self) -> Option<&FrameFault> {
        match self {
            Self::Fault(fault) => Some(fault),
            _ => None,
        }
    }

    /// Whether something went wrong in the server: the fault `internal`, or one of a code that is not
    /// known, which is taken for it.
    pub(super) fn is_internal(&self) -> bool {
        self.as_fault()
            .is_some_and(|fault| fault.code == FaultCode::INTERNAL || fault.code.name().is_none())
    }

    /// Whether a server has said that it takes no more calls, and has not begun this one.
    pub(super) fn is_crossing(&self) -> bool {
        self.as_fault()
            .is_some_and(|fault| fault.unstarted && fault.code == FaultCode::UNAVAILABLE)
    }

    /// Whether its time was over, whoever saw that first: this side, or the server, which answers with a
    /// fault then.
    #[must_use]
    pub fn is_deadline(&self) -> bool {
        match self {
            Self::Deadline => true,
            Self::Fault(fault) => fault.code() == FaultCode::DEADLINE,
            _ => false,
        }
    }

    /// The same of a call of which an earlier try may have been carried out.
    pub(super) fn after_others(mut self) -> Self {
        match &mut self {
            Self::Disconnected { sent, .. } => *sent = true,
            Self::Fault(fault) => fault.unstarted = false,
            Self::Full | Self::Invalid(_) | Self::Throttled => {
                let why = self.to_string();
                return Self::Disconnected {
                    sent: true,
                    why: why.as_str().into(),
                };
            }
            Self::Deadline | Self::Unreadable(_) => {}
        }
        self
    }

    /// Whether the server has certainly not carried out any part of the call, at any try.
    #[must_use]
    pub fn is_before_start(&self) -> bool {
        match self {
            Self::Full | Self::Invalid(_) | Self::Throttled => true,
            Self::Disconnected { sent, .. } => !sent,
            Self::Fault(fault) => fault.is_unstarted(),
            Self::Deadline | Self::Unreadable(_) => false,
        }
    }
}

impl From<Full> for CallError {
    fn from(_: Full) -> Self {
        Self::Full
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadline => f.write_str("the time was over before the answer came"),
            Self::Disconnected { why, .. } => write!(f, "disconnected: {why}"),
            Self::Fault(fault) => {
                write!(f, "{}", fault.code())?;
                for part in [fault.name(), fault.message()] {
                    if !part.is_empty() {
                        write!(f, ": {part}")?;
                    }
                }
                Ok(())
            }
            Self::Full => f.write_str("as many calls or bytes wait as may"),
            Self::Invalid(what) => write!(f, "the call cannot be sent: {what}"),
            Self::Throttled => f.write_str("not sent, since the server turns most calls away"),
            Self::Unreadable(why) => write!(f, "the answer cannot be read: {why}"),
        }
    }
}

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Disconnected { why, .. } => why.source(),
            _ => None,
        }
    }
}
