//! Slow, readable implementations of the formats, for tests.
//!
//! Each format has a parser that follows the rules of its specification and reads a message into a
//! tree. [`TreeDecoder`] reads the trees of all formats, and [`TreeEncoder`] builds trees for the
//! writers of the formats. They share only schemas, values, limits, errors and the reference
//! implementations of `polywire_text` with the fast formats, and not the decoding loop. Tests and fuzz
//! targets compare the fast formats with them. Programs should not use them.
//!
//! [`Reference`] and [`ReferenceSink`] pass a message through them: when a protocol uses the encoder or
//! decoder of a format, the reference implementation of the format does the work, with the same
//! profile.
//!
//! ```
//! use polywire_codec::json::{JsonEncoder, JsonProfile};
//! use polywire_codec::reference::Reference;
//! use polywire_codec::{Dynamic, Message};
//! use polywire_schema::{Map, Member, Value};
//!
//! let value = Value::Map(Map::from_iter([("name", "Oslo")]));
//! let mut encoder = JsonEncoder::new(JsonProfile::DEFAULT, Vec::new());
//! let message: &dyn Message = &Reference(Dynamic(&value));
//! message.write(Member::DOCUMENT, &mut encoder);
//! assert_eq!(encoder.finish()?, br#"{"name":"Oslo"}"#);
//! # Ok::<(), polywire_schema::Error>(())
//! ```

mod adapters;
pub mod cbor;
mod decode;
mod encode;
pub mod form;
mod format;
pub mod json;
mod node;
pub mod xml;
pub mod xmlrpc;

pub use decode::TreeDecoder;
pub use encode::TreeEncoder;

use polywire_schema::{Decoder, Encoder, Error, Member};

use crate::{DecodeAny, DecodeWith, EncodeAny, EncodeWith, FormatDecoder, FormatEncoder};

/// An encoder that can append the output of the reference implementation of its format.
pub trait ReferenceEncoder: FormatEncoder {
    /// Writes the value of `at`, with the profile of this encoder.
    fn write_reference(&mut self, at: Member<'_>, message: &dyn EncodeAny);
}

/// A decoder that can pass its input to the reference implementation of its format.
pub trait ReferenceDecoder<'de>: FormatDecoder<'de> {
    /// Reads the members of `at` from the current offset, with the profile and the limits of this
    /// decoder, and moves to their end.
    ///
    /// # Errors
    ///
    /// The errors of the format.
    fn read_reference(
        &mut self,
        at: Member<'_>,
        sink: &mut dyn DecodeAny<'de>,
    ) -> Result<(), Error>;
}

/// A message that is written by the reference implementations.
#[derive(Clone, Copy, Debug)]
pub struct Reference<M>(pub M);

impl<M: EncodeAny> EncodeAny for Reference<M> {
    fn encode_any(&self, at: Member<'_>, encoder: &mut dyn Encoder) {
        self.0.encode_any(at, encoder);
    }
}

impl<E: ReferenceEncoder, M: EncodeAny> EncodeWith<E> for Reference<M> {
    fn encode_with(&self, at: Member<'_>, encoder: &mut E) -> bool {
        encoder.write_reference(at, &self.0);
        true
    }
}

/// A structure that is read by the reference implementations.
#[derive(Debug)]
pub struct ReferenceSink<S>(pub S);

impl<'de, S: DecodeAny<'de>> DecodeAny<'de> for ReferenceSink<S> {
    fn decode_any(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        self.0.decode_any(at, decoder)
    }

    fn finish(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        self.0.finish(at, decoder)
    }
}

impl<'de, D: ReferenceDecoder<'de>, S: DecodeAny<'de>> DecodeWith<'de, D> for ReferenceSink<S> {
    fn decode_with(&mut self, at: Member<'_>, decoder: &mut D) -> Option<Result<(), Error>> {
        Some(decoder.read_reference(at, &mut self.0))
    }
}
