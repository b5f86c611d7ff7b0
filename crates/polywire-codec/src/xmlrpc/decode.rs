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
    BigDecimal, BigInteger, Blob, Body, Budget, Decoder, END, Encoding, Error, ErrorKind, Event,
    LimitKind, Member, NameSource, Schema, Seq, ShapeKind, Text, Timestamp, Value,
};

use polywire_text::scan;

use super::XmlRpcProfile;
use super::collections::OPEN;
use super::cursor::Cursor;
use super::duplicates::Dropped;
use super::frame::Frame;
use super::value::{Type, is_number};
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
    /// [`Seq::mark`] of the array whose items are the parameters, if one is.
    pub(super) array: u64,
    pub(super) budget: Budget,
    pub(super) profile: XmlRpcProfile,
    /// The members that do not count, by the policy for duplicates.
    pub(super) dropped: Option<Box<Dropped>>,
    /// How long the array before was, and the struct: what to make room for.
    pub(super) items: usize,
    pub(super) members: usize,
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
        self.go_to_value(start);
        self.error(ErrorKind::WrongType, expected)
    }

    #[cold]
    pub(super) fn invalid(&mut self, start: usize, expected: &'static str) -> Error {
        self.go_to_value(start);
        self.error(ErrorKind::InvalidValue, expected)
    }

    /// Goes to what stands at `start`, for an error about it: white space before a start tag is
    /// layout, of which an error shows nothing. Before text it may be what is wrong.
    fn go_to_value(&mut self, start: usize) {
        self.cursor.at = start;
        let space = scan::white_space(self.cursor.rest());
        if let [b'<', next, ..] = self.cursor.rest()[space..]
            && next != b'/'
        {
            self.cursor.at += space;
        }
    }
}

impl<'de> Decoder<'de> for XmlRpcDecoder<'de> {
    fn structure(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        if self.frame.has_parameters() && self.parameters == 0 {
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
            return self.begin_struct(OPEN);
        }
        let found = self.value_type()?;
        self.begin_struct_of(found, start, at.kind().describe())
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
            let name = if closed && ordinal < shape.len() && self.is_plain(seq) {
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
            (Type::Array, tag) => self.begin_array(tag.mark()),
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
        if !self.empty_value && self.cursor.skip(b"<struct>") {
            return self.begin_struct(OPEN);
        }
        let found = self.value_type()?;
        self.begin_struct_of(found, start, at.kind().describe())
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

    #[inline]
    fn boolean(&mut self, _: Member<'_>) -> Result<bool, Error> {
        if let Some(value) = self.plain_boolean() {
            return Ok(value);
        }
        let (_, text, start) = self.scalar(|kind| kind == Type::Boolean, "a boolean")?;
        self.boolean_of(&text, start)
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
        let (kind, text, start) = self.scalar(is_number, "a number")?;
        let text = self.number_text(kind, text, start)?;
        self.float_of(&text, start)
    }

    #[inline]
    fn double(&mut self, _: Member<'_>) -> Result<f64, Error> {
        if let Some(value) = self.plain_double() {
            return Ok(value);
        }
        let (kind, text, start) = self.scalar(is_number, "a number")?;
        let text = self.number_text(kind, text, start)?;
        self.double_of(&text, start)
    }

    fn big_integer(&mut self, _: Member<'_>) -> Result<BigInteger, Error> {
        let is_wanted = |kind| {
            matches!(
                kind,
                Type::String | Type::Untyped | Type::Integer(_) | Type::BigInteger
            )
        };
        let (kind, text, start) = self.scalar(is_wanted, "an integer")?;
        self.big_integer_of(kind, text, start)
    }

    fn big_decimal(&mut self, _: Member<'_>) -> Result<BigDecimal, Error> {
        let is_wanted = |kind| {
            is_number(kind)
                || matches!(
                    kind,
                    Type::String | Type::Untyped | Type::BigInteger | Type::BigDecimal
                )
        };
        let (kind, text, start) = self.scalar(is_wanted, "a decimal number")?;
        let text = self.number_text(kind, text, start)?;
        self.decimal_of(kind, text, start)
    }

    #[inline]
    fn text(&mut self, _: Member<'_>) -> Result<Text, Error> {
        if !self.empty_value && self.cursor.skip(b"<string>") {
            return self.text_of_string();
        }
        let text = self.string()?;
        Ok(keep::text(self.body, text))
    }

    #[inline]
    fn str(&mut self, _: Member<'_>) -> Result<Cow<'de, str>, Error> {
        self.string()
    }

    fn blob(&mut self, _: Member<'_>) -> Result<Blob, Error> {
        if let Some(blob) = self.plain_blob() {
            return Ok(blob);
        }
        let (_, text, start) = self.scalar(|kind| kind == Type::Base64, "base64")?;
        self.blob_of(&text, start)
    }

    fn timestamp(&mut self, _: Member<'_>) -> Result<Timestamp, Error> {
        // A model's timestamps are instants; without a zone they are UTC.
        if let Some(timestamp) = self.plain_date() {
            return Ok(timestamp.with_unzoned(false));
        }
        Ok(self.any_timestamp()?.with_unzoned(false))
    }

    fn any(&mut self) -> Result<Event, Error> {
        if let Some(value) = self.plain_integer() {
            return Ok(Event::Scalar(Value::Integer(value)));
        }
        let (kind, tag) = self.value_type()?;
        match kind {
            Type::Array => self.begin_array(tag.mark()).map(Event::List),
            Type::Struct => self.begin_struct(tag.mark()).map(Event::Map),
            _ => self.scalar_value(kind, tag).map(Event::Scalar),
        }
    }

    #[inline]
    fn document(&mut self) -> Result<Value, Error> {
        self.document_value()
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
