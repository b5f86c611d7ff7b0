//! Faults: what a call can end in instead of an output.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::header::{ALLOW, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use polywire_codec::Message;
use polywire_schema::{
    Defaults, Encode, Encoder, Error, ErrorKind, Map, Member, Operation, Schema, Value,
};

use crate::error_info::{MESSAGES, kind_of_status};
use crate::rpc::QUERY_ERROR;

/// Errors that mean that the caller sends too much, under the names that
/// services of AWS have for it.
const THROTTLING: [&str; 12] = [
    "BandwidthLimitExceeded",
    "EC2ThrottledException",
    "LimitExceededException",
    "PriorRequestNotComplete",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "RequestThrottledException",
    "SlowDown",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
];

/// Why a call has no output: an error that the model knows, or one that any
/// call can end in.
///
/// What it says reaches the caller. What went wrong inside stays inside: an
/// [internal](FaultKind::Internal) fault carries its reason for the log and
/// tells the caller nothing of it.
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
    /// The id of the error's structure, or the name that a peer sent.
    name: String,
    message: String,
    details: Map,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
    code: Option<i64>,
    /// That of a named fault, or of the answer that it was read from.
    status: Option<StatusCode>,
    /// The methods that a path answers.
    allow: Vec<Method>,
    /// What a peer or the model said of trying again.
    retry: Option<Retry>,
    retry_after: Option<Duration>,
    query_error: Option<QueryError>,
    /// Whether it is known that no handler was called.
    before_handler: bool,
    /// Whether to include the error structure in protocols that omit it by default.
    wants_detail: bool,
    /// Whether the readable twins of the formats write it.
    #[cfg(feature = "reference")]
    with_reference_codec: bool,
}

/// What a caller is told of a fault that the model does not know.
#[derive(Clone, Copy, Debug)]
pub struct PublicFault<'f> {
    pub(crate) kind: FaultKind,
    pub(crate) name: &'f str,
    pub(crate) status: StatusCode,
    pub(crate) message: &'f str,
    /// What else: the members of `smithy.framework#ValidationException`, message
    /// included.
    pub(crate) details: Option<&'f Map>,
}

/// Whether the same call may be sent again.
///
/// <https://smithy.io/2.0/spec/behavior-traits.html#retryable-trait>
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Retry {
    /// It would end the same way.
    No,
    /// It may go better.
    Yes,
    /// It may go better, but later: the caller sends too much.
    Throttled,
}

/// How an error is known in the query protocol that a service spoke before:
/// the header `x-amzn-query-error` of services with `@awsQueryCompatible`.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct QueryError {
    /// The code, which old callers look for.
    pub code: String,
    /// Whether the sender of the request is to blame.
    pub sender: bool,
}

/// What kind of fault it is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum FaultKind {
    /// The call took longer than it was given.
    DeadlineExceeded,
    /// The caller is not allowed to make this call.
    Forbidden,
    /// Something went wrong here.
    Internal,
    /// A value that the model does not allow.
    Invalid,
    /// The request could not be read.
    Malformed,
    /// There is such a path, but not with this method.
    MethodNotAllowed,
    /// An error of the model.
    Modelled,
    /// An error that the model does not list, under a name of its own:
    /// [`Fault::named`].
    Named,
    /// No representation that the caller accepts.
    NotAcceptable,
    /// The call was turned away before its handler began.
    Overloaded,
    /// The request did not arrive in time.
    RequestTimeout,
    /// The request is larger than this server takes.
    TooLarge,
    /// The call has no credentials, or wrong ones.
    Unauthenticated,
    /// No such operation.
    UnknownOperation,
    /// The request's media type is not the protocol's.
    UnsupportedMediaType,
}

