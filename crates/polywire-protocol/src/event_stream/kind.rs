//! [`MessageKind`]: what a message is, from its headers.

use polywire_schema::{Error, ErrorKind};

use super::{EventHeaderValue, EventMessage, FORMAT};

pub(super) const MESSAGE_TYPE: &str = ":message-type";
pub(super) const EVENT_TYPE: &str = ":event-type";
pub(super) const EXCEPTION_TYPE: &str = ":exception-type";
pub(super) const ERROR_CODE: &str = ":error-code";
pub(super) const ERROR_MESSAGE: &str = ":error-message";
pub(super) const CONTENT_TYPE: &str = ":content-type";

pub(super) const EVENT: &str = "event";
pub(super) const EXCEPTION: &str = "exception";
pub(super) const ERROR: &str = "error";

pub(super) const INITIAL_REQUEST: &str = "initial-request";
pub(super) const INITIAL_RESPONSE: &str = "initial-response";

/// What a message of an event stream is, with the names in its headers.
///
/// ```
/// use polywire_protocol::event_stream::{
///     EventHeader, EventHeaderValue, EventMessage, MessageKind,
/// };
///
/// let header = |name, value: &str| {
///     EventHeader::new(name, EventHeaderValue::String(value.into()))
/// };
/// let headers = vec![header(":message-type", "event"), header(":event-type", "up")];
/// let message = EventMessage::new(headers, "");
/// assert_eq!(message.kind()?, MessageKind::Event("up"));
/// # Ok::<(), polywire_schema::Error>(())
/// ```
///
/// <https://smithy.io/2.0/aws/amazon-eventstream.html#amazon-event-semantics>
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum MessageKind<'m> {
    /// The members of the input beside the stream. Only RPC protocols have it.
    InitialRequest,
    /// The members of the output beside the stream. Only RPC protocols have it.
    InitialResponse,
    /// An event, with the name of the member of the union.
    Event(&'m str),
    /// A modelled error, with the name of the member of the union. It ends the stream.
    Exception(&'m str),
    /// An error that is not modelled. It ends the stream.
    Error {
        /// The name, type or category of the error.
        code: &'m str,
        /// A description for people. Empty if the message has none.
        message: &'m str,
    },
}

impl EventMessage {
    /// Returns what this message is.
    ///
    /// # Errors
    ///
    /// The header `:message-type`, or the header that names the event, exception or error, is
    /// absent or not a string, or the type is unknown.
    pub fn kind(&self) -> Result<MessageKind<'_>, Error> {
        match self.required(MESSAGE_TYPE)? {
            EVENT => Ok(match self.required(EVENT_TYPE)? {
                INITIAL_REQUEST => MessageKind::InitialRequest,
                INITIAL_RESPONSE => MessageKind::InitialResponse,
                name => MessageKind::Event(name),
            }),
            EXCEPTION => Ok(MessageKind::Exception(self.required(EXCEPTION_TYPE)?)),
            ERROR => Ok(MessageKind::Error {
                code: self.required(ERROR_CODE)?,
                message: self.string(ERROR_MESSAGE).unwrap_or_default(),
            }),
            other => {
                let shown: String = other.chars().take(64).collect();
                Err(Error::new(ErrorKind::Unknown)
                    .in_format(FORMAT)
                    .expected("event, exception or error")
                    .found(format!("{shown:?}"))
                    .at_path(header_path(MESSAGE_TYPE)))
            }
        }
    }

    fn required(&self, name: &str) -> Result<&str, Error> {
        match self.header(name) {
            Some(EventHeaderValue::String(value)) => Ok(value),
            Some(other) => Err(wrong_type(name, "a string", other)),
            None => Err(Error::new(ErrorKind::Missing)
                .in_format(FORMAT)
                .expected("a string")
                .at_path(header_path(name))),
        }
    }
}

/// The error for a header with a value of another type.
#[cold]
pub(super) fn wrong_type(name: &str, expected: &'static str, found: &EventHeaderValue) -> Error {
    Error::new(ErrorKind::WrongType)
        .in_format(FORMAT)
        .expected(expected)
        .found(found.type_name())
        .at_path(header_path(name))
}

pub(super) fn header_path(name: &str) -> String {
    format!("header {name}")
}
