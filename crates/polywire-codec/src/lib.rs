//! The data formats of Polywire.
//!
//! Each format has a module with a decoder and an encoder, which implement
//! [`polywire_schema::Decoder`] and [`polywire_schema::Encoder`]. Formats are independent of HTTP and
//! of operations. A protocol sets options such as the names of members and the format of timestamps
//! with a profile.
//!
//! - [`json`]: RFC 8259.
//! - [`cbor`]: RFC 8949.
//! - [`form`]: forms with the nesting of AWS's query protocols.
//! - [`msgpack`]: the MessagePack format.
//! - [`xml`]: XML 1.0 with Smithy's XML traits: restXml, awsQuery, ec2Query.
//! - [`xmlrpc`]: XML-RPC values, calls, responses and faults.
//!
//! Decoders never panic and never return an incomplete value. Errors contain the byte offset, the
//! member path, what was expected and what was found. The path costs nothing unless there is an
//! error: the message is then read again up to the offset of the error.
#![forbid(unsafe_code)]

pub mod cbor;
mod checks;
pub mod form;
mod format;
#[cfg(feature = "serde")]
mod integers;
pub mod json;
mod keep;
mod lengths;
mod lenient;
pub mod message;
pub mod msgpack;
#[cfg(feature = "serde")]
mod parameters;
mod path;
#[cfg(feature = "reference")]
pub mod reference;
#[cfg(feature = "serde")]
mod serde;
mod snippet;
pub mod xml;
mod xml_tokens;
pub mod xmlrpc;

pub use format::{Format, FormatDecoder, FormatEncoder, Message, Sink};
pub use lenient::Lenient;
pub use message::{
    AllFormats, DecodeAny, DecodeWith, Dynamic, EncodeAny, EncodeWith, Formats, NoFormats, Slot,
    Typed,
};
