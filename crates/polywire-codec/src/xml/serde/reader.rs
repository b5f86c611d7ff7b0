//! The state of reading: the cursor and what is left of the limits.

use std::borrow::Cow;

use polywire_schema::{Budget, Error, ErrorKind, LimitKind, Limits};
use polywire_text::utf8;

use super::super::cursor::{Cursor, EMPTY, UNCHECKED_ROOT};
use super::super::locate;
use crate::xml_tokens::{Span, local, name_len};

type Result<T> = std::result::Result<T, Error>;

/// The white space of XML.
pub(super) const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

pub(super) struct Reader<'de> {
    pub(super) cursor: Cursor<'de>,
    budget: Budget,
    /// The name of an attribute, with `@` in front.
    pub(super) scratch: String,
}

impl<'de> Reader<'de> {
    /// A reader after the start tag of the root element.
    pub(super) fn new(bytes: &'de [u8]) -> Result<Self> {
        let limits = Limits::DEFAULT;
        crate::checks::message_len(bytes.len(), &limits, "XML")?;
        let (text, may_need_checks) = match utf8::ascii_without(bytes, b']') {
            Some(text) => (text, false),
            None => match utf8::validate(bytes) {
                Ok(text) => (text, true),
                Err(malformed) => {
                    let error = Error::malformed(ErrorKind::Characters, malformed, 0);
                    return Err(error.in_format("XML"));
                }
            },
        };
        let mut cursor = Cursor::new(text, may_need_checks)?;
        cursor.value_kind &= !UNCHECKED_ROOT;
        Ok(Self {
            cursor,
            budget: Budget::new(&limits),
            scratch: String::new(),
        })
    }

