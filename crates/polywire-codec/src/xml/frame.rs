//! What stands around the structures of a message: elements that the protocol
//! knows and the schema does not.

use std::borrow::Cow;

use polywire_schema::{Decoder, Error, ErrorKind, NameSource, Schema};

use polywire_text::scan;

use super::XmlDecoder;
use super::cursor::{CONTENT, EMPTY, TOP};
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

    /// Whether there was room.
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
    /// The name of the element that is read next, without its prefix: of the
    /// root, until something was [entered](Self::enter).
    #[must_use]
    pub fn element(&self) -> &'de str {
        local(self.cursor.slice(self.cursor.name))
    }

    /// Goes into the first child of this name, whatever its prefix. What
    /// stands before it is skipped. `false` if there is none: then the rest of
    /// the element has been skipped, and what is read next is an empty
    /// structure.
    ///
    /// [`finish`](Self::finish) reads what stands around it to the end.
    ///
    /// ```
    /// use polywire_codec::xml::{XmlDecoder, XmlProfile};
    /// use polywire_schema::Limits;
    ///
    /// let text = "<ErrorResponse><Error><Code>Throttled</Code></Error>\
    ///     <RequestId>7</RequestId></ErrorResponse>";
    /// let mut decoder = XmlDecoder::from_str(text, XmlProfile::DEFAULT, &Limits::DEFAULT)?;
    /// assert_eq!(decoder.element(), "ErrorResponse");
    /// assert_eq!(decoder.peek(&["RequestId"])?.as_deref(), Some("7"));
    /// assert!(decoder.enter("Error")?);
    /// assert_eq!(decoder.peek(&["Code"])?.as_deref(), Some("Throttled"));
    /// decoder.skip()?;
    /// decoder.finish()?;
    /// # Ok::<(), polywire_schema::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// What is skipped is not well formed; or four elements have been entered.
    pub fn enter(&mut self, name: &str) -> Result<bool, Error> {
        self.enter_joined(name, "")
    }

    /// As [`enter`](Self::enter), of a name in two parts, so that nobody has to
    /// join them.
    ///
    /// # Errors
    ///
    /// As [`enter`](Self::enter).
    pub fn enter_joined(&mut self, name: &str, suffix: &str) -> Result<bool, Error> {
        self.cursor.special &= !TOP;
        if self.cursor.special == EMPTY {
            return Ok(false);
        }
        let parent = self.cursor.name;
        self.deeper()?;
        if !self.entered.push(parent) {
            return Err(self.error(ErrorKind::Internal, "at most four elements to enter"));
        }
        let found = self.find_child(name, suffix)?;
        if !found {
            self.cursor.special = EMPTY;
        }
        Ok(found)
    }

    /// Reads up to and with the start tag of a child, or up to the end tag of
    /// the parent.
    fn find_child(&mut self, name: &str, suffix: &str) -> Result<bool, Error> {
        loop {
            if let Some((at, tag)) = self.cursor.line()
                && let Some(own) = scan::tag_contents(tag)
                && own.strip_suffix(suffix.as_bytes()) == Some(name.as_bytes())
            {
                self.opened(at, tag, own.len() + "<>".len());
                self.cursor.special = CONTENT;
                return Ok(true);
            }
            self.cursor.skip_between()?;
            match self.cursor.rest() {
                [b'<', b'/', ..] => return Ok(false),
                [b'<', next, ..] if *next != b'!' => self.cursor.start_tag()?,
                _ => return Err(self.error(ErrorKind::Syntax, "an element, not text")),
            }
            let own = self.cursor.slice(self.cursor.name);
            let own = own.strip_suffix(suffix);
            if own.is_some_and(|own| is_local(own, name)) {
                return Ok(true);
            }
            self.skip_element()?;
        }
    }

    /// Reads the member `message` of the structure that is read next from an
    /// element that is so called in other letters, unless one of its own name is
    /// there: services of AWS send `<Message>` where their models say `message`.
    ///
    /// # Errors
    ///
    /// What stands before that element is not well formed, or it holds elements.
    pub fn take_any_case_message(&mut self, shape: Schema<'_>) -> Result<(), Error> {
        let mut names = shape.members().map(|member| member.plain(NameSource::Xml));
        if let Some(own) = names.find(|name| name.eq_ignore_ascii_case("message")) {
            self.profile.any_case_message = self.peek(&[own])?.is_none();
        }
        Ok(())
    }

    /// The text of an element within the one that is read next, by the names
    /// on the way to it; `None` if there is none. What is read next stays what
    /// it was.
    ///
    /// # Errors
    ///
    /// What stands before it is not well formed, or it holds elements.
    pub fn peek(&mut self, path: &[&str]) -> Result<Option<Cow<'de, str>>, Error> {
        let (at, name, special) = (self.cursor.at, self.cursor.name, self.cursor.special);
        let result = self.peeked(path);
        self.cursor.at = at;
        self.cursor.name = name;
        self.cursor.special = special;
        result
    }

    fn peeked(&mut self, path: &[&str]) -> Result<Option<Cow<'de, str>>, Error> {
        for name in path {
            if self.cursor.special & EMPTY != 0 || !self.find_child(name, "")? {
                return Ok(None);
            }
        }
        match self.cursor.special & EMPTY != 0 {
            true => Ok(Some(Cow::Borrowed(""))),
            false => self.cursor.characters().map(Some),
        }
    }

    /// Reads the element that would be read next without keeping anything.
    ///
    /// # Errors
    ///
    /// It is not well formed.
    pub fn skip(&mut self) -> Result<(), Error> {
        self.skip_element()
    }

    /// Reads to the end: what was entered is left, and nothing may follow the
    /// root element.
    ///
    /// # Errors
    ///
    /// What stands there is not well formed, or something follows.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.cursor.special = CONTENT;
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
