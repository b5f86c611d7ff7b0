//! The error of all clients.

mod cause;
mod fault;
mod kind;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use polywire_frame::FaultCode;
use polywire_protocol::{Fault, FaultKind, Retry};
use polywire_schema::{Error, MissingMember, StreamError};

pub(crate) use cause::Cause;
pub(crate) use fault::{FrameFault, general_fault};
pub use kind::CallErrorKind;

use crate::connect::{TransportError, write_chain};
use crate::xmlrpc;
use crate::xmlrpc::StatusError;

/// A call without a result: the error of all clients, over all wires.
///
/// [`kind`](Self::kind) tells what happened, [`is_unstarted`](Self::is_unstarted) whether the server has certainly not
/// executed the call, and [`is_retryable`](Self::is_retryable) whether the same call can succeed later.
/// [`fault`](Self::fault) is the error that the server reported.
///
/// ```
/// use polywire_rpc::CallErrorKind;
/// use polywire_rpc::frames::Client;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // No server listens there.
/// let client = Client::builder().endpoint("tcp://127.0.0.1:1").fail_fast(true).build()?;
/// let error = client.call_bytes("Add", b"").await.unwrap_err();
/// assert_eq!(error.kind(), CallErrorKind::Connect);
/// assert!(error.is_unstarted() && error.is_retryable());
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct CallError(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: CallErrorKind,
    is_unstarted: bool,
    detail: Detail,
}

/// What is known beside the kind.
#[derive(Clone)]
enum Detail {
    None,
    Cause(Cause),
    Codec(Arc<Error>),
    Fault(Fault),
    FrameFault(FrameFault),
    /// The call of a batch that failed before this one.
    Other(CallError),
    Response(Arc<ResponseError>),
    Status(Arc<StatusError>),
    Text(Arc<str>),
    Transport(TransportError),
    /// The time limit that passed.
    Within(Duration),
    /// With its general form, once it was asked for.
    XmlRpcFault(xmlrpc::Fault, OnceLock<Fault>),
}

/// A response that cannot be decoded.
pub(crate) struct ResponseError {
    /// Without secrets.
    pub(crate) url: String,
    pub(crate) error: Error,
    /// The beginning of a response that is not of the protocol. Otherwise empty.
    pub(crate) begins: String,
}

impl CallError {
    #[cold]
    fn new(kind: CallErrorKind, detail: Detail) -> Self {
        let is_unstarted = kind.is_before_call();
        Self(Box::new(Inner {
            kind,
            is_unstarted,
            detail,
        }))
    }

    /// The input that cannot be encoded.
    #[must_use]
    pub fn encode(error: Error) -> Self {
        Self::new(CallErrorKind::Encode, Detail::Codec(Arc::new(error)))
    }

    pub(crate) fn encode_text(reason: impl Into<Arc<str>>) -> Self {
        Self::new(CallErrorKind::Encode, Detail::Text(reason.into()))
    }

    /// The response that cannot be decoded.
    #[must_use]
    pub fn decode(error: Error) -> Self {
        Self::new(CallErrorKind::Decode, Detail::Codec(Arc::new(error)))
    }

    pub(crate) fn decode_text(reason: impl Into<Arc<str>>) -> Self {
        Self::new(CallErrorKind::Decode, Detail::Text(reason.into()))
    }

    pub(crate) fn response(error: ResponseError) -> Self {
        Self::new(CallErrorKind::Decode, Detail::Response(Arc::new(error)))
    }

    /// The response that is not of the protocol.
    pub(crate) fn protocol(reason: impl Into<Arc<str>>) -> Self {
        Self::new(CallErrorKind::Protocol, Detail::Text(reason.into()))
    }

    pub(crate) fn status(error: StatusError) -> Self {
        Self::new(CallErrorKind::Protocol, Detail::Status(Arc::new(error)))
    }

    pub(crate) fn unknown_operation(name: &str) -> Self {
        Self::new(CallErrorKind::UnknownOperation, Detail::Text(name.into()))
    }

    pub(crate) fn usage(reason: &str) -> Self {
        Self::new(CallErrorKind::Usage, Detail::Text(reason.into()))
    }

    /// The deadline of the client. Whether the server has executed the call is unknown.
    pub(crate) fn deadline(within: Option<Duration>) -> Self {
        let detail = within.map_or(Detail::None, Detail::Within);
        Self::new(CallErrorKind::Deadline, detail)
    }

    pub(crate) fn queue_full() -> Self {
        Self::new(CallErrorKind::QueueFull, Detail::None)
    }

    pub(crate) fn throttled() -> Self {
        Self::new(CallErrorKind::Throttled, Detail::None)
    }

    /// The connection ended or could not be made. `sent`: part of the call may have reached the server.
    pub(crate) fn lost(sent: bool, why: Cause) -> Self {
        let kind = match sent {
            true => CallErrorKind::Disconnected,
            false => CallErrorKind::Connect,
        };
        Self::new(kind, Detail::Cause(why))
    }