    /// Checks that nothing but comments and white space follows the root element.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.cursor.skip_between()?;
        match self.cursor.rest() {
            [] => Ok(()),
            _ => {
                let expected = "nothing but comments after the root element";
                Err(self.cursor.error(ErrorKind::Syntax, expected))
            }
        }
    }

    /// Adds the position to an error of a visitor, which knows none.
    #[inline(always)]
    pub(super) fn at<T>(&self, result: Result<T>, offset: usize) -> Result<T> {
        match result {
            Ok(value) => Ok(value),
            Err(error) => Err(self.located(error, offset)),
        }
    }

    #[cold]
    pub(super) fn located(&self, error: Error, offset: usize) -> Error {
        if error.offset().is_some() {
            return error;
        }
        let path = locate::path(self.cursor.text, offset);
        error.in_format("XML").at_offset(offset).at_path(path)
    }

    /// A well-formed value that its type does not accept. It begins at `start`.
    #[cold]
    pub(super) fn invalid_value(&mut self, start: usize, expected: &'static str) -> Error {
        self.cursor.at = start;
        self.cursor.error(ErrorKind::InvalidValue, expected)
    }

    #[cold]
    pub(super) fn wrong_type(&mut self, start: usize, expected: &'static str) -> Error {
        self.cursor.at = start;
        self.cursor.error(ErrorKind::WrongType, expected)
    }

    #[cold]
    fn limit_error(&self, limit: LimitKind) -> Error {
        self.cursor.error(ErrorKind::Limit(limit), "")
    }

    #[inline]
    pub(super) fn enter(&mut self) -> Result<()> {
        self.budget.enter().map_err(|limit| self.limit_error(limit))
    }

    #[inline]
    pub(super) fn leave(&mut self) {
        self.budget.leave();
    }

    #[inline]
    pub(super) fn count(&mut self) -> Result<()> {
        self.budget
            .count(1)
            .map_err(|limit| self.limit_error(limit))
    }

    #[inline]
    pub(super) fn check_len(&mut self, len: usize, start: usize) -> Result<()> {
        match self.budget.string(len) {
            Ok(()) => Ok(()),
            Err(limit) => {
                self.cursor.at = start;
                Err(self.limit_error(limit))
            }
        }
    }

    /// The text of the element whose start tag was read last, up to and with its end tag, and
    /// where it begins.
    #[inline]
    pub(super) fn element_text(&mut self) -> Result<(Cow<'de, str>, usize)> {
        let start = self.cursor.at;
        if self.cursor.value_kind == EMPTY {
            return Ok((Cow::Borrowed(""), start));
        }
        let text = self.cursor.characters()?;
        self.check_len(text.len(), start)?;
        Ok((text, start))
    }

    /// Character data up to the next tag.
    pub(super) fn text(&mut self) -> Result<Cow<'de, str>> {
        let start = self.cursor.at;
        let text = self.cursor.text_before_tag()?;
        self.check_len(text.len(), start)?;
        Ok(text)
    }

    /// Skips the element whose start tag was read last.
    pub(super) fn skip_element(&mut self) -> Result<()> {
        if self.cursor.value_kind == EMPTY {
            return Ok(());
        }
        let name = self.cursor.name;
        if let Err(limit) = self.budget.enter_uncounted() {
            return Err(self.limit_error(limit));
        }
        match self.cursor.plain_text() {
            Some((_, end)) => self.cursor.at = end,
            None => self.skip_content(name)?,
        }
        self.budget.leave();
        Ok(())
    }

    fn skip_content(&mut self, name: Span) -> Result<()> {
        loop {
            if !self.cursor.skip_to_tag() {
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

    /// Whether the element whose start tag was read last has attributes, other than
    /// declarations of namespaces.
    pub(super) fn has_attributes(&mut self) -> bool {
        if !self.cursor.has_attributes() {
            return false;
        }
        let mut at = self.cursor.name.start + self.cursor.name.len;
        while let Some((name, _, next)) = self.cursor.next_attribute(at) {
            if !is_namespace(self.cursor.slice(name)) {
                return true;
            }
            at = next;
        }
        false
    }

    /// Skips white space and comments, and looks at the next part of an element.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Next> {
        if !self.cursor.skip_to_tag() {
            self.cursor.skip_between()?;
        }
        Ok(match self.cursor.rest() {
            [b'<', b'!', ..] => Next::Text,
            [b'<', b'/', ..] | [] | [b'<'] => Next::End,
            [b'<', ..] => Next::Element,
            _ => Next::Text,
        })
    }

    /// The name of the start tag at the cursor, with its prefix.
    fn next_name(&self) -> &'de str {
        let start = self.cursor.at + 1;
        let len = self.cursor.bytes().get(start..).map_or(0, name_len);
        self.cursor.slice(Span { start, len })
    }

    /// Whether the start tag at the cursor is the element of a field.
    pub(super) fn next_is_one_of(&self, fields: &[&str]) -> bool {
        let name = self.next_name();
        fields.contains(&local(name)) || fields.contains(&name)
    }

    /// The local name of the element whose start tag was read last.
    #[inline]
    pub(super) fn name(&self) -> &'de str {
        local(self.cursor.slice(self.cursor.name))
    }

    /// The name of the element whose start tag was read last: with the prefix, if a field
    /// has it, else without.
    #[inline]
    pub(super) fn name_in(&self, fields: &[&str]) -> &'de str {
        let name = self.cursor.slice(self.cursor.name);
        let local = local(name);
        match local.len() < name.len() && fields.contains(&name) {
            true => name,
            false => local,
        }
    }

    /// Whether the start tag at the cursor has this name, without regard to prefixes.
    #[inline]
    pub(super) fn is_named(&self, name: Span) -> bool {
        let own = self.cursor.slice(name);
        if let [b'<', rest @ ..] = self.cursor.rest()
            && let Some(rest) = rest.strip_prefix(own.as_bytes())
            && matches!(rest, [b'>' | b'/' | b' ' | b'\t' | b'\n' | b'\r', ..])
        {
            return true;
        }
        local(self.next_name()) == local(own)
    }
}

/// The next part of an element.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Next {
    Element,
    Text,
    End,
}

/// Whether an attribute declares a namespace.
pub(super) fn is_namespace(name: &str) -> bool {
    let rest = name.strip_prefix("xmlns");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}
