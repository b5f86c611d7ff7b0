//! Faults: the errors that a call can return.

mod convert;
mod kind;
mod members;
mod public;
mod retry;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::header::{ALLOW, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use polywire_codec::Message;
use polywire_schema::{Error, Map, Member, Operation, Schema};

pub use self::kind::FaultKind;
pub(crate) use self::members::{NamedError, status_of};
pub(crate) use self::public::PublicFault;
pub use self::retry::Retry;
use crate::error_info::MESSAGES;
use crate::rpc::QUERY_ERROR;

/// The error of a call: a modelled error, or a fault that any call can have.
///
/// The message is sent to the caller. The source of an [internal](FaultKind::Internal) fault is
/// not: it is for logs of the server.
///
/// ```
/// use polywire_protocol::{Fault, FaultKind};
/// use polywire_schema::{Map, Value};
///
/// let details = Map::from_iter([("message", Value::from("no city `x`"))]);
/// let fault = Fault::modelled("example.weather#NoSuchResource", details);
/// assert_eq!(fault.message(), "no city `x`");
///
/// let fault = Fault::new(FaultKind::Overloaded, "try again");
/// assert_eq!(fault.kind().status().as_u16(), 503);
/// ```
#[derive(Clone)]
pub struct Fault(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: FaultKind,
    /// The shape id of a modelled error, or the name that the peer sent. Can be empty.
    name: String,
    message: String,
    details: Map,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
    code: Option<i64>,
    /// The status of a named fault, or that of the response that contained the fault.
    status: Option<StatusCode>,
    /// The methods for the header `Allow`.
    allow: Vec<Method>,
    /// What the model says about retries.
    retry: Option<Retry>,
    retry_after: Option<Duration>,
    query_error: Option<QueryError>,
    /// Whether it is certain that no handler was called.
    before_handler: bool,
    /// Whether to include the error structure in protocols that omit it by default.
    wants_detail: bool,
    /// Whether to write the error with the reference implementations of the formats.
    #[cfg(feature = "reference")]
    uses_reference_codec: bool,
}

/// The name of an error in the query protocol that the service used before: the header
/// `x-amzn-query-error` of services with `@awsQueryCompatible`.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct QueryError {
    /// The error code of the query protocol.
    pub code: String,
    /// Whether the caller caused the error: `Sender`, not `Receiver`.
    pub sender: bool,
}

