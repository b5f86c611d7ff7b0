//! The XML-RPC decoder.
//!
//! XML-RPC has few tags, so the decoder compares several at once: the schema contains the tags
//! around the name of each member up to its value, and the tags of values are constants. These tags
//! without white space, comments, attributes or prefixes are called the plain form here. Functions
//! named `plain_*` read only the plain form. Functions named `slow_*` read any form, with [`Cursor`].
//!
//! When a function for a value is called, the cursor is after the `<value>`. When it returns, the
//! cursor is after the `</value>`. `next` and `match_member` go on to the next `<value>`. The
//! structure with the parameters of a call begins before the first `<param>`.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Body, Budget, Container, Error, ErrorKind, Event, LimitKind,
    Member, Name, NameEncoding, NameSource, Rules, Schema, Seq, Text, Timestamp, TokenReader,
    Value, slow_member,
};

use polywire_text::scan;

use super::XmlRpcProfile;
use super::collections::ALL_ENDS;
use super::cursor::Cursor;
use super::decode_envelope::Section;
use super::duplicates::IgnoredMembers;
use super::value::{Type, is_number};
use crate::keep;

/// A decoder for one XML-RPC message, or for one value of it.
#[derive(Debug)]
pub struct XmlRpcDecoder<'de> {
    pub(super) cursor: Cursor<'de>,
    pub(super) body: Option<&'de Body>,
    /// The section of the message that contains the next top-level value.
    pub(super) section: Section,
    /// The number of parameters that were begun.
    pub(super) parameters: u32,
    /// Whether the value at the cursor is empty because its tag was `<value/>`.
    pub(super) empty_value: bool,
    /// [`Seq::mark`] of the array whose items are the parameters, in [`Section::ParameterArray`].
    pub(super) array_ends: u64,
    pub(super) budget: Budget,
    pub(super) profile: XmlRpcProfile,
    /// The duplicate members that are ignored.
    pub(super) ignored: Option<Box<IgnoredMembers>>,
    /// The number of items of the previous array, to reserve memory for the next.
    pub(super) items_hint: u32,
    /// The number of members of the previous struct, to reserve memory for the next.
    pub(super) members_hint: u32,
    /// The name of the member that was read last.
    pub(super) name: Cow<'de, str>,
    /// The name of the next member for a type of serde, if it is in plain form.
    #[cfg(feature = "serde")]
    pub(super) plain_name: Option<&'de str>,
    pub(super) scratch: Text,
}

// Values of `Seq::state` for a structure.

/// The members are those of a struct.
const IN_STRUCT: u32 = 0;
/// The members are the parameters of the call.
const POSITIONAL: u32 = 1;
/// The call has no parameter, so there are no members.
const NO_PARAMETER: u32 = 2;

impl<'de> XmlRpcDecoder<'de> {
    /// Counts an item, member or parameter.
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

    /// The error for the value at `start`, which has another type.
    #[cold]
    pub(super) fn wrong_type(&mut self, start: usize, expected: &'static str) -> Error {
        self.go_to_value(start);
        self.error(ErrorKind::WrongType, expected)
    }

    /// The error for the value or text at `start`, which is invalid.
    #[cold]
    pub(super) fn invalid_value(&mut self, start: usize, expected: &'static str) -> Error {
        self.go_to_value(start);
        self.error(ErrorKind::InvalidValue, expected)
    }

    /// Moves to `start` for an error. Skips white space before a start tag, but not before text, where
    /// it may be the reason for the error.
    fn go_to_value(&mut self, start: usize) {
        self.cursor.at = start;
        let space = scan::white_space(self.cursor.rest());
        if let [b'<', next, ..] = self.cursor.rest()[space..]
            && next != b'/'
        {
            self.cursor.at += space;
        }
    }

    /// Begins a structure: a struct, or the parameters of a call.
    fn begin_structure(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        if self.section.has_parameters() && self.parameters == 0 {
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
        } else if self.section == Section::End && self.parameters == 0 {
            return Ok(Seq {
                state: NO_PARAMETER,
                ..Seq::default()
            });
        }
        self.read_struct_start(at)
    }

    /// Reads the start tag of a struct, and begins it: a structure or a map.
    pub(super) fn read_struct_start(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        let start = self.cursor.at;
        if !self.empty_value && self.cursor.skip(b"<struct>") {
            return self.begin_struct(ALL_ENDS);
        }
        let found = self.value_type()?;
        self.begin_struct_value(found, start, at.kind().describe())
    }

    /// Begins a list.
    fn begin_list(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        self.read_array_start(|| at.kind().describe())
    }

    /// Whether the value may be a nil, judging by its first two bytes.
    #[inline(always)]
    fn may_begin_nil(&self, value: &[u8]) -> bool {
        match value {
            [b'<', b'n' | b'e' | b'!' | b'?', ..] | [b' ' | b'\t' | b'\n' | b'\r', ..] => true,
            [b'<', b'd', ..] => self.cursor.dialect.zero_dates(),
            _ => false,
        }
    }

    /// Reads the name of the next member of a struct into `name`. `false` after the end of the struct.
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
            Container::Map => self.read_struct_start(at),
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

        // The end tag of the previous member, then the name.
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
            return self.positional_member(shape, seq);
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
        XmlRpcDecoder::skip_value(self)
    }

    #[inline(always)]
    fn may_be_null(&self) -> bool {
        self.may_begin_nil(self.cursor.rest())
    }

    fn null(&mut self) -> Result<bool, Error> {
        self.read_nil()
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
            None => match self.slow_integer(at.kind().describe())?.to_i64() {
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
        let is_expected = |kind| {
            matches!(
                kind,
                Type::String | Type::Untyped | Type::Integer(_) | Type::BigInteger
            )
        };
        let (kind, text, start) = self.scalar(is_expected, "an integer")?;
        self.big_integer_of(kind, text, start)
    }

    fn big_decimal(&mut self, _: Member<'_>) -> Result<BigDecimal, Error> {
        let is_expected = |kind| {
            is_number(kind)
                || matches!(
                    kind,
                    Type::String | Type::Untyped | Type::BigInteger | Type::BigDecimal
                )
        };
        let (kind, text, start) = self.scalar(is_expected, "a decimal number")?;
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
        // Timestamps of a model without a zone are UTC.
        if let Some(timestamp) = self.plain_date() {
            return Ok(timestamp.with_unzoned(false));
        }
        Ok(self.slow_timestamp()?.with_unzoned(false))
    }

    fn any(&mut self) -> Result<Event, Error> {
        if let Some(value) = self.plain_integer() {
            return Ok(Event::Scalar(Value::Integer(value)));
        }
        let (kind, tag) = self.value_type()?;
        match kind {
            Type::Array => self.begin_array(tag.remaining_ends()).map(Event::List),
            Type::Struct => self.begin_struct(tag.remaining_ends()).map(Event::Map),
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
