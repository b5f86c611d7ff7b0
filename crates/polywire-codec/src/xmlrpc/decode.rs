//! The XML-RPC reader.
//!
//! Its vocabulary is so small that most of it is compared as whole runs: a
//! member's tags up to its value are one run of the schema, and a value's tags
//! are constants. Whatever is not spelled that way (white space, comments,
//! attributes, other types) takes the path of a general cursor.
//!
//! Between calls the cursor stands just behind a `<value>`; each scalar reads
//! up to and with its `</value>`.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Body, Decoder, END, Encoding, Error, ErrorKind, Event, LimitKind,
    Member, NameSource, Schema, Seq, ShapeKind, Text, Timestamp, Value,
};
use polywire_text::number::{parse_f32, parse_f64};

use super::XmlRpcProfile;
use super::collections::OPEN;
use super::cursor::Cursor;
use super::frame::Frame;
use super::value::{Type, blob_of, float_expected, float_text, scalar_value};
use crate::budget::Budget;
use crate::{keep, nulls, refuse};

/// A reader of one XML-RPC message.
#[derive(Debug)]
pub struct XmlRpcDecoder<'de> {
    pub(super) cursor: Cursor<'de>,
    pub(super) body: Option<&'de Body>,
    /// What surrounds the next value at the top.
    pub(super) frame: Frame,
    /// Parameters read so far.
    pub(super) parameters: u32,
    /// Whether the value at the cursor was `<value/>`.
    pub(super) empty_value: bool,
    pub(super) budget: Budget,
    pub(super) profile: XmlRpcProfile,
}

/// States of a [`Seq`] at the top of a call.
const IN_STRUCT: u32 = 0;
const POSITIONAL: u32 = 1;
const NO_PARAMETER: u32 = 2;

impl<'de> XmlRpcDecoder<'de> {
    #[inline]
    pub(super) fn count_item(&mut self) -> Result<(), Error> {
        self.budget.count(1).map_err(|limit| self.limit(limit))
    }

    #[cold]
    pub(super) fn limit(&self, limit: LimitKind) -> Error {
        self.error(ErrorKind::Limit(limit), "")
    }

    #[cold]
    pub(super) fn wrong_type(&mut self, start: usize, expected: &'static str) -> Error {
        self.cursor.at = start;
        self.error(ErrorKind::WrongType, expected)
    }

    #[cold]
    pub(super) fn invalid(&mut self, start: usize, expected: &'static str) -> Error {
        self.cursor.at = start;
        self.error(ErrorKind::InvalidValue, expected)
    }
}

