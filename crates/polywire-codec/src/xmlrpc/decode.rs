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
    Limits, Member, NameSource, Schema, Seq, ShapeKind, Text, Timestamp, Value,
};
use polywire_text::base64;
use polywire_text::number::{Integer, integer_prefix, parse_f32, parse_f64};

use super::XmlRpcProfile;
use super::cursor::{Cursor, Start};
use crate::budget::Budget;
use crate::{keep, nulls, refuse};

/// A reader of one XML-RPC message.
#[derive(Debug)]
pub struct XmlRpcDecoder<'de> {
    cursor: Cursor<'de>,
    body: Option<&'de Body>,
    /// What surrounds the next value at the top.
    frame: Frame,
    /// Parameters read so far.
    parameters: u32,
    /// Whether the value at the cursor was `<value/>`.
    empty_value: bool,
    budget: Budget,
    profile: XmlRpcProfile,
}

/// Whether a response holds a result or a fault.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reply {
    /// The value is the result.
    Result,
    /// The value is a fault's struct.
    Fault,
}

/// Where the reader is in the frame of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Frame {
    /// In a call, before its parameters or between them.
    Parameters,
    /// In a call, behind the last parameter.
    ParametersEnded,
    /// In the value of a response.
    Response,
    /// In the value of a fault.
    Fault,
}

/// The types of values, by their tags.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Type {
    Array,
    Base64,
    BigDecimal,
    BigInteger,
    Boolean,
    DateTime,
    Double,
    Integer,
    Nil,
    String,
    Struct,
    /// No tag: the text is the string.
    Untyped,
}

/// In [`Seq::mark`], which end tags an array or struct has left.
const OPEN: u64 = 0;
/// `<array><data/>`.
const WITHOUT_DATA: u64 = 1;
/// `<array/>` or `<struct/>`.
const CLOSED: u64 = 2;

/// States of a [`Seq`] at the top of a call.
const IN_STRUCT: u32 = 0;
const POSITIONAL: u32 = 1;
const NO_PARAMETER: u32 = 2;

impl<'de> XmlRpcDecoder<'de> {
    fn new(
        text: &'de str,
        frame: Frame,
        profile: XmlRpcProfile,
        limits: &Limits,
    ) -> Result<Self, Error> {
        refuse::too_long(text.len(), limits, "XML-RPC")?;
        Ok(Self {
            cursor: Cursor::new(text, limits.string())?,
            body: None,
            frame,
            parameters: 0,
            empty_value: false,
            budget: Budget::new(limits),
            profile,
        })
    }

    /// Begins to read a call: its method name, and a reader that stands before
    /// the parameters.
    ///
    /// # Errors
    ///
    /// The body is no call, or beyond the limits.
    pub fn call(
        body: &'de Body,
        profile: XmlRpcProfile,
        limits: &Limits,
    ) -> Result<(Cow<'de, str>, Self), Error> {
        let text = refuse::text(body, limits, "XML-RPC")?;
        let (method, mut decoder) = Self::call_from_str(text, profile, limits)?;
        decoder.body = Some(body);
        Ok((method, decoder))
    }

    /// As [`XmlRpcDecoder::call`], from a text.
    ///
    /// # Errors
    ///
    /// The text is no call, or beyond the limits.
    pub fn call_from_str(
        text: &'de str,
        profile: XmlRpcProfile,
        limits: &Limits,
    ) -> Result<(Cow<'de, str>, Self), Error> {
        let mut decoder = Self::new(text, Frame::Parameters, profile, limits)?;
        let cursor = &mut decoder.cursor;
        cursor.expect_open("methodCall", "<methodCall>")?;
        cursor.expect_open("methodName", "<methodName>")?;
        let method = cursor.characters()?;
        cursor.expect_end("methodName", "</methodName>")?;
        decoder.begin_parameters()?;
        Ok((trimmed(method), decoder))
    }

    /// Reads `<params>`, which a call without parameters may leave out.
    fn begin_parameters(&mut self) -> Result<(), Error> {
        let cursor = &mut self.cursor;
        match cursor.start()? {
            None => {
                cursor.expect_end("methodCall", "<params> or </methodCall>")?;
                self.frame = Frame::ParametersEnded;
            }
            Some(start) if start.name == "params" => {
                if start.empty {
                    cursor.expect_end("methodCall", "</methodCall>")?;
                    self.frame = Frame::ParametersEnded;
                }
            }
            Some(_) => return Err(cursor.wrong_tag("<params> or </methodCall>")),
        }
        Ok(())
    }

