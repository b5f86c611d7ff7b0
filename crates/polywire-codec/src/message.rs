//! Whole messages that every format can read and write.
//!
//! A protocol is compiled once and must not be generic over the types of
//! every operation; a type's codecs must be monomorphised per format to be
//! quick. [`Message`] and [`Sink`] join the two: object-safe traits with one
//! method a format, implemented once for all types. A protocol calls the
//! method of its format, and behind it stands code that was compiled for that
//! type and that format.

use polywire_schema::{
    DecodeStructure, Decoder, Encode, Encoder, Error, ErrorKind, Map, Member, Value,
    complete_structure, decode_structure,
};

use crate::cbor::{CborDecoder, CborEncoder};
use crate::form::{FormDecoder, FormEncoder};
use crate::json::{JsonDecoder, JsonEncoder};
use crate::xml::{XmlDecoder, XmlEncoder};
use crate::xmlrpc::{XmlRpcDecoder, XmlRpcEncoder};

/// A value that every format can write.
pub trait Message {
    /// Writes the value of `at` as JSON.
    fn encode_json(&self, at: Member<'_>, encoder: &mut JsonEncoder);

    /// Writes the value of `at` as CBOR.
    fn encode_cbor(&self, at: Member<'_>, encoder: &mut CborEncoder);

    /// Writes the value of `at` as a form.
    fn encode_form(&self, at: Member<'_>, encoder: &mut FormEncoder);

    /// Writes the value of `at` as XML.
    fn encode_xml(&self, at: Member<'_>, encoder: &mut XmlEncoder<'_>);

    /// Writes the value of `at` as XML-RPC.
    fn encode_xmlrpc(&self, at: Member<'_>, encoder: &mut XmlRpcEncoder);

    /// Writes the value of `at` with any encoder: what formats without a
    /// method of their own, and the head of an HTTP message, use.
    fn encode_any(&self, at: Member<'_>, encoder: &mut dyn Encoder);
}

/// Implements [`Message`] for what holds something that encodes itself.
macro_rules! message {
    ([$($generics:tt)*] $type:ty, $this:ident => $inner:expr) => {
        impl<$($generics)*> Message for $type {
            fn encode_json(&self, at: Member<'_>, encoder: &mut JsonEncoder) {
                let $this = self;
                $inner.encode(at, encoder);
            }

            fn encode_cbor(&self, at: Member<'_>, encoder: &mut CborEncoder) {
                let $this = self;
                $inner.encode(at, encoder);
            }

            fn encode_form(&self, at: Member<'_>, encoder: &mut FormEncoder) {
                let $this = self;
                $inner.encode(at, encoder);
            }

            fn encode_xml(&self, at: Member<'_>, encoder: &mut XmlEncoder<'_>) {
                let $this = self;
                $inner.encode(at, encoder);
            }

            fn encode_xmlrpc(&self, at: Member<'_>, encoder: &mut XmlRpcEncoder) {
                let $this = self;
                $inner.encode(at, encoder);
            }

            fn encode_any(&self, at: Member<'_>, encoder: &mut dyn Encoder) {
                let $this = self;
                $inner.encode(at, encoder);
            }
        }
    };
}

impl<M: Message + ?Sized> Message for &M {
    fn encode_json(&self, at: Member<'_>, encoder: &mut JsonEncoder) {
        (**self).encode_json(at, encoder);
    }

    fn encode_cbor(&self, at: Member<'_>, encoder: &mut CborEncoder) {
        (**self).encode_cbor(at, encoder);
    }

    fn encode_form(&self, at: Member<'_>, encoder: &mut FormEncoder) {
        (**self).encode_form(at, encoder);
    }

    fn encode_xml(&self, at: Member<'_>, encoder: &mut XmlEncoder<'_>) {
        (**self).encode_xml(at, encoder);
    }

    fn encode_xmlrpc(&self, at: Member<'_>, encoder: &mut XmlRpcEncoder) {
        (**self).encode_xmlrpc(at, encoder);
    }

    fn encode_any(&self, at: Member<'_>, encoder: &mut dyn Encoder) {
        (**self).encode_any(at, encoder);
    }
}

/// A typed value as a [`Message`].
#[derive(Clone, Copy, Debug)]
pub struct Typed<'a, T>(pub &'a T);

message!([T: Encode] Typed<'_, T>, this => this.0);

/// A value that owns what it writes, as a [`Message`].
#[derive(Clone, Copy, Debug)]
pub struct Owned<T>(pub T);

message!([T: Encode] Owned<T>, this => this.0);

/// A dynamic value as a [`Message`].
#[derive(Clone, Copy, Debug)]
pub struct Dynamic<'a>(pub &'a Value);

message!([] Dynamic<'_>, this => this.0);

message!([] Map, this => this);

/// A place for a structure that every format can read, in parts.
///
/// A protocol calls one of the `decode_` methods for each part of the message
/// that carries members, and then [`finish`](Sink::finish).
pub trait Sink<'de> {
    /// Reads the members of a JSON document.
    ///
    /// # Errors
    ///
    /// The document is not that structure.
    fn decode_json(&mut self, at: Member<'_>, decoder: &mut JsonDecoder<'de>) -> Result<(), Error>;

    /// Reads the members of a CBOR document.
    ///
    /// # Errors
    ///
    /// The document is not that structure.
    fn decode_cbor(&mut self, at: Member<'_>, decoder: &mut CborDecoder<'de>) -> Result<(), Error>;

    /// Reads the members of a form.
    ///
    /// # Errors
    ///
    /// The form does not hold that structure.
    fn decode_form(&mut self, at: Member<'_>, decoder: &mut FormDecoder<'de>) -> Result<(), Error>;

    /// Reads the members of an XML element.
    ///
    /// # Errors
    ///
    /// The element is not that structure.
    fn decode_xml(&mut self, at: Member<'_>, decoder: &mut XmlDecoder<'de>) -> Result<(), Error>;

    /// Reads the members of an XML-RPC struct, or positional parameters.
    ///
    /// # Errors
    ///
    /// The message does not hold that structure.
    fn decode_xmlrpc(
        &mut self,
        at: Member<'_>,
        decoder: &mut XmlRpcDecoder<'de>,
    ) -> Result<(), Error>;

    /// Reads the members of anything.
    ///
    /// # Errors
    ///
    /// It does not hold that structure.
    fn decode_any(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error>;

    /// Puts the structure together. `decoder` is asked about missing members.
    ///
    /// # Errors
    ///
    /// A required member is missing and the decoder minds.
    fn finish(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error>;
}

impl<'de, S: Sink<'de> + ?Sized> Sink<'de> for &mut S {
    fn decode_json(&mut self, at: Member<'_>, decoder: &mut JsonDecoder<'de>) -> Result<(), Error> {
        (**self).decode_json(at, decoder)
    }

    fn decode_cbor(&mut self, at: Member<'_>, decoder: &mut CborDecoder<'de>) -> Result<(), Error> {
        (**self).decode_cbor(at, decoder)
    }

    fn decode_form(&mut self, at: Member<'_>, decoder: &mut FormDecoder<'de>) -> Result<(), Error> {
        (**self).decode_form(at, decoder)
    }

    fn decode_xml(&mut self, at: Member<'_>, decoder: &mut XmlDecoder<'de>) -> Result<(), Error> {
        (**self).decode_xml(at, decoder)
    }

    fn decode_xmlrpc(
        &mut self,
        at: Member<'_>,
        decoder: &mut XmlRpcDecoder<'de>,
    ) -> Result<(), Error> {
        (**self).decode_xmlrpc(at, decoder)
    }

    fn decode_any(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        (**self).decode_any(at, decoder)
    }

    fn finish(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        (**self).finish(at, decoder)
    }
}

/// A [`Sink`] for a typed structure.
#[derive(Debug)]
pub struct Slot<'de, T: DecodeStructure<'de>> {
    builder: T::Builder,
    value: Option<T>,
    lifetime: std::marker::PhantomData<&'de ()>,
}

impl<'de, T: DecodeStructure<'de>> Slot<'de, T> {
    /// An empty place.
    #[must_use]
    pub fn new() -> Self {
        Self {
            builder: T::Builder::default(),
            value: None,
            lifetime: std::marker::PhantomData,
        }
    }

    /// The structure, once [`Sink::finish`] has been called.
    #[must_use]
    pub fn into_value(self) -> Option<T> {
        self.value
    }
}

impl<'de, T: DecodeStructure<'de>> Default for Slot<'de, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'de, T: DecodeStructure<'de>> Sink<'de> for Slot<'de, T> {
    fn decode_json(&mut self, at: Member<'_>, decoder: &mut JsonDecoder<'de>) -> Result<(), Error> {
        T::decode_part(&mut self.builder, at, decoder)
    }

    fn decode_cbor(&mut self, at: Member<'_>, decoder: &mut CborDecoder<'de>) -> Result<(), Error> {
        T::decode_part(&mut self.builder, at, decoder)
    }

    fn decode_form(&mut self, at: Member<'_>, decoder: &mut FormDecoder<'de>) -> Result<(), Error> {
        T::decode_part(&mut self.builder, at, decoder)
    }

    fn decode_xml(&mut self, at: Member<'_>, decoder: &mut XmlDecoder<'de>) -> Result<(), Error> {
        T::decode_part(&mut self.builder, at, decoder)
    }

    fn decode_xmlrpc(
        &mut self,
        at: Member<'_>,
        decoder: &mut XmlRpcDecoder<'de>,
    ) -> Result<(), Error> {
        T::decode_part(&mut self.builder, at, decoder)
    }

    fn decode_any(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        T::decode_part(&mut self.builder, at, decoder)
    }

    fn finish(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        self.value = Some(T::build(std::mem::take(&mut self.builder), at, decoder)?);
        Ok(())
    }
}

message!(['de, T: DecodeStructure<'de> + Encode] Slot<'de, T>, this => this);

/// What was read into the place. Before [`Sink::finish`] there is nothing, and
/// writing that is an error.
impl<'de, T: DecodeStructure<'de> + Encode> Encode for Slot<'de, T> {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        match &self.value {
            Some(value) => value.encode(at, encoder),
            None => encoder.fail(
                Error::new(ErrorKind::Internal).expected("a structure that was read to its end"),
            ),
        }
    }
}

/// A [`Sink`] for a structure as a map.
impl<'de> Sink<'de> for Map {
    fn decode_json(&mut self, at: Member<'_>, decoder: &mut JsonDecoder<'de>) -> Result<(), Error> {
        decode_structure(self, at, decoder)
    }

    fn decode_cbor(&mut self, at: Member<'_>, decoder: &mut CborDecoder<'de>) -> Result<(), Error> {
        decode_structure(self, at, decoder)
    }

    fn decode_form(&mut self, at: Member<'_>, decoder: &mut FormDecoder<'de>) -> Result<(), Error> {
        decode_structure(self, at, decoder)
    }

    fn decode_xml(&mut self, at: Member<'_>, decoder: &mut XmlDecoder<'de>) -> Result<(), Error> {
        decode_structure(self, at, decoder)
    }

    fn decode_xmlrpc(
        &mut self,
        at: Member<'_>,
        decoder: &mut XmlRpcDecoder<'de>,
    ) -> Result<(), Error> {
        decode_structure(self, at, decoder)
    }

    fn decode_any(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        decode_structure(self, at, decoder)
    }

    fn finish(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        complete_structure(self, at, decoder)
    }
}