impl FaultKind {
    /// The status of a fault of this kind, where a protocol uses statuses.
    /// Errors of the model have their own, and so have named ones.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        match self {
            Self::DeadlineExceeded => StatusCode::GATEWAY_TIMEOUT,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::Internal | Self::Modelled | Self::Named => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Invalid | Self::Malformed => StatusCode::BAD_REQUEST,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
            Self::Overloaded => StatusCode::SERVICE_UNAVAILABLE,
            Self::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Unauthenticated => StatusCode::UNAUTHORIZED,
            Self::UnknownOperation => StatusCode::NOT_FOUND,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        }
    }

    /// The name of a fault of this kind in Smithy's protocols.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DeadlineExceeded => "DeadlineExceededException",
            Self::Forbidden => "AccessDeniedException",
            Self::Internal | Self::Modelled | Self::Named => "InternalFailureException",
            Self::Invalid => "ValidationException",
            Self::Malformed => "SerializationException",
            Self::MethodNotAllowed => "MethodNotAllowedException",
            Self::NotAcceptable => "NotAcceptableException",
            Self::Overloaded => "ServiceUnavailableException",
            Self::RequestTimeout => "RequestTimeoutException",
            Self::TooLarge => "RequestEntityTooLargeException",
            Self::Unauthenticated => "UnauthorizedException",
            Self::UnknownOperation => "UnknownOperationException",
            Self::UnsupportedMediaType => "UnsupportedMediaTypeException",
        }
    }

    /// The kind with a name, as a client reads it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        const ALL: [FaultKind; 13] = [
            FaultKind::DeadlineExceeded,
            FaultKind::Forbidden,
            FaultKind::Internal,
            FaultKind::Invalid,
            FaultKind::Malformed,
            FaultKind::MethodNotAllowed,
            FaultKind::NotAcceptable,
            FaultKind::Overloaded,
            FaultKind::RequestTimeout,
            FaultKind::TooLarge,
            FaultKind::Unauthenticated,
            FaultKind::UnknownOperation,
            FaultKind::UnsupportedMediaType,
        ];
        ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind of a fault of which only the status is known.
    ///
    /// ```
    /// use http::StatusCode;
    /// use polywire_protocol::FaultKind;
    ///
    /// let kind = FaultKind::from_status(StatusCode::TOO_MANY_REQUESTS);
    /// assert_eq!(kind, FaultKind::Overloaded);
    /// ```
    #[must_use]
    pub fn from_status(status: StatusCode) -> Self {
        kind_of_status(status, "")
    }
}

