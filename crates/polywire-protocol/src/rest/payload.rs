//! A member that is the whole body.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Body, Decoder, Defaults, END, Encoder, Error, ErrorKind, Event,
    Location, Member, Schema, Seq, ShapeKind, Text, Timestamp,
};
use polywire_text::utf8;

/// An encoder of the payload of one structure: a blob or a string as it is,
/// anything else by the encoder within.
#[derive(Debug)]
pub(crate) struct PayloadEncoder<E> {
    inner: E,
    /// The place of the payload.
    payload: u32,
    raw: Option<Vec<u8>>,
    written: bool,
    depth: u32,
    error: Option<Error>,
}

impl<E: Encoder> PayloadEncoder<E> {
    pub(crate) const fn new(inner: E, payload: u32) -> Self {
        Self {
            inner,
            payload,
            raw: None,
            written: false,
            depth: 0,
            error: None,
        }
    }

    /// The body, if there is one: raw bytes, or what the encoder made.
    pub(crate) fn finish(
        self,
        finish: impl FnOnce(E) -> Result<Vec<u8>, Error>,
    ) -> Result<Option<Vec<u8>>, Error> {
        match (self.error, self.raw) {
            (Some(error), _) => Err(error),
            (None, Some(raw)) => Ok(Some(raw)),
            (None, None) if self.written => finish(self.inner).map(Some),
            (None, None) => Ok(None),
        }
    }
}

impl<E: Encoder> Encoder for PayloadEncoder<E> {
    fn begin_structure(&mut self, at: Member<'_>, present: usize) {
        if self.depth > 0 {
            self.inner.begin_structure(at, present);
        }
        self.depth += 1;
    }

    fn member(&mut self, at: Member<'_>) -> bool {
        if self.depth > 1 {
            return self.inner.member(at);
        }
        let payload = at.ordinal() == self.payload;
        self.written |= payload;
        payload
    }

    fn fills(&self, at: Member<'_>) -> bool {
        self.inner.fills(at)
    }

    fn end_structure(&mut self, at: Member<'_>) {
        self.depth -= 1;
        if self.depth > 0 {
            self.inner.end_structure(at);
        }
    }

    fn begin_list(&mut self, at: Member<'_>, len: usize) {
        self.inner.begin_list(at, len);
    }

    fn end_list(&mut self, at: Member<'_>) {
        self.inner.end_list(at);
    }

    fn begin_map(&mut self, at: Member<'_>, len: usize) {
        self.inner.begin_map(at, len);
    }

    fn key(&mut self, at: Member<'_>, key: &str) {
        self.inner.key(at, key);
    }

    fn end_map(&mut self, at: Member<'_>) {
        self.inner.end_map(at);
    }

    fn boolean(&mut self, at: Member<'_>, value: bool) {
        self.inner.boolean(at, value);
    }

    fn integer(&mut self, at: Member<'_>, value: i64) {
        self.inner.integer(at, value);
    }

    fn float(&mut self, at: Member<'_>, value: f32) {
        self.inner.float(at, value);
    }

    fn double(&mut self, at: Member<'_>, value: f64) {
        self.inner.double(at, value);
    }

    fn big_integer(&mut self, at: Member<'_>, value: &BigInteger) {
        self.inner.big_integer(at, value);
    }

    fn big_decimal(&mut self, at: Member<'_>, value: &BigDecimal) {
        self.inner.big_decimal(at, value);
    }

    fn string(&mut self, at: Member<'_>, value: &str) {
        if is_raw_payload(at) {
            self.raw = Some(value.as_bytes().to_vec());
        } else {
            self.inner.string(at, value);
        }
    }

    fn blob(&mut self, at: Member<'_>, value: &[u8]) {
        if is_raw_payload(at) {
            self.raw = Some(value.to_vec());
        } else {
            self.inner.blob(at, value);
        }
    }

    fn timestamp(&mut self, at: Member<'_>, value: Timestamp) {
        self.inner.timestamp(at, value);
    }

    fn null(&mut self, at: Member<'_>) {
        self.inner.null(at);
    }

    fn fail(&mut self, error: Error) {
        // What holds the payload may be wrong where that is not.
        self.error.get_or_insert(error);
    }
}

/// A decoder of the payload of one structure, by the decoder within.
#[derive(Debug)]
pub(crate) struct PayloadDecoder<D> {
    inner: D,
    /// The place of the payload, until it has been read.
    payload: Option<u32>,
    depth: u32,
}