    /// Begins to read a response: whether it is a result or a fault, and a
    /// reader that stands at its value.
    ///
    /// # Errors
    ///
    /// The body is no response, or beyond the limits.
    pub fn response(
        body: &'de Body,
        profile: XmlRpcProfile,
        limits: &Limits,
    ) -> Result<(Reply, Self), Error> {
        let text = refuse::text(body, limits, "XML-RPC")?;
        let (reply, mut decoder) = Self::response_from_str(text, profile, limits)?;
        decoder.body = Some(body);
        Ok((reply, decoder))
    }

    /// As [`XmlRpcDecoder::response`], from a text.
    ///
    /// # Errors
    ///
    /// The text is no response, or beyond the limits.
    pub fn response_from_str(
        text: &'de str,
        profile: XmlRpcProfile,
        limits: &Limits,
    ) -> Result<(Reply, Self), Error> {
        let mut decoder = Self::new(text, Frame::Response, profile, limits)?;
        let cursor = &mut decoder.cursor;
        cursor.expect_open("methodResponse", "<methodResponse>")?;
        let reply = match cursor.start()? {
            Some(start) if start.name == "params" && !start.empty => {
                cursor.expect_open("param", "<param>")?;
                Reply::Result
            }
            Some(start) if start.name == "fault" && !start.empty => {
                decoder.frame = Frame::Fault;
                Reply::Fault
            }
            Some(_) => return Err(cursor.wrong_tag("<params> or <fault>")),
            None => return Err(cursor.error(ErrorKind::Syntax, "<params> or <fault>")),
        };
        decoder.empty_value = !decoder.cursor.expect_start("value", "<value>")?;
        Ok((reply, decoder))
    }

    /// Goes to the next parameter of a call; `false` behind the last.
    ///
    /// # Errors
    ///
    /// What comes is no parameter.
    pub fn parameter(&mut self) -> Result<bool, Error> {
        if self.frame != Frame::Parameters {
            return Ok(false);
        }
        let cursor = &mut self.cursor;
        if self.parameters > 0 {
            cursor.expect_end("param", "</param>")?;
        }
        match cursor.start()? {
            Some(start) if start.name == "param" && !start.empty => {
                self.parameters += 1;
                self.empty_value = !cursor.expect_start("value", "<value>")?;
                self.count_item()?;
                Ok(true)
            }
            Some(_) => Err(cursor.wrong_tag("<param> or </params>")),
            None => {
                cursor.expect_end("params", "<param> or </params>")?;
                cursor.expect_end("methodCall", "</methodCall>")?;
                self.frame = Frame::ParametersEnded;
                Ok(false)
            }
        }
    }

    /// Goes into the struct at the top of a response, to the value of one of
    /// its members; `false` if it has none such. What follows that value is
    /// not read: for the structure that a fault carries.
    ///
    /// # Errors
    ///
    /// The value is no struct, or a member before it cannot be read.
    pub fn enter(&mut self, name: &str) -> Result<bool, Error> {
        let mut seq = self.map(Member::DOCUMENT)?;
        while let Some(own) = self.next_member(&mut seq)? {
            if own == name {
                return Ok(true);
            }
            self.count_item()?;
            self.skip_value()?;
        }
        Ok(false)
    }

    /// Sees to it that the message ends behind its value or last parameter.
    ///
    /// # Errors
    ///
    /// It does not.
    pub fn finish(&mut self) -> Result<(), Error> {
        match self.frame {
            Frame::Parameters => {
                if self.parameter()? {
                    let expected = "the end of the call: too many parameters";
                    return Err(self.error(ErrorKind::Unknown, expected));
                }
            }
            Frame::ParametersEnded => {}
            Frame::Response => {
                self.cursor.expect_end("param", "</param>")?;
                self.cursor.expect_end("params", "</params>")?;
                self.cursor
                    .expect_end("methodResponse", "</methodResponse>")?;
            }
            Frame::Fault => {
                self.cursor.expect_end("fault", "</fault>")?;
                self.cursor
                    .expect_end("methodResponse", "</methodResponse>")?;
            }
        }
        self.cursor.skip_between()?;
        if self.cursor.at < self.cursor.text.len() {
            return Err(self.error(ErrorKind::Syntax, "the end of the message"));
        }
        Ok(())
    }

