//! The slow, readable twins of the formats: what each must agree with.
//!
//! Written from the RFCs, with the plainest loops that say what they say: a
//! message is read into a tree first, and the tree is walked. They share with
//! the fast readers and writers only what has one owner for all of Polywire:
//! schemas, values, limits, errors, and the twins of `polywire_text`. Tests and
//! fuzz targets hold the formats against them. Nothing else should call them.
//!
//! [`Twin`] and [`TwinSink`] make a whole message go through them: where a
//! protocol hands out the encoder or decoder of a format, the twin of that
//! format does the work, by the same profile.
//!
//! ```
//! use polywire_codec::json::{JsonEncoder, JsonProfile};
//! use polywire_codec::reference::Twin;
//! use polywire_codec::{Dynamic, Message};
//! use polywire_schema::{Map, Member, Value};
//!
//! let value = Value::Map(Map::from_iter([("name", "Oslo")]));
//! let mut encoder = JsonEncoder::new(JsonProfile::DEFAULT, Vec::new());
//! let message: &dyn Message = &Twin(Dynamic(&value));
//! message.write_json(Member::DOCUMENT, &mut encoder);
//! assert_eq!(encoder.finish()?, br#"{"name":"Oslo"}"#);
//! # Ok::<(), polywire_schema::Error>(())
//! ```

pub mod cbor;
pub mod form;
pub mod json;
pub mod xml;
pub mod xmlrpc;

use polywire_schema::{Decoder, Encoder, Error, Member};

use crate::cbor::{CborDecoder, CborEncoder};
use crate::form::{FormDecoder, FormEncoder};
use crate::json::{JsonDecoder, JsonEncoder};
use crate::xml::{XmlDecoder, XmlEncoder};
use crate::xmlrpc::{XmlRpcDecoder, XmlRpcEncoder};
use crate::{Message, OwnRead, Sink};

/// A message that is written by the twins.
#[derive(Clone, Copy, Debug)]
pub struct Twin<M>(pub M);

impl<M: Message> Message for Twin<M> {
    fn encode_json(&self, at: Member<'_>, encoder: &mut JsonEncoder) -> bool {
        let mut twin = json::JsonEncoder::new(encoder.profile());
        self.0.encode_any(at, &mut twin);
        match twin.finish() {
            Ok(value) => encoder.push_value(&value),
            Err(error) => encoder.fail(error),
        }
        true
    }

    fn encode_cbor(&self, at: Member<'_>, encoder: &mut CborEncoder) -> bool {
        let mut twin = cbor::CborEncoder::new(encoder.defaults());
        self.0.encode_any(at, &mut twin);
        match twin.finish() {
            Ok(value) => encoder.push_value(&value),
            Err(error) => encoder.fail(error),
        }
        true
    }

    fn encode_form(&self, at: Member<'_>, encoder: &mut FormEncoder) -> bool {
        let mut twin = form::FormEncoder::new(encoder.profile());
        self.0.encode_any(at, &mut twin);
        match twin.finish() {
            Ok(fields) => encoder.push_fields(&fields),
            Err(error) => encoder.fail(error),
        }
        true
    }

    fn encode_xml(&self, at: Member<'_>, encoder: &mut XmlEncoder<'_>) -> bool {
        let mut twin = xml::XmlEncoder::new(encoder.profile(), encoder.is_open());
        self.0.encode_any(at, &mut twin);
        match twin.finish() {
            Ok(value) => encoder.push_value(&value),
            Err(error) => encoder.fail(error),
        }
        true
    }

    /// XML-RPC has a twin of whole messages alone: [`xmlrpc`].
    fn encode_xmlrpc(&self, at: Member<'_>, encoder: &mut XmlRpcEncoder) -> bool {
        self.0.encode_xmlrpc(at, encoder)
    }

    fn encode_any(&self, at: Member<'_>, encoder: &mut dyn Encoder) {
        self.0.encode_any(at, encoder);
    }
}

/// A place for a structure that is read by the twins.
#[derive(Debug)]
pub struct TwinSink<S>(pub S);

impl<S> TwinSink<S> {
    fn json<'de>(&mut self, at: Member<'_>, decoder: &mut JsonDecoder<'de>) -> Result<(), Error>
    where
        S: Sink<'de>,
    {
        let (text, limits, profile) = decoder.rest_of_message();
        let start = decoder.offset();
        let mut twin = json::JsonDecoder::new(text, start, profile, &limits)?;
        self.0.decode_any(at, &mut twin)?;
        decoder.go_to(twin.end());
        Ok(())
    }

    fn cbor<'de>(&mut self, at: Member<'_>, decoder: &mut CborDecoder<'de>) -> Result<(), Error>
    where
        S: Sink<'de>,
    {
        let (bytes, limits, profile) = decoder.rest_of_message();
        let start = decoder.offset();
        let mut twin = cbor::CborDecoder::new(bytes, start, profile, &limits)?;
        self.0.decode_any(at, &mut twin)?;
        decoder.go_to(twin.end());
        Ok(())
    }

    fn form<'de>(&mut self, at: Member<'_>, decoder: &mut FormDecoder<'de>) -> Result<(), Error>
    where
        S: Sink<'de>,
    {
        let (text, limits, profile) = decoder.whole();
        let mut twin = form::FormDecoder::new(text, profile, &limits)?;
        self.0.decode_any(at, &mut twin)
    }

    fn xml<'de>(&mut self, at: Member<'_>, decoder: &mut XmlDecoder<'de>) -> Result<(), Error>
    where
        S: Sink<'de>,
    {
        let (text, start, limits, profile) = decoder.rest_of_message();
        let mut twin = xml::XmlDecoder::at(text, start, decoder.is_at_root(), profile, &limits)?;
        self.0.decode_any(at, &mut twin)?;
        decoder.go_to(twin.end());
        Ok(())
    }
}

impl<'de, S: Sink<'de>> Sink<'de> for TwinSink<S> {
    fn decode_json(&mut self, at: Member<'_>, decoder: &mut JsonDecoder<'de>) -> OwnRead {
        Some(self.json(at, decoder))
    }

    fn decode_cbor(&mut self, at: Member<'_>, decoder: &mut CborDecoder<'de>) -> OwnRead {
        Some(self.cbor(at, decoder))
    }

    fn decode_form(&mut self, at: Member<'_>, decoder: &mut FormDecoder<'de>) -> OwnRead {
        Some(self.form(at, decoder))
    }

    fn decode_xml(&mut self, at: Member<'_>, decoder: &mut XmlDecoder<'de>) -> OwnRead {
        Some(self.xml(at, decoder))
    }

    /// XML-RPC has a twin of whole messages alone: [`xmlrpc`].
    fn decode_xmlrpc(&mut self, at: Member<'_>, decoder: &mut XmlRpcDecoder<'de>) -> OwnRead {
        self.0.decode_xmlrpc(at, decoder)
    }

    fn decode_any(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        self.0.decode_any(at, decoder)
    }

    fn finish(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        self.0.finish(at, decoder)
    }
}
