//! Tag conditions.

use std::fmt;

use polywire_text::Text;
use polywire_text::hex::{self, Case};

use crate::Reason;

/// The name of a tag in a filter condition: one letter, `a-z` or `A-Z` (NIP-01).
///
/// ```
/// use polywire_nostr::TagLetter;
///
/// assert_eq!(TagLetter::new('e'), Some(TagLetter::E));
/// assert_eq!(TagLetter::new('1'), None);
/// assert_eq!(TagLetter::E.to_string(), "e");
/// ```
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TagLetter(u8);

impl TagLetter {
    /// `a`: the address of an addressable or replaceable event.
    pub const A: Self = Self(b'a');
    /// `d`: the identifier of an addressable event.
    pub const D: Self = Self(b'd');
    /// `e`: the id of an event.
    pub const E: Self = Self(b'e');
    /// `p`: a public key.
    pub const P: Self = Self(b'p');
    /// `t`: a topic.
    pub const T: Self = Self(b't');

    /// Creates a letter. `None` if the character is not in `a-z` or `A-Z`.
    #[must_use]
    pub const fn new(letter: char) -> Option<Self> {
        match letter {
            'a'..='z' | 'A'..='Z' => Some(Self(letter as u8)),
            _ => None,
        }
    }

    /// Returns the letter as a `char`.
    #[must_use]
    pub const fn as_char(self) -> char {
        self.0 as char
    }

    pub(super) const fn from_byte(byte: u8) -> Option<Self> {
        Self::new(byte as char)
    }

    /// Whether `name` is this letter.
    pub(super) fn is_name(self, name: &str) -> bool {
        name.as_bytes() == [self.0]
    }

    /// Writes the name of the filter member, such as `#e`, to `buffer`.
    pub(super) fn member(self, buffer: &mut [u8; 2]) -> &str {
        *buffer = [b'#', self.0];
        std::str::from_utf8(buffer).unwrap_or_default()
    }

    /// A distinct bit for each letter: letters differ in their lower six bits.
    pub(super) const fn bit(self) -> u64 {
        1 << (self.0 & 0x3f)
    }

    /// Checks a value: values of `e` and `p` must be 64 lower-case hexadecimal digits. The error is
    /// a reason and the offset in the value.
    pub(super) fn check(self, value: &str) -> Result<(), (Reason, usize)> {
        if !matches!(self, Self::E | Self::P) {
            return Ok(());
        }
        if value.len() != 64 {
            return Err((Reason::HexLength, 0));
        }
        match hex::decode_to_array::<32>(value.as_bytes(), Case::Lower) {
            Ok(_) => Ok(()),
            Err(error) => {
                let upper = value.as_bytes()[error.offset].is_ascii_hexdigit();
                let reason = if upper {
                    Reason::UpperCaseHex
                } else {
                    Reason::NotHex
                };
                Err((reason, error.offset))
            }
        }
    }
}

impl fmt::Display for TagLetter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_char().fmt(f)
    }
}

impl fmt::Debug for TagLetter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TagLetter({self})")
    }
}

/// A tag condition of a filter: the event must have a tag with this name whose first value is in
/// the list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TagCondition {
    pub(super) letter: TagLetter,
    pub(super) values: Vec<Text>,
}

impl TagCondition {
    /// Returns the name of the tag.
    #[must_use]
    pub fn letter(&self) -> TagLetter {
        self.letter
    }

    /// Returns the values in their original order. Values of `e` and `p` are 64 lower-case
    /// hexadecimal digits.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &str> {
        self.values.iter().map(Text::as_str)
    }
}
