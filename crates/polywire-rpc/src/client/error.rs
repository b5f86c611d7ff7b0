//! Why calls fail, and clients cannot be made.

use std::fmt;
use std::time::Duration;

use polywire_protocol::{Fault, MountError};
use polywire_schema::{Error, MissingMember};

use crate::connect::write_chain;

/// Why a call has no output.
#[derive(Debug)]
#[non_exhaustive]
pub enum CallError {
    /// No answer within the deadline.
    Deadline(Duration),
    /// The answer was a fault.
    Fault(Fault),
    /// The input does not fit the operation, so that nothing was sent.
    Request(Error),
    /// The answer could not be read.
    Response(Error),
    /// The answer is none of the protocol, but a proxy's or another service's:
    /// what can be said of it.
    Foreign(String),
    /// The connection failed.
    Transport(Box<dyn std::error::Error + Send + Sync>),
    /// The service has no such operation.
    UnknownOperation(String),
}

impl CallError {
    /// The fault, if it is one.
    #[must_use]
    pub const fn as_fault(&self) -> Option<&Fault> {
        match self {
            Self::Fault(fault) => Some(fault),
            _ => None,
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadline(time) => write!(f, "no answer within {} s", time.as_secs_f64()),
            Self::Fault(fault) => fault.fmt(f),
            Self::Request(error) => write!(f, "the input: {error}"),
            Self::Response(error) => write!(f, "the answer: {error}"),
            Self::Foreign(what) => f.write_str(what),
            Self::Transport(error) => write_chain(f, &**error),
            Self::UnknownOperation(name) => write!(f, "no operation {name}"),
        }
    }
}

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Fault(fault) => Some(fault),
            Self::Request(error) | Self::Response(error) => Some(error),
            Self::Transport(error) => Some(&**error),
            _ => None,
        }
    }
}

impl From<Fault> for CallError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// A handler that does not set what its output needs has a mistake: callers see
/// an internal fault.
impl From<MissingMember> for CallError {
    fn from(missing: MissingMember) -> Self {
        Self::Fault(Fault::internal(missing))
    }
}

/// Why a client cannot be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConnectError {
    /// The protocol cannot carry the service.
    Mount(MountError),
    /// The URL is not one that is known here, or cannot be connected to so.
    Url(String),
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mount(error) => error.fmt(f),
            Self::Url(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for ConnectError {}
