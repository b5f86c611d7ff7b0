//! A condition on a tag that is compared with many events.

use memchr::memmem::Finder;
use polywire_text::{Text, hex};

use super::set::Set;
use super::{TagCondition, TagLetter};
use crate::json::{RawString, Reader, push_string};
use crate::{BinaryItem, Profile};

/// A condition on a tag.
#[derive(Clone, Debug)]
pub(super) struct CompiledTag {
    letter: TagLetter,
    values: Set<Text>,
    /// The lengths in bytes of the shortest and of the longest value.
    shortest: usize,
    longest: usize,
    /// Finds the beginning of a tag of this name in canonical text, up to the quote before its
    /// value, or with the whole value if `has_value`.
    finder: Finder<'static>,
    has_value: bool,
}

impl CompiledTag {
    pub(super) fn new(tag: &TagCondition) -> Self {
        let values = Set::new(tag.values.iter().cloned());
        let lengths = values.values().iter().map(|value| value.len());
        let mut needle = format!("[\"{}\",\"", tag.letter).into_bytes();
        let has_value = match values.values() {
            // Half a surrogate pair is read as U+FFFD: that value has more than one spelling.
            [value] if !value.contains(char::REPLACEMENT_CHARACTER) => {
                needle.pop();
                push_string(&mut needle, value);
                true
            }
            _ => false,
        };
        Self {
            letter: tag.letter,
            shortest: lengths.clone().min().unwrap_or(0),
            longest: lengths.max().unwrap_or(0),
            finder: Finder::new(&needle).into_owned(),
            has_value,
            values,
        }
    }

    pub(super) fn letter(&self) -> TagLetter {
        self.letter
    }

    /// Whether a value is one of those asked for.
    #[inline]
    pub(super) fn holds(&self, value: RawString<'_>) -> bool {
        if value.spelling.escaped {
            return self.holds_escaped(value);
        }
        self.values.contains(value.text.as_bytes())
    }

    #[cold]
    fn holds_escaped(&self, value: RawString<'_>) -> bool {
        // An escape of six bytes stands for one byte at least, and none for more bytes than it has.
        let len = value.text.len();
        len >= self.shortest
            && len / 6 <= self.longest
            && self.values.contains(value.decode().as_bytes())
    }

    /// Whether a value of the binary storage form is one of those asked for.
    #[inline]
    pub(super) fn holds_binary(&self, value: BinaryItem<'_>) -> bool {
        match value {
            BinaryItem::Text(text) => self.values.contains(text.as_bytes()),
            BinaryItem::Hex(bytes) if 2 * bytes.len() > self.longest => false,
            BinaryItem::Hex(bytes) => match hex::encode_to_slice(bytes, &mut [0; 64]) {
                Some(digits) => self.values.contains(digits),
                None => self.values.contains(value.to_string().as_bytes()),
            },
        }
    }

    /// Whether one of these tags has a value that is asked for. Their text is canonical.
    ///
    /// Canonical text has no white space, and each string has one spelling. So a tag `e` begins with
    /// `["e","`, and nothing else looks like that: a quote behind a bracket within a string has a
    /// backslash between them, and one at the end of a string has no letter behind it.
    pub(super) fn is_in_canonical(&self, raw: &str) -> bool {
        // An array of an empty string takes four bytes.
        if raw.len() < 4 {
            return false;
        }
        if self.has_value {
            return self.finder.find(raw.as_bytes()).is_some();
        }
        let begin = self.finder.needle().len();
        self.finder.find_iter(raw.as_bytes()).any(|at| {
            let mut reader = Reader::new(&raw[at + begin..], Profile::COMPATIBLE);
            let value = reader.string_behind_quote();
            value.is_ok_and(|value| self.holds(value))
        })
    }
}
