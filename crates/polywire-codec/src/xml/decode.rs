//! The XML decoder.
//!
//! The input is validated as UTF-8 once, so that strings are slices of a `str`. The decoder expects
//! the members of a structure in the order of the schema. It compares the input with the encoded
//! start tag of the next member. If they differ, it reads the tag and looks up its name. An end tag
//! is compared with the name in its start tag.
//!
//! There is no stack of open elements. The [`Seq`] of a structure, list or map has in `mark` and
//! `left` the position and length of the name of its element, and its state in `state`. In lists
//! and maps, `seen` describes the last item: see `last_item` in `collections.rs`.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Body, Budget, Container, END, Error, ErrorKind, Event, LimitKind,
    Limits, Member, MemberFlags, Name, NameEncoding, NameSource, Part, Rules, Schema, Seq,
    ShapeKind, Text, Timestamp, TokenReader, slow_member,
};
use polywire_text::scan::TAG;
use polywire_text::timestamp::DateCache;
use polywire_text::utf8;

use super::XmlProfile;
use super::cursor::{CONTENT, Cursor, EMPTY, UNCHECKED_ROOT};
use super::wrapper::Entered;
use crate::checks;
use crate::lengths::Lengths;
use crate::xml_tokens::{Span, local, name_len};

/// A decoder of one XML document.
#[derive(Debug)]
pub struct XmlDecoder<'de> {
    pub(super) cursor: Cursor<'de>,
    pub(super) body: Option<&'de Body>,
    pub(super) budget: Budget,
    pub(super) profile: XmlProfile<'static>,
    /// Whether the next flattened list or map continues one that was read before.
    pub(super) continues: bool,
    /// The elements that the caller has entered.
    pub(super) entered: Entered,
    pub(super) lengths: Lengths,
    /// The timestamps of a message are often of the same day.
    pub(super) last_date: DateCache,
    /// The key that was read last.
    pub(super) scratch: Text,
}

// Flags in the `state` of a structure. If any is set, `peek` returns `None`, so that `next_member`
// is called. `IN_TAG` is cleared after the attributes, the others stay.
/// The start tag can have further attributes.
pub(super) const IN_TAG: u32 = 1;
/// The element is empty.
pub(super) const NO_CONTENT: u32 = 2;
/// The root structure has no element.
pub(super) const UNWRAPPED: u32 = 4;

/// Whether the items or entries of a member have no element around them.
#[inline]
fn is_flattened(member: Member<'_>) -> bool {
    member.has(MemberFlags::XML_FLATTENED)
        && matches!(member.kind(), ShapeKind::List | ShapeKind::Map)
}

impl<'de> XmlDecoder<'de> {
    /// Creates a decoder of a body. Long strings share its memory.
    ///
    /// # Errors
    ///
    /// The body is not UTF-8, exceeds the limit, or does not start with an element.
    pub fn from_body(
        body: &'de Body,
        profile: XmlProfile<'_>,
        limits: &Limits,
    ) -> Result<Self, Error> {
        checks::message_len(body.as_bytes().len(), limits, "XML")?;
        let (text, may_need_checks) = match utf8::ascii_without(body.as_bytes(), b']') {
            Some(text) => (text, false),
            None => (checks::text(body, limits, "XML")?, true),
        };
        Ok(Self::new(
            Cursor::new(text, may_need_checks)?,
            Some(body),
            profile,
            limits,
        ))
    }

    /// Creates a decoder of a text. Long strings are copied.
    ///
    /// # Errors
    ///
    /// The text exceeds the limit, or does not start with an element.
    pub fn from_str(
        text: &'de str,
        profile: XmlProfile<'_>,
        limits: &Limits,
    ) -> Result<Self, Error> {
        checks::message_len(text.len(), limits, "XML")?;
        Ok(Self::new(Cursor::new(text, true)?, None, profile, limits))
    }

    #[inline]
    fn new(
        cursor: Cursor<'de>,
        body: Option<&'de Body>,
        profile: XmlProfile<'_>,
        limits: &Limits,
    ) -> Self {
        Self {
            cursor,
            body,
            budget: Budget::new(limits),
            profile: profile.with_namespace(None),
            continues: false,
            entered: Entered::default(),
            lengths: Lengths::default(),
            last_date: DateCache::default(),
            scratch: Text::default(),
        }
    }

