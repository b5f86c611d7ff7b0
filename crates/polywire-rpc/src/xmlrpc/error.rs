//! Faults and responses that are not of the protocol.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use polywire_codec::xmlrpc::{Leniency, fault_parts};
use polywire_protocol::fault_of_code;
use polywire_schema::{Error, Value};

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

    /// The fault as other clients have it: [`CallError::fault`](crate::CallError::fault).
    pub(crate) fn general(&self) -> polywire_protocol::Fault {
        let mut details = self.value().as_map().cloned().unwrap_or_default();
        for known in ["faultCode", "faultString"] {
            details.remove(known);
        }
        let fault = fault_of_code(self.code(), self.message()).with_details(details);
        match self.retry_after() {
            Some(time) => fault.with_retry_after(time),
            None => fault,
        }
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

impl_debug!(|this| Fault {
    code: this.code(),
    message: this.message()
});

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
