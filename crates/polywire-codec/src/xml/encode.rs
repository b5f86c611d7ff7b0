//! The XML encoder.
//!
//! Each value writes its tags, which the schema has encoded in advance. The tags differ in three
//! cases: items of a flattened list have the tags of the list, an attribute is written into the
//! last start tag, and the root element has the name of its shape and can have the namespace of the
//! service. `item` and `position` identify these cases, so that other values cost two comparisons.

use polywire_schema::{
    BigDecimal, BigInteger, Encoder, Error, ErrorKind, Member, MemberFlags, NameEncoding,
    NameSource, Part, ShapeKind, Timestamp, TimestampFormat,
};
use polywire_text::{base64, escape, number};

use super::XmlProfile;
use super::encode_special::NIL;
use crate::checks::unbalanced;

/// An encoder of one XML document.
#[derive(Debug)]
pub struct XmlEncoder<'n> {
    pub(super) out: Vec<u8>,
    pub(super) profile: XmlProfile<'n>,
    /// The position of the next value.
    pub(super) position: Position,
    /// The index of the element member of the current flattened list. Its values have the tags of
    /// the list.
    pub(super) item: u32,
    /// How many structures, lists and maps are open.
    pub(super) depth: u32,
    /// The number of open elements of the caller.
    pub(super) wrapper_depth: u32,
    /// Whether the members so far were attributes, so that the next can be one.
    pub(super) expects_attributes: bool,
    /// Whether a tag to which attributes can be added was written: not before the root, and not
    /// after an element of the caller was closed. Does not change at child elements:
    /// `expects_attributes` does.
    pub(super) has_own_tag: bool,
    /// Whether the payload of the root structure is being written as the root element.
    pub(super) in_payload: bool,
    /// The flattened lists and the maps that are open, and the lists in them.
    pub(super) levels: Vec<Level>,
    /// The tags of the flattened lists, one after the other.
    pub(super) tags: Vec<u8>,
    pub(super) error: Option<Error>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Position {
    /// Inside another element.
    Inside,
    /// Before the root element: nothing has been written.
    BeforeRoot,
    /// In the root element, which is a scalar.
    ScalarRoot,
    /// In a root structure that has no element.
    Unwrapped,
    /// In a start tag.
    Attribute,
}

/// There is no open flattened list.
const NO_ITEM: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct Level {
    /// The value of `item` outside.
    pub(super) outside: u32,
    /// The start and the end of the start tag of the items, in `tags`.
    pub(super) tag: usize,
    pub(super) end_tag: usize,
    /// Whether an entry of a map is open.
    pub(super) in_entry: bool,
}

/// Whether the start tag of a member contains only its name.
fn is_bare(at: Member<'_>) -> bool {
    at.run(NameEncoding::XmlOpen).len() == bare_len(at)
}

/// The length of a start tag that contains only the name of a member.
fn bare_len(at: Member<'_>) -> usize {
    "<>".len() + at.plain(NameSource::Xml).len()
}

impl<'n> XmlEncoder<'n> {
    /// Creates an encoder that appends to `out`, so that a buffer can be reused.
    #[must_use]
    pub const fn new(profile: XmlProfile<'n>, out: Vec<u8>) -> Self {
        Self {
            out,
            profile,
            position: Position::BeforeRoot,
            item: NO_ITEM,
            depth: 0,
            wrapper_depth: 0,
            expects_attributes: false,
            has_own_tag: false,
            in_payload: false,
            levels: Vec::new(),
            tags: Vec::new(),
            error: None,
        }
    }

    /// Returns the XML document.
    ///
    /// # Errors
    ///
    /// The first error of any function.
    pub fn finish(mut self) -> Result<Vec<u8>, Error> {
        if self.depth != 0 || self.wrapper_depth != 0 {
            self.fail(unbalanced("XML"));
        }
        match self.error {
            None => Ok(self.out),
            Some(error) => Err(error),
        }
    }

