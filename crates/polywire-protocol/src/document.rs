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

/// Implements [`Document`] for a format: the empty document, how an encoder is made of a buffer and a
/// side, and how a decoder is.
macro_rules! document {
    ($format:ty, $empty:literal, $encoder:expr, $decoder:expr) => {
        impl Document for $format {
            const EMPTY: &'static [u8] = $empty;

            fn write(
                &self,
                at: Member<'_>,
                message: &dyn Message,
                side: Side,
                size: &SizeHint,
            ) -> Result<Vec<u8>, Error> {
                let mut encoder = $encoder(self, size.new_buffer(), side);
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
                let mut decoder = $decoder(self, body, limits, side)?;
                if !body.is_empty() {
                    sink.read(at, &mut decoder)?;
                    decoder.finish()?;
                }
                sink.finish(at, &mut decoder)
            }

            fn value(&self, body: &Body, limits: &Limits) -> Value {
                let decoder = $decoder(self, body, limits, Side::Client);
                let read =
                    decoder.and_then(|mut decoder| Value::decode(Member::DOCUMENT, &mut decoder));
                read.unwrap_or_default()
            }
        }
    };
}

/// JSON, with this profile. The rules of the side replace those of the profile.
#[derive(Debug)]
pub struct Json(pub(crate) JsonProfile);

document!(
    Json,
    b"{}",
    |json: &Self, buffer, side: Side| JsonEncoder::new(json.0.with_rules(side.rules()), buffer),
    |json: &Self, body, limits, side: Side| {
        JsonDecoder::from_body(body, json.0.with_rules(side.rules()), limits)
    }
);

/// CBOR.
#[derive(Debug)]
pub struct Cbor;

document!(
    Cbor,
    b"\xa0",
    |_: &Self, buffer, side: Side| CborEncoder::new(buffer).with_defaults(side.defaults()),
    |_: &Self, body, limits, side: Side| {
        CborDecoder::from_body(body, CborProfile::DEFAULT.with_rules(side.rules()), limits)
    }
);
