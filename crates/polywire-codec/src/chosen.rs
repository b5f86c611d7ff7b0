//! Types with code of their own for some formats only.
//!
//! Each format costs a copy of a type's codecs, which a crate of hundreds of
//! types pays in build time and size. Generated code names the formats of the
//! service's protocols; the others go through one copy that all of them share,
//! over `dyn Encoder` and `dyn Decoder`.

use std::fmt;
use std::marker::PhantomData;

use polywire_schema::{DecodeStructure, Decoder, Encode, Encoder, Error, Member};

use crate::cbor::{CborDecoder, CborEncoder};
use crate::form::{FormDecoder, FormEncoder};
use crate::json::{JsonDecoder, JsonEncoder};
use crate::message::{Message, OwnRead, Sink, Slot};
use crate::xml::{XmlDecoder, XmlEncoder};
use crate::xmlrpc::{XmlRpcDecoder, XmlRpcEncoder};

/// The formats that types get code of their own for.
pub trait Formats: Send + Sync + 'static {
    /// awsJson, restJson1, rpcv2Json.
    const JSON: bool = false;
    /// rpcv2Cbor.
    const CBOR: bool = false;
    /// awsQuery and ec2Query.
    const FORM: bool = false;
    /// restXml, awsQuery and ec2Query.
    const XML: bool = false;
    /// XML-RPC.
    const XMLRPC: bool = false;
}

/// A typed value as a [`Message`], with code of its own for these formats.
#[derive(Clone, Copy, Debug)]
pub struct Chosen<T, F> {
    value: T,
    formats: PhantomData<fn() -> F>,
}

impl<T, F> Chosen<T, F> {
    /// The value, which may be a reference to one.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self {
            value,
            formats: PhantomData,
        }
    }
}

impl<T: Encode, F: Formats> Message for Chosen<T, F> {
    fn encode_json(&self, at: Member<'_>, encoder: &mut JsonEncoder) -> bool {
        if F::JSON {
            self.value.encode(at, encoder);
        }
        F::JSON
    }

    fn encode_cbor(&self, at: Member<'_>, encoder: &mut CborEncoder) -> bool {
        if F::CBOR {
            self.value.encode(at, encoder);
        }
        F::CBOR
    }

    fn encode_form(&self, at: Member<'_>, encoder: &mut FormEncoder) -> bool {
        if F::FORM {
            self.value.encode(at, encoder);
        }
        F::FORM
    }

    fn encode_xml(&self, at: Member<'_>, encoder: &mut XmlEncoder<'_>) -> bool {
        if F::XML {
            self.value.encode(at, encoder);
        }
        F::XML
    }

    fn encode_xmlrpc(&self, at: Member<'_>, encoder: &mut XmlRpcEncoder) -> bool {
        if F::XMLRPC {
            self.value.encode(at, encoder);
        }
        F::XMLRPC
    }

    fn encode_any(&self, at: Member<'_>, encoder: &mut dyn Encoder) {
        self.value.encode(at, encoder);
    }
}

/// A [`Slot`] with code of its own for these formats.
pub struct ChosenSlot<'de, T: DecodeStructure<'de>, F> {
    slot: Slot<'de, T>,
    formats: PhantomData<fn() -> F>,
}

impl<'de, T: DecodeStructure<'de>, F> ChosenSlot<'de, T, F> {
    /// An empty place.
    #[must_use]
    pub fn new() -> Self {
        Self {
            slot: Slot::new(),
            formats: PhantomData,
        }
    }

    /// The structure, once [`Sink::finish`] has been called.
    #[must_use]
    pub fn into_value(self) -> Option<T> {
        self.slot.into_value()
    }
}

impl<'de, T: DecodeStructure<'de>, F> fmt::Debug for ChosenSlot<'de, T, F>
where
    Slot<'de, T>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.slot.fmt(f)
    }
}

impl<'de, T: DecodeStructure<'de>, F> Default for ChosenSlot<'de, T, F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'de, T: DecodeStructure<'de>, F: Formats> Sink<'de> for ChosenSlot<'de, T, F> {
    fn decode_json(&mut self, at: Member<'_>, decoder: &mut JsonDecoder<'de>) -> OwnRead {
        F::JSON.then(|| self.slot.part(at, decoder))
    }

    fn decode_cbor(&mut self, at: Member<'_>, decoder: &mut CborDecoder<'de>) -> OwnRead {
        F::CBOR.then(|| self.slot.part(at, decoder))
    }

    fn decode_form(&mut self, at: Member<'_>, decoder: &mut FormDecoder<'de>) -> OwnRead {
        F::FORM.then(|| self.slot.part(at, decoder))
    }

    fn decode_xml(&mut self, at: Member<'_>, decoder: &mut XmlDecoder<'de>) -> OwnRead {
        F::XML.then(|| self.slot.part(at, decoder))
    }

    fn decode_xmlrpc(&mut self, at: Member<'_>, decoder: &mut XmlRpcDecoder<'de>) -> OwnRead {
        F::XMLRPC.then(|| self.slot.part(at, decoder))
    }

    fn decode_any(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        self.slot.part(at, decoder)
    }

    fn finish(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        self.slot.finish(at, decoder)
    }
}

/// What was read into the place, to be looked at: writing it is for [`Chosen`].
/// Before [`Sink::finish`] there is nothing, and that is an error.
impl<'de, T: DecodeStructure<'de> + Encode, F> Message for ChosenSlot<'de, T, F> {
    fn encode_any(&self, at: Member<'_>, encoder: &mut dyn Encoder) {
        self.slot.encode_any(at, encoder);
    }
}
