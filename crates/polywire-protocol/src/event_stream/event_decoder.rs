//! [`EventDecoder`]: a message as a value of the union.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Decoder, END, Error, ErrorKind, Event, Member, MemberFlags,
    Schema, Seq, Text, Timestamp, Value,
};
use polywire_text::utf8;

use super::kind::{header_path, wrong_type};
use super::{EventHeaderValue, EventMessage, FORMAT, PayloadKind, layout_of};
use crate::document::Side;

/// A decoder of one message, which returns in this order: the union, its member, the structure of
/// the event, the members in headers, and the members in the payload.
///
/// Calls for values in a document go to the decoder of the format. The decoder counts the
/// structures that are open there, and so recognizes calls for the event itself.
pub(super) struct EventDecoder<'a, 's, 'de> {
    message: &'de EventMessage,
    variant: Member<'s>,
    side: Side,
    /// The decoder of the payload, if it is a document and not empty.
    inner: Option<&'a mut dyn Decoder<'de>>,
    stage: Stage,
    /// The ordinal of the next member that may be a header.
    next_header: u32,
    /// The header whose value is read next.
    header: Option<(&'s str, &'de EventHeaderValue)>,
    /// Whether the payload is read next, without a document.
    at_raw_payload: bool,
    /// The number of structures and unions that are open in the document.
    open: u32,
}

/// What comes next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stage {
    /// The union.
    Union,
    /// The member of the union.
    Variant,
    /// The structure of the event.
    Event,
    /// Members in headers.
    Headers,
    /// The document that is the value of a member.
    PayloadStart,
    /// The rest of that document.
    Payload,
    /// The document of the members that are not headers.
    Document,
    /// The end of the event.
    End,
}

impl<'a, 's, 'de> EventDecoder<'a, 's, 'de> {
    pub(super) fn new(
        message: &'de EventMessage,
        variant: Member<'s>,
        side: Side,
        inner: Option<&'a mut dyn Decoder<'de>>,
    ) -> Self {
        Self {
            message,
            variant,
            side,
            inner,
            stage: Stage::Union,
            next_header: 0,
            header: None,
            at_raw_payload: false,
            open: 0,
        }
    }

    fn inner(&mut self) -> Result<&mut (dyn Decoder<'de> + 'a), Error> {
        match &mut self.inner {
            Some(inner) => Ok(&mut **inner),
            None => Err(not_readable()),
        }
    }

    /// Advances to the next member of the event that is in a header or is the payload.
    fn event_member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        let event = self.variant.target();
        while self.next_header < event.len() {
            let member = event.member(self.next_header);
            self.next_header += 1;
            if member.has(MemberFlags::EVENT_HEADER)
                && let Some(value) = self.message.header(member.name())
            {
                self.header = Some((member.name(), value));
                return Ok(member.ordinal());
            }
        }
        self.stage = Stage::End;
        match layout_of(event).payload {
            PayloadKind::Raw(ordinal) => {
                // An empty string and an absent one differ in the media type only.
                let has_type = self.message.header(super::kind::CONTENT_TYPE).is_some();
                if self.message.payload().is_empty() && !has_type {
                    return Ok(END);
                }
                self.at_raw_payload = true;
                Ok(ordinal)
            }
            PayloadKind::Member(ordinal) if self.inner.is_some() => {
                self.stage = Stage::PayloadStart;
                Ok(ordinal)
            }
            PayloadKind::Document if self.inner.is_some() => {
                self.stage = Stage::Document;
                *seq = self.inner()?.structure(event.root())?;
                self.document_member(shape, seq)
            }
            _ => Ok(END),
        }
    }

    /// Advances to the next member of the event in the document. Skips members that belong into
    /// headers.
    fn document_member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        loop {
            let ordinal = self.inner()?.member(shape, seq)?;
            if ordinal == END {
                self.stage = Stage::End;
                return Ok(END);
            }
            let member = shape.member(ordinal);
            if !member.has(MemberFlags::EVENT_HEADER) {
                return Ok(ordinal);
            }
            skip_scalar(member, self.inner()?)?;
        }
    }

    /// Returns the member to pass on for the value of `at`: the root of the shape at the top of a
    /// document.
    fn place<'m>(&mut self, at: Member<'m>) -> Member<'m> {
        match self.stage {
            Stage::PayloadStart => {
                self.stage = Stage::Payload;
                at.target().root()
            }
            _ => at,
        }
    }

    /// Takes the value of a header, if the next value is one.
    fn take<T>(
        &mut self,
        expected: &'static str,
        convert: impl FnOnce(&'de EventHeaderValue) -> Option<T>,
    ) -> Option<Result<T, Error>> {
        let (name, value) = self.header.take()?;
        Some(convert(value).ok_or_else(|| wrong_type(name, expected, value)))
    }
}

