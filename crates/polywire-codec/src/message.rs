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
///
/// The methods of the formats say whether there is code of its own for that
/// format. Where there is not, nothing was written, and
/// [`encode_any`](Message::encode_any) does it: the methods `write_json` and so on
/// of `dyn Message` see to that. It is the protocol that does so, not the
/// message, so that a program has the formats that its protocols speak, and not
/// every format that a message could be written in.
pub trait Message {
    /// Writes the value of `at` as JSON, if there is code of its own for that.
    #[must_use = "if there is none, nothing was written"]
    fn encode_json(&self, at: Member<'_>, encoder: &mut JsonEncoder) -> bool {
        let _ = (at, encoder);
        false
    }

    /// Writes the value of `at` as CBOR, if there is code of its own for that.
    #[must_use = "if there is none, nothing was written"]
    fn encode_cbor(&self, at: Member<'_>, encoder: &mut CborEncoder) -> bool {
        let _ = (at, encoder);
        false
    }

    /// Writes the value of `at` as a form, if there is code of its own for that.
    #[must_use = "if there is none, nothing was written"]
    fn encode_form(&self, at: Member<'_>, encoder: &mut FormEncoder) -> bool {
        let _ = (at, encoder);
        false
    }

    /// Writes the value of `at` as XML, if there is code of its own for that.
    #[must_use = "if there is none, nothing was written"]
    fn encode_xml(&self, at: Member<'_>, encoder: &mut XmlEncoder<'_>) -> bool {
        let _ = (at, encoder);
        false
    }

    /// Writes the value of `at` as XML-RPC, if there is code of its own for that.
    #[must_use = "if there is none, nothing was written"]
    fn encode_xmlrpc(&self, at: Member<'_>, encoder: &mut XmlRpcEncoder) -> bool {
        let _ = (at, encoder);
        false
    }

    /// Writes the value of `at` with any encoder: what formats without a
    /// method of their own, and the head of an HTTP message, use.
    fn encode_any(&self, at: Member<'_>, encoder: &mut dyn Encoder);
}

impl dyn Message + '_ {
    /// Writes the value of `at` as JSON.
    #[inline]
    pub fn write_json(&self, at: Member<'_>, encoder: &mut JsonEncoder) {
        if !self.encode_json(at, encoder) {
            self.encode_any(at, encoder);
        }
    }

    /// Writes the value of `at` as CBOR.
    #[inline]
    pub fn write_cbor(&self, at: Member<'_>, encoder: &mut CborEncoder) {
        if !self.encode_cbor(at, encoder) {
            self.encode_any(at, encoder);
        }
    }

    /// Writes the value of `at` as a form.
    #[inline]
    pub fn write_form(&self, at: Member<'_>, encoder: &mut FormEncoder) {
        if !self.encode_form(at, encoder) {
            self.encode_any(at, encoder);
        }
    }

    /// Writes the value of `at` as XML.
    #[inline]
    pub fn write_xml(&self, at: Member<'_>, encoder: &mut XmlEncoder<'_>) {
        if !self.encode_xml(at, encoder) {
            self.encode_any(at, encoder);
        }
    }

    /// Writes the value of `at` as XML-RPC.
    #[inline]
    pub fn write_xmlrpc(&self, at: Member<'_>, encoder: &mut XmlRpcEncoder) {
        if !self.encode_xmlrpc(at, encoder) {
            self.encode_any(at, encoder);
        }
    }
}

/// A message or sink that does without the code that it has for formats: all of
/// them share one copy, over `dyn Encoder` and `dyn Decoder`. For what is rare.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shared<M>(pub M);

impl<M: Message> Message for Shared<M> {
    fn encode_any(&self, at: Member<'_>, encoder: &mut dyn Encoder) {
        self.0.encode_any(at, encoder);
    }
}

impl<'de, S: Sink<'de>> Sink<'de> for Shared<S> {
    fn decode_any(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        self.0.decode_any(at, decoder)
    }

    fn finish(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        self.0.finish(at, decoder)
    }
}

/// Implements [`Message`] for what holds something that encodes itself.
macro_rules! message {
    ([$($generics:tt)*] $type:ty, $this:ident => $inner:expr) => {
        impl<$($generics)*> Message for $type {
            fn encode_json(&self, at: Member<'_>, encoder: &mut JsonEncoder) -> bool {
                let $this = self;
                $inner.encode(at, encoder);
                true
            }

            fn encode_cbor(&self, at: Member<'_>, encoder: &mut CborEncoder) -> bool {
                let $this = self;
                $inner.encode(at, encoder);
                true
            }

            fn encode_form(&self, at: Member<'_>, encoder: &mut FormEncoder) -> bool {
                let $this = self;
                $inner.encode(at, encoder);
                true
            }

            fn encode_xml(&self, at: Member<'_>, encoder: &mut XmlEncoder<'_>) -> bool {
                let $this = self;
                $inner.encode(at, encoder);
                true
            }

            fn encode_xmlrpc(&self, at: Member<'_>, encoder: &mut XmlRpcEncoder) -> bool {
                let $this = self;
                $inner.encode(at, encoder);
                true
            }

            fn encode_any(&self, at: Member<'_>, encoder: &mut dyn Encoder) {
                let $this = self;
                $inner.encode(at, encoder);
            }
        }
    };
}

