//! Attributes: checked when their tag is read, looked at only where a shape
//! has attributes of its own.

use polywire_schema::{Error, ErrorKind};
use polywire_text::escape::{self, XmlPlace, XmlReading};
use polywire_text::scan;

use super::cursor::{CONTENT, Cursor, EMPTY, Place, local, name_len};

/// Up to how many attributes are compared each with each; the names of more
/// are sorted.
const FEW: usize = 8;

impl<'de> Cursor<'de> {
    /// Reads what stands behind the name of a start tag, from `at` on.
    #[inline(never)]
    pub(super) fn attributes_of_tag(&mut self, at: usize) -> Result<(), Error> {
        self.at = at;
        let mut count = 0;
        loop {
            let space = scan::white_space(self.rest());
            self.at += space;
            match self.rest() {
                [b'>', ..] => {
                    self.at += 1;
                    self.special = CONTENT;
                    break;
                }
                [b'/', b'>', ..] => {
                    self.at += 2;
                    self.special = EMPTY;
                    break;
                }
                _ if space == 0 => {
                    return Err(self.error(ErrorKind::Syntax, "white space, > or /> in a tag"));
                }
                _ => {
                    self.attribute()?;
                    count += 1;
                }
            }
        }
        if count > 1 {
            self.no_duplicates(at, count)
        } else {
            Ok(())
        }
    }

    /// Reads `name="value"`; returns where both stand.
    fn attribute(&mut self) -> Result<(Place, Place), Error> {
        let len = name_len(self.rest());
        if len == 0 {
            return Err(self.error(ErrorKind::Syntax, "an attribute, > or />"));
        }
        let name = Place {
            start: self.at,
            len,
        };
        if self.check_names {
            self.check_name(name)?;
        }
        self.at += len;
        self.at += scan::white_space(self.rest());
        if self.rest().first() != Some(&b'=') {
            return Err(self.error(ErrorKind::Syntax, "= behind the name of an attribute"));
        }
        self.at += 1;
        self.at += scan::white_space(self.rest());
        let quote = match self.rest() {
            [quote @ (b'"' | b'\''), ..] => *quote,
            _ => return Err(self.error(ErrorKind::Syntax, "the value of an attribute in quotes")),
        };
        self.at += 1;
        let start = self.at;
        let rest = self.rest();
        let len = memchr::memchr2(quote, b'<', rest).unwrap_or(rest.len());
        let value = &self.text[start..start + len];
        escape::unescape_xml(value, XmlPlace::Attribute, XmlReading::Strict)
            .map_err(|malformed| self.malformed(malformed.offset, malformed.expected))?;
        self.at += len;
        if rest.get(len) != Some(&quote) {
            return Err(self.error(ErrorKind::Syntax, "the closing quote of an attribute"));
        }
        self.at += 1;
        Ok((name, Place { start, len }))
    }

    /// The next attribute of a tag that was read before, from `at` on: its name
    /// and value, and where the next one is.
    pub(super) fn next_attribute(&mut self, at: usize) -> Option<(Place, Place, usize)> {
        let content = std::mem::replace(&mut self.at, at);
        self.at += scan::white_space(self.rest());
        // It has been read before, so there is no other error than its end.
        let found = match self.rest() {
            [b'>' | b'/', ..] => None,
            _ => self.attribute().ok(),
        };
        let next = std::mem::replace(&mut self.at, content);
        found.map(|(name, value)| (name, value, next))
    }

    /// Each attribute stands in a tag once (XML 1.0, section 3.1).
    #[cold]
    fn no_duplicates(&mut self, first: usize, count: usize) -> Result<(), Error> {
        let mut names: Vec<&str> = Vec::with_capacity(count);
        let mut at = first;
        while let Some((name, _, next)) = self.next_attribute(at) {
            let name = self.name_at(name);
            if count <= FEW && names.contains(&name) {
                return Err(self.twice(at));
            }
            names.push(name);
            at = next;
        }
        if count > FEW {
            names.sort_unstable();
            if names.windows(2).any(|pair| pair[0] == pair[1]) {
                return Err(self.twice(first));
            }
        }
        Ok(())
    }

    #[cold]
    fn twice(&mut self, at: usize) -> Error {
        self.at = at;
        self.error(ErrorKind::Syntax, "each attribute once")
    }

    /// Whether the element whose start tag was read last is a null:
    /// `xsi:nil="true"`.
    pub(super) fn is_nil(&mut self) -> bool {
        if !self.has_attributes() {
            return false;
        }
        let mut at = self.name.start + self.name.len;
        while let Some((name, value, next)) = self.next_attribute(at) {
            let name = self.name_at(name);
            if name.contains(':') && local(name) == "nil" {
                return matches!(self.name_at(value), "true" | "1");
            }
            at = next;
        }
        false
    }
}
