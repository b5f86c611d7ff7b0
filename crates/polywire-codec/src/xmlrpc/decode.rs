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
    BigDecimal, BigInteger, Blob, Body, Budget, Container, Error, ErrorKind, Event, LimitKind,
    Member, Name, NameEncoding, NameSource, Rules, Schema, Seq, Text, Timestamp, TokenReader,
    Value, slow_member,
};

use polywire_text::scan;

use super::XmlRpcProfile;
use super::collections::OPEN;
use super::cursor::Cursor;
use super::duplicates::Dropped;
use super::frame::Frame;
use super::value::{Type, is_number};
use crate::keep;

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
    pub(super) items: u32,
    pub(super) members: u32,
    /// The name of a member that was read last, and a key.
    pub(super) name: Cow<'de, str>,
    /// The name of the next member of a type of serde, if it is spelled in the usual way.
    #[cfg(feature = "serde")]
    pub(super) plain_name: Option<&'de str>,
    pub(super) scratch: Text,
}

/// States of a [`Seq`] at the top of a call.
const IN_STRUCT: u32 = 0;
const POSITIONAL: u32 = 1;
const NO_PARAMETER: u32 = 2;

impl<'de> XmlRpcDecoder<'de> {
    #[inline]
    pub(super) fn count_item(&mut self) -> Result<(), Error> {
        self.budget
            .count(1)
            .map_err(|limit| self.limit_error(limit))
    }

    #[cold]
    pub(super) fn limit_error(&self, limit: LimitKind) -> Error {
        self.error(ErrorKind::Limit(limit), "")
    }

    #[cold]
    pub(super) fn wrong_type(&mut self, start: usize, expected: &'static str) -> Error {
        self.go_to_value(start);
        self.error(ErrorKind::WrongType, expected)
    }

    #[cold]
    pub(super) fn invalid_value(&mut self, start: usize, expected: &'static str) -> Error {
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

    /// Begins the struct of a structure, which at the top of a call is its parameters.
    fn begin_structure(&mut self, at: Member<'_>) -> Result<Seq, Error> {
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

    /// Begins a struct that is a map.
    pub(super) fn begin_map(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        let start = self.cursor.at;
        if !self.empty_value && self.cursor.skip(b"<struct>") {
            return self.begin_struct(OPEN);
        }
        let found = self.value_type()?;
        self.begin_struct_of(found, start, at.kind().describe())
    }

    /// Begins an array that is a list.
    fn begin_list(&mut self, at: Member<'_>) -> Result<Seq, Error> {
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

    /// Whether a nil may stand here: it is a tag; other values mostly begin otherwise.
    #[inline(always)]
    fn may_begin_nil(&self, value: &[u8]) -> bool {
        match value {
            [b'<', b'n' | b'e' | b'!' | b'?', ..] | [b' ' | b'\t' | b'\n' | b'\r', ..] => true,
            [b'<', b'd', ..] => self.cursor.dialect.zero_dates(),
            _ => false,
        }
    }

    /// Reads the name of the next member of a struct into `name`. `false` at its end.
    #[inline]
    fn next_name(&mut self, seq: &mut Seq) -> Result<bool, Error> {
        match self.next_member(seq)? {
            None => Ok(false),
            Some(name) => {
                self.name = name;
                Ok(true)
            }
        }
    }
}

impl<'de> TokenReader<'de> for XmlRpcDecoder<'de> {
    type Next = ();
    type Match = usize;

    #[inline(always)]
    fn budget(&mut self) -> &mut Budget {
        &mut self.budget
    }

    #[inline(always)]
    fn rules(&self) -> Rules {
        self.profile.rules
    }

    #[inline]
    fn begin(&mut self, container: Container, at: Member<'_>) -> Result<Seq, Error> {
        match container {
            Container::Structure => self.begin_structure(at),
            Container::List => self.begin_list(at),
            Container::Map => self.begin_map(at),
        }
    }

    #[inline]
    fn next(&mut self, container: Container, _: Member<'_>, seq: &mut Seq) -> Result<bool, Error> {
        match (container, seq.state) {
            (Container::List, _) => self.next_item(seq),
            (_, POSITIONAL) => self.parameter(),
            (_, NO_PARAMETER) => Ok(false),
            (Container::Structure, _) => self.next_name(seq),
            (Container::Map, _) => {
                let found = self.next_name(seq)?;
                if found {
                    self.count_item()?;
                }
                Ok(found)
            }
        }
    }

    #[inline(always)]
    fn peek(&self, _: &Seq) {}

    #[inline(always)]
    fn match_member(&self, (): (), member: Member<'_>, seq: &Seq) -> Option<usize> {
        const END_MEMBER: &[u8] = b"</member>";

        // The end of the member before, and the name.
        let rest = self.cursor.rest();
        let skip = match seq.count {
            0 => 0,
            _ if rest.starts_with(END_MEMBER) => END_MEMBER.len(),
            _ => return None,
        };
        if seq.state != IN_STRUCT || !self.is_plain(seq) {
            return None;
        }
        let name = member.run(NameEncoding::XmlRpc);
        let rest = &rest[skip..];
        let value = rest.get(name.len()..)?;
        (name.starts(rest) && !self.may_begin_nil(value)).then_some(skip + name.len())
    }

    #[inline(always)]
    fn accept_member(&mut self, len: usize, seq: &mut Seq) {
        self.cursor.at += len;
        seq.count += 1;
    }

    #[inline(always)]
    fn other_member(&mut self, (): (), shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        slow_member(self, shape, seq)
    }

    fn name(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<Name, Error> {
        if seq.state == POSITIONAL {
            return self.positional(shape, seq);
        }
        Ok(match shape.find(NameSource::Member, self.name.as_bytes()) {
            Some(ordinal) => Name::Member(ordinal),
            None => Name::Unknown,
        })
    }

    fn key(&mut self, _: Member<'_>, _: &mut Seq) -> Result<(), Error> {
        self.scratch = keep::text(self.body, std::mem::take(&mut self.name));
        Ok(())
    }

    #[inline(always)]
    fn scratch(&mut self) -> &mut Text {
        &mut self.scratch
    }

    fn skip_value(&mut self) -> Result<(), Error> {
        self.skip_value()
    }

    #[inline(always)]
    fn may_be_null(&self) -> bool {
        self.may_begin_nil(self.cursor.rest())
    }

    fn null(&mut self) -> Result<bool, Error> {
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
                None => return Err(self.invalid_value(start, at.kind().describe())),
            },
        };
        let (least, most) = at.kind().integer_range();
        if value < least || value > most {
            return Err(self.invalid_value(start, at.kind().describe()));
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

    #[cold]
    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        self.cursor.error(kind, expected)
    }
}