    /// The offset of the next byte to be read.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.cursor.at
    }

    /// The input of another decoder that reads the next value: the offset of its start tag, if it
    /// has one.
    #[cfg(feature = "reference")]
    pub(crate) fn rest_of_message(&self) -> (&'de str, Option<usize>, Limits, XmlProfile<'static>) {
        let none = self.cursor.value_kind == EMPTY && !self.entered.is_empty();
        let start = (!none).then_some(self.cursor.name.start - 1);
        (self.cursor.text, start, self.budget.left(), self.profile)
    }

    /// Whether the next value is the root element.
    #[cfg(feature = "reference")]
    pub(crate) fn is_at_root(&self) -> bool {
        self.cursor.value_kind & UNCHECKED_ROOT != 0
    }

    /// Continues after the value that another decoder has read.
    #[cfg(feature = "reference")]
    pub(crate) fn go_to(&mut self, offset: usize) {
        self.cursor.value_kind = CONTENT;
        self.cursor.at = self.cursor.at.max(offset);
    }

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

    /// Creates an error for a well-formed value that is invalid for its type, and moves back to the
    /// value.
    #[cold]
    pub(super) fn invalid_value(&mut self, start: usize, expected: &'static str) -> Error {
        self.cursor.at = start;
        self.error(ErrorKind::InvalidValue, expected)
    }

    #[inline(always)]
    pub(super) fn enter_level(&mut self) -> Result<(), Error> {
        self.budget.enter().map_err(|limit| self.limit_error(limit))
    }

    /// Checks the name of the root element.
    #[cold]
    pub(super) fn check_root_name(&mut self, at: Member<'_>) -> Result<(), Error> {
        self.cursor.value_kind &= !UNCHECKED_ROOT;
        let expected = root_name(at);
        let name = self.cursor.slice(self.cursor.name);
        if !self.profile.rules.strict
            || self.profile.unwrapped
            || !self.entered.is_empty()
            || local(name) == local(expected)
        {
            return Ok(());
        }
        self.cursor.at = self.cursor.name.start - 1;
        let error = self.error(ErrorKind::WrongType, "");
        Err(error.expected(format!("the element <{expected}>")))
    }

    /// Accepts a start tag that was compared with an encoded one: the first `len` bytes of `tag`,
    /// at the offset `at`.
    #[inline(always)]
    pub(super) fn accept_tag(&mut self, at: usize, tag: &[u8], len: usize) {
        let cursor = &mut self.cursor;
        cursor.name = Span {
            start: at + 1,
            len: len - 2,
        };
        cursor.at = at + len;
        // An encoded start tag with a namespace is longer than the name.
        if tag.get(len - 2) == Some(&b'"') {
            cursor.name.len = name_len(&tag[1..]);
        }
    }

    /// Begins a structure in an element that is the root, is empty or has attributes.
    #[inline(never)]
    fn slow_structure(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        let is_root = self.cursor.value_kind & UNCHECKED_ROOT != 0;
        if is_root {
            self.check_root_name(at)?;
        }
        self.enter_level()?;
        let mut seq = self.seq_of_element();
        if is_root && self.profile.unwrapped {
            seq.state = UNWRAPPED;
            return Ok(seq);
        }
        let shape = at.target();
        if self.cursor.value_kind == EMPTY {
            seq.state |= NO_CONTENT;
        }
        if !shape.is_empty()
            && shape.member(0).has(MemberFlags::XML_ATTRIBUTE)
            && self.cursor.has_attributes()
        {
            seq.state |= IN_TAG;
            self.cursor.next_attribute_at = seq.mark as usize + seq.left as usize;
        }
        self.cursor.value_kind = CONTENT;
        Ok(seq)
    }

    /// The start of a [`Seq`] in the element that was opened last.
    #[inline(always)]
    pub(super) fn seq_of_element(&self) -> Seq {
        Seq {
            mark: self.cursor.name.start as u64,
            left: self.cursor.name.len as u64,
            ..Seq::default()
        }
    }
}

/// The name of the element of `seq`.
#[inline(always)]
pub(super) fn element_name(seq: &Seq) -> Span {
    Span {
        start: seq.mark as usize,
        len: seq.left as usize,
    }
}

/// The name of the root element of a value of `at`: the `@xmlName` of a payload member, or the name
/// of its target.
pub(super) fn root_name(at: Member<'_>) -> &str {
    root_member(at).plain(NameSource::Xml)
}