impl Fault {
    /// A fault of this kind with a message for the caller.
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
            with_reference_codec: false,
        }))
    }

    /// An error of the model: the id of its structure and the members.
    #[must_use]
    pub fn modelled(shape: impl Into<String>, details: Map) -> Self {
        // Smithy's convention for the text of an error.
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

    /// An error of the model, by its schema: as [`Fault::modelled`], and it
    /// knows what the model says of trying again.
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

    /// An error that the model does not list, under a name and a status of its
    /// own. Models are not always whole: S3's lists hardly any of the errors that
    /// its callers look for by name.
    ///
    /// ```
    /// use http::StatusCode;
    /// use polywire_protocol::{Fault, Retry};
    ///
    /// let fault = Fault::named(StatusCode::CONFLICT, "BucketNotEmpty", "it holds objects");
    /// assert_eq!(fault.to_string(), "BucketNotEmpty: it holds objects");
    /// assert_eq!((fault.status().as_u16(), fault.retry()), (409, Retry::No));
    /// ```
    #[must_use]
    pub fn named(status: StatusCode, name: impl Into<String>, message: impl Into<String>) -> Self {
        let mut fault = Self::new(FaultKind::Named, message).with_name(name);
        fault.0.status = Some(status);
        fault
    }

    /// An error of an application that has a number and a text for its callers, as
    /// errors of XML-RPC do. The numbers from -32768 to -32000 are those of the
    /// protocol.
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

    /// Something went wrong here. The reason goes to the log, not to the
    /// caller.
    #[must_use]
    pub fn internal(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let mut fault = Self::new(FaultKind::Internal, "an internal error occurred");
        fault.0.source = Some(Arc::from(reason.into()));
        fault
    }

    /// The body calls something that does not exist. Repeats at most 64 characters of the name,
    /// because a name in a body may be as long as the body.
    #[cold]
    pub(crate) fn unknown_name(what: &str, name: &str) -> Self {
        let (shown, more) = match name.char_indices().nth(64) {
            None => (name, ""),
            Some((end, _)) => (name.get(..end).unwrap_or_default(), "..."),
        };
        let message = format!("no {what} `{}{more}`", shown.escape_debug());
        Self::new(FaultKind::UnknownOperation, message)
    }

    /// This path answers other methods.
    pub(crate) fn method_not_allowed(allow: Vec<Method>) -> Self {
        let methods: Vec<&str> = allow.iter().map(Method::as_str).collect();
        let message = format!("this path answers {}", methods.join(", "));
        let mut fault = Self::new(FaultKind::MethodNotAllowed, message);
        fault.0.allow = allow;
        fault
    }

    /// Sets the name under which a peer sent it, where the model does not know
    /// that name: so that whoever reads a log sees what was on the wire.
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

    /// Sets details, for a structure that the model does not have.
    #[must_use]
    pub fn with_details(mut self, details: Map) -> Self {
        self.0.details = details;
        self
    }

    /// Notes that no handler was called, so that the caller may send the call again.
    #[must_use]
    pub fn before_handler(mut self) -> Self {
        self.0.before_handler = true;
        self
    }

    /// Whether it is known that no handler was called.
    #[must_use]
    pub fn is_before_handler(&self) -> bool {
        self.0.before_handler
    }

    /// Sets what lies behind it, for the log.
    #[must_use]
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.0.source = Some(Arc::from(source.into()));
        self
    }

    /// Removes what an error of reading repeats of a message that may hold sensitive data:
    /// [`Error::without_sensitive`]. Other faults stay as they are.
    #[cold]
    pub(crate) fn without_sensitive(mut self, root: Member<'_>) -> Self {
        let source = self.0.source.as_deref();
        if let Some(error) = source.and_then(|source| source.downcast_ref::<Error>()) {
            let error = error.clone().without_sensitive(root);
            // An internal fault tells its caller nothing of the error.
            if error.is_sender_fault() {
                self.0.message = error.message();
            }
            self.0.source = Some(Arc::new(error));
        }
        self
    }

    /// Sets after which time the caller may try again: the header `retry-after`
    /// of what goes out, in whole seconds.
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

    /// Client: takes over what the head of an answer says of the fault in it,
    /// in whatever protocol: `x-amzn-query-error`, `retry-after` in seconds.
    #[must_use]
    pub fn with_head(mut self, headers: &HeaderMap) -> Self {
        let text = |name: &HeaderName| headers.get(name)?.to_str().ok();
        if let Some((code, fault)) = text(&QUERY_ERROR).and_then(|text| text.split_once(';')) {
            self.0.query_error = Some(QueryError {
                code: code.to_owned(),
                sender: fault == "Sender",
            });
        }
        // The other form, a date, says nothing without a clock.
        if let Some(seconds) = text(&RETRY_AFTER).and_then(|text| text.parse().ok()) {
            self.0.retry_after = Some(Duration::from_secs(seconds));
        }
        self
    }

    /// Client: sets the status that an answer came with. One that is none of an
    /// error says nothing.
    #[must_use]
    pub fn with_status(mut self, status: StatusCode) -> Self {
        if status.is_client_error() || status.is_server_error() {
            self.0.status = Some(status);
        }
        self
    }

    /// Whether the same call may be sent again: what the model says of the
    /// error, or else what is usual for its kind and name.
    ///
    /// ```
    /// use polywire_protocol::{Fault, FaultKind, Retry};
    ///
    /// let fault = Fault::new(FaultKind::Overloaded, "try again");
    /// assert_eq!(fault.retry(), Retry::Throttled);
    /// assert_eq!(Fault::new(FaultKind::Invalid, "no").retry(), Retry::No);
    /// ```
    #[must_use]
    pub fn retry(&self) -> Retry {
        if let Some(retry) = self.0.retry {
            return retry;
        }
        if THROTTLING.contains(&self.name()) {
            return Retry::Throttled;
        }
        match self.0.kind {
            FaultKind::Overloaded => Retry::Throttled,
            FaultKind::DeadlineExceeded | FaultKind::Internal | FaultKind::RequestTimeout => {
                Retry::Yes
            }
            FaultKind::Named => match self.status() {
                StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => Retry::Throttled,
                status if status.is_server_error() => Retry::Yes,
                _ => Retry::No,
            },
            _ => Retry::No,
        }
    }

    /// After which time the caller may try again, if the other side said so.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// How the error is known in the query protocol, if the answer said so.
    #[must_use]
    pub fn query_error(&self) -> Option<&QueryError> {
        self.0.query_error.as_ref()
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> FaultKind {
        self.0.kind
    }

    /// The status, where a protocol uses statuses: the one that it came with, its
    /// own, or that of its kind. The model knows that of its errors.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.0.status.unwrap_or(self.0.kind.status())
    }

    /// The status that it was given, whatever its kind has.
    pub(crate) fn own_status(&self) -> Option<StatusCode> {
        self.0.status
    }

    /// The id of the error's structure; empty unless it is of the model.
    #[must_use]
    pub fn shape(&self) -> &str {
        match self.0.kind {
            FaultKind::Modelled => &self.0.name,
            _ => "",
        }
    }

    /// The text for the caller.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The members of the error's structure.
    #[must_use]
    pub fn details(&self) -> &Map {
        &self.0.details
    }

    /// Whether to include the error structure in protocols that omit it by default.
    pub(crate) fn wants_detail(&self) -> bool {
        self.0.wants_detail
    }

    /// The number of XML-RPC, if one was set or read.
    #[must_use]
    pub fn code(&self) -> Option<i64> {
        self.0.code
    }

    /// The name of the error of the model, or the one under which a peer sent
    /// it, or that of the kind.
    #[must_use]
    pub fn name(&self) -> &str {
        match self.0.name.rsplit('#').next() {
            Some(name) if !name.is_empty() => name,
            _ => self.0.kind.name(),
        }
    }

    /// The structure of the error, if the operation may end in it.
    #[must_use]
    pub fn shape_in<'s>(&self, operation: Option<Operation<'s>>) -> Option<Schema<'s>> {
        match self.0.kind {
            FaultKind::Modelled => operation?.find_error(&self.0.name),
            _ => None,
        }
    }

    /// What a caller is told whose protocol has no structure for it. An error of
    /// the model that got here is one that the model does not allow there, and
    /// that is nobody's business.
    pub(crate) fn public(&self) -> PublicFault<'_> {
        let (kind, message) = match self.0.kind {
            FaultKind::Modelled => (FaultKind::Internal, "an internal error occurred"),
            kind => (kind, self.0.message.as_str()),
        };
        let (name, status) = match kind {
            FaultKind::Named => (self.name(), self.status()),
            // Neither a name nor a status that came from elsewhere.
            kind => (kind.name(), kind.status()),
        };
        let invalid = kind == FaultKind::Invalid && !self.0.details.is_empty();
        PublicFault {
            kind,
            name,
            status,
            message,
            details: invalid.then_some(&self.0.details),
        }
    }

    /// Has the readable twins of the formats write the error, for the tests that
    /// hold the formats against them.
    #[cfg(feature = "reference")]
    #[must_use]
    pub fn with_reference_codec(mut self) -> Self {
        self.0.with_reference_codec = true;
        self
    }

    /// Writes a message that says what this error holds.
    pub(crate) fn write<T>(
        &self,
        message: &dyn Message,
        write: impl FnOnce(&dyn Message) -> T,
    ) -> T {
        #[cfg(feature = "reference")]
        if self.0.with_reference_codec {
            return write(&polywire_codec::reference::Reference(message));
        }
        write(message)
    }

    /// Says in a head what it has to say there: which methods a path answers,
    /// when to try again.
    pub(crate) fn write_head(&self, headers: &mut HeaderMap) {
        self.allow(headers);
        if let Some(time) = self.0.retry_after {
            // Not before the time: part of a second counts as one.
            let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
    }

    /// Says in a head which methods a path answers.
    pub(crate) fn allow(&self, headers: &mut HeaderMap) {
        let methods: Vec<&str> = self.0.allow.iter().map(Method::as_str).collect();
        // Methods are tokens, which headers can hold.
        if let Ok(value) = HeaderValue::from_str(&methods.join(", "))
            && !methods.is_empty()
        {
            headers.insert(ALLOW, value);
        }
    }

    /// The members of the error's structure that are there or have a default,
    /// in the order of the model.
    ///
    /// # Errors
    ///
    /// There is a detail that the structure has no member for.
    pub(crate) fn members<'f, 's>(&'f self, shape: Schema<'s>) -> Result<Members<'f, 's>, Error> {
        let details = &self.0.details;
        let unknown = |name: &&str| !shape.members().any(|member| member.name() == *name);
        if let Some(name) = details.keys().find(unknown) {
            return Err(Error::new(ErrorKind::Unknown)
                .expected(format!("a member of {}", shape.id()))
                .found(name.to_owned()));
        }
        let member = |member: Member<'s>| {
            let own = details.get(member.name()).filter(|value| !value.is_null());
            let value = match own {
                Some(value) => Cow::Borrowed(value),
                None if Defaults::Server.fills(member) => Cow::Owned(member.default_value()?),
                None => return None,
            };
            Some((member, value))
        };
        Ok(Members(shape.members().filter_map(member).collect()))
    }
}