/// Reads a value that a header can have. Not as a document, which XML does not have.
#[cold]
fn skip_scalar(at: Member<'_>, decoder: &mut dyn Decoder<'_>) -> Result<(), Error> {
    use polywire_schema::ShapeKind as Kind;

    match at.kind() {
        Kind::Boolean => decoder.boolean(at).map(drop),
        Kind::Byte | Kind::Short | Kind::Integer | Kind::IntEnum | Kind::Long => {
            decoder.integer(at).map(drop)
        }
        Kind::Blob => decoder.blob(at).map(drop),
        Kind::Timestamp => decoder.timestamp(at).map(drop),
        _ => decoder.text(at).map(drop),
    }
}

#[cold]
fn not_readable() -> Error {
    Error::new(ErrorKind::Internal)
        .in_format(FORMAT)
        .expected("a value that an event has")
}

/// Implements a method that reads a header or a value of the document.
macro_rules! header_or_document {
    ($($name:ident -> $type:ty, $expected:literal, $pattern:pat => $value:expr;)*) => {
        $(fn $name(&mut self, at: Member<'_>) -> Result<$type, Error> {
            let taken = self.take($expected, |value| match value {
                $pattern => Some($value),
                _ => None,
            });
            match taken {
                Some(value) => value,
                None => self.inner()?.$name(at),
            }
        })*
    };
}

/// Implements methods that read only values of the document.
macro_rules! document {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        $(fn $name(&mut self, at: Member<'_>, $($argument: $type),*) -> Result<$result, Error> {
            if self.header.is_some() {
                return Err(not_readable());
            }
            self.inner()?.$name(at, $($argument),*)
        })*
    };
}