    /// Opens an element that is not in the schema. If a root structure is written next, its members
    /// are written into this element. The first such element gets the namespace of the profile.
    ///
    /// ```
    /// use polywire_codec::xml::{XmlEncoder, XmlProfile};
    ///
    /// let profile = XmlProfile::DEFAULT.with_namespace(Some((None, "http://example.com/")));
    /// let mut encoder = XmlEncoder::new(profile, Vec::new());
    /// encoder.open("PutResponse");
    /// encoder.element("RequestId", "7");
    /// encoder.close("PutResponse");
    /// assert_eq!(
    ///     encoder.finish()?,
    ///     b"<PutResponse xmlns=\"http://example.com/\"><RequestId>7</RequestId></PutResponse>",
    /// );
    /// # Ok::<(), polywire_schema::Error>(())
    /// ```
    pub fn open(&mut self, name: &str) {
        self.out.push(b'<');
        self.out.extend_from_slice(name.as_bytes());
        if self.position == Position::BeforeRoot {
            self.position = Position::Inside;
            self.push_namespace();
        }
        self.out.push(b'>');
        self.wrapper_depth += 1;
        self.has_own_tag = true;
    }

    /// Closes the last element that was [opened](Self::open).
    pub fn close(&mut self, name: &str) {
        match self.wrapper_depth.checked_sub(1) {
            Some(depth) => self.wrapper_depth = depth,
            None => self.fail(unbalanced("XML")),
        }
        self.has_own_tag = false;
        self.out.extend_from_slice(b"</");
        self.out.extend_from_slice(name.as_bytes());
        self.out.push(b'>');
    }

    /// Writes an element with text that is not in the schema.
    pub fn element(&mut self, name: &str, text: &str) {
        self.open(name);
        if let Err(malformed) = escape::push_xml(&mut self.out, text) {
            self.fail_forbidden(text, malformed.offset, name.to_owned());
        }
        self.close(name);
    }