impl<M: Message + ?Sized> Message for &M {
    fn encode_json(&self, at: Member<'_>, encoder: &mut JsonEncoder) -> bool {
        (**self).encode_json(at, encoder)
    }

    fn encode_cbor(&self, at: Member<'_>, encoder: &mut CborEncoder) -> bool {
        (**self).encode_cbor(at, encoder)
    }

    fn encode_form(&self, at: Member<'_>, encoder: &mut FormEncoder) -> bool {
        (**self).encode_form(at, encoder)
    }

    fn encode_xml(&self, at: Member<'_>, encoder: &mut XmlEncoder<'_>) -> bool {
        (**self).encode_xml(at, encoder)
    }

    fn encode_xmlrpc(&self, at: Member<'_>, encoder: &mut XmlRpcEncoder) -> bool {
        (**self).encode_xmlrpc(at, encoder)
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

/// What a [`Sink`] did with its own code for a format: `None` where it has none,
/// so that nothing was read.
pub type OwnRead = Option<Result<(), Error>>;

/// A place for a structure that every format can read, in parts.
///
/// A protocol calls one of the methods `read_json` and so on of `dyn Sink`, or
/// [`decode_any`](Sink::decode_any), for each part of the message that carries
/// members, and then [`finish`](Sink::finish). The methods of the formats here are
/// for those that have code of their own, as with [`Message`].
pub trait Sink<'de> {
    /// Reads the members of a JSON document, if there is code of its own for
    /// that.
    fn decode_json(&mut self, at: Member<'_>, decoder: &mut JsonDecoder<'de>) -> OwnRead {
        let _ = (at, decoder);
        None
    }

    /// Reads the members of a CBOR document, if there is code of its own for
    /// that.
    fn decode_cbor(&mut self, at: Member<'_>, decoder: &mut CborDecoder<'de>) -> OwnRead {
        let _ = (at, decoder);
        None
    }

    /// Reads the members of a form, if there is code of its own for
    /// that.
    fn decode_form(&mut self, at: Member<'_>, decoder: &mut FormDecoder<'de>) -> OwnRead {
        let _ = (at, decoder);
        None
    }

    /// Reads the members of an XML element, if there is code of its own for
    /// that.
    fn decode_xml(&mut self, at: Member<'_>, decoder: &mut XmlDecoder<'de>) -> OwnRead {
        let _ = (at, decoder);
        None
    }

    /// Reads the members of an XML-RPC struct, or positional parameters, if there is code of its own for
    /// that.
    fn decode_xmlrpc(&mut self, at: Member<'_>, decoder: &mut XmlRpcDecoder<'de>) -> OwnRead {
        let _ = (at, decoder);
        None
    }

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

impl<'de> dyn Sink<'de> + '_ {
    /// Reads the members of a JSON document.
    ///
    /// # Errors
    ///
    /// It does not hold that structure.
    #[inline]
    pub fn read_json(
        &mut self,
        at: Member<'_>,
        decoder: &mut JsonDecoder<'de>,
    ) -> Result<(), Error> {
        match self.decode_json(at, decoder) {
            Some(read) => read,
            None => self.decode_any(at, decoder),
        }
    }

    /// Reads the members of a CBOR document.
    ///
    /// # Errors
    ///
    /// It does not hold that structure.
    #[inline]
    pub fn read_cbor(
        &mut self,
        at: Member<'_>,
        decoder: &mut CborDecoder<'de>,
    ) -> Result<(), Error> {
        match self.decode_cbor(at, decoder) {
            Some(read) => read,
            None => self.decode_any(at, decoder),
        }
    }

    /// Reads the members of a form.
    ///
    /// # Errors
    ///
    /// It does not hold that structure.
    #[inline]
    pub fn read_form(
        &mut self,
        at: Member<'_>,
        decoder: &mut FormDecoder<'de>,
    ) -> Result<(), Error> {
        match self.decode_form(at, decoder) {
            Some(read) => read,
            None => self.decode_any(at, decoder),
        }
    }

    /// Reads the members of an XML element.
    ///
    /// # Errors
    ///
    /// It does not hold that structure.
    #[inline]
    pub fn read_xml(&mut self, at: Member<'_>, decoder: &mut XmlDecoder<'de>) -> Result<(), Error> {
        match self.decode_xml(at, decoder) {
            Some(read) => read,
            None => self.decode_any(at, decoder),
        }
    }

    /// Reads the members of an XML-RPC struct, or positional parameters.
    ///
    /// # Errors
    ///
    /// It does not hold that structure.
    #[inline]
    pub fn read_xmlrpc(
        &mut self,
        at: Member<'_>,
        decoder: &mut XmlRpcDecoder<'de>,
    ) -> Result<(), Error> {
        match self.decode_xmlrpc(at, decoder) {
            Some(read) => read,
            None => self.decode_any(at, decoder),
        }
    }
}

impl<'de, S: Sink<'de> + ?Sized> Sink<'de> for &mut S {
    fn decode_json(&mut self, at: Member<'_>, decoder: &mut JsonDecoder<'de>) -> OwnRead {
        (**self).decode_json(at, decoder)
    }