    /// The call of a batch behind one that failed.
    pub(crate) fn not_sent(before: Self) -> Self {
        Self::new(CallErrorKind::NotSent, Detail::Other(before))
    }

    pub(crate) fn frame_fault(fault: FrameFault, is_unstarted: bool) -> Self {
        let mut error = Self::new(CallErrorKind::Fault, Detail::FrameFault(fault));
        error.0.is_unstarted = is_unstarted;
        error
    }

    /// The same error for a call of which an earlier attempt may have been executed.
    pub(crate) fn after_attempts(mut self) -> Self {
        if !matches!(self.0.kind, CallErrorKind::Fault | CallErrorKind::Deadline)
            && self.0.is_unstarted
        {
            let text = match &self.0.detail {
                Detail::Cause(cause) => cause.clone(),
                _ => self.to_string().into(),
            };
            return Self::lost(true, text);
        }
        self.0.is_unstarted = false;
        self
    }

    /// Adds the time limit to an error of a deadline.
    pub(crate) fn within(mut self, limit: Duration) -> Self {
        if let (CallErrorKind::Deadline, Detail::None) = (self.0.kind, &self.0.detail) {
            self.0.detail = Detail::Within(limit);
        }
        self
    }

    /// What happened.
    #[must_use]
    pub fn kind(&self) -> CallErrorKind {
        self.0.kind
    }

    /// The fault that the server responded with. Its kind, name, message, details and code are those of the wire, as far
    /// as it has them.
    #[must_use]
    pub fn fault(&self) -> Option<&Fault> {
        match &self.0.detail {
            Detail::Fault(fault) => Some(fault),
            Detail::FrameFault(fault) => Some(fault.fault()),
            Detail::XmlRpcFault(fault, general) => Some(general.get_or_init(|| fault.general())),
            _ => None,
        }
    }

    /// The fault, or the error itself if the server did not respond with one.
    ///
    /// # Errors
    ///
    /// The kind is not [`CallErrorKind::Fault`].
    pub fn into_fault(self) -> Result<Fault, Self> {
        match self.fault() {
            Some(fault) => Ok(fault.clone()),
            None => Err(self),
        }
    }

    /// The code of a fault over frames.
    #[must_use]
    pub fn frame_code(&self) -> Option<FaultCode> {
        match &self.0.detail {
            Detail::FrameFault(fault) => Some(fault.code()),
            _ => None,
        }
    }

    pub(crate) fn as_frame_fault(&self) -> Option<&FrameFault> {
        match &self.0.detail {
            Detail::FrameFault(fault) => Some(fault),
            _ => None,
        }
    }

    /// The end of the connection.
    pub(crate) fn cause(&self) -> Option<&Cause> {
        match &self.0.detail {
            Detail::Cause(cause) => Some(cause),
            _ => None,
        }
    }

    /// The fault of an XML-RPC method, with `faultCode`, `faultString` and its other members, if the client calls methods
    /// without a model.
    #[must_use]
    pub fn xmlrpc_fault(&self) -> Option<&xmlrpc::Fault> {
        match &self.0.detail {
            Detail::XmlRpcFault(fault, _) => Some(fault),
            _ => None,
        }
    }

    /// The failed step below the protocol: its URL, address and reason.
    #[must_use]
    pub fn transport(&self) -> Option<&TransportError> {
        match &self.0.detail {
            Detail::Transport(error) => Some(error),
            Detail::Cause(cause) => cause.source()?.downcast_ref(),
            _ => None,
        }
    }

    /// The HTTP response of an XML-RPC server with a status other than 200 and no fault.
    #[must_use]
    pub fn http_status(&self) -> Option<&StatusError> {
        match &self.0.detail {
            Detail::Status(error) => Some(error),
            _ => None,
        }
    }