/// The members of an error's structure that are there.
#[derive(Debug)]
pub(crate) struct Members<'f, 's>(pub(crate) Vec<(Member<'s>, Cow<'f, Value>)>);

impl Encode for Members<'_, '_> {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        encoder.begin_structure(at, self.0.len());
        for (member, value) in &self.0 {
            if encoder.member(*member) {
                value.encode(*member, encoder);
            }
        }
        encoder.end_structure(at);
    }
}

impl From<Error> for Fault {
    /// What could not be read is the sender's fault and may be told; what
    /// could not be written is this side's and stays here.
    fn from(error: Error) -> Self {
        if !error.is_sender_fault() {
            return Self::internal(error);
        }
        let kind = match error.kind() {
            ErrorKind::Limit(polywire_schema::LimitKind::Bytes(_)) => FaultKind::TooLarge,
            ErrorKind::Missing => FaultKind::Invalid,
            _ => FaultKind::Malformed,
        };
        Self::new(kind, error.message()).with_source(error)
    }
}

/// Failures of a handler's own work: their reason goes to the log, and callers are told
/// nothing of it. What they should know is a [`Fault::coded`].
macro_rules! internal {
    ($($error:ty)*) => {
        $(impl From<$error> for Fault {
            fn from(error: $error) -> Self {
                Self::internal(error)
            }
        })*
    };
}

internal! {
    std::io::Error fmt::Error std::num::ParseIntError std::num::ParseFloatError
    std::num::TryFromIntError std::str::Utf8Error std::string::FromUtf8Error
    std::time::SystemTimeError std::sync::mpsc::RecvError
    Box<dyn std::error::Error + Send + Sync>
}

impl From<std::convert::Infallible> for Fault {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
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