impl<'de> Decoder<'de> for EventDecoder<'_, '_, 'de> {
    fn structure(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        match self.stage {
            Stage::Union => {
                self.stage = Stage::Variant;
                Ok(Seq::default())
            }
            Stage::Event => {
                self.stage = Stage::Headers;
                Ok(Seq::default())
            }
            _ => {
                let at = self.place(at);
                let seq = self.inner()?.structure(at)?;
                self.open += 1;
                Ok(seq)
            }
        }
    }

    fn member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        if self.open > 0 {
            let ordinal = self.inner()?.member(shape, seq)?;
            if ordinal == END {
                self.open -= 1;
            }
            return Ok(ordinal);
        }
        match self.stage {
            Stage::Variant => {
                self.stage = Stage::Event;
                Ok(self.variant.ordinal())
            }
            Stage::Headers => self.event_member(shape, seq),
            Stage::Document => self.document_member(shape, seq),
            _ => Ok(END),
        }
    }

    fn variant(&mut self, at: Member<'_>) -> Option<u32> {
        if !matches!(
            self.stage,
            Stage::PayloadStart | Stage::Payload | Stage::Document
        ) {
            return None;
        }
        let before = self.stage;
        let at = self.place(at);
        let ordinal = self.inner.as_mut()?.variant(at);
        match ordinal {
            Some(_) => self.open += 1,
            // The caller goes on with `structure`, at the same place.
            None => self.stage = before,
        }
        ordinal
    }

    fn end_variant(&mut self, ordinal: u32) -> Option<Seq> {
        let seq = self.inner.as_mut()?.end_variant(ordinal);
        if seq.is_none() {
            self.open = self.open.saturating_sub(1);
        }
        seq
    }

    fn list(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        self.inner()?.list(at)
    }

    fn map(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        self.inner()?.map(at)
    }

    document! {
        item(seq: &mut Seq) -> bool;
        key(seq: &mut Seq) -> Option<Text>;
        float() -> f32;
        double() -> f64;
        big_integer() -> BigInteger;
        big_decimal() -> BigDecimal;
    }

    fn size_hint(&mut self, at: Member<'_>, seq: &Seq) -> usize {
        match &mut self.inner {
            Some(inner) => inner.size_hint(at, seq),
            None => 0,
        }
    }

    fn null(&mut self, at: Member<'_>) -> Result<bool, Error> {
        match self.stage {
            Stage::PayloadStart | Stage::Payload | Stage::Document => self.inner()?.null(at),
            _ => Ok(false),
        }
    }

    header_or_document! {
        boolean -> bool, "a boolean", EventHeaderValue::Boolean(value) => *value;
        timestamp -> Timestamp, "a timestamp", EventHeaderValue::Timestamp(value) => *value;
    }

    fn integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        use polywire_schema::ShapeKind as Kind;

        let expected = match at.kind() {
            Kind::Byte => "a byte",
            Kind::Short => "a short",
            Kind::Long => "a long",
            _ => "an integer",
        };
        let taken = self.take(expected, |value| match (at.kind(), value) {
            (Kind::Byte, EventHeaderValue::Byte(value)) => Some(i64::from(*value)),
            (Kind::Short, EventHeaderValue::Short(value)) => Some(i64::from(*value)),
            (Kind::Integer | Kind::IntEnum, EventHeaderValue::Integer(value)) => {
                Some(i64::from(*value))
            }
            (Kind::Long, EventHeaderValue::Long(value)) => Some(*value),
            _ => None,
        });
        match taken {
            Some(value) => value,
            None => self.inner()?.integer(at),
        }
    }

    fn text(&mut self, at: Member<'_>) -> Result<Text, Error> {
        if std::mem::take(&mut self.at_raw_payload) {
            let body = self.message.payload();
            return Ok(body.text(payload_text(body.as_bytes())?));
        }
        let taken = self.take("a string", |value| match value {
            EventHeaderValue::String(value) => Some(value.clone()),
            _ => None,
        });
        match taken {
            Some(value) => value,
            None => self.inner()?.text(at),
        }
    }

    fn str(&mut self, at: Member<'_>) -> Result<Cow<'de, str>, Error> {
        if std::mem::take(&mut self.at_raw_payload) {
            return payload_text(self.message.payload().as_bytes()).map(Cow::Borrowed);
        }
        let taken = self.take("a string", |value| match value {
            EventHeaderValue::String(value) => Some(Cow::Borrowed(value.as_str())),
            _ => None,
        });
        match taken {
            Some(value) => value,
            None => self.inner()?.str(at),
        }
    }

    fn blob(&mut self, at: Member<'_>) -> Result<Blob, Error> {
        if std::mem::take(&mut self.at_raw_payload) {
            let body = self.message.payload();
            return Ok(body.blob(body.as_bytes()));
        }
        let taken = self.take("bytes", |value| match value {
            EventHeaderValue::Blob(value) => Some(value.clone()),
            _ => None,
        });
        match taken {
            Some(value) => value,
            None => self.inner()?.blob(at),
        }
    }

    fn any(&mut self) -> Result<Event, Error> {
        self.inner()?.any()
    }

    fn document(&mut self) -> Result<Value, Error> {
        self.inner()?.document()
    }

    fn missing(&mut self, at: Member<'_>) -> Result<(), Error> {
        if let Some(inner) = &mut self.inner {
            return inner.missing(at);
        }
        match self.side {
            Side::Client => Ok(()),
            Side::Server => {
                let (name, shape) = (at.name(), at.container());
                let member = format!("the required member `{name}` of {}", shape.id());
                Err(Error::new(ErrorKind::Missing)
                    .in_format(FORMAT)
                    .expected(member))
            }
        }
    }

    fn fills_default(&self, at: Member<'_>) -> bool {
        self.side.defaults().fills_default(at)
    }

    fn unknown(&mut self, at: Member<'_>) -> Result<(), Error> {
        self.inner()?.unknown(at)
    }

    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        if let Some((name, _)) = self.header {
            let error = Error::new(kind).in_format(FORMAT).expected(expected);
            return error.at_path(header_path(name));
        }
        match &self.inner {
            Some(inner) => inner.error(kind, expected),
            None => Error::new(kind).in_format(FORMAT).expected(expected),
        }
    }
}

fn payload_text(bytes: &[u8]) -> Result<&str, Error> {
    utf8::validate(bytes).map_err(|malformed| {
        Error::malformed(ErrorKind::Characters, malformed, 0)
            .in_format(FORMAT)
            .at_path("payload")
    })
}
