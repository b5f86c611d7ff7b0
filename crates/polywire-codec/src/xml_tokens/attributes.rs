//! Attributes. They are checked when their tag is read, and read again if a type has attributes.

use polywire_schema::{Error, ErrorKind};
use polywire_text::escape::XmlPlace;
use polywire_text::scan;

use super::{Dialect, Span, Tokens, name_len};

/// The greatest number of attributes that are compared in pairs. More are sorted.
const FEW: usize = 8;

impl<D: Dialect> Tokens<'_, D> {
    /// Reads a start tag from `at`, after its name, to its end. `true` if the element is empty.
    #[inline(never)]
    pub(super) fn attributes(&mut self, at: usize) -> Result<bool, Error> {
        self.at = at;
        let mut count = 0;
        let empty = loop {
            let space = scan::white_space(self.rest());
            self.at += space;
            match self.rest() {
                [b'>', ..] => {
                    self.at += 1;
                    break false;
                }
                [b'/', b'>', ..] => {
                    self.at += 2;
                    break true;
                }
                _ if space == 0 => {
                    return Err(self.error(ErrorKind::Syntax, "white space, > or /> in a tag"));
                }
                _ => {
                    self.attribute()?;
                    count += 1;
                }
            }
        };
        if count > 1 {
            self.check_duplicates(at, count)?;
        }
        Ok(empty)
    }

    /// Reads `name="value"`. Returns the spans of the name and of the value.
    fn attribute(&mut self) -> Result<(Span, Span), Error> {
        let len = name_len(self.rest());
        if len == 0 {
            return Err(self.name_error(self.at, "an attribute, > or />"));
        }
        let start = self.at;
        let name = Span { start, len };
        if self.check_names {
            self.check_name(name)?;
        }
        self.at += len;
        self.at += scan::white_space(self.rest());
        if !self.skip(b"=") {
            return Err(self.error(ErrorKind::Syntax, "= after the name of an attribute"));
        }
        self.at += scan::white_space(self.rest());
        let quote = match self.rest() {
            [quote @ (b'"' | b'\''), ..] => *quote,
            _ => return Err(self.error(ErrorKind::Syntax, "the value of an attribute in quotes")),
        };
        self.at += 1;
        let start = self.at;
        let rest = self.rest();
        let len = memchr::memchr2(quote, b'<', rest).unwrap_or(rest.len());
        let value = Span { start, len };
        let unescaped = self
            .dialect
            .unescape(self.slice(value), XmlPlace::Attribute);
        if let Err(malformed) = unescaped {
            return Err(self.malformed_error(&malformed));
        }
        self.at += len;
        if rest.get(len) != Some(&quote) {
            let expected = "the closing quote of an attribute, or &lt; for <";
            return Err(self.error(ErrorKind::Syntax, expected));
        }
        self.at += 1;
        Ok((name, value))
    }

    /// The name and the value of the next attribute, from `at`, of a tag that was read before,
    /// and the offset after it.
    pub(crate) fn next_attribute(&mut self, at: usize) -> Option<(Span, Span, usize)> {
        let content = std::mem::replace(&mut self.at, at);
        self.at += scan::white_space(self.rest());
        // There are no other errors than the end, because the tag was read before.
        let found = match self.rest() {
            [b'>' | b'/', ..] => None,
            _ => self.attribute().ok(),
        };
        let next = std::mem::replace(&mut self.at, content);
        found.map(|(name, value)| (name, value, next))
    }

    /// No attribute comes twice in a tag (XML 1.0, section 3.1).
    #[cold]
    fn check_duplicates(&mut self, first: usize, count: usize) -> Result<(), Error> {
        let mut names: Vec<&str> = Vec::with_capacity(count);
        let mut at = first;
        while let Some((name, _, next)) = self.next_attribute(at) {
            let name = self.slice(name);
            if count <= FEW && names.contains(&name) {
                return Err(self.duplicate_attribute(at));
            }
            names.push(name);
            at = next;
        }
        if count > FEW {
            names.sort_unstable();
            if names.windows(2).any(|pair| pair[0] == pair[1]) {
                return Err(self.duplicate_attribute(first));
            }
        }
        Ok(())
    }

    #[cold]
    fn duplicate_attribute(&mut self, at: usize) -> Error {
        self.at = at;
        self.error(ErrorKind::Syntax, "each attribute once")
    }
}