    fn decode_cbor(&mut self, at: Member<'_>, decoder: &mut CborDecoder<'de>) -> OwnRead {
        (**self).decode_cbor(at, decoder)
    }

    fn decode_form(&mut self, at: Member<'_>, decoder: &mut FormDecoder<'de>) -> OwnRead {
        (**self).decode_form(at, decoder)
    }

    fn decode_xml(&mut self, at: Member<'_>, decoder: &mut XmlDecoder<'de>) -> OwnRead {
        (**self).decode_xml(at, decoder)
    }

    fn decode_xmlrpc(&mut self, at: Member<'_>, decoder: &mut XmlRpcDecoder<'de>) -> OwnRead {
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
    /// Until the structure is put together.
    builder: Option<T::Builder>,
    value: Option<T>,
    lifetime: std::marker::PhantomData<&'de ()>,
}

impl<'de, T: DecodeStructure<'de>> Slot<'de, T> {
    /// An empty place.
    #[must_use]
    pub fn new() -> Self {
        Self {
            builder: Some(T::Builder::default()),
            value: None,
            lifetime: std::marker::PhantomData,
        }
    }

    /// The structure, once [`Sink::finish`] has been called.
    #[must_use]
    pub fn into_value(self) -> Option<T> {
        self.value
    }

    /// Reads the members that this decoder has.
    #[inline]
    pub(crate) fn part<D: Decoder<'de> + ?Sized>(
        &mut self,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        match &mut self.builder {
            Some(builder) => T::decode_part(builder, at, decoder),
            None => Err(finished()),
        }
    }
}

impl<'de, T: DecodeStructure<'de>> Default for Slot<'de, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'de, T: DecodeStructure<'de>> Sink<'de> for Slot<'de, T> {
    fn decode_json(&mut self, at: Member<'_>, decoder: &mut JsonDecoder<'de>) -> OwnRead {
        Some(self.part(at, decoder))
    }

    fn decode_cbor(&mut self, at: Member<'_>, decoder: &mut CborDecoder<'de>) -> OwnRead {
        Some(self.part(at, decoder))
    }

    fn decode_form(&mut self, at: Member<'_>, decoder: &mut FormDecoder<'de>) -> OwnRead {
        Some(self.part(at, decoder))
    }

    fn decode_xml(&mut self, at: Member<'_>, decoder: &mut XmlDecoder<'de>) -> OwnRead {
        Some(self.part(at, decoder))
    }

    fn decode_xmlrpc(&mut self, at: Member<'_>, decoder: &mut XmlRpcDecoder<'de>) -> OwnRead {
        Some(self.part(at, decoder))
    }

    fn decode_any(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        self.part(at, decoder)
    }

    fn finish(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        let Some(builder) = self.builder.take() else {
            return Err(finished());
        };
        self.value = Some(T::build(builder, at, decoder)?);
        Ok(())
    }
}

/// What was read into the place, to be looked at: writing it is for [`Typed`].
/// Before [`Sink::finish`] there is nothing, and that is an error.
impl<'de, T: DecodeStructure<'de> + Encode> Message for Slot<'de, T> {
    fn encode_any(&self, at: Member<'_>, encoder: &mut dyn Encoder) {
        match &self.value {
            Some(value) => value.encode(at, encoder),
            None => encoder.fail(
                Error::new(ErrorKind::Internal).expected("a structure that was read to its end"),
            ),
        }
    }
}

/// A structure that has been put together takes no more members.
#[cold]
fn finished() -> Error {
    Error::new(ErrorKind::Internal).expected("no more members behind the end of a structure")
}

/// A [`Sink`] for a structure as a map.
impl<'de> Sink<'de> for Map {
    fn decode_json(&mut self, at: Member<'_>, decoder: &mut JsonDecoder<'de>) -> OwnRead {
        Some(decode_structure(self, at, decoder))
    }

    fn decode_cbor(&mut self, at: Member<'_>, decoder: &mut CborDecoder<'de>) -> OwnRead {
        Some(decode_structure(self, at, decoder))
    }

    fn decode_form(&mut self, at: Member<'_>, decoder: &mut FormDecoder<'de>) -> OwnRead {
        Some(decode_structure(self, at, decoder))
    }

    fn decode_xml(&mut self, at: Member<'_>, decoder: &mut XmlDecoder<'de>) -> OwnRead {
        Some(decode_structure(self, at, decoder))
    }

    fn decode_xmlrpc(&mut self, at: Member<'_>, decoder: &mut XmlRpcDecoder<'de>) -> OwnRead {
        Some(decode_structure(self, at, decoder))
    }

    fn decode_any(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        decode_structure(self, at, decoder)
    }

    fn finish(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        complete_structure(self, at, decoder)
    }
}
