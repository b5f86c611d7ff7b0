//! Documents in JSON and CBOR: the messages of RPC protocols, and the bodies of restJson1.

use polywire_codec::cbor::{CborDecoder, CborEncoder, CborProfile};
use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire_codec::{Message, Sink};
use polywire_schema::{Body, Decode, Defaults, Error, Limits, Member, Rules, Value};

use crate::size_hint::SizeHint;

/// The side of a connection that reads or writes a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Side {
    Client,
    Server,
}

impl Side {
    /// Returns how this side treats input that the model does not allow.
    pub(crate) const fn rules(self) -> Rules {
        match self {
            Self::Client => Rules::CLIENT,
            Self::Server => Rules::SERVER,
        }
    }

    /// Returns which absent members this side reads or writes as their default value.
    pub(crate) const fn defaults(self) -> Defaults {
        self.rules().defaults
    }
}

/// A format of documents.
pub trait Document {
    /// The document of a structure without members.
    const EMPTY: &'static [u8];

    /// Encodes a structure, or a value without a schema. `size` is the estimate for the buffer.
    fn write(
        &self,
        at: Member<'_>,
        message: &dyn Message,
        side: Side,
        size: &SizeHint,
    ) -> Result<Vec<u8>, Error>;

    /// Decodes a structure. An empty body is a structure without members.
    fn read<'de>(
        &self,
        at: Member<'_>,
        body: &'de Body,
        limits: &Limits,
        side: Side,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error>;

    /// Decodes a body of any shape. Returns null if it is not a document of this format.
    fn value(&self, body: &Body, limits: &Limits) -> Value;
}

/// JSON, with this profile. The rules of the side replace those of the profile.
#[derive(Debug)]
pub struct Json(pub(crate) JsonProfile);

impl Json {
    const fn profile(&self, side: Side) -> JsonProfile {
        self.0.with_rules(side.rules())
    }
}

impl Document for Json {
    const EMPTY: &'static [u8] = b"{}";

    fn write(
        &self,
        at: Member<'_>,
        message: &dyn Message,
        side: Side,
        size: &SizeHint,
    ) -> Result<Vec<u8>, Error> {
        let mut encoder = JsonEncoder::new(self.profile(side), size.new_buffer());
        message.write(at, &mut encoder);
        let document = encoder.finish()?;
        size.record(document.len());
        Ok(document)
    }

    fn read<'de>(
        &self,
        at: Member<'_>,
        body: &'de Body,
        limits: &Limits,
        side: Side,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        let mut decoder = JsonDecoder::from_body(body, self.profile(side), limits)?;
        if !body.is_empty() {
            sink.read(at, &mut decoder)?;
            decoder.finish()?;
        }
        sink.finish(at, &mut decoder)
    }

    fn value(&self, body: &Body, limits: &Limits) -> Value {
        let read = || {
            let mut decoder = JsonDecoder::from_body(body, self.profile(Side::Client), limits)?;
            Value::decode(Member::DOCUMENT, &mut decoder)
        };
        read().unwrap_or_default()
    }
}

/// CBOR.
#[derive(Debug)]
pub struct Cbor;

impl Cbor {
    const fn profile(side: Side) -> CborProfile {
        CborProfile::DEFAULT.with_rules(side.rules())
    }
}

impl Document for Cbor {
    const EMPTY: &'static [u8] = b"\xa0";

    fn write(
        &self,
        at: Member<'_>,
        message: &dyn Message,
        side: Side,
        size: &SizeHint,
    ) -> Result<Vec<u8>, Error> {
        let encoder = CborEncoder::new(size.new_buffer());
        let mut encoder = encoder.with_defaults(side.defaults());
        message.write(at, &mut encoder);
        let document = encoder.finish()?;
        size.record(document.len());
        Ok(document)
    }

    fn read<'de>(
        &self,
        at: Member<'_>,
        body: &'de Body,
        limits: &Limits,
        side: Side,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        let mut decoder = CborDecoder::from_body(body, Self::profile(side), limits)?;
        if !body.is_empty() {
            sink.read(at, &mut decoder)?;
            decoder.finish()?;
        }
        sink.finish(at, &mut decoder)
    }

    fn value(&self, body: &Body, limits: &Limits) -> Value {
        let read = || {
            let mut decoder = CborDecoder::from_body(body, Self::profile(Side::Client), limits)?;
            Value::decode(Member::DOCUMENT, &mut decoder)
        };
        read().unwrap_or_default()
    }
}
