//! Tag conditions compiled for matching many events.

use memchr::memmem::Finder;
use polywire_text::{Text, hex};

use super::set::Set;
use super::{TagCondition, TagLetter};
use crate::json::{RawString, Reader, push_string};
use crate::{BinaryItem, Profile};

/// A compiled tag condition.
#[derive(Clone, Debug)]
pub(super) struct CompiledTag {
    letter: TagLetter,
    values: Set<Text>,
    /// The lengths in bytes of the shortest and of the longest value.
    shortest: usize,
    longest: usize,
    /// Finds the start of a tag with this name in canonical text: up to the opening quote of the
    /// value, or including the whole value if `has_value`.
    finder: Finder<'static>,
    has_value: bool,
}

impl CompiledTag {
    pub(super) fn new(tag: &TagCondition) -> Self {
        let values = Set::new(tag.values.iter().cloned());
        let lengths = values.values().iter().map(|value| value.len());
        let mut needle = format!("[\"{}\",\"", tag.letter).into_bytes();
        let has_value = match values.values() {
            // Lone surrogates decode to U+FFFD, so U+FFFD has more than one canonical spelling.
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

    /// Whether the condition contains this value.
    #[inline]
    pub(super) fn contains(&self, value: RawString<'_>) -> bool {
        if value.spelling.escaped {
            return self.contains_escaped(value);
        }
        self.values.contains(value.text.as_bytes())
    }

    #[cold]
    fn contains_escaped(&self, value: RawString<'_>) -> bool {
        // Decoding never lengthens text, and shortens it at most by a factor of six (`\u0041`).
        let len = value.text.len();
        len >= self.shortest
            && len / 6 <= self.longest
            && self.values.contains(value.decode().as_bytes())
    }

    /// Whether the condition contains this value of the binary storage form.
    #[inline]
    pub(super) fn contains_binary(&self, value: BinaryItem<'_>) -> bool {
        match value {
            BinaryItem::Text(text) => self.values.contains(text.as_bytes()),
            BinaryItem::Hex(bytes) if 2 * bytes.len() > self.longest => false,
            BinaryItem::Hex(bytes) => match hex::encode_to_slice(bytes, &mut [0; 64]) {
                Some(digits) => self.values.contains(digits),
                None => self.values.contains(value.to_string().as_bytes()),
            },
        }
    }

    /// Whether one of the tags in `raw`, which must be canonical, meets the condition.
    ///
    /// Canonical text has no white space, and each string has one spelling. So a tag `e` with a
    /// value starts with `["e","`. These bytes occur nowhere else: a quote inside a string is
    /// preceded by a backslash, and the quote that ends a string is not followed by a letter.
    pub(super) fn is_in_canonical(&self, raw: &str) -> bool {
        // Shorter text contains no items.
        if raw.len() < 4 {
            return false;
        }
        if self.has_value {
            return self.finder.find(raw.as_bytes()).is_some();
        }
        let begin = self.finder.needle().len();
        self.finder.find_iter(raw.as_bytes()).any(|at| {
            let mut reader = Reader::new(&raw[at + begin..], Profile::COMPATIBLE);
            let value = reader.string_after_quote();
            value.is_ok_and(|value| self.contains(value))
        })
    }
}