impl<'de> Decoder<'de> for XmlRpcDecoder<'de> {
    fn structure(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        if self.frame == Frame::Parameters && self.parameters == 0 {
            if self.profile.positional {
                return Ok(Seq {
                    state: POSITIONAL,
                    ..Seq::default()
                });
            }
            if !self.parameter()? {
                return Ok(Seq {
                    state: NO_PARAMETER,
                    ..Seq::default()
                });
            }
        } else if self.frame == Frame::ParametersEnded && self.parameters == 0 {
            return Ok(Seq {
                state: NO_PARAMETER,
                ..Seq::default()
            });
        }
        let start = self.cursor.at;
        if !self.empty_value && self.cursor.skip(b"<struct>") {
            return self.begin_struct(false);
        }
        match self.value_type()? {
            (Type::Struct, tag) => self.begin_struct(tag.empty),
            _ => Err(self.wrong_type(start, at.kind().describe())),
        }
    }

    #[inline]
    fn member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        if seq.state != IN_STRUCT {
            return match seq.state {
                POSITIONAL => self.positional(shape, seq),
                _ => Ok(END),
            };
        }
        loop {
            let mut ordinal = seq.guess;
            // `</member>` of the member before, then the run of the next.
            let closed = seq.count == 0 || self.cursor.rest().starts_with(b"</member>");
            let skip = if seq.count == 0 {
                0
            } else {
                b"</member>".len()
            };
            let name = if closed && ordinal < shape.len() && seq.mark == OPEN {
                Some(shape.member(ordinal).run(Encoding::XmlRpc))
            } else {
                None
            };
            match name {
                Some(name) if name.starts(&self.cursor.rest()[skip..]) => {
                    self.cursor.at += skip + name.len();
                    seq.count += 1;
                }
                _ => match self.next_member(seq)? {
                    None => return Ok(END),
                    Some(name) => match shape.find(NameSource::Member, name.as_bytes()) {
                        Some(found) => ordinal = found,
                        None => {
                            seq.unknown = true;
                            self.count_item()?;
                            self.skip_value()?;
                            continue;
                        }
                    },
                },
            }
            seq.guess = ordinal + 1;
            if self.budget.seen(seq, ordinal) {
                return Err(self.error(ErrorKind::Duplicate, "each member once"));
            }
            // A nil is a tag; other values mostly begin otherwise.
            if shape.member(ordinal).kind() != ShapeKind::Document
                && matches!(
                    self.cursor.rest(),
                    [b'<', b'n' | b'e' | b'!' | b'?', ..] | [b' ' | b'\t' | b'\n' | b'\r', ..]
                )
                && self.is_nil()?
            {
                continue;
            }
            return Ok(ordinal);
        }
    }

    fn list(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        let start = self.cursor.at;
        if !self.empty_value && self.cursor.skip(b"<array><data>") {
            self.deeper()?;
            return Ok(Seq::default());
        }
        match self.value_type()? {
            (Type::Array, tag) => self.begin_array(tag.empty),
            _ => Err(self.wrong_type(start, at.kind().describe())),
        }
    }

    #[inline]
    fn item(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<bool, Error> {
        loop {
            if !self.next_item(seq)? {
                return Ok(false);
            }
            if self.profile.skip_nulls && nulls::mean_nothing(at) && self.is_nil()? {
                continue;
            }
            return Ok(true);
        }
    }

    fn map(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        let start = self.cursor.at;
        match self.value_type()? {
            (Type::Struct, tag) => self.begin_struct(tag.empty),
            _ => Err(self.wrong_type(start, at.kind().describe())),
        }
    }

    fn key(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<Option<Text>, Error> {
        loop {
            let Some(name) = self.next_member(seq)? else {
                return Ok(None);
            };
            self.count_item()?;
            if self.profile.skip_nulls && nulls::mean_nothing(at) && self.is_nil()? {
                continue;
            }
            return Ok(Some(keep::text(self.body, name)));
        }
    }

    fn null(&mut self, _: Member<'_>) -> Result<bool, Error> {
        self.is_nil()
    }

    fn boolean(&mut self, _: Member<'_>) -> Result<bool, Error> {
        let (_, text, start) = self.scalar(&[Type::Boolean], "a boolean")?;
        match &*text {
            "0" => Ok(false),
            "1" => Ok(true),
            _ => Err(self.invalid(start, "0 or 1")),
        }
    }

    #[inline]
    fn integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        let start = self.cursor.at;
        let value = match self.plain_integer() {
            Some(value) => value,
            None => match self.any_integer(at.kind().describe())?.to_i64() {
                Some(value) => value,
                None => return Err(self.invalid(start, at.kind().describe())),
            },
        };
        let (least, most) = at.kind().integer_range();
        if value < least || value > most {
            return Err(self.invalid(start, at.kind().describe()));
        }
        Ok(value)
    }

    fn float(&mut self, _: Member<'_>) -> Result<f32, Error> {
        let (_, text, start) = self.scalar(&[Type::Double, Type::Integer], "a number")?;
        parse_f32(float_text(&text))
            .map_err(|malformed| self.invalid(start, float_expected(malformed)))
    }

    fn double(&mut self, _: Member<'_>) -> Result<f64, Error> {
        // Some peers write whole doubles as integers.
        let (_, text, start) = self.scalar(&[Type::Double, Type::Integer], "a number")?;
        parse_f64(float_text(&text))
            .map_err(|malformed| self.invalid(start, float_expected(malformed)))
    }

    fn big_integer(&mut self, _: Member<'_>) -> Result<BigInteger, Error> {
        let types = [Type::String, Type::Untyped, Type::Integer, Type::BigInteger];
        let (_, text, start) = self.scalar(&types, "an integer")?;
        let text = keep::text(self.body, text);
        BigInteger::parse(text).map_err(|_| self.invalid(start, "an integer"))
    }

    fn big_decimal(&mut self, _: Member<'_>) -> Result<BigDecimal, Error> {
        let types = [
            Type::String,
            Type::Untyped,
            Type::Integer,
            Type::BigInteger,
            Type::BigDecimal,
            Type::Double,
        ];
        let (_, text, start) = self.scalar(&types, "a decimal number")?;
        let text = keep::text(self.body, text);
        BigDecimal::parse(text).map_err(|_| self.invalid(start, "a decimal number"))
    }

    #[inline]
    fn text(&mut self, _: Member<'_>) -> Result<Text, Error> {
        let text = self.string()?;
        Ok(keep::text(self.body, text))
    }

    #[inline]
    fn str(&mut self, _: Member<'_>) -> Result<Cow<'de, str>, Error> {
        self.string()
    }

    fn blob(&mut self, _: Member<'_>) -> Result<Blob, Error> {
        let (_, text, start) = self.scalar(&[Type::Base64], "base64")?;
        blob_of(&text).map_err(|expected| self.invalid(start, expected))
    }

    fn timestamp(&mut self, _: Member<'_>) -> Result<Timestamp, Error> {
        let (_, text, start) = self.scalar(&[Type::DateTime], "a dateTime.iso8601")?;
        match Timestamp::parse_xmlrpc(text.trim()) {
            // A model's timestamps are instants; without a zone they are UTC.
            Ok(timestamp) => Ok(timestamp.with_unzoned(false)),
            Err(malformed) => Err(self.invalid(start, malformed.expected)),
        }
    }

    fn any(&mut self) -> Result<Event, Error> {
        let before = self.cursor.at;
        if let Some(value) = self.plain_integer() {
            return Ok(Event::Scalar(Value::Integer(value)));
        }
        let (kind, tag) = self.value_type()?;
        match kind {
            Type::Array => return self.begin_array(tag.empty).map(Event::List),
            Type::Struct => return self.begin_struct(tag.empty).map(Event::Map),
            Type::Nil => {
                self.end_nil(tag)?;
                return Ok(Event::Scalar(Value::Null));
            }
            _ => {}
        }
        let start = self.cursor.at;
        let value = match kind {
            Type::Boolean | Type::Base64 | Type::DateTime | Type::Double => {
                let text = self.scalar_text(kind, tag)?;
                scalar_value(kind, &text).map_err(|expected| self.invalid(start, expected))?
            }
            Type::Integer | Type::BigInteger => {
                let text = self.scalar_text(kind, tag)?;
                let digits = text.strip_prefix('+').unwrap_or(&text);
                match digits.parse::<BigInteger>() {
                    Ok(value) if !text.starts_with("+-") => Value::from(value),
                    _ => return Err(self.invalid(before, "an integer")),
                }
            }
            Type::BigDecimal => {
                let text = self.scalar_text(kind, tag)?;
                let decimal = BigDecimal::parse(keep::text(self.body, text));
                Value::BigDecimal(decimal.map_err(|_| self.invalid(before, "a decimal number"))?)
            }
            _ => {
                let text = self.scalar_text(kind, tag)?;
                Value::String(keep::text(self.body, text))
            }
        };
        Ok(Event::Scalar(value))
    }

    fn fills(&self, at: Member<'_>) -> bool {
        self.profile.defaults.fills(at)
    }

    fn missing(&mut self, at: Member<'_>) -> Result<(), Error> {
        if !self.profile.required {
            return Ok(());
        }
        let error = self.error(ErrorKind::Missing, "");
        Err(refuse::missing(error, at, at.name()))
    }

    fn unknown(&mut self, at: Member<'_>) -> Result<(), Error> {
        if !self.profile.required {
            return Ok(());
        }
        Err(refuse::unknown(self.error(ErrorKind::Unknown, ""), at))
    }

    #[cold]
    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        self.cursor.error(kind, expected)
    }
}
