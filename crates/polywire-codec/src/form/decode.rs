//! The form decoder.
//!
//! `index.rs` sorts the fields into the order of the shape, and the decoder reads them in that order.
//! Each structure, list or map is a level. The fields of a level share the first segments of their
//! keys. Reading a value moves the cursor past all its fields.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Body, Budget, Container, Error, ErrorKind, Event, LimitKind,
    Limits, Member, Name, NameSource, Rules, Schema, Seq, Text, Timestamp, TimestampFormat,
    TokenReader, slow_member,
};
use polywire_text::number::{self, Spelling};
use polywire_text::timestamp::ReadPolicy;
use polywire_text::{Malformed, base64, percent};

use super::FormProfile;
use super::index::{self, Field, Index, KEY, UNKNOWN, VALUE};
use crate::{checks, keep, snippet};

/// A decoder of one form.
///
/// ```
/// use polywire_codec::form::{FormDecoder, FormProfile};
/// use polywire_schema::{
///     Body, Decode, Limits, MemberSpec, SchemaBuilder, ShapeKind, Value,
/// };
///
/// let mut builder = SchemaBuilder::new();
/// let string = builder.shape(ShapeKind::String, "smithy.api#String");
/// let list = builder.shape(ShapeKind::List, "ns#Names");
/// builder.member(list, MemberSpec::new("member", string));
/// let input = builder.shape(ShapeKind::Structure, "ns#Input");
/// builder.member(input, MemberSpec::new("Names", list));
/// let set = builder.finish()?;
/// let at = set.shape(input.index()).root();
///
/// let body = Body::from(b"Names.member.2=c&Action=Name&Names.member.1=a+b".to_vec());
/// let mut decoder = FormDecoder::from_body(&body, FormProfile::AWS_QUERY, &Limits::DEFAULT)?;
/// let value = Value::decode(at, &mut decoder)?;
/// assert_eq!(value["Names"][0].as_str(), Some("a b"));
/// assert_eq!(value["Names"][1].as_str(), Some("c"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FormDecoder<'de> {
    form: &'de str,
    body: Option<&'de Body>,
    budget: Budget,
    profile: FormProfile,
    /// Created when the top-level structure begins.
    index: Option<Index>,
    /// The position of the next field.
    cursor: usize,
    /// The position of the field that errors refer to.
    last: usize,
    /// The number of resolved segments that lead to the next value. The words `member` and `entry` are
    /// not counted.
    level: u32,
    /// Whether the next value is the missing value of an entry that has only a key.
    is_absent: bool,
    /// The ordinal of the member that `next` has found, or `UNKNOWN`. `name` returns it.
    number: u32,
    /// The last key.
    scratch: Text,
}

/// A value of [`Seq::mark`]: the level has no fields.
const EMPTY: u64 = 1;

impl<'de> FormDecoder<'de> {
    /// Creates a decoder of a body. Long strings share the body.
    ///
    /// # Errors
    ///
    /// The body is not UTF-8, or longer than the limit.
    pub fn from_body(
        body: &'de Body,
        profile: FormProfile,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let text = checks::text(body, limits, "form")?;
        let mut decoder = Self::from_str(text, profile, limits)?;
        decoder.body = Some(body);
        Ok(decoder)
    }

    /// Creates a decoder of a text, such as the query of a URI. Long strings are copied.
    ///
    /// # Errors
    ///
    /// The text is longer than the limit.
    pub fn from_str(form: &'de str, profile: FormProfile, limits: &Limits) -> Result<Self, Error> {
        checks::message_len(form.len(), limits, "form")?;
        index::check_size(form.len())?;
        Ok(Self {
            form,
            body: None,
            budget: Budget::new(limits),
            profile,
            index: None,
            cursor: 0,
            last: 0,
            level: 0,
            is_absent: false,
            number: UNKNOWN,
            scratch: Text::default(),
        })
    }

