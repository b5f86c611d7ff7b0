//! Wrapper elements of a protocol, which are not in the schema.

use std::borrow::Cow;

use polywire_schema::{Decoder, Error, ErrorKind, NameSource, Schema};

use polywire_text::scan;

use super::XmlDecoder;
use super::cursor::{CONTENT, EMPTY, UNCHECKED_ROOT};
use crate::xml_tokens::{Span, is_local, local};

/// The elements that were entered, from the outermost inwards. Protocols enter
/// one or two.
#[derive(Debug, Default)]
pub(super) struct Entered {
    names: [Span; 4],
    len: usize,
}

impl Entered {
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns `false` if the array is full.
    fn push(&mut self, name: Span) -> bool {
        let place = self.names.get_mut(self.len);
        self.len += usize::from(place.is_some());
        place.map(|place| *place = name).is_some()
    }

    fn pop(&mut self) -> Option<Span> {
        self.len = self.len.checked_sub(1)?;
        self.names.get(self.len).copied()
    }
}

impl<'de> XmlDecoder<'de> {
    /// The local name of the element that is read next: the root, or the last element that was
    /// [entered](Self::enter).
    #[must_use]
    pub fn element(&self) -> &'de str {
        local(self.cursor.slice(self.cursor.name))
    }

    /// Enters the first child with this local name. Skips the elements before it. Returns `false`
    /// if there is none: then the rest of the element was skipped, and the next value is an empty
    /// structure.
    ///
    /// [`finish`](Self::finish) reads the rest of all entered elements.
    ///
    /// ```
    /// use polywire_codec::xml::{XmlDecoder, XmlProfile};
    /// use polywire_schema::Limits;
    ///
    /// let text = "<ErrorResponse><Error><Code>Throttled</Code></Error>\
    ///     <RequestId>7</RequestId></ErrorResponse>";
    /// let mut decoder = XmlDecoder::from_str(text, XmlProfile::DEFAULT, &Limits::DEFAULT)?;
    /// assert_eq!(decoder.element(), "ErrorResponse");
    /// assert_eq!(decoder.peek_text(&["RequestId"])?.as_deref(), Some("7"));
    /// assert!(decoder.enter("Error")?);
    /// assert_eq!(decoder.peek_text(&["Code"])?.as_deref(), Some("Throttled"));
    /// decoder.skip()?;
    /// decoder.finish()?;
    /// # Ok::<(), polywire_schema::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A skipped element is not well-formed, or four elements have been entered already.
    pub fn enter(&mut self, name: &str) -> Result<bool, Error> {
        self.cursor.value_kind &= !UNCHECKED_ROOT;
        if self.cursor.value_kind == EMPTY {
            return Ok(false);
        }
        let parent = self.cursor.name;
        self.enter_level()?;
        if !self.entered.push(parent) {
            return Err(self.error(ErrorKind::Internal, "at most four elements to enter"));
        }
        let found = self.find_child(name)?;
        if !found {
            self.cursor.value_kind = EMPTY;
        }
        Ok(found)
    }

    /// Reads up to and including the start tag of the child, or up to the end tag of the parent.
    fn find_child(&mut self, name: &str) -> Result<bool, Error> {
        loop {
            if let Some((at, tag)) = self.cursor.next_tag()
                && let Some(own) = scan::tag_contents(tag)
                && own == name.as_bytes()
            {
                self.accept_tag(at, tag, own.len() + "<>".len());
                self.cursor.value_kind = CONTENT;
                return Ok(true);
            }
            self.cursor.skip_between()?;
            match self.cursor.rest() {
                [b'<', b'/', ..] => return Ok(false),
                [b'<', next, ..] if *next != b'!' => self.cursor.start_tag()?,
                _ => return Err(self.error(ErrorKind::Syntax, "an element, not text")),
            }
            if is_local(self.cursor.slice(self.cursor.name), name) {
                return Ok(true);
            }
            self.skip_element()?;
        }
    }

    /// Lets the next structure read its member `message` from an element whose name differs only in
    /// case, unless there is an element with the exact name. AWS services send `<Message>`,
    /// although their models say `message`.
    ///
    /// # Errors
    ///
    /// The input up to that element is not well-formed, or it contains elements.
    pub fn allow_any_case_message(&mut self, shape: Schema<'_>) -> Result<(), Error> {
        let mut names = shape.members().map(|member| member.plain(NameSource::Xml));
        if let Some(own) = names.find(|name| name.eq_ignore_ascii_case("message")) {
            self.profile.any_case_message = self.peek_text(&[own])?.is_none();
        }
        Ok(())
    }

    /// Returns the text of a descendant of the element that is read next, by the names on the path
    /// to it, or `None` if it is absent. Does not move the decoder.
    ///
    /// # Errors
    ///
    /// The input up to that element is not well-formed, or it contains elements.
    pub fn peek_text(&mut self, path: &[&str]) -> Result<Option<Cow<'de, str>>, Error> {
        let (at, name, value_kind) = (self.cursor.at, self.cursor.name, self.cursor.value_kind);
        let result = self.peeked(path);
        self.cursor.at = at;
        self.cursor.name = name;
        self.cursor.value_kind = value_kind;
        result
    }

    fn peeked(&mut self, path: &[&str]) -> Result<Option<Cow<'de, str>>, Error> {
        for name in path {
            if self.cursor.value_kind & EMPTY != 0 || !self.find_child(name)? {
                return Ok(None);
            }
        }
        match self.cursor.value_kind & EMPTY != 0 {
            true => Ok(Some(Cow::Borrowed(""))),
            false => self.cursor.characters().map(Some),
        }
    }

    /// Skips the element that would be read next.
    ///
    /// # Errors
    ///
    /// It is not well formed.
    pub fn skip(&mut self) -> Result<(), Error> {
        self.skip_element()
    }

    /// Reads the rest of all entered elements and of the document. Nothing may follow the root
    /// element.
    ///
    /// # Errors
    ///
    /// The rest is not well-formed, or there is content after the root element.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.cursor.value_kind = CONTENT;
        while let Some(name) = self.entered.pop() {
            self.skip_content(name)?;
            self.budget.leave();
        }
        self.cursor.skip_between()?;
        if self.cursor.at < self.cursor.text.len() {
            return Err(self.error(ErrorKind::Syntax, "the end of the document"));
        }
        Ok(())
    }
}
