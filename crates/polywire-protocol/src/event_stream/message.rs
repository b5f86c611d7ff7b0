//! [`EventMessage`]: the headers and the payload of one message.

use polywire_text::Body;

use super::{EventHeader, EventHeaderValue};

/// A message that a [`MessageDecoder`](super::MessageDecoder) has read.
///
/// The payload shares the memory that was received, if the message did not arrive in several
/// pieces.
///
/// ```
/// use polywire_protocol::event_stream::{EventHeader, EventHeaderValue, EventMessage};
///
/// let headers = vec![EventHeader::new(":event-type", EventHeaderValue::String("up".into()))];
/// let message = EventMessage::new(headers, "{}");
/// assert_eq!(message.string(":event-type"), Some("up"));
/// assert!(message.header("velocity").is_none());
/// ```
#[derive(Debug, Default)]
pub struct EventMessage {
    headers: Vec<EventHeader>,
    payload: Body,
}

impl EventMessage {
    /// Creates a message. No header occurs twice in valid messages.
    #[must_use]
    pub fn new(headers: Vec<EventHeader>, payload: impl Into<Body>) -> Self {
        Self {
            headers,
            payload: payload.into(),
        }
    }

    /// The headers, in the order of the message. The order has no meaning.
    #[must_use]
    pub fn headers(&self) -> &[EventHeader] {
        &self.headers
    }

    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&EventHeaderValue> {
        let header = self.headers.iter().find(|header| header.name == name)?;
        Some(&header.value)
    }

    /// The value of a header, if the message has it and it is a string.
    #[must_use]
    pub fn string(&self, name: &str) -> Option<&str> {
        match self.header(name)? {
            EventHeaderValue::String(value) => Some(value),
            _ => None,
        }
    }

    /// The payload. Empty if the message has none.
    #[must_use]
    pub const fn payload(&self) -> &Body {
        &self.payload
    }

    /// The headers and the payload.
    #[must_use]
    pub fn into_parts(self) -> (Vec<EventHeader>, Body) {
        (self.headers, self.payload)
    }
}

/// Equal headers in the same order, and equal payloads.
impl PartialEq for EventMessage {
    fn eq(&self, other: &Self) -> bool {
        self.headers == other.headers && self.payload.as_bytes() == other.payload.as_bytes()
    }
}