    /// Returns the value of the first field with this key, regardless of the schema. Protocols use it
    /// to find the name of the operation. The fields after it are not checked.
    ///
    /// # Errors
    ///
    /// The percent-encoding of the value or of a key before it is malformed.
    ///
    /// ```
    /// use polywire_codec::form::{FormDecoder, FormProfile};
    /// use polywire_schema::Limits;
    ///
    /// let form = "Version=1&Action=List+all";
    /// let decoder = FormDecoder::from_str(form, FormProfile::AWS_QUERY, &Limits::DEFAULT)?;
    /// assert_eq!(decoder.find("Action")?.as_deref(), Some("List all"));
    /// assert_eq!(decoder.find("Foo")?, None);
    /// # Ok::<(), polywire_schema::Error>(())
    /// ```
    pub fn find(&self, key: &str) -> Result<Option<Cow<'de, str>>, Error> {
        let mut fields = index::Fields::new(self.form);
        while let Some((name, value, end)) = fields.next()? {
            if name == key {
                return index::decode(&self.form[value..end], value).map(Some);
            }
        }
        Ok(None)
    }

    /// Checks that the form has been read. All fields are checked when the top-level structure begins,
    /// so this has nothing to do.
    ///
    /// # Errors
    ///
    /// Currently none.
    pub fn finish(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// The form, the remaining limits and the profile, for another decoder.
    #[cfg(feature = "reference")]
    pub(crate) fn input(&self) -> (&'de str, Limits, FormProfile) {
        (self.form, self.budget.left(), self.profile)
    }

    #[inline]
    fn field(&self, at: usize) -> Option<&Field> {
        self.index.as_ref()?.fields().get(at)
    }

    /// The number of the next field at a level. `None` if the field does not belong to the level.
    #[inline]
    fn next_number(&mut self, seq: &mut Seq) -> Option<u32> {
        if seq.mark == EMPTY {
            return None;
        }
        let index = self.index.as_ref()?;
        let field = index.fields().get(self.cursor)?;
        // The first field always belongs to the level.
        if seq.count > 0 && field.shared < seq.state {
            return None;
        }
        seq.count += 1;
        self.last = self.cursor;
        Some(index.number(field, seq.state))
    }

    #[inline]
    fn enter(&mut self) -> Result<Seq, Error> {
        if let Err(limit) = self.budget.enter() {
            return Err(self.limit_error(limit));
        }
        let mut seq = Seq {
            state: self.level,
            ..Seq::default()
        };
        if std::mem::take(&mut self.is_absent) {
            seq.mark = EMPTY;
        }
        Ok(seq)
    }

    /// Enters a list or map. It is empty if the key of a field ends here.
    fn enter_collection(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        if self.index.is_none() {
            return Err(self.not_at_the_top(at));
        }
        let mut seq = self.enter()?;
        if seq.mark != EMPTY
            && self
                .field(self.cursor)
                .is_some_and(|field| field.len == self.level)
        {
            seq.mark = EMPTY;
            self.last = self.cursor;
            self.cursor += 1;
        }
        Ok(seq)
    }

    #[inline]
    fn leave(&mut self, seq: &Seq) {
        self.budget.leave();
        self.level = seq.state;
    }

    /// Moves to the next item or entry. Returns `false` at the end.
    fn next_item(&mut self, seq: &mut Seq) -> Result<bool, Error> {
        if self.next_number(seq).is_none() {
            self.leave(seq);
            return Ok(false);
        }
        self.level = seq.state + 1;
        match self.budget.count(1) {
            Ok(()) => Ok(true),
            Err(limit) => Err(self.limit_error(limit)),
        }
    }

    /// Skips the fields of the previous entry other than its key and value.
    fn skip_rest_of_entry(&mut self, seq: &Seq) {
        while seq.count > 0
            && self
                .field(self.cursor)
                .is_some_and(|field| field.shared > seq.state)
        {
            self.cursor += 1;
        }
    }

    /// The text of the next scalar.
    fn scalar(&mut self) -> Result<Cow<'de, str>, Error> {
        if self.is_absent {
            return Err(self.error(ErrorKind::Missing, "the value of the entry"));
        }
        let Some(field) = self.field(self.cursor).copied() else {
            return Err(self.error(ErrorKind::Internal, "a value where one is read"));
        };
        self.last = self.cursor;
        let (start, end) = (field.value as usize, field.end as usize);
        let text = match percent::decode_query(&self.form[start..end]) {
            Ok(text) => text,
            Err(malformed) => {
                return Err(self.error_at(malformed.offset, ErrorKind::Syntax, malformed.expected));
            }
        };
        if let Err(limit) = self.budget.string(text.len()) {
            return Err(self.limit_error(limit));
        }
        self.cursor += 1;
        Ok(text)
    }

    /// Parses the text of the next scalar.
    #[inline]
    fn parsed<T>(&mut self, parse: impl FnOnce(&str) -> Result<T, Malformed>) -> Result<T, Error> {
        let text = self.scalar()?;
        parse(&text).map_err(|malformed| {
            let is_plain = matches!(text, Cow::Borrowed(_));
            let offset = if is_plain { malformed.offset } else { 0 };
            self.error_at(offset, ErrorKind::InvalidValue, malformed.expected)
        })
    }

    #[cold]
    fn limit_error(&self, limit: LimitKind) -> Error {
        self.error(ErrorKind::Limit(limit), "")
    }

    /// An error about the last field, at the offset `within` its value.
    #[cold]
    fn error_at(&self, within: usize, kind: ErrorKind, expected: &'static str) -> Error {
        let error = Error::new(kind).in_format("form").expected(expected);
        let index = self.index.as_ref();
        let Some((index, field)) =
            index.and_then(|index| Some((index, index.fields().get(self.last)?)))
        else {
            return error.at_offset(0);
        };
        let (start, end) = (field.value as usize, field.end as usize);
        let error = error
            .at_offset(start + within)
            .at_path(index.path(self.form, field, self.level));
        match kind {
            ErrorKind::Limit(_) | ErrorKind::Duplicate => error,
            _ if start + within >= end => error.found("the end of the value"),
            _ => error.found(snippet::rest(&self.form.as_bytes()[..end], start + within)),
        }
    }

    #[cold]
    fn not_at_the_top(&self, at: Member<'_>) -> Error {
        let error = Error::new(ErrorKind::WrongType).in_format("form");
        error
            .expected("a structure at the top")
            .found(at.kind().describe())
    }
}