    #[cfg(feature = "reference")]
    pub(crate) const fn profile(&self) -> XmlProfile<'n> {
        self.profile
    }

    /// Whether an element of the caller is open.
    #[cfg(feature = "reference")]
    pub(crate) const fn is_open(&self) -> bool {
        self.wrapper_depth > 0
    }

    /// Appends a value that another encoder has written.
    #[cfg(feature = "reference")]
    pub(crate) fn push_value(&mut self, value: &[u8]) {
        self.out.extend_from_slice(value);
        self.position = Position::Inside;
        self.has_own_tag = false;
    }

    /// Stores the error for a value of the Smithy type `document`.
    #[cold]
    pub(super) fn reject_document_type(&mut self, at: Member<'_>) {
        let error = Error::new(ErrorKind::Unwritable).in_format("XML");
        let error = error.expected("a shape: XML has no form for documents");
        self.fail(error.at_path(format!("{at:?}")));
    }

    #[cold]
    pub(super) fn fail_forbidden(&mut self, text: &str, offset: usize, path: String) {
        let found = text.get(offset..).and_then(|rest| rest.chars().next());
        let error = Error::new(ErrorKind::Unwritable)
            .in_format("XML")
            .expected("text of characters that XML 1.0 allows (send other bytes as a blob)")
            .found(found.map_or_else(String::new, |character| {
                let code = u32::from(character);
                format!("U+{code:04X} at byte {offset} of the text")
            }))
            .at_path(path);
        self.fail(error);
    }

    #[inline(always)]
    pub(super) fn is_plain(&self, at: Member<'_>) -> bool {
        self.position == Position::Inside && self.item != at.index()
    }

    /// Writes the start tag of a value of `at`.
    #[inline(always)]
    pub(super) fn start(&mut self, at: Member<'_>) {
        if !self.is_plain(at) {
            return self.special_start(at);
        }
        self.push(at, NameEncoding::XmlOpen);
    }

    /// Writes the end tag of a value of `at`.
    #[inline(always)]
    pub(super) fn end(&mut self, at: Member<'_>) {
        if !self.is_plain(at) {
            return self.special_end(at);
        }
        self.push(at, NameEncoding::XmlClose);
    }

    #[inline(always)]
    pub(super) fn push(&mut self, at: Member<'_>, encoding: NameEncoding) {
        if !at.encoded(encoding).push_to(&mut self.out) {
            at.run(encoding).push_to(&mut self.out);
        }
    }

    /// Ends a structure, list or map. Returns whether it was the root.
    #[inline(always)]
    pub(super) fn leave(&mut self) -> bool {
        // `finish` detects an unbalanced end. A check here would cost time.
        self.depth = self.depth.wrapping_sub(1);
        self.depth == 0
    }

    /// Begins the level of a nested list, of a flattened list, or of a map.
    #[inline(never)]
    pub(super) fn push_level(&mut self, item: u32) {
        self.levels.push(Level {
            outside: self.item,
            tag: self.tags.len(),
            end_tag: self.tags.len(),
            in_entry: false,
        });
        self.item = item;
    }

    #[inline(never)]
    pub(super) fn pop_level(&mut self) {
        if let Some(level) = self.levels.pop() {
            self.tags.truncate(level.tag);
            self.item = level.outside;
        }
    }

    #[inline(never)]
    pub(super) fn begin_flattened(&mut self, at: Member<'_>) {
        let element = at.element();
        self.push_level(element.index());
        at.run(NameEncoding::XmlOpen).push_to(&mut self.tags);
        // The items have the name of the list, and the namespace of the list or their own.
        if is_bare(at) && !is_bare(element) {
            self.tags.pop();
            let tag = element.run(NameEncoding::XmlOpen).as_bytes();
            self.tags.extend_from_slice(&tag[bare_len(element) - 1..]);
        }
        if let Some(level) = self.levels.last_mut() {
            level.end_tag = self.tags.len();
        }
        at.run(NameEncoding::XmlClose).push_to(&mut self.tags);
    }

    pub(super) fn end_entry(&mut self, at: Member<'_>) {
        if !self.levels.last().is_some_and(|level| level.in_entry) {
            return;
        }
        match at.has(MemberFlags::XML_FLATTENED) {
            true => self.push(at, NameEncoding::XmlClose),
            false => self.out.extend_from_slice(b"</entry>"),
        }
    }

    #[inline(always)]
    pub(super) fn scalar(&mut self, at: Member<'_>, push: impl FnOnce(&mut Vec<u8>)) {
        self.start(at);
        push(&mut self.out);
        self.end(at);
    }
}

