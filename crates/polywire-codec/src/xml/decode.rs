//! The XML reader.
//!
//! The input is validated as UTF-8 once, whole; from then on it is a `str` and
//! strings are cut out of it without another look. A structure's members are
//! guessed: behind one member the next in the model's order is expected, and
//! its start tag is compared as one run. A miss reads the tag and looks its
//! name up. An end tag is compared with its own start tag, as one run too, so
//! that it does not matter under which name an element was found.
//!
//! There is no stack: a [`Seq`] remembers where the name of its element
//! stands in the input, and what it is in by the bits of its state.

use std::borrow::Cow;

use polywire_schema::{
    BigDecimal, BigInteger, Blob, Body, Decoder, END, Encoding, Error, ErrorKind, Event, LimitKind,
    Limits, Location, Member, MemberFlags, NameSource, Schema, Seq, ShapeFlags, ShapeKind, Text,
    Timestamp,
};

use polywire_text::scan::{self, TAG};
use polywire_text::timestamp::LastDate;
use polywire_text::utf8;

use super::XmlProfile;
use super::cursor::{
    ATTRIBUTE, CONTENT, Cursor, EMPTY, Place, TOP, local, name_len, plain_name_len,
};
use super::frame::Entered;
use crate::budget::Budget;
use crate::lengths::Lengths;
use crate::refuse;

/// A reader of one XML document.
#[derive(Debug)]
pub struct XmlDecoder<'de> {
    pub(super) cursor: Cursor<'de>,
    pub(super) body: Option<&'de Body>,
    pub(super) budget: Budget,
    pub(super) profile: XmlProfile<'static>,
    /// Whether the flattened list or map that comes next was begun before.
    pub(super) continues: bool,
    /// The elements that the caller has entered.
    pub(super) entered: Entered,
    pub(super) lengths: Lengths,
    /// Timestamps of one message often are of one day.
    pub(super) last_date: LastDate,
}

/// States of the [`Seq`] of a structure: bits. None is left once the structure
/// is among its elements.
const IN_TAG: u32 = 1;
const NO_CONTENT: u32 = 2;
/// At the top, where members may stand elsewhere in the message.
const IN_PART: u32 = 4;
/// The structure at the top has no element.
const UNWRAPPED: u32 = 8;
/// The structure at the top is not there itself, but its payload is.
const AROUND_PAYLOAD: u32 = 16;

impl<'de> XmlDecoder<'de> {
    /// A reader of a body, whose long strings will share it.
    ///
    /// # Errors
    ///
    /// The body is not UTF-8, longer than the limit, or does not begin with an
    /// element.
    pub fn from_body(
        body: &'de Body,
        profile: XmlProfile<'_>,
        limits: &Limits,
    ) -> Result<Self, Error> {
        refuse::too_long(body.as_bytes().len(), limits, "XML")?;
        let (text, rare) = match utf8::ascii_without(body.as_bytes(), b']') {
            Some(text) => (text, false),
            None => (refuse::text(body, limits, "XML")?, true),
        };
        Ok(Self::new(
            Cursor::new(text, rare)?,
            Some(body),
            profile,
            limits,
        ))
    }

