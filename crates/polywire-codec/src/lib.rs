//! The formats of Polywire: how data looks in bytes.
//!
//! A folder a format, each with a decoder and an encoder over schemas
//! ([`polywire_schema::Decoder`], [`polywire_schema::Encoder`]). They know
//! nothing of HTTP or of operations: a protocol tells them by a profile which
//! names and which timestamp form to use.
//!
//! - [`json`]: RFC 8259.
//! - [`cbor`]: RFC 8949.
//! - [`form`]: forms as AWS's query protocols nest data in them.
//! - [`msgpack`]: the format MessagePack.
//! - [`xml`]: XML 1.0 by Smithy's traits: restXml, awsQuery, ec2Query.
//! - [`xmlrpc`]: XML-RPC values, calls, responses and faults.
//!
//! Reading never panics and never returns part of a value as the whole. Errors
//! carry the byte offset, the member path, what was expected and what came.
//! The path costs nothing until something fails: it is found by reading the
//! message again up to the offset of the error.
#![forbid(unsafe_code)]

pub mod cbor;
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
mod refuse;
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