/// These functions are not inlined: they would be most of the code of each type, and a call costs
/// little compared to the work.
impl Encoder for XmlEncoder<'_> {
    fn begin_structure(&mut self, at: Member<'_>, _: usize) {
        self.depth += 1;
        if self.depth == 1 {
            self.begin_root(at, true);
        } else {
            self.start(at);
            self.has_own_tag = true;
        }
        let shape = at.target();
        self.expects_attributes =
            !shape.is_empty() && shape.member(0).has(MemberFlags::XML_ATTRIBUTE);
    }

    #[inline]
    fn member(&mut self, at: Member<'_>) -> bool {
        let at_root = self.profile.part != Part::Whole && self.depth == 1;
        if at_root || self.expects_attributes || at.kind() == ShapeKind::Document {
            return self.special_member(at);
        }
        true
    }

    fn end_structure(&mut self, at: Member<'_>) {
        if self.leave() {
            self.end_root(at, true);
        } else {
            self.end(at);
        }
    }

    fn begin_list(&mut self, at: Member<'_>, _: usize) {
        self.depth += 1;
        if at.element().kind() == ShapeKind::Document {
            self.reject_document_type(at);
        }
        if at.has(MemberFlags::XML_FLATTENED) {
            return self.begin_flattened(at);
        }
        match self.depth {
            1 => self.begin_root(at, false),
            _ => self.start(at),
        }
        if !self.levels.is_empty() {
            self.push_level(NO_ITEM);
        }
    }

    fn end_list(&mut self, at: Member<'_>) {
        let is_root = self.leave();
        if !self.levels.is_empty() {
            self.pop_level();
        }
        if at.has(MemberFlags::XML_FLATTENED) {
            return;
        }
        match is_root {
            true => self.end_root(at, false),
            false => self.end(at),
        }
    }

    fn begin_map(&mut self, at: Member<'_>, _: usize) {
        self.depth += 1;
        if at.element().kind() == ShapeKind::Document {
            self.reject_document_type(at);
        }
        if !at.has(MemberFlags::XML_FLATTENED) {
            match self.depth {
                1 => self.begin_root(at, false),
                _ => self.start(at),
            }
        }
        self.push_level(NO_ITEM);
    }

    fn key(&mut self, at: Member<'_>, key: &str) {
        self.end_entry(at);
        if let Some(level) = self.levels.last_mut() {
            level.in_entry = true;
        }
        match at.has(MemberFlags::XML_FLATTENED) {
            true => self.push(at, NameEncoding::XmlOpen),
            false => self.out.extend_from_slice(b"<entry>"),
        }
        if at.target().is_empty() {
            return;
        }
        let name = at.target().member(0);
        self.push(name, NameEncoding::XmlOpen);
        if let Err(malformed) = escape::push_xml(&mut self.out, key) {
            self.fail_forbidden(key, malformed.offset, format!("a key of {at:?}"));
        }
        self.push(name, NameEncoding::XmlClose);
    }

    fn end_map(&mut self, at: Member<'_>) {
        let is_root = self.leave();
        self.end_entry(at);
        self.pop_level();
        if at.has(MemberFlags::XML_FLATTENED) {
            return;
        }
        match is_root {
            true => self.end_root(at, false),
            false => self.end(at),
        }
    }

    fn boolean(&mut self, at: Member<'_>, value: bool) {
        self.scalar(at, |out| {
            out.extend_from_slice(if value { b"true" } else { b"false" });
        });
    }

    fn integer(&mut self, at: Member<'_>, value: i64) {
        self.scalar(at, |out| number::push_i64(out, value));
    }

    fn float(&mut self, at: Member<'_>, value: f32) {
        self.scalar(at, |out| number::push_f32(out, value));
    }

    fn double(&mut self, at: Member<'_>, value: f64) {
        self.scalar(at, |out| number::push_f64(out, value));
    }

    fn big_integer(&mut self, at: Member<'_>, value: &BigInteger) {
        self.scalar(at, |out| out.extend_from_slice(value.as_str().as_bytes()));
    }

    fn big_decimal(&mut self, at: Member<'_>, value: &BigDecimal) {
        self.scalar(at, |out| out.extend_from_slice(value.as_str().as_bytes()));
    }

    fn string(&mut self, at: Member<'_>, value: &str) {
        self.start(at);
        let written = match self.position {
            Position::Attribute => escape::push_xml_attribute(&mut self.out, value),
            _ => escape::push_xml(&mut self.out, value),
        };
        if let Err(malformed) = written {
            self.fail_forbidden(value, malformed.offset, format!("{at:?}"));
        }
        self.end(at);
    }

    fn blob(&mut self, at: Member<'_>, value: &[u8]) {
        self.scalar(at, |out| base64::push(out, value));
    }

    fn timestamp(&mut self, at: Member<'_>, value: Timestamp) {
        self.start(at);
        let format = at.timestamp_format();
        let written = match format.unwrap_or(self.profile.timestamp_format) {
            TimestampFormat::EpochSeconds => {
                value.push_epoch_seconds(&mut self.out);
                Ok(())
            }
            TimestampFormat::DateTime => value.push_date_time(&mut self.out),
            TimestampFormat::HttpDate => value.push_http_date(&mut self.out),
        };
        if let Err(malformed) = written {
            let error = Error::new(ErrorKind::Unwritable).in_format("XML");
            let error = error.expected(malformed.expected);
            self.fail(error.at_path(format!("{at:?}")));
        }
        self.end(at);
    }

    #[cold]
    fn null(&mut self, at: Member<'_>) {
        self.start(at);
        self.out.pop();
        self.out.extend_from_slice(NIL);
        self.end(at);
    }

    fn fills_default(&self, at: Member<'_>) -> bool {
        self.profile.rules.defaults.fills_default(at)
    }

    #[cold]
    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}