    /// A reader of a text, whose long strings will be copied.
    ///
    /// # Errors
    ///
    /// The text is longer than the limit, or does not begin with an element.
    pub fn from_str(
        text: &'de str,
        profile: XmlProfile<'_>,
        limits: &Limits,
    ) -> Result<Self, Error> {
        refuse::too_long(text.len(), limits, "XML")?;
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
            last_date: LastDate::default(),
        }
    }

    /// The offset of the next byte to be read.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.cursor.at
    }

    /// What another reader needs to read what comes next: where the start tag
    /// of its element is, if there is one.
    #[cfg(feature = "reference")]
    pub(crate) fn rest_of_message(&self) -> (&'de str, Option<usize>, Limits, XmlProfile<'static>) {
        let none = self.cursor.special == EMPTY && !self.entered.is_empty();
        let start = (!none).then_some(self.cursor.name.start - 1);
        (self.cursor.text, start, self.budget.left(), self.profile)
    }

    /// Whether what comes next is the root element.
    #[cfg(feature = "reference")]
    pub(crate) fn is_at_root(&self) -> bool {
        self.cursor.special & TOP != 0
    }

    /// Goes on behind what another reader has read.
    #[cfg(feature = "reference")]
    pub(crate) fn go_to(&mut self, offset: usize) {
        self.cursor.special = CONTENT;
        self.cursor.at = self.cursor.at.max(offset);
    }

    #[inline]
    pub(super) fn count_item(&mut self) -> Result<(), Error> {
        self.budget.count(1).map_err(|limit| self.limit(limit))
    }

    #[cold]
    pub(super) fn limit(&self, limit: LimitKind) -> Error {
        self.error(ErrorKind::Limit(limit), "")
    }

    /// A well-formed value that its type refuses; the reader goes back to it.
    #[cold]
    pub(super) fn invalid(&mut self, start: usize, expected: &'static str) -> Error {
        self.cursor.at = start;
        self.error(ErrorKind::InvalidValue, expected)
    }

    #[inline(always)]
    pub(super) fn deeper(&mut self) -> Result<(), Error> {
        self.budget.enter().map_err(|limit| self.limit(limit))
    }

    /// Looks at the element at the top before its value is read.
    #[cold]
    pub(super) fn top(&mut self, at: Member<'_>) -> Result<(), Error> {
        self.cursor.special &= !TOP;
        let expected = root_name(at);
        let name = self.cursor.name_at(self.cursor.name);
        if !self.profile.required
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

    /// A start tag that is compared as a run has been found, `len` bytes of `tag`
    /// at `at`.
    #[inline(always)]
    pub(super) fn opened(&mut self, at: usize, tag: &[u8], len: usize) {
        let cursor = &mut self.cursor;
        cursor.name = Place {
            start: at + 1,
            len: len - 2,
        };
        cursor.at = at + len;
        // With a namespace the run is more than a name.
        if tag.get(len - 2) == Some(&b'"') {
            cursor.name.len = name_len(&tag[1..]);
        }
    }

    /// As [`Decoder::structure`], where it is not plain content.
    #[inline(never)]
    fn any_structure(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        let top = self.cursor.special & TOP != 0;
        if top && self.profile.payload {
            return Ok(Seq {
                state: AROUND_PAYLOAD,
                ..Seq::default()
            });
        }
        if top {
            self.top(at)?;
        }
        self.deeper()?;
        let mut seq = self.opened_seq();
        if top && self.profile.unwrapped {
            seq.state = UNWRAPPED;
            return Ok(seq);
        }
        let shape = at.target();
        if top && self.profile.document_only.is_some() {
            seq.state |= IN_PART;
        }
        if self.cursor.special == EMPTY {
            seq.state |= NO_CONTENT;
        }
        if !shape.is_empty()
            && shape.member(0).has(MemberFlags::XML_ATTRIBUTE)
            && self.cursor.has_attributes()
        {
            seq.state |= IN_TAG;
            self.cursor.attributes = seq.mark as usize + seq.left as usize;
        }
        self.cursor.special = CONTENT;
        Ok(seq)
    }

    /// Where the element that was opened last stands.
    #[inline(always)]
    pub(super) fn opened_seq(&self) -> Seq {
        Seq {
            mark: self.cursor.name.start as u64,
            left: self.cursor.name.len as u64,
            ..Seq::default()
        }
    }

    /// As [`Decoder::member`], whatever stands there.
    #[inline(never)]
    fn any_member(&mut self, root: Member<'_>, seq: &mut Seq) -> Result<u32, Error> {
        let shape = root.target();
        if seq.state == AROUND_PAYLOAD {
            return Ok(self.payload_member(shape));
        }
        loop {
            let found = if seq.state & UNWRAPPED != 0 {
                if seq.count > 0 {
                    self.budget.leave();
                    return Ok(END);
                }
                seq.count = 1;
                let special = self.cursor.special;
                let found = self.find(shape, self.cursor.name, false);
                self.cursor.special = special;
                found
            } else if seq.state & IN_TAG != 0 {
                match self.cursor.next_attribute(self.cursor.attributes) {
                    Some((name, value, next)) => {
                        self.cursor.attributes = next;
                        let Some(ordinal) = self.find(shape, name, true) else {
                            continue;
                        };
                        self.cursor.attribute = value;
                        self.cursor.special = ATTRIBUTE;
                        Some(ordinal)
                    }
                    None => {
                        seq.state &= !IN_TAG;
                        continue;
                    }
                }
            } else if seq.state & NO_CONTENT != 0 {
                self.budget.leave();
                return Ok(END);
            } else {
                if !self.next_child(seq)? {
                    return Ok(END);
                }
                self.cursor.start_tag()?;
                self.find(shape, self.cursor.name, false)
            };
            let Some(ordinal) = found.or_else(|| self.find_message(shape, seq)) else {
                seq.unknown = true;
                self.count_item()?;
                self.skip_element()?;
                continue;
            };
            let member = shape.member(ordinal);
            seq.guess = ordinal + 1;
            if seq.state & IN_PART != 0 && self.is_elsewhere(member) {
                seq.unknown = true;
                self.skip_element()?;
                continue;
            }
            let before = self.budget.seen(seq, ordinal);
            let flattened = member.has(MemberFlags::XML_FLATTENED)
                && matches!(member.kind(), ShapeKind::List | ShapeKind::Map);
            if before && !flattened {
                return Err(self.error(ErrorKind::Duplicate, "each member once"));
            }
            if self.cursor.special != ATTRIBUTE
                && !flattened
                && self.cursor.has_attributes()
                && self.cursor.is_nil()
            {
                self.skip_element()?;
                continue;
            }
            self.continues = before;
            return Ok(ordinal);
        }
    }

    /// The member that is the payload, once; behind it nothing else comes.
    fn payload_member(&mut self, shape: Schema<'_>) -> u32 {
        let Some(direction) = self.profile.document_only.take() else {
            return END;
        };
        self.profile.payload = false;
        let is = |member: &Member<'_>| member.location().going(direction) == Location::Payload;
        shape.members().find(is).map_or(END, Member::ordinal)
    }

    /// Goes to the next start tag in the element of `seq`; at its end reads
    /// that and says `false`.
    #[inline]
    pub(super) fn next_child(&mut self, seq: &Seq) -> Result<bool, Error> {
        self.cursor.skip_between()?;
        match self.cursor.rest() {
            [b'<', b'/', ..] => {
                self.cursor.end_tag(own_name(seq))?;
                self.budget.leave();
                Ok(false)
            }
            [b'<', next, ..] if *next != b'!' => Ok(true),
            [] | [b'<'] => {
                let error = self.error(ErrorKind::Truncated, "");
                let name = self.cursor.name_at(own_name(seq));
                Err(error.expected(format!("</{name}>")))
            }
            _ if self.profile.required => {
                Err(self.error(ErrorKind::Syntax, "an element or the end of one, not text"))
            }
            // Text beside elements means nothing.
            _ => {
                self.cursor.skip_characters()?;
                self.next_child(seq)
            }
        }
    }

    /// As [`Decoder::member`], among elements and where the guess was wrong: a
    /// member that is found by its name, as it stands in the plain start tag `tag`
    /// at the cursor. Elements before it that no member has are skipped.
    ///
    /// `root` is that of the shape: a member is handed over in registers.
    #[inline(never)]
    fn named_member(
        &mut self,
        root: Member<'_>,
        seq: &mut Seq,
        mut tag: &'de [u8; TAG],
    ) -> Result<u32, Error> {
        let shape = root.target();
        if shape.has(ShapeFlags::XML_APART) || self.profile.any_case_message {
            return self.any_member(root, seq);
        }
        while let Some(name) = scan::in_tag(tag) {
            let found = shape.find(NameSource::Xml, name);
            match found {
                Some(ordinal) if !seq.mark_new(ordinal) => break,
                None if name.is_empty() || plain_name_len(name) != name.len() => break,
                _ => {}
            }
            self.cursor.name = Place {
                start: self.cursor.at + 1,
                len: name.len(),
            };
            self.cursor.at += name.len() + "<>".len();
            if let Some(ordinal) = found {
                seq.guess = ordinal + 1;
                return Ok(ordinal);
            }
            seq.unknown = true;
            self.count_item()?;
            self.skip_element()?;
            match self.cursor.line() {
                Some((at, next)) => (self.cursor.at, tag) = (at, next),
                None => break,
            }
            if self.cursor.is_end(tag, own_name(seq)) {
                self.cursor.at += own_name(seq).len + "</>".len();
                self.budget.leave();
                return Ok(END);
            }
        }
        self.any_member(root, seq)
    }

    /// The member of a name: as it stands, else without its prefix and without
    /// those of the schema.
    #[inline(never)]
    fn find(&mut self, shape: Schema<'_>, name: Place, attribute: bool) -> Option<u32> {
        let name = self.cursor.name_at(name);
        if attribute && (name == "xmlns" || name.starts_with("xmlns:")) {
            return None;
        }
        let fits =
            |ordinal: &u32| shape.member(*ordinal).has(MemberFlags::XML_ATTRIBUTE) == attribute;
        let find = |name: &str| shape.find(NameSource::Xml, name.as_bytes()).filter(fits);
        if let Some(ordinal) = find(name) {
            return Some(ordinal);
        }
        let local_name = local(name);
        if local_name.len() < name.len()
            && let Some(ordinal) = find(local_name)
        {
            return Some(ordinal);
        }
        // An attribute and an element may share a name; and prefixes of the
        // schema's names are no one else's.
        if !shape.has(ShapeFlags::XML_APART) {
            return None;
        }
        let is = |member: &Member<'_>| {
            local(member.plain(NameSource::Xml)) == local_name && fits(&member.ordinal())
        };
        shape.members().find(is).map(Member::ordinal)
    }

    /// The member `message` for an element that is so called in other letters, by
    /// a profile that reads it so.
    fn find_message(&self, shape: Schema<'_>, seq: &Seq) -> Option<u32> {
        if !self.profile.any_case_message || seq.state & IN_TAG != 0 {
            return None;
        }
        let name = local(self.cursor.name_at(self.cursor.name));
        let is = |member: &Member<'_>| {
            let own = member.plain(NameSource::Xml);
            name.eq_ignore_ascii_case("message") && own.eq_ignore_ascii_case(name)
        };
        shape.members().find(is).map(Member::ordinal)
    }

    /// Whether a member at the top belongs to another part of the message. It
    /// must not come in through the document.
    fn is_elsewhere(&self, member: Member<'_>) -> bool {
        let elsewhere = |direction| member.location().going(direction) != Location::Body;
        self.profile.document_only.is_some_and(elsewhere)
    }

    /// Skips what is left of an element whose start tag was read, or an
    /// attribute. It must be well formed all the same.
    #[inline(never)]
    pub(super) fn skip_element(&mut self) -> Result<(), Error> {
        let special = std::mem::replace(&mut self.cursor.special, CONTENT);
        if special & !TOP != CONTENT {
            return Ok(());
        }
        let name = self.cursor.name;
        self.deeper()?;
        match self.cursor.plain_text() {
            Some((_, end)) => self.cursor.at = end,
            None => self.skip_content(name)?,
        }
        self.budget.leave();
        Ok(())
    }

    /// Skips up to and with the end tag of an element.
    pub(super) fn skip_content(&mut self, name: Place) -> Result<(), Error> {
        loop {
            if !self.cursor.skip_line() {
                self.cursor.skip_characters()?;
            }
            match self.cursor.rest() {
                [b'<', b'/', ..] | [] | [b'<'] => return self.cursor.end_tag(name),
                _ => {
                    self.cursor.start_tag()?;
                    self.skip_element()?;
                }
            }
        }
    }
}

