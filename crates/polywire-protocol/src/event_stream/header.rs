//! [`EventHeader`]: a header of a message, which has a type.

use polywire_text::{Blob, Text, Timestamp};

/// A header of an event message.
///
/// ```
/// use polywire_protocol::event_stream::{EventHeader, EventHeaderValue};
///
/// let header = EventHeader::new("attempt", EventHeaderValue::Integer(3));
/// assert_eq!(header.value, EventHeaderValue::Integer(3));
/// ```
///
/// <https://smithy.io/2.0/aws/amazon-eventstream.html#headers-format>
#[derive(Clone, Debug, PartialEq)]
pub struct EventHeader {
    /// The name: 1 to 255 bytes. Names are case-sensitive, and those that begin with a colon are
    /// reserved for the protocol.
    pub name: Text,
    /// The value.
    pub value: EventHeaderValue,
}

impl EventHeader {
    /// Creates a header.
    #[must_use]
    pub fn new(name: impl Into<Text>, value: EventHeaderValue) -> Self {
        Self {
            name: name.into(),
            value,
        }
    }
}

/// The value of an [`EventHeader`]. The specification has no other types and adds none.
///
/// ```
/// use polywire_protocol::event_stream::EventHeaderValue;
///
/// assert_eq!(EventHeaderValue::Boolean(true).type_name(), "a boolean");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum EventHeaderValue {
    /// A boolean: types 0 (true) and 1 (false).
    Boolean(bool),
    /// An 8-bit integer: type 2.
    Byte(i8),
    /// A 16-bit integer: type 3.
    Short(i16),
    /// A 32-bit integer: type 4.
    Integer(i32),
    /// A 64-bit integer: type 5.
    Long(i64),
    /// Up to 32,767 bytes: type 6.
    Blob(Blob),
    /// A string of up to 32,767 bytes: type 7.
    String(Text),
    /// A point in time, in whole milliseconds: type 8.
    Timestamp(Timestamp),
    /// A UUID of RFC 9562: type 9.
    Uuid([u8; 16]),
}

impl EventHeaderValue {
    /// The type as a noun phrase, for errors.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Boolean(_) => "a boolean",
            Self::Byte(_) => "a byte",
            Self::Short(_) => "a short",
            Self::Integer(_) => "an integer",
            Self::Long(_) => "a long",
            Self::Blob(_) => "bytes",
            Self::String(_) => "a string",
            Self::Timestamp(_) => "a timestamp",
            Self::Uuid(_) => "a UUID",
        }
    }
}