impl Fault {
    /// Creates a fault of this kind, with a message for the caller.
    #[must_use]
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            name: String::new(),
            message: message.into(),
            details: Map::new(),
            source: None,
            code: None,
            status: None,
            allow: Vec::new(),
            retry: None,
            retry_after: None,
            query_error: None,
            before_handler: false,
            wants_detail: false,
            #[cfg(feature = "reference")]
            uses_reference_codec: false,
        }))
    }

    /// Creates a modelled error from the shape id of its structure and its members.
    ///
    /// The message is the value of the member `message`, `Message` or `errorMessage`.
    #[must_use]
    pub fn modelled(shape: impl Into<String>, details: Map) -> Self {
        let message = MESSAGES
            .into_iter()
            .find_map(|name| details.get(name).and_then(|value| value.as_str()))
            .unwrap_or_default()
            .to_owned();
        let mut fault = Self::new(FaultKind::Modelled, message);
        fault.0.name = shape.into();
        fault.0.details = details;
        fault
    }

    /// Creates a modelled error like [`Fault::modelled`], and takes the value of `@retryable` from
    /// the schema.
    #[must_use]
    pub fn of_error(shape: Schema<'_>, details: Map) -> Self {
        let mut fault = Self::modelled(shape.id(), details);
        let retryable = shape.error().map(|error| error.retryable);
        fault.0.retry = retryable.map(|retryable| match retryable {
            None => Retry::No,
            Some(false) => Retry::Yes,
            Some(true) => Retry::Throttled,
        });
        fault
    }

    /// Creates an error with a name and a status that the model does not define. Models can be
    /// incomplete: that of S3 lacks most of the errors that its clients handle by name.
    ///
    /// ```
    /// use http::StatusCode;
    /// use polywire_protocol::{Fault, Retry};
    ///
    /// let fault = Fault::named(StatusCode::CONFLICT, "BucketNotEmpty", "the bucket is not empty");
    /// assert_eq!(fault.to_string(), "BucketNotEmpty: the bucket is not empty");
    /// assert_eq!((fault.status().as_u16(), fault.retry()), (409, Retry::No));
    /// ```
    #[must_use]
    pub fn named(status: StatusCode, name: impl Into<String>, message: impl Into<String>) -> Self {
        let mut fault = Self::new(FaultKind::Named, message).with_name(name);
        fault.0.status = Some(status);
        fault
    }

    /// Creates an error with a number and a message, as XML-RPC sends them. The protocol reserves
    /// the numbers from -32768 to -32000.
    ///
    /// ```
    /// use polywire_protocol::Fault;
    ///
    /// let fault = Fault::coded(7, "division by zero");
    /// assert_eq!((fault.code(), fault.message()), (Some(7), "division by zero"));
    /// ```
    #[must_use]
    pub fn coded(code: i64, message: impl Into<String>) -> Self {
        Self::named(StatusCode::BAD_REQUEST, "ApplicationError", message).with_code(code)
    }

    /// Creates an internal fault. The reason is for logs and is not sent to the caller.
    #[must_use]
    pub fn internal(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let mut fault = Self::new(FaultKind::Internal, "an internal error occurred");
        fault.0.source = Some(Arc::from(reason.into()));
        fault
    }

    /// Creates the fault for a body that names an unknown operation. The message contains at most
    /// 64 characters of the name, because it can be as long as the body.
    #[cold]
    pub(crate) fn unknown_name(what: &str, name: &str) -> Self {
        let (shown, more) = match name.char_indices().nth(64) {
            None => (name, ""),
            Some((end, _)) => (name.get(..end).unwrap_or_default(), "..."),
        };
        let message = format!("no {what} `{}{more}`", shown.escape_debug());
        Self::new(FaultKind::UnknownOperation, message)
    }

    /// Creates the fault for a path that allows only these methods.
    pub(crate) fn method_not_allowed(allow: Vec<Method>) -> Self {
        let methods: Vec<&str> = allow.iter().map(Method::as_str).collect();
        let message = format!("this path allows only {}", methods.join(", "));
        let mut fault = Self::new(FaultKind::MethodNotAllowed, message);
        fault.0.allow = allow;
        fault
    }

    /// Sets the name that the peer sent, if the model does not define it.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.0.name = name.into();
        self
    }

    /// Sets the number that XML-RPC sends as `faultCode`.
    #[must_use]
    pub fn with_code(mut self, code: i64) -> Self {
        self.0.code = Some(code);
        self
    }

    /// Sets the details, for example those of a structure that the model does not define.
    #[must_use]
    pub fn with_details(mut self, details: Map) -> Self {
        self.0.details = details;
        self
    }

    /// Records that no handler was called, so that the caller can retry the call safely.
    #[must_use]
    pub fn before_handler(mut self) -> Self {
        self.0.before_handler = true;
        self
    }

    /// Returns whether it is certain that no handler was called.
    #[must_use]
    pub fn is_before_handler(&self) -> bool {
        self.0.before_handler
    }

    /// Sets the source of the fault, for logs.
    #[must_use]
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.0.source = Some(Arc::from(source.into()));
        self
    }

    /// Returns the source, if it is an error of a decoder.
    pub(crate) fn decode_error(&self) -> Option<&Error> {
        std::error::Error::source(self)?.downcast_ref()
    }

    /// Removes quotes of a message that can contain sensitive data from a decoding error:
    /// [`Error::without_sensitive`]. Other faults do not change.
    #[cold]
    pub(crate) fn without_sensitive(mut self, root: Member<'_>) -> Self {
        if let Some(error) = self.decode_error() {
            let error = error.clone().without_sensitive(root);
            // The message of an internal fault does not contain the error.
            if error.is_sender_fault() {
                self.0.message = error.message();
            }
            self.0.source = Some(Arc::new(error));
        }
        self
    }

    /// Sets the delay after which the caller can retry. Responses contain it in the header
    /// `retry-after`, rounded up to seconds.
    #[must_use]
    pub fn with_retry_after(mut self, time: Duration) -> Self {
        self.0.retry_after = Some(time);
        self
    }

    /// Sets whether to include the error structure in protocols that omit it by default. A
    /// server sets what
    /// [`ServerProtocol::wants_detail`](crate::ServerProtocol::wants_detail) returns for the call.
    #[must_use]
    pub fn with_detail(mut self, wanted: bool) -> Self {
        self.0.wants_detail = wanted;
        self
    }

    /// For clients: reads the headers `x-amzn-query-error` and `retry-after` (in seconds) of a
    /// response. They do not depend on the protocol.
    #[must_use]
    pub fn with_head(mut self, headers: &HeaderMap) -> Self {
        let text = |name: &HeaderName| headers.get(name)?.to_str().ok();
        if let Some((code, fault)) = text(&QUERY_ERROR).and_then(|text| text.split_once(';')) {
            self.0.query_error = Some(QueryError {
                code: code.to_owned(),
                sender: fault == "Sender",
            });
        }
        // The other form of the header is a date, which is useless without a clock.
        if let Some(seconds) = text(&RETRY_AFTER).and_then(|text| text.parse().ok()) {
            self.0.retry_after = Some(Duration::from_secs(seconds));
        }
        self
    }

    /// For clients: sets the status of the response. Ignores a status that is not 4xx or 5xx.
    #[must_use]
    pub fn with_status(mut self, status: StatusCode) -> Self {
        if status.is_client_error() || status.is_server_error() {
            self.0.status = Some(status);
        }
        self
    }

    /// Returns the delay after which the caller can retry, if the server sent one.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Returns the name of the error in the query protocol, if the response contains it.
    #[must_use]
    pub fn query_error(&self) -> Option<&QueryError> {
        self.0.query_error.as_ref()
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> FaultKind {
        self.0.kind
    }

    /// Returns the status: that of the response or of the named fault, or else that of the kind.
    /// The status of a modelled error is in its schema.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.0.status.unwrap_or(self.0.kind.status())
    }

    /// Returns the status if it was set explicitly.
    pub(crate) fn own_status(&self) -> Option<StatusCode> {
        self.0.status
    }

    /// Returns the shape id of a modelled error, and an empty string for other faults.
    #[must_use]
    pub fn shape(&self) -> &str {
        match self.0.kind {
            FaultKind::Modelled => &self.0.name,
            _ => "",
        }
    }

    /// Returns the message for the caller.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the members of the error.
    #[must_use]
    pub fn details(&self) -> &Map {
        &self.0.details
    }

    /// Whether to include the error structure in protocols that omit it by default.
    pub(crate) fn wants_detail(&self) -> bool {
        self.0.wants_detail
    }

    /// Returns the number of XML-RPC, if it is set.
    #[must_use]
    pub fn code(&self) -> Option<i64> {
        self.0.code
    }

    /// Returns the name of the error without namespace: the name of the modelled error, the name
    /// that the peer sent, or the name of the kind.
    #[must_use]
    pub fn name(&self) -> &str {
        match self.0.name.rsplit('#').next() {
            Some(name) if !name.is_empty() => name,
            _ => self.0.kind.name(),
        }
    }

    /// Returns the schema of a modelled error, if the operation lists it.
    #[must_use]
    pub fn shape_in<'s>(&self, operation: Option<Operation<'s>>) -> Option<Schema<'s>> {
        match self.0.kind {
            FaultKind::Modelled => operation?.find_error(&self.0.name),
            _ => None,
        }
    }

    /// Writes the error with the reference implementations of the formats, for tests that compare
    /// them with the formats.
    #[cfg(feature = "reference")]
    #[must_use]
    pub fn with_reference_codec(mut self) -> Self {
        self.0.uses_reference_codec = true;
        self
    }

    /// Calls `write` with the message, or with its reference implementation.
    pub(crate) fn write<T>(
        &self,
        message: &dyn Message,
        write: impl FnOnce(&dyn Message) -> T,
    ) -> T {
        #[cfg(feature = "reference")]
        if self.0.uses_reference_codec {
            return write(&polywire_codec::reference::Reference(message));
        }
        write(message)
    }

    /// Writes the headers `allow` and `retry-after`.
    pub(crate) fn write_head(&self, headers: &mut HeaderMap) {
        self.write_allow(headers);
        if let Some(time) = self.0.retry_after {
            // Round up, so that the caller does not retry too early.
            let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
    }

    /// Writes the header `allow`.
    fn write_allow(&self, headers: &mut HeaderMap) {
        let methods: Vec<&str> = self.0.allow.iter().map(Method::as_str).collect();
        // Methods are tokens and therefore valid header values.
        if let Ok(value) = HeaderValue::from_str(&methods.join(", "))
            && !methods.is_empty()
        {
            headers.insert(ALLOW, value);
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        if !self.0.message.is_empty() {
            write!(f, ": {}", self.0.message)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fault")
            .field("kind", &self.0.kind)
            .field("name", &self.0.name)
            .field("message", &self.0.message)
            .field("details", &self.0.details)
            .field("source", &self.0.source)
            .finish()
    }
}

impl std::error::Error for Fault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.source {
            Some(source) => Some(&**source),
            None => None,
        }
    }
}