/// The name of the element of `seq`.
#[inline(always)]
pub(super) fn own_name(seq: &Seq) -> Place {
    Place {
        start: seq.mark as usize,
        len: seq.left as usize,
    }
}

/// The name of the element at the top that holds a value of `at`: of a payload
/// member its own `@xmlName`, else what its target is called.
pub(super) fn root_name(at: Member<'_>) -> &str {
    root_member(at).plain(NameSource::Xml)
}

/// The member that names the element at the top.
pub(super) fn root_member(at: Member<'_>) -> Member<'_> {
    match at.is_root() || at.has(MemberFlags::XML_NAMED) {
        true => at,
        false => at.target().root(),
    }
}

impl<'de> Decoder<'de> for XmlDecoder<'de> {
    #[inline(always)]
    fn structure(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        if self.cursor.special == CONTENT && !self.cursor.has_attributes() {
            self.deeper()?;
            return Ok(self.opened_seq());
        }
        self.any_structure(at)
    }

    #[inline(always)]
    fn member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error> {
        if seq.state != 0 {
            return self.any_member(shape.root(), seq);
        }
        let cursor = &mut self.cursor;
        let Some((at, tag)) = cursor.line() else {
            return self.any_member(shape.root(), seq);
        };
        // The start tag that is expected next: one comparison and no look at
        // anything else.
        let ordinal = seq.guess;
        if ordinal < shape.len()
            && let Some(len) = shape.member(ordinal).encoded(Encoding::XmlOpen).starts(tag)
            && seq.mark_new(ordinal)
        {
            self.opened(at, tag, len);
            seq.guess = ordinal + 1;
            return Ok(ordinal);
        }
        if cursor.is_end(tag, own_name(seq)) {
            cursor.at = at + own_name(seq).len + "</>".len();
            self.budget.leave();
            return Ok(END);
        }
        cursor.at = at;
        self.named_member(shape.root(), seq, tag)
    }

    #[inline]
    fn list(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        self.collection(at)
    }

    #[inline(always)]
    fn item(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<bool, Error> {
        self.next_item(at, seq)
    }

    #[inline]
    fn expected(&self, at: Member<'_>, _: &Seq) -> usize {
        self.lengths.expected(at)
    }

    #[inline]
    fn map(&mut self, at: Member<'_>) -> Result<Seq, Error> {
        self.collection(at)
    }

    fn key(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<Option<Text>, Error> {
        self.next_entry(at, seq)
    }

    fn null(&mut self, _: Member<'_>) -> Result<bool, Error> {
        if self.cursor.special & !(TOP | EMPTY) != CONTENT || !self.cursor.is_nil() {
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
        BigInteger::parse(text).map_err(|_| self.invalid(start, "an integer"))
    }

    fn big_decimal(&mut self, at: Member<'_>) -> Result<BigDecimal, Error> {
        let (text, start) = self.digits(at)?;
        BigDecimal::parse(text).map_err(|_| self.invalid(start, "a decimal number"))
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

    fn fills(&self, at: Member<'_>) -> bool {
        self.profile.defaults.fills(at)
    }

    fn missing(&mut self, at: Member<'_>) -> Result<(), Error> {
        if !self.profile.required {
            return Ok(());
        }
        let error = self.error(ErrorKind::Missing, "");
        Err(refuse::missing(error, at, at.plain(NameSource::Xml)))
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
