//! What a call ends in instead of a result.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use polywire_codec::xmlrpc::{Leniency, fault_parts};
use polywire_schema::{Error, Value};

use crate::connect::{TransportError, write_chain};

/// Why a call has no result. Cloning counts up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CallError {
    /// The method answered with a fault.
    Fault(Fault),
    /// The place is one of another batch than the replies.
    ForeignPlace,
    /// The blocking client was used in an asynchronous task, whose thread would stand still
    /// for all others. Nothing was sent. `tokio::task::spawn_blocking` has threads that may wait.
    InsideRuntime,
    /// The call was not sent, since the batch failed before it came to it.
    NotSent(Arc<CallError>),
    /// The method's name or a parameter has no form in XML-RPC. Nothing was sent.
    Request(Arc<Error>),
    /// The answer is no XML-RPC, breaks a limit, or does not fit the type that was asked
    /// for.
    Response {
        /// The URL of the server, without secrets.
        url: Arc<str>,
        /// What is wrong with it, and where.
        error: Arc<Error>,
        /// How the answer begins, if it is none of XML-RPC at all; else empty.
        begins: Arc<str>,
    },
    /// The server answered with a status other than 200 and no fault.
    Status(StatusError),
    /// There was no answer, or it broke off.
    Transport(TransportError),
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

    /// When to call again, if the server answered 503 or 429 and says so by `Retry-After`,
    /// with a fault or without one.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Fault(fault) => fault.retry_after(),
            Self::Status(error) => error.retry_after(),
            _ => None,
        }
    }

    /// Whether it took too long: to connect, or in all.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Transport(error) if error.is_timeout())
    }

    /// Whether the server cannot have run the method: not a byte of the call reached it.
    #[must_use]
    pub fn is_before_request(&self) -> bool {
        match self {
            Self::InsideRuntime | Self::NotSent(_) | Self::Request(_) => true,
            Self::Transport(error) => error.is_before_request(),
            _ => false,
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fault(fault) => fault.fmt(f),
            Self::InsideRuntime => f.write_str(
                "the blocking client was called in an asynchronous task, which may not wait: use \
                 xmlrpc::Client there, or tokio::task::spawn_blocking",
            ),
            Self::ForeignPlace => f.write_str("the place is one of another batch"),
            Self::NotSent(error) => {
                write!(
                    f,
                    "not sent, since a call before it in the batch failed: {error}"
                )
            }
            Self::Request(error) => write!(f, "the call: {error}"),
            Self::Response { url, error, begins } => {
                write!(f, "{url}: the answer: {error}")?;
                match &**begins {
                    "" => Ok(()),
                    begins => write!(f, "; it begins with `{begins}`"),
                }
            }
            Self::Status(error) => error.fmt(f),
            Self::Transport(error) => write_chain(f, error),
        }
    }
}

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Request(error) | Self::Response { error, .. } => Some(&**error),
            // Its text is that of the error with all causes.
            Self::Transport(error) => std::error::Error::source(error),
            _ => None,
        }
    }
}

impl From<TransportError> for CallError {
    fn from(error: TransportError) -> Self {
        Self::Transport(error)
    }
}

/// A fault that a method answered with.
#[derive(Clone, PartialEq)]
pub struct Fault(Arc<(i64, String, Value)>, Option<Duration>);

impl Fault {
    /// The fault that a value describes: a struct of `faultCode` and `faultString`.
    /// `None` if it is none. See [`fault_parts`](polywire_codec::xmlrpc::fault_parts).
    #[must_use]
    pub fn from_value(value: &Value) -> Option<Self> {
        Self::read(value, Leniency::STRICT).ok()
    }

    /// As [`Self::from_value`], with a leniency.
    pub(super) fn read(value: &Value, leniency: Leniency) -> Result<Self, Error> {
        let (code, message) = fault_parts(value, leniency)?;
        let parts = (code, message.into_owned(), value.clone());
        Ok(Self(Arc::new(parts), None))
    }

    pub(super) fn with_retry_after(self, after: Option<Duration>) -> Self {
        Self(self.0, after)
    }

    /// When to call again, if the server answered 503 or 429 and says so by
    /// `Retry-After`, as Polywire's do when there is too much to do.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        self.1
    }

    /// `faultCode`. Those of Polywire's servers are in `docs/xmlrpc-mapping.md`; others
    /// have their own. 0 if it is text, which
    /// [`Leniency::string_fault_codes`](polywire_codec::xmlrpc::Leniency::string_fault_codes)
    /// reads.
    #[must_use]
    pub fn code(&self) -> i64 {
        self.0.0
    }

    /// `faultString`. If `faultCode` is text, that text comes first.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.1
    }

    /// All of it: beside code and message some servers tell more.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.0.2
    }

    /// Whether the server says that it has no such method, in one of the ways in which
    /// servers say so: code -32601, xmlrpc-c's -506, or another code with words to this
    /// effect, as those of supervisord, Python and PHP.
    #[must_use]
    pub fn is_unknown_method(&self) -> bool {
        if matches!(self.code(), -32_601 | -506) {
            return true;
        }
        let text = self.message().to_ascii_lowercase().replace('_', " ");
        let says = |what: &[&str]| what.iter().any(|what| text.contains(what));
        says(&[
            "unknown method",
            "method not found",
            "no such method",
            "no such handler",
        ]) || says(&["method"])
            && says(&[
                "is not supported",
                "not found",
                "does not exist",
                "not defined",
            ])
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fault {}: {}", self.code(), self.message())
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fault")
            .field("code", &self.code())
            .field("message", &self.message())
            .finish_non_exhaustive()
    }
}

impl std::error::Error for Fault {}

/// An answer with a status other than 200.
#[derive(Clone, Debug)]
pub struct StatusError {
    pub(super) url: Arc<str>,
    pub(super) status: StatusCode,
    /// Where a redirect leads, or how a server wants to be told who calls.
    pub(super) detail: String,
    pub(super) begins: String,
    pub(super) retry_after: Option<Duration>,
}

impl StatusError {
    /// The status.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        self.status
    }

    /// The URL that was called, without secrets.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// How the body of the answer begins: a line at most, without control characters.
    #[must_use]
    pub fn begins(&self) -> &str {
        &self.begins
    }

    /// When to call again, if the server says so by `Retry-After`.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}

impl fmt::Display for StatusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: the server answered {}", self.url, self.status)?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        if let Some(after) = self.retry_after {
            write!(f, ", to be called again in {} s", after.as_secs())?;
        }
        if !self.begins.is_empty() {
            write!(f, "; its body begins with `{}`", self.begins)?;
        }
        Ok(())
    }
}

impl std::error::Error for StatusError {}

/// How a body begins that is not what it should be, for showing it: the first line that
/// is not empty, short, and without characters that tell a terminal what to do.
pub(super) fn beginning(body: &[u8]) -> String {
    const LONGEST: usize = 80;
    let text = String::from_utf8_lossy(&body[..body.len().min(4 * LONGEST)]);
    let line = text.lines().find(|line| !line.trim().is_empty());
    let line = line.unwrap_or_default().trim();
    let shown = line.chars().filter(|character| !character.is_control());
    shown.take(LONGEST).collect()
}
