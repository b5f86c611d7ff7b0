//! A payload that is the body as it is: a blob or a string.
//!
//! Payloads that are documents are written and read by their format.

use std::borrow::Cow;

use bytes::Bytes;
use polywire_codec::Message;
use polywire_schema::{
    BigDecimal, BigInteger, Blob, Body, Decoder, Defaults, END, Encoder, Error, ErrorKind, Event,
    Member, Schema, Seq, ShapeKind, Text, Timestamp,
};
use polywire_text::utf8;

/// Whether a payload of this kind is the body as it is. A document that holds
/// a string is not.
pub(crate) const fn is_raw(kind: ShapeKind) -> bool {
    matches!(kind, ShapeKind::Blob | ShapeKind::String | ShapeKind::Enum)
}

/// An encoder that takes the payload of one structure, and nothing else.
#[derive(Debug)]
pub(crate) struct RawEncoder {
    /// The place of the payload.
    payload: u32,
    defaults: Defaults,
    body: Option<Bytes>,
    depth: u32,
    error: Option<Error>,
}

impl RawEncoder {
    /// The payload of a message, if it is there.
    pub(crate) fn write(
        root: Member<'_>,
        payload: u32,
        defaults: Defaults,
        message: &dyn Message,
    ) -> Result<Option<Bytes>, Error> {
        let mut encoder = Self {
            payload,
            defaults,
            body: None,
            depth: 0,
            error: None,
        };
        message.encode_any(root, &mut encoder);
        match encoder.error {
            Some(error) => Err(error),
            None => Ok(encoder.body),
        }
    }

    #[cold]
    fn unfit(&mut self) {
        let error = Error::new(ErrorKind::Internal).in_format("HTTP");
        self.fail(error.expected(UNFIT));
    }
}

const UNFIT: &str = "a payload that is a blob or a string";

impl Encoder for RawEncoder {
    fn begin_structure(&mut self, _: Member<'_>, _: usize) {
        self.depth += 1;
        if self.depth > 1 {
            self.unfit();
        }
    }

    fn member(&mut self, at: Member<'_>) -> bool {
        self.depth == 1 && at.ordinal() == self.payload
    }

    fn fills(&self, at: Member<'_>) -> bool {
        self.defaults.fills(at)
    }

    fn end_structure(&mut self, _: Member<'_>) {
        self.depth -= 1;
    }

    fn begin_list(&mut self, _: Member<'_>, _: usize) {
        self.unfit();
    }

    fn end_list(&mut self, _: Member<'_>) {}

    fn begin_map(&mut self, _: Member<'_>, _: usize) {
        self.unfit();
    }

    fn key(&mut self, _: Member<'_>, _: &str) {}

    fn end_map(&mut self, _: Member<'_>) {}

    fn boolean(&mut self, _: Member<'_>, _: bool) {
        self.unfit();
    }

    fn integer(&mut self, _: Member<'_>, _: i64) {
        self.unfit();
    }

    fn float(&mut self, _: Member<'_>, _: f32) {
        self.unfit();
    }

    fn double(&mut self, _: Member<'_>, _: f64) {
        self.unfit();
    }

    fn big_integer(&mut self, _: Member<'_>, _: &BigInteger) {
        self.unfit();
    }

    fn big_decimal(&mut self, _: Member<'_>, _: &BigDecimal) {
        self.unfit();
    }

    fn string(&mut self, _: Member<'_>, value: &str) {
        self.body = Some(Bytes::copy_from_slice(value.as_bytes()));
    }

    fn blob(&mut self, _: Member<'_>, value: &[u8]) {
        self.body = Some(Bytes::copy_from_slice(value));
    }

    fn timestamp(&mut self, _: Member<'_>, _: Timestamp) {
        self.unfit();
    }

    fn null(&mut self, _: Member<'_>) {
        self.unfit();
    }

    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}

/// A decoder of a structure of which the body is the payload.
#[derive(Debug)]
pub(crate) struct RawDecoder<'de> {
    body: &'de Body,
    /// The place of the payload, until it has been read.
    payload: Option<u32>,
    required: bool,
}

impl<'de> RawDecoder<'de> {
    pub(crate) const fn new(body: &'de Body, payload: u32, required: bool) -> Self {
        Self {
            body,
            payload: Some(payload),
            required,
        }
    }

    fn unfit<T>(&self) -> Result<T, Error> {
        Err(self.error(ErrorKind::Internal, UNFIT))
    }
}

impl<'de> Decoder<'de> for RawDecoder<'de> {
    fn structure(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        match at.is_root() {
            true => Ok(Seq::default()),
            false => self.unfit(),
        }
    }

    fn member(&mut self, _: Schema<'_>, _: &mut Seq) -> Result<u32, Error> {
        Ok(self.payload.take().unwrap_or(END))
    }

    fn list(&mut self, _: Member<'_>) -> Result<Seq, Error> {
        self.unfit()
    }

    fn item(&mut self, _: Member<'_>, _: &mut Seq) -> Result<bool, Error> {
        self.unfit()
    }

    fn map(&mut self, _: Member<'_>) -> Result<Seq, Error> {
        self.unfit()
    }

    fn key(&mut self, _: Member<'_>, _: &mut Seq) -> Result<Option<Text>, Error> {
        self.unfit()
    }

    fn null(&mut self, _: Member<'_>) -> Result<bool, Error> {
        Ok(false)
    }

    fn boolean(&mut self, _: Member<'_>) -> Result<bool, Error> {
        self.unfit()
    }

    fn integer(&mut self, _: Member<'_>) -> Result<i64, Error> {
        self.unfit()
    }

    fn float(&mut self, _: Member<'_>) -> Result<f32, Error> {
        self.unfit()
    }

    fn double(&mut self, _: Member<'_>) -> Result<f64, Error> {
        self.unfit()
    }

    fn big_integer(&mut self, _: Member<'_>) -> Result<BigInteger, Error> {
        self.unfit()
    }

    fn big_decimal(&mut self, _: Member<'_>) -> Result<BigDecimal, Error> {
        self.unfit()
    }

    fn text(&mut self, at: Member<'_>) -> Result<Text, Error> {
        match self.str(at)? {
            Cow::Borrowed(text) => Ok(self.body.text(text)),
            Cow::Owned(text) => Ok(Text::from(text)),
        }
    }

    fn str(&mut self, _: Member<'_>) -> Result<Cow<'de, str>, Error> {
        match utf8::validate(self.body.as_bytes()) {
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(malformed) => {
                Err(Error::malformed(ErrorKind::InvalidValue, malformed, 0).in_format("HTTP"))
            }
        }
    }

    fn blob(&mut self, _: Member<'_>) -> Result<Blob, Error> {
        Ok(self.body.blob(self.body.as_bytes()))
    }

    fn timestamp(&mut self, _: Member<'_>) -> Result<Timestamp, Error> {
        self.unfit()
    }

    fn any(&mut self) -> Result<Event, Error> {
        self.unfit()
    }

    fn fills(&self, at: Member<'_>) -> bool {
        match self.required {
            true => Defaults::Server.fills(at),
            false => Defaults::Client.fills(at),
        }
    }

    fn missing(&mut self, at: Member<'_>) -> Result<(), Error> {
        if !self.required {
            return Ok(());
        }
        let name = format!(
            "the required member `{}` of {}",
            at.name(),
            at.container().id()
        );
        Err(Error::new(ErrorKind::Missing)
            .in_format("HTTP")
            .expected(name))
    }

    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        Error::new(kind).in_format("HTTP").expected(expected)
    }
}
