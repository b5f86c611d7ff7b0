//! A payload that is the body as it is: a blob or a string.
//!
//! Payloads that are documents are written and read by their format. Writing this
//! one goes along with the head.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Body, Decoder, Defaults, END, Error, ErrorKind, Event, Member,
    Schema, Seq, ShapeKind, Text, Timestamp,
};
use polywire_text::utf8;

/// Whether a payload of this kind is the body as it is. A document that holds
/// a string is not.
pub(crate) const fn is_raw(kind: ShapeKind) -> bool {
    matches!(kind, ShapeKind::Blob | ShapeKind::String | ShapeKind::Enum)
}

pub(crate) const UNFIT: &str = "a payload that is a blob or a string";

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

    fn fills_default(&self, at: Member<'_>) -> bool {
        match self.required {
            true => Defaults::Server.fills_default(at),
            false => Defaults::Client.fills_default(at),
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