impl<'de> TokenReader<'de> for FormDecoder<'de> {
    type Next = ();
    type Match = ();

    fn budget(&mut self) -> &mut Budget {
        &mut self.budget
    }

    fn rules(&self) -> Rules {
        self.profile.rules
    }

    fn name_source(&self) -> NameSource {
        self.profile.names.source()
    }

    fn begin(&mut self, container: Container, at: Member<'_>) -> Result<Seq, Error> {
        if container != Container::Structure {
            return self.enter_collection(at);
        }
        if self.index.is_none() {
            if !at.kind().is_structure() {
                return Err(self.not_at_the_top(at));
            }
            let index = Index::new(self.form, at, &self.profile, &mut self.budget)?;
            self.index = Some(index);
        }
        self.enter()
    }

    fn next(&mut self, container: Container, _: Member<'_>, seq: &mut Seq) -> Result<bool, Error> {
        match container {
            Container::Structure => {
                let Some(number) = self.next_number(seq) else {
                    self.leave(seq);
                    return Ok(false);
                };
                self.number = number;
                Ok(true)
            }
            Container::List => self.next_item(seq),
            Container::Map => {
                self.skip_rest_of_entry(seq);
                self.next_item(seq)
            }
        }
    }

    #[inline(always)]
    fn peek(&self, _: &Seq) {}

    /// The index has already resolved the names.
    #[inline(always)]
    fn match_member(&self, (): (), _: Member<'_>, _: &Seq) -> Option<()> {
        None
    }

    #[inline(always)]
    fn accept_member(&mut self, (): (), _: &mut Seq) {}

    #[inline(always)]
    fn other_member(&mut self, (): (), shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        slow_member(self, shape, seq)
    }

    fn name(&mut self, _: Schema<'_>, seq: &mut Seq) -> Result<Name, Error> {
        if self.number == UNKNOWN {
            seq.unknown = true;
            self.cursor += 1;
            return Ok(Name::Ignored);
        }
        self.level = seq.state + 1;
        Ok(Name::Member(self.number))
    }

    fn key(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<(), Error> {
        let half = |decoder: &Self| {
            let index = decoder.index.as_ref()?;
            let field = index.fields().get(decoder.cursor)?;
            Some((index.number(field, seq.state + 1), field.shared > seq.state))
        };
        if half(self).is_none_or(|(number, _)| number != KEY) {
            return Err(self.error(ErrorKind::Missing, "the key of the entry"));
        }
        self.level = seq.state + 2;
        self.scratch = self.text(at)?;
        self.is_absent = half(self) != Some((VALUE, true));
        Ok(())
    }

    fn scratch(&mut self) -> &mut Text {
        &mut self.scratch
    }

    /// The index has already counted and checked unknown fields.
    fn skip_value(&mut self) -> Result<(), Error> {
        self.cursor += 1;
        Ok(())
    }

    // The missing value of an entry is null only in a sparse map. In others it is an error and never
    // skipped.
    fn may_be_null(&self) -> bool {
        false
    }

    fn null(&mut self) -> Result<bool, Error> {
        Ok(std::mem::take(&mut self.is_absent))
    }

    fn boolean(&mut self, _: Member<'_>) -> Result<bool, Error> {
        let parse = |text: &str| match text {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(Malformed::new(0, "true or false")),
        };
        self.parsed(parse)
    }

    fn integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        let (min, max) = at.kind().integer_range();
        let expected = at.kind().describe();
        let parse = |text: &str| match number::parse_i64(text.as_bytes()) {
            Ok(value) if (min..=max).contains(&value) => Ok(value),
            Ok(_) => Err(Malformed::new(0, expected)),
            Err(malformed) => Err(Malformed::new(malformed.offset, expected)),
        };
        self.parsed(parse)
    }

    fn float(&mut self, _: Member<'_>) -> Result<f32, Error> {
        self.parsed(|text| number::parse_float(text.as_bytes(), Spelling::SMITHY))
    }

    fn double(&mut self, _: Member<'_>) -> Result<f64, Error> {
        self.parsed(|text| number::parse_float(text.as_bytes(), Spelling::SMITHY))
    }

    fn big_integer(&mut self, at: Member<'_>) -> Result<BigInteger, Error> {
        let digits = self.text(at)?;
        BigInteger::parse(digits).map_err(|_| self.error(ErrorKind::InvalidValue, "an integer"))
    }

    fn big_decimal(&mut self, at: Member<'_>) -> Result<BigDecimal, Error> {
        let digits = self.text(at)?;
        BigDecimal::parse(digits)
            .map_err(|_| self.error(ErrorKind::InvalidValue, "a decimal number"))
    }

    fn text(&mut self, _: Member<'_>) -> Result<Text, Error> {
        let text = self.scalar()?;
        Ok(keep::text(self.body, text))
    }

    fn str(&mut self, _: Member<'_>) -> Result<Cow<'de, str>, Error> {
        self.scalar()
    }

    fn blob(&mut self, _: Member<'_>) -> Result<Blob, Error> {
        self.parsed(|text| base64::decode(text.as_bytes()))
    }

    fn timestamp(&mut self, at: Member<'_>) -> Result<Timestamp, Error> {
        let format = at
            .timestamp_format()
            .unwrap_or(self.profile.timestamp_format);
        let policy = ReadPolicy::new().utc(self.profile.rules.strict);
        self.parsed(|text| match format {
            TimestampFormat::DateTime => Timestamp::parse_date_time_with(text, policy),
            TimestampFormat::EpochSeconds => Timestamp::parse_epoch_seconds(text),
            TimestampFormat::HttpDate => Timestamp::parse_http_date(text),
        })
    }

    fn any(&mut self) -> Result<Event, Error> {
        Err(self.error(ErrorKind::WrongType, "no document: forms have none"))
    }

    #[cold]
    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        self.error_at(0, kind, expected)
    }
}
