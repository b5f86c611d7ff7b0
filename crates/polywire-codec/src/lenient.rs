//! Reading structures without checking for required members.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, ByteStream, Decoder, Encode, Encoder, Error, ErrorKind, Event,
    Map, Member, MemberFlags, Schema, Seq, Text, Timestamp, complete_structure, decode_structure,
};

use crate::{DecodeAny, DecodeWith, EncodeAny, EncodeWith};

/// A [`Sink`](crate::Sink) that reads a structure as a map and accepts missing required members at
/// every level, even if the decoder is strict.
///
/// It is meant for servers that do not validate their input, and to report all missing members
/// instead of only the first. The options of the decoder determine whether defaults are filled in.
///
/// ```
/// use polywire_codec::json::{JsonDecoder, JsonProfile};
/// use polywire_codec::{Lenient, Sink};
/// use polywire_schema::{Limits, Map, MemberFlags, MemberSpec, SchemaBuilder, ShapeKind};
///
/// let mut builder = SchemaBuilder::new();
/// let string = builder.shape(ShapeKind::String, "smithy.api#String");
/// let city = builder.shape(ShapeKind::Structure, "example#City");
/// builder.member(city, MemberSpec::new("name", string).flag(MemberFlags::REQUIRED));
/// let set = builder.finish()?;
///
/// let at = set.shape(city.index()).root();
/// let mut decoder = JsonDecoder::from_str("{}", JsonProfile::DEFAULT, &Limits::DEFAULT)?;
/// let mut city = Lenient(Map::new());
/// let sink: &mut dyn Sink = &mut city;
/// sink.read(at, &mut decoder)?;
/// sink.finish(at, &mut decoder)?;
/// assert!(city.0.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Lenient(pub Map);

impl EncodeAny for Lenient {
    fn encode_any(&self, at: Member<'_>, encoder: &mut dyn Encoder) {
        self.0.encode(at, encoder);
    }
}

impl<'de> DecodeAny<'de> for Lenient {
    fn decode_any(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        decode_structure(&mut self.0, at, &mut LenientDecoder(decoder))
    }

    fn finish(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        complete_structure(&mut self.0, at, &mut LenientDecoder(decoder))
    }
}

/// `Lenient` is rarely used, so all formats share one copy of the code.
impl<E> EncodeWith<E> for Lenient {}

impl<D> DecodeWith<'_, D> for Lenient {}

/// A decoder that accepts a structure without its required members.
///
/// It does not forward the fast paths that some decoders have (`variant`, `expected`): speed
/// does not matter here.
struct LenientDecoder<'d, 'de>(&'d mut dyn Decoder<'de>);

impl<'de> Decoder<'de> for LenientDecoder<'_, 'de> {
    fn structure(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        self.0.structure(at)
    }

    fn member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        self.0.member(shape, seq)
    }

    fn list(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        self.0.list(at)
    }

    fn item(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<bool, Error> {
        self.0.item(at, seq)
    }

    fn map(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        self.0.map(at)
    }

    fn key(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<Option<Text>, Error> {
        self.0.key(at, seq)
    }

    fn null(&mut self, at: Member<'_>) -> Result<bool, Error> {
        self.0.null(at)
    }

    fn boolean(&mut self, at: Member<'_>) -> Result<bool, Error> {
        self.0.boolean(at)
    }

    fn integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        self.0.integer(at)
    }

    fn float(&mut self, at: Member<'_>) -> Result<f32, Error> {
        self.0.float(at)
    }

    fn double(&mut self, at: Member<'_>) -> Result<f64, Error> {
        self.0.double(at)
    }

    fn big_integer(&mut self, at: Member<'_>) -> Result<BigInteger, Error> {
        self.0.big_integer(at)
    }

    fn big_decimal(&mut self, at: Member<'_>) -> Result<BigDecimal, Error> {
        self.0.big_decimal(at)
    }

    fn text(&mut self, at: Member<'_>) -> Result<Text, Error> {
        self.0.text(at)
    }

    fn str(&mut self, at: Member<'_>) -> Result<Cow<'de, str>, Error> {
        self.0.str(at)
    }

    fn blob(&mut self, at: Member<'_>) -> Result<Blob, Error> {
        self.0.blob(at)
    }

    fn stream(&mut self, at: Member<'_>) -> Result<ByteStream, Error> {
        self.0.stream(at)
    }

    fn timestamp(&mut self, at: Member<'_>) -> Result<Timestamp, Error> {
        self.0.timestamp(at)
    }

    fn any(&mut self) -> Result<Event, Error> {
        self.0.any()
    }

    fn missing(&mut self, _: Member<'_>) -> Result<(), Error> {
        Ok(())
    }

    /// A decoder may also fill in required members that have no default. Here they stay missing.
    fn fills_default(&self, at: Member<'_>) -> bool {
        at.has(MemberFlags::DEFAULT) && self.0.fills_default(at)
    }

    fn unknown(&mut self, at: Member<'_>) -> Result<(), Error> {
        self.0.unknown(at)
    }

    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        self.0.error(kind, expected)
    }
}