/// The member whose name is that of the root element.
pub(super) fn root_member(at: Member<'_>) -> Member<'_> {
    match at.is_root() || at.has(MemberFlags::XML_NAMED) {
        true => at,
        false => at.target().root(),
    }
}

impl<'de> TokenReader<'de> for XmlDecoder<'de> {
    type Next = Option<(usize, &'de [u8; TAG])>;
    /// A start tag: its offset, the input there, and its length.
    type Match = (usize, &'de [u8; TAG], usize);

    #[inline(always)]
    fn budget(&mut self) -> &mut Budget {
        &mut self.budget
    }

    #[inline(always)]
    fn rules(&self) -> Rules {
        self.profile.rules
    }

    fn name_source(&self) -> NameSource {
        NameSource::Xml
    }

    #[inline(always)]
    fn part(&self) -> Part {
        self.profile.part
    }

    fn part_begun(&mut self) {
        self.profile.part = Part::Whole;
    }

    #[inline(always)]
    fn begin(&mut self, container: Container, at: Member<'_>) -> Result<Seq, Error> {
        if container != Container::Structure {
            return self.collection(at);
        }
        if self.cursor.value_kind == CONTENT && !self.cursor.has_attributes() {
            self.enter_level()?;
            return Ok(self.seq_of_element());
        }
        self.slow_structure(at)
    }

    #[inline(always)]
    fn next(&mut self, container: Container, at: Member<'_>, seq: &mut Seq) -> Result<bool, Error> {
        match container {
            Container::Structure => self.next_member(seq),
            Container::List => self.next_item(at, seq),
            Container::Map => self.next_entry(at, seq),
        }
    }

    /// The next tag, if the structure is at its child elements.
    #[inline(always)]
    fn peek(&self, seq: &Seq) -> Self::Next {
        match seq.state {
            0 => self.cursor.next_tag(),
            _ => None,
        }
    }

    #[inline(always)]
    fn match_member(&self, next: Self::Next, member: Member<'_>, _: &Seq) -> Option<Self::Match> {
        // Compares the complete start tag at once.
        let (at, tag) = next?;
        let len = member.encoded(NameEncoding::XmlOpen).starts(tag)?;
        Some((at, tag, len))
    }

    #[inline(always)]
    fn accept_member(&mut self, (at, tag, len): Self::Match, _: &mut Seq) {
        self.accept_tag(at, tag, len);
    }

    #[inline(always)]
    fn other_member(
        &mut self,
        next: Self::Next,
        shape: Schema<'_>,
        seq: &mut Seq,
    ) -> Result<u32, Error> {
        let Some((at, tag)) = next else {
            return slow_member(self, shape, seq);
        };
        if self.cursor.is_end(tag, element_name(seq)) {
            self.cursor.at = at + element_name(seq).len + "</>".len();
            self.budget.leave();
            return Ok(END);
        }
        self.cursor.at = at;
        self.named_member(shape.root(), seq, tag)
    }

    fn name(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<Name, Error> {
        Ok(self.member_name(shape, seq))
    }

    fn may_continue(&mut self, member: Member<'_>, continues: bool) -> bool {
        self.continues = continues;
        is_flattened(member)
    }

    fn key(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<(), Error> {
        self.scratch = self.key_and_value(at, seq)?;
        self.refuse_null(at)
    }

    #[inline(always)]
    fn scratch(&mut self) -> &mut Text {
        &mut self.scratch
    }

    fn skip_value(&mut self) -> Result<(), Error> {
        self.skip_element()
    }

    #[inline(always)]
    fn may_be_null(&self) -> bool {
        self.cursor.has_attributes() && !self.cursor.is_attribute()
    }

    #[inline]
    fn ended(&mut self, at: Member<'_>, seq: &Seq) {
        self.lengths.note(at, seq.count);
    }

    #[inline]
    fn size_hint(&mut self, at: Member<'_>, _: &Seq) -> usize {
        self.lengths.size_hint(at)
    }

    fn null(&mut self) -> Result<bool, Error> {
        if self.cursor.is_attribute() || !self.cursor.is_nil() {
            return Ok(false);
        }
        self.skip_element()?;
        Ok(true)
    }

    fn boolean(&mut self, at: Member<'_>) -> Result<bool, Error> {
        self.boolean_value(at)
    }

    #[inline]
    fn integer(&mut self, at: Member<'_>) -> Result<i64, Error> {
        self.integer_value(at)
    }

    fn float(&mut self, at: Member<'_>) -> Result<f32, Error> {
        self.float_value(at)
    }

    #[inline]
    fn double(&mut self, at: Member<'_>) -> Result<f64, Error> {
        self.double_value(at)
    }

    fn big_integer(&mut self, at: Member<'_>) -> Result<BigInteger, Error> {
        let (text, start) = self.digits(at)?;
        BigInteger::parse(text).map_err(|_| self.invalid_value(start, "an integer"))
    }

    fn big_decimal(&mut self, at: Member<'_>) -> Result<BigDecimal, Error> {
        let (text, start) = self.digits(at)?;
        BigDecimal::parse(text).map_err(|_| self.invalid_value(start, "a decimal number"))
    }

    #[inline]
    fn text(&mut self, at: Member<'_>) -> Result<Text, Error> {
        self.text_value(at)
    }

    #[inline]
    fn str(&mut self, at: Member<'_>) -> Result<Cow<'de, str>, Error> {
        self.string(at)
    }

    fn blob(&mut self, at: Member<'_>) -> Result<Blob, Error> {
        self.blob_value(at)
    }

    #[inline]
    fn timestamp(&mut self, at: Member<'_>) -> Result<Timestamp, Error> {
        self.timestamp_value(at)
    }

    fn any(&mut self) -> Result<Event, Error> {
        Err(self.error(
            ErrorKind::WrongType,
            "a shape: XML has no form for documents",
        ))
    }

    #[cold]
    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error {
        self.cursor.error(kind, expected)
    }
}
