//! Event streams: the framing `application/vnd.amazon.eventstream`, and the events of a model.
//!
//! An event stream is a member of an input or output that targets a union with `@streaming`. The
//! body of the HTTP message is then a sequence of messages of this framing, whose
//! [`CONTENT_TYPE`] is `application/vnd.amazon.eventstream`. Each message has typed headers and a
//! payload, and carries one event, one error, or the other members of the input or output.
//!
//! - [`MessageEncoder`] and [`MessageDecoder`] are the framing. They know no model.
//! - [`EventCodec`] encodes and decodes the events of a model. Protocols have one:
//!   [`ProtocolInfo::event_codec`](crate::ProtocolInfo::event_codec).
//! - [`SignedEnvelope`] is a message around a message, with a signature of the payload.
//!
//! The code does no I/O. The runtime feeds the bytes that it receives to a decoder.
//!
//! <https://smithy.io/2.0/aws/amazon-eventstream.html>
//!
//! ```
//! use bytes::Bytes;
//! use polywire_protocol::event_stream::{MessageDecoder, MessageEncoder, MessageLimits};
//!
//! let mut encoder = MessageEncoder::new(Vec::new());
//! encoder.string(":message-type", "event");
//! encoder.string(":event-type", "moved");
//! let mut received = Bytes::from(encoder.finish(b"{}")?);
//!
//! let mut decoder = MessageDecoder::new(MessageLimits::DEFAULT);
//! let message = decoder.decode(&mut received)?.unwrap();
//! assert_eq!(message.string(":event-type"), Some("moved"));
//! assert_eq!(message.payload().as_bytes(), b"{}");
//! decoder.finish()?;
//! # Ok::<(), polywire_schema::Error>(())
//! ```

mod codec;
mod decode;
mod document_encoder;
mod encode;
mod event_decoder;
mod format;
mod format_codec;
mod head_encoder;
mod header;
mod header_reader;
mod kind;
mod layout;
mod limits;
mod message;
#[cfg(feature = "reference")]
pub mod reference;
mod signed;
mod slot;
mod transport;

pub use codec::{EventCodec, EventOutcome};
pub use decode::MessageDecoder;
pub use encode::MessageEncoder;
pub use header::{EventHeader, EventHeaderValue};
pub use kind::MessageKind;
pub use layout::stream_of;
pub use limits::MessageLimits;
pub use message::EventMessage;
pub use signed::SignedEnvelope;
pub use slot::EventSlot;
pub(crate) use transport::read_events;
pub use transport::{OutgoingEvent, PayloadEvents, events_of};

pub(crate) use format::{EventFormat, event_format};
use layout::{EventLayout, PayloadKind, layout_of};
pub(crate) use layout::{is_event_stream, stream_member};

/// The content type of HTTP messages whose body is an event stream.
pub const CONTENT_TYPE: &str = "application/vnd.amazon.eventstream";

/// The name of the format in errors.
const FORMAT: &str = "event stream";

/// The length of a prelude: total length, length of the headers, checksum.
const PRELUDE: usize = 12;

/// The length of the checksum at the end of a message.
const CHECKSUM: usize = 4;

/// The longest value of a string or bytes header, in bytes.
const MAX_VALUE: usize = 0x7fff;

// The types of header values.
const TRUE: u8 = 0;
const FALSE: u8 = 1;
const BYTE: u8 = 2;
const SHORT: u8 = 3;
const INTEGER: u8 = 4;
const LONG: u8 = 5;
const BLOB: u8 = 6;
const STRING: u8 = 7;
const TIMESTAMP: u8 = 8;
const UUID: u8 = 9;