    #[inline]
    fn count_item(&mut self) -> Result<(), Error> {
        self.budget.count(1).map_err(|limit| self.limit(limit))
    }

    #[cold]
    fn limit(&self, limit: LimitKind) -> Error {
        self.error(ErrorKind::Limit(limit), "")
    }

    #[cold]
    fn wrong_type(&mut self, start: usize, expected: &'static str) -> Error {
        self.cursor.at = start;
        self.error(ErrorKind::WrongType, expected)
    }

    #[cold]
    fn invalid(&mut self, start: usize, expected: &'static str) -> Error {
        self.cursor.at = start;
        self.error(ErrorKind::InvalidValue, expected)
    }

    #[inline]
    fn deeper(&mut self) -> Result<(), Error> {
        self.budget.enter().map_err(|limit| self.limit(limit))
    }

    /// Reads `</value>`.
    #[inline]
    fn end_value(&mut self) -> Result<(), Error> {
        if self.cursor.skip(b"</value>") {
            return Ok(());
        }
        self.cursor.expect_end("value", "</value>")
    }

    /// The type of the value at the cursor, and its start tag. The cursor then
    /// stands behind the tag.
    fn value_type(&mut self) -> Result<(Type, Start<'de>), Error> {
        const UNTYPED: Start<'_> = Start {
            name: "",
            empty: false,
        };
        if self.empty_value {
            return Ok((
                Type::Untyped,
                Start {
                    empty: true,
                    ..UNTYPED
                },
            ));
        }
        let start = self.cursor.at;
        // White space before a tag is layout; before text it is text.
        self.cursor.skip_between()?;
        if !matches!(self.cursor.rest(), [b'<', next, ..] if !matches!(next, b'/' | b'!' | b'?')) {
            self.cursor.at = start;
            return Ok((Type::Untyped, UNTYPED));
        }
        let Some(tag) = self.cursor.start()? else {
            return Err(self.error(ErrorKind::Syntax, "a value"));
        };
        let kind = match tag.name.strip_prefix("ex:").unwrap_or(tag.name) {
            "i1" | "i2" | "i4" | "i8" | "int" => Type::Integer,
            "string" => Type::String,
            "boolean" => Type::Boolean,
            "double" | "float" => Type::Double,
            "dateTime.iso8601" | "dateTime" => Type::DateTime,
            "base64" => Type::Base64,
            "nil" => Type::Nil,
            "array" => Type::Array,
            "struct" => Type::Struct,
            "biginteger" => Type::BigInteger,
            "bigdecimal" => Type::BigDecimal,
            _ => {
                self.cursor.at = start;
                return Err(self.error(ErrorKind::Syntax, "a type of XML-RPC"));
            }
        };
        Ok((kind, tag))
    }

    /// The text of a scalar whose start tag has been read, up to its end tags.
    fn scalar_text(&mut self, kind: Type, tag: Start<'_>) -> Result<Cow<'de, str>, Error> {
        if tag.empty {
            if kind == Type::Untyped {
                self.empty_value = false;
            } else {
                self.end_value()?;
            }
            return Ok(Cow::Borrowed(""));
        }
        let text = match kind {
            // Not kept: what they become has a size of its own.
            Type::Boolean | Type::DateTime | Type::Double => self.cursor.any_characters()?,
            _ => self.cursor.characters()?,
        };
        if kind != Type::Untyped {
            self.end_type(tag)?;
        }
        self.end_value()?;
        Ok(text)
    }

    /// Reads the end tag of a scalar's type.
    fn end_type(&mut self, tag: Start<'_>) -> Result<(), Error> {
        self.cursor
            .expect_end(tag.name, "the end tag of the value's type")
    }

    /// A scalar of one of these types, as text.
    fn scalar(
        &mut self,
        types: &[Type],
        expected: &'static str,
    ) -> Result<(Type, Cow<'de, str>, usize), Error> {
        let before = self.cursor.at;
        let (kind, tag) = self.value_type()?;
        if !types.contains(&kind) {
            return Err(self.wrong_type(before, expected));
        }
        let start = self.cursor.at;
        let text = self.scalar_text(kind, tag)?;
        Ok((kind, text, start))
    }

    /// A value that is a string, written with or without its tag.
    #[inline]
    fn string(&mut self) -> Result<Cow<'de, str>, Error> {
        // The common spelling, as three comparisons.
        if !self.empty_value && self.cursor.skip(b"<string>") {
            let text = self.cursor.characters()?;
            if self.cursor.skip(b"</string></value>") {
                return Ok(text);
            }
            self.cursor.expect_end("string", "</string>")?;
            self.end_value()?;
            return Ok(text);
        }
        let (_, text, _) = self.scalar(&[Type::String, Type::Untyped], "a string")?;
        Ok(text)
    }

    /// An integer in its common spellings, or `None` if it has another.
    #[inline]
    fn plain_integer(&mut self) -> Option<i64> {
        let rest = self.cursor.rest();
        let (open, close): (&[u8], &[u8]) = match rest {
            _ if self.empty_value => return None,
            _ if rest.starts_with(b"<int>") => (b"<int>", b"</int></value>"),
            _ if rest.starts_with(b"<i4>") => (b"<i4>", b"</i4></value>"),
            _ if rest.starts_with(b"<i8>") => (b"<i8>", b"</i8></value>"),
            _ => return None,
        };
        match integer_prefix(&rest[open.len()..]) {
            Integer::Small(value, len) if rest[open.len() + len..].starts_with(close) => {
                self.cursor.at += open.len() + len + close.len();
                Some(value)
            }
            _ => None,
        }
    }

    fn any_integer(&mut self, expected: &'static str) -> Result<BigInteger, Error> {
        if let Some(value) = self.plain_integer() {
            return Ok(BigInteger::from(value));
        }
        let (_, text, start) = self.scalar(&[Type::Integer, Type::BigInteger], expected)?;
        let digits = text.strip_prefix('+').unwrap_or(&text);
        match digits.parse() {
            Ok(value) if !text.starts_with("+-") => Ok(value),
            _ => Err(self.invalid(start, expected)),
        }
    }

    fn end_collection(&mut self, tags: &[&'static str]) -> Result<(), Error> {
        for tag in tags {
            self.cursor
                .expect_end(tag, "the end tag of the array or struct")?;
        }
        self.end_value()?;
        self.budget.leave();
        Ok(())
    }

    /// Begins an array whose start tag has been read.
    fn begin_array(&mut self, empty: bool) -> Result<Seq, Error> {
        self.deeper()?;
        let mark = if empty {
            CLOSED
        } else if self.cursor.expect_start("data", "<data>")? {
            OPEN
        } else {
            WITHOUT_DATA
        };
        Ok(Seq {
            mark,
            ..Seq::default()
        })
    }

    /// Goes to the next item of an array.
    fn next_item(&mut self, seq: &mut Seq) -> Result<bool, Error> {
        if seq.mark != OPEN {
            let tags: &[&str] = if seq.mark == CLOSED { &[] } else { &["array"] };
            self.end_collection(tags)?;
            return Ok(false);
        }
        if !self.cursor.skip(b"<value>") {
            match self.cursor.start()? {
                Some(start) if start.name == "value" => self.empty_value = start.empty,
                Some(_) => return Err(self.cursor.wrong_tag("<value> or </data>")),
                None => {
                    self.end_collection(&["data", "array"])?;
                    return Ok(false);
                }
            }
        }
        seq.count += 1;
        self.count_item()?;
        Ok(true)
    }

    /// Begins a struct whose start tag has been read.
    fn begin_struct(&mut self, empty: bool) -> Result<Seq, Error> {
        self.deeper()?;
        Ok(Seq {
            mark: if empty { CLOSED } else { OPEN },
            ..Seq::default()
        })
    }

    /// Goes to the next member of a struct and reads up to its value's tag.
    fn next_member(&mut self, seq: &mut Seq) -> Result<Option<Cow<'de, str>>, Error> {
        if seq.count > 0 {
            self.end_member()?;
        }
        if seq.mark == CLOSED {
            self.end_collection(&[])?;
            return Ok(None);
        }
        match self.cursor.start()? {
            Some(start) if start.name == "member" && !start.empty => {}
            Some(_) => return Err(self.cursor.wrong_tag("<member> or </struct>")),
            None => {
                self.end_collection(&["struct"])?;
                return Ok(None);
            }
        }
        seq.count += 1;
        let name = if self.cursor.expect_start("name", "<name>")? {
            let name = self.cursor.characters()?;
            self.cursor.expect_end("name", "</name>")?;
            name
        } else {
            Cow::Borrowed("")
        };
        self.empty_value = !self.cursor.expect_start("value", "<value>")?;
        Ok(Some(name))
    }

    #[inline]
    fn end_member(&mut self) -> Result<(), Error> {
        if self.cursor.skip(b"</member>") {
            return Ok(());
        }
        self.cursor.expect_end("member", "</member>")
    }

    /// Skips a value that nobody wants. It must be well formed all the same.
    fn skip_value(&mut self) -> Result<(), Error> {
        match self.any()? {
            Event::List(mut seq) => {
                while self.next_item(&mut seq)? {
                    self.skip_value()?;
                }
            }
            Event::Map(mut seq) => {
                while self.next_member(&mut seq)?.is_some() {
                    self.count_item()?;
                    self.skip_value()?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads the end tags of a nil, which holds nothing.
    fn end_nil(&mut self, tag: Start<'_>) -> Result<(), Error> {
        if !tag.empty {
            self.end_type(tag)?;
        }
        self.end_value()
    }

    /// Reads a nil, if the value is one.
    fn is_nil(&mut self) -> Result<bool, Error> {
        if self.empty_value
            || !matches!(
                self.cursor.rest(),
                [b'<' | b' ' | b'\t' | b'\n' | b'\r', ..]
            )
        {
            return Ok(false);
        }
        if self.cursor.skip(b"<nil/></value>") {
            return Ok(true);
        }
        let start = self.cursor.at;
        match self.value_type()? {
            (Type::Nil, tag) => {
                self.end_nil(tag)?;
                Ok(true)
            }
            _ => {
                self.cursor.at = start;
                Ok(false)
            }
        }
    }

    /// The next positional parameter that is not nil.
    fn positional(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        loop {
            if !self.parameter()? {
                return Ok(END);
            }
            let ordinal = seq.count;
            if ordinal >= shape.len() {
                let error = self.error(ErrorKind::Unknown, "");
                return Err(error.expected(format!("at most {} parameters", shape.len())));
            }
            seq.count += 1;
            if shape.member(ordinal).kind() == ShapeKind::Document || !self.is_nil()? {
                return Ok(ordinal);
            }
        }
    }
}

/// The text without white space around it.
fn trimmed(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
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
        parse_f32(float_text(&text)).map_err(|malformed| self.invalid(start, malformed.expected))
    }

    fn double(&mut self, _: Member<'_>) -> Result<f64, Error> {
        // Some peers write whole doubles as integers.
        let (_, text, start) = self.scalar(&[Type::Double, Type::Integer], "a number")?;
        parse_f64(float_text(&text)).map_err(|malformed| self.invalid(start, malformed.expected))
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

/// A scalar of a document.
fn scalar_value(kind: Type, text: &str) -> Result<Value, &'static str> {
    match kind {
        Type::Boolean => match text {
            "0" => Ok(Value::Boolean(false)),
            "1" => Ok(Value::Boolean(true)),
            _ => Err("0 or 1"),
        },
        Type::Base64 => blob_of(text).map(Value::Blob),
        Type::DateTime => Timestamp::parse_xmlrpc(text.trim())
            .map(Value::Timestamp)
            .map_err(|malformed| malformed.expected),
        _ => parse_f64(float_text(text))
            .map(Value::Double)
            .map_err(|malformed| malformed.expected),
    }
}

/// The number as our own writer spells it: Python writes `nan` and `inf`.
fn float_text(text: &str) -> &[u8] {
    match text {
        "nan" => b"NaN",
        "inf" => b"Infinity",
        "-inf" => b"-Infinity",
        _ => text.as_bytes(),
    }
}

/// Base64, in which peers put line breaks and indentation.
fn blob_of(text: &str) -> Result<Blob, &'static str> {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let bytes = text.as_bytes();
    let decoded = if bytes.iter().any(is_space) {
        let packed: Vec<u8> = bytes
            .iter()
            .copied()
            .filter(|byte| !is_space(byte))
            .collect();
        base64::decode(&packed)
    } else {
        base64::decode(bytes)
    };
    decoded.map_err(|malformed| malformed.expected)
}