impl<D> PayloadDecoder<D> {
    pub(crate) const fn new(inner: D, payload: u32) -> Self {
        Self {
            inner,
            payload: Some(payload),
            depth: 0,
        }
    }

    pub(crate) fn into_inner(self) -> D {
        self.inner
    }
}

impl<'de, D: Decoder<'de>> Decoder<'de> for PayloadDecoder<D> {
    fn structure(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        self.depth += 1;
        if self.depth == 1 {
            Ok(Seq::default())
        } else {
            self.inner.structure(at)
        }
    }

    fn member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        let ordinal = match self.depth {
            1 => self.payload.take().unwrap_or(END),
            _ => self.inner.member(shape, seq)?,
        };
        if ordinal == END {
            self.depth -= 1;
        }
        Ok(ordinal)
    }

    fn list(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        self.inner.list(at)
    }

    fn item(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<bool, Error> {
        self.inner.item(at, seq)
    }

    fn map(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        self.inner.map(at)
    }

    fn key(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<Option<Text>, Error> {
        self.inner.key(at, seq)
    }

    fn null(&mut self, at: Member<'_>) -> Result<bool, Error> {
        self.inner.null(at)
    }

    fn boolean(&mut self, at: Member<'_>) -> Result<bool, Error> {
        self.inner.boolean(at)
    }

    fn integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        self.inner.integer(at)
    }

    fn float(&mut self, at: Member<'_>) -> Result<f32, Error> {
        self.inner.float(at)
    }

    fn double(&mut self, at: Member<'_>) -> Result<f64, Error> {
        self.inner.double(at)
    }

    fn big_integer(&mut self, at: Member<'_>) -> Result<BigInteger, Error> {
        self.inner.big_integer(at)
    }

    fn big_decimal(&mut self, at: Member<'_>) -> Result<BigDecimal, Error> {
        self.inner.big_decimal(at)
    }

    fn text(&mut self, at: Member<'_>) -> Result<Text, Error> {
        self.inner.text(at)
    }

    fn str(&mut self, at: Member<'_>) -> Result<Cow<'de, str>, Error> {
        self.inner.str(at)
    }

    fn blob(&mut self, at: Member<'_>) -> Result<Blob, Error> {
        self.inner.blob(at)
    }

    fn timestamp(&mut self, at: Member<'_>) -> Result<Timestamp, Error> {
        self.inner.timestamp(at)
    }

    fn any(&mut self) -> Result<Event, Error> {
        self.inner.any()
    }

    fn fills(&self, at: Member<'_>) -> bool {
        self.inner.fills(at)
    }

    fn missing(&mut self, at: Member<'_>) -> Result<(), Error> {
        self.inner.missing(at)
    }

    fn unknown(&mut self, at: Member<'_>) -> Result<(), Error> {
        self.inner.unknown(at)
    }

    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        self.inner.error(kind, expected)
    }
}

/// A decoder of a payload that is a blob or a string: the body as it is.
pub(crate) fn raw_payload<'de>(body: &'de Body, payload: u32, required: bool) -> impl Decoder<'de> {
    PayloadDecoder::new(RawDecoder { body, required }, payload)
}

#[derive(Debug)]
struct RawDecoder<'de> {
    body: &'de Body,
    required: bool,
}

impl RawDecoder<'_> {
    fn unfit<T>(&self) -> Result<T, Error> {
        Err(self.error(ErrorKind::Internal, "a payload that is a blob or a string"))
    }
}

impl<'de> Decoder<'de> for RawDecoder<'de> {
    fn structure(&mut self, _: Member<'_>) -> Result<Seq, Error> {
        self.unfit()
    }

    fn member(&mut self, _: Schema<'_>, _: &mut Seq) -> Result<u32, Error> {
        self.unfit()
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

/// Whether a member is the payload and the body as it is. A document that
/// holds a string is not.
fn is_raw_payload(at: Member<'_>) -> bool {
    at.location() == Location::Payload && is_raw(at.kind())
}

/// Whether a payload of this kind is the body as it is.
pub(crate) const fn is_raw(kind: ShapeKind) -> bool {
    matches!(kind, ShapeKind::Blob | ShapeKind::String | ShapeKind::Enum)
}