    /// When to send the call again, if the server said so: by `Retry-After`, or in a fault over frames.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match &self.0.detail {
            Detail::Fault(fault) => fault.retry_after(),
            Detail::FrameFault(fault) => fault.retry_after(),
            Detail::XmlRpcFault(fault, _) => fault.retry_after(),
            Detail::Status(error) => error.retry_after(),
            _ => None,
        }
    }

    /// Whether the server has certainly not executed any part of the call, in any attempt. Then to repeat it is safe.
    #[must_use]
    pub fn is_unstarted(&self) -> bool {
        self.0.is_unstarted
    }

    /// Whether the same call can succeed later. To repeat it is safe only if the operation is idempotent, or if
    /// [`is_unstarted`](Self::is_unstarted).
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self.0.kind {
            CallErrorKind::Connect
            | CallErrorKind::Deadline
            | CallErrorKind::Disconnected
            | CallErrorKind::QueueFull
            | CallErrorKind::Throttled => true,
            CallErrorKind::Fault => self.fault().is_some_and(|fault| fault.retry() != Retry::No),
            CallErrorKind::NotSent => match &self.0.detail {
                Detail::Other(before) => before.is_retryable(),
                _ => false,
            },
            CallErrorKind::Protocol => self.retry_after().is_some(),
            CallErrorKind::Decode
            | CallErrorKind::Encode
            | CallErrorKind::UnknownOperation
            | CallErrorKind::Usage => false,
        }
    }

    /// Whether sending the call again cannot do anything twice: it is `idempotent`, nothing was executed, or the server
    /// says that it can be repeated, by `@retryable` or because it rejects callers that send too much.
    ///
    /// The rule of clients with a `RetryPolicy`. Clients of frames have the flag `unstarted` of each fault instead, and
    /// the XML-RPC client retries only calls that are marked as idempotent.
    pub(crate) fn is_repeatable(&self, idempotent: bool) -> bool {
        let says_so = |fault: &Fault| match fault.retry() {
            Retry::No => false,
            Retry::Yes => fault.kind() == FaultKind::Modelled,
            // A handler can be overloaded after it has begun.
            Retry::Throttled => fault.name() != FaultKind::Overloaded.name(),
        };
        idempotent || self.is_unstarted() || self.fault().is_some_and(says_so)
    }

    /// Whether the deadline of the call passed, on this side or in the server.
    #[must_use]
    pub fn is_deadline(&self) -> bool {
        match &self.0.detail {
            Detail::Fault(fault) => fault.kind() == FaultKind::DeadlineExceeded,
            Detail::FrameFault(fault) => fault.code() == FaultCode::DEADLINE,
            _ => self.0.kind == CallErrorKind::Deadline,
        }
    }

    /// Whether a time limit passed: that of the call, or that of connecting.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.is_deadline() || self.transport().is_some_and(TransportError::is_timeout)
    }
}

impl From<Fault> for CallError {
    fn from(fault: Fault) -> Self {
        let is_unstarted = fault.is_before_handler();
        let mut error = Self::new(CallErrorKind::Fault, Detail::Fault(fault));
        error.0.is_unstarted = is_unstarted;
        error
    }
}

impl From<StreamError> for CallError {
    /// For handlers of generated servers that read the stream of an input.
    fn from(error: StreamError) -> Self {
        Fault::from(error).into()
    }
}

impl From<xmlrpc::Fault> for CallError {
    fn from(fault: xmlrpc::Fault) -> Self {
        let detail = Detail::XmlRpcFault(fault, OnceLock::new());
        Self::new(CallErrorKind::Fault, detail)
    }
}

impl From<TransportError> for CallError {
    fn from(error: TransportError) -> Self {
        let kind = match &error {
            _ if error.is_deadline() => CallErrorKind::Deadline,
            _ if error.is_before_request() => CallErrorKind::Connect,
            _ if error.is_response_invalid() => CallErrorKind::Protocol,
            _ => CallErrorKind::Disconnected,
        };
        let is_unstarted = error.is_before_request();
        let mut failed = Self::new(kind, Detail::Transport(error));
        failed.0.is_unstarted = is_unstarted;
        failed
    }
}

/// An output without a required member is a bug of the handler: callers receive an internal fault.
impl From<MissingMember> for CallError {
    fn from(missing: MissingMember) -> Self {
        Fault::internal(missing).into()
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.0.kind;
        match &self.0.detail {
            Detail::None => f.write_str(kind.text()),
            Detail::Within(limit) => write!(f, "no response within {} s", limit.as_secs_f64()),
            Detail::Cause(cause) => write!(f, "{}: {cause}", kind.text()),
            Detail::Codec(error) => write!(f, "{}: {error}", kind.text()),
            Detail::Fault(fault) => fault.fmt(f),
            Detail::FrameFault(fault) => fault.fault().fmt(f),
            Detail::XmlRpcFault(fault, _) => fault.fmt(f),
            Detail::Other(error) => write!(f, "{}: {error}", kind.text()),
            Detail::Response(response) => {
                let ResponseError { url, error, begins } = &**response;
                write!(f, "{url}: {}: {error}", kind.text())?;
                match begins.as_str() {
                    "" => Ok(()),
                    begins => write!(f, "; it begins with `{begins}`"),
                }
            }
            Detail::Status(error) => error.fmt(f),
            Detail::Text(text) => match kind {
                CallErrorKind::Protocol | CallErrorKind::Usage => f.write_str(text),
                _ => write!(f, "{}: {text}", kind.text()),
            },
            Detail::Transport(error) => write_chain(f, error),
        }
    }
}

impl fmt::Debug for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallError")
            .field("kind", &self.0.kind)
            .field("is_unstarted", &self.0.is_unstarted)
            .field("text", &format_args!("{self}"))
            .finish()
    }
}

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.detail {
            Detail::Cause(cause) => cause.source(),
            Detail::Codec(error) => Some(&**error),
            Detail::Fault(_) | Detail::FrameFault(_) => Some(self.fault()?),
            Detail::Other(error) => Some(error),
            Detail::Response(response) => Some(&response.error),
            // The text contains all causes.
            Detail::Transport(error) => std::error::Error::source(error),
            Detail::XmlRpcFault(fault, _) => Some(fault),
            Detail::None | Detail::Status(_) | Detail::Text(_) | Detail::Within(_) => None,
        }
    }
}
