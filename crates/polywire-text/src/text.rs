//! `Text`: a string, inline or shared.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Arc;

use bytes::Bytes;

use crate::repr::{INLINE_CAPACITY, Repr};

/// An immutable UTF-8 string in 24 bytes: up to 22 bytes inline, more as a
/// range of the input that it was read from, or as one allocation.
///
/// | operation | cost |
/// |---|---|
/// | make from up to 22 bytes | a fixed-width copy, no allocation |
/// | make from a longer `&str` | one allocation and a copy |
/// | make from a longer `String` | a small allocation; a copy instead if more than half of its capacity is unused |
/// | make from a `&'static str` by [`Text::from_static`] | nothing |
/// | decode a longer string without escapes from a [`Body`](crate::Body) | one counter |
/// | `clone` | 24 bytes, or one counter |
/// | `as_str` | a branch on the form; one more load when shared |
/// | `into_owned` | a copy if shared, else nothing |
///
/// ```
/// use polywire_text::Text;
///
/// let city = Text::from("Reykjavík");
/// assert_eq!(city, "Reykjavík");
/// assert_eq!(city.len(), 10);
/// assert_eq!(size_of::<Text>(), 24);
/// ```
#[derive(Clone)]
// Invariant: the bytes of the representation are valid UTF-8. Every way in
// takes a `str`, or bytes that were validated.
pub struct Text(Repr);

impl Text {
    /// The empty string.
    pub const EMPTY: Self = Self(Repr::EMPTY);

    /// Wraps bytes that the caller has seen to be valid UTF-8.
    #[inline]
    pub(crate) const fn from_valid(repr: Repr) -> Self {
        Self(repr)
    }

    /// A string that lives as long as the program. Never allocates.
    #[must_use]
    pub const fn from_static(text: &'static str) -> Self {
        Self(Repr::Static(text.as_bytes()))
    }

    /// The first `len` bytes of `window`, if they are at most 22 and end on a
    /// character boundary: the quick way from a parser's input to an inline
    /// string, since a window that is longer than the string allows a copy of
    /// fixed width.
    ///
    /// ```
    /// use polywire_text::Text;
    ///
    /// let text = Text::inline_prefix("London\", \"country\": \"UK\"", 6);
    /// assert_eq!(text.as_deref(), Some("London"));
    /// assert!(Text::inline_prefix("í", 1).is_none());
    /// ```
    #[inline]
    #[must_use]
    pub fn inline_prefix(window: &str, len: usize) -> Option<Self> {
        if !window.is_char_boundary(len) {
            return None;
        }
        // A prefix of valid UTF-8 that ends on a boundary is valid UTF-8.
        Repr::inline_prefix(window.as_bytes(), len).map(Self)
    }

    /// The first `len` bytes of `window`, if they are at most 22 and all ASCII:
    /// as [`Text::inline_prefix`], for input that has not been validated.
    ///
    /// ```
    /// use polywire_text::Text;
    ///
    /// let window = b"London and whatever comes behind it";
    /// assert_eq!(Text::ascii_prefix(window, 6).as_deref(), Some("London"));
    /// assert!(Text::ascii_prefix("Zürich and whatever comes".as_bytes(), 7).is_none());
    /// ```
    #[inline]
    #[must_use]
    pub fn ascii_prefix(window: &[u8], len: usize) -> Option<Self> {
        // ASCII is valid UTF-8.
        Repr::inline_ascii_prefix(window, len).map(Self)
    }

    /// The string.
    #[inline]
    #[must_use]
    pub fn as_str(&self) -> &str {
        let bytes = self.0.as_bytes();
        // SAFETY: the type's invariant: the representation holds valid UTF-8.
        // `from_valid` is crate-private and each caller passes the bytes of a
        // `str` (or a range of a body at which a `str` was seen to lie), the
        // bytes are immutable, and `as_bytes` returns exactly them.
        unsafe { std::str::from_utf8_unchecked(bytes) }
    }

    /// The number of bytes.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.as_bytes().len()
    }

    /// Whether the string has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the string lives inside the value.
    #[must_use]
    pub const fn is_inline(&self) -> bool {
        matches!(self.0, Repr::Inline { .. })
    }

    /// Whether the string is a range of a shared input, which it keeps alive.
    #[must_use]
    pub const fn is_shared(&self) -> bool {
        self.0.is_shared()
    }

    /// A string that keeps no input alive: copies a shared range, returns
    /// anything else as it is. Call it before storing a string for longer
    /// than the message that it came in.
    #[must_use]
    pub fn into_owned(self) -> Self {
        Self(self.0.detached())
    }

    /// The string's bytes as [`Bytes`], without a copy where they are shared
    /// or static.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        crate::Blob::from_repr(self.0).into_bytes()
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Deref for Text {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl From<&str> for Text {
    #[inline]
    fn from(text: &str) -> Self {
        Self(Repr::copy(text.as_bytes()))
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<String> for Text {
    /// Takes a long string over without copying it, unless more than half of
    /// its capacity is unused.
    fn from(text: String) -> Self {
        Self(Repr::from_vec(text.into_bytes()))
    }
}

impl From<Box<str>> for Text {
    fn from(text: Box<str>) -> Self {
        Self::from(String::from(text))
    }
}

impl From<Cow<'_, str>> for Text {
    fn from(text: Cow<'_, str>) -> Self {
        match text {
            Cow::Borrowed(text) => Self::from(text),
            Cow::Owned(text) => Self::from(text),
        }
    }
}

impl From<Arc<str>> for Text {
    /// Shares the allocation of a long string.
    fn from(text: Arc<str>) -> Self {
        if text.len() <= INLINE_CAPACITY {
            return Self::from(&*text);
        }
        Self(Repr::Owned(Arc::from(text)))
    }
}

impl From<char> for Text {
    fn from(character: char) -> Self {
        Self::from(&*character.encode_utf8(&mut [0; 4]))
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.as_str().to_owned()
    }
}

impl From<Text> for Cow<'_, str> {
    fn from(text: Text) -> Self {
        Cow::Owned(text.into())
    }
}

impl FromStr for Text {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self::from(text))
    }
}

impl FromIterator<char> for Text {
    fn from_iter<I: IntoIterator<Item = char>>(characters: I) -> Self {
        Self::from(String::from_iter(characters))
    }
}

/// Whether two strings are equal. Short ones, such as names, are compared as
/// two overlapping words, which is less than a call to `memcmp`.
#[inline]
fn same(one: &[u8], other: &[u8]) -> bool {
    fn words<const N: usize>(one: &[u8], other: &[u8]) -> Option<bool> {
        let heads = one.first_chunk::<N>()? == other.first_chunk::<N>()?;
        Some(heads && one.last_chunk::<N>()? == other.last_chunk::<N>()?)
    }
    if one.len() != other.len() {
        return false;
    }
    match one.len() {
        8..=16 => words::<8>(one, other).unwrap_or(false),
        4..=7 => words::<4>(one, other).unwrap_or(false),
        2..=3 => words::<2>(one, other).unwrap_or(false),
        _ => one == other,
    }
}

impl Text {
    /// Whether it is these bytes.
    #[inline]
    #[must_use]
    pub fn is(&self, bytes: &[u8]) -> bool {
        same(self.0.as_bytes(), bytes)
    }
}

impl PartialEq for Text {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        same(self.0.as_bytes(), other.0.as_bytes())
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    #[inline]
    fn eq(&self, other: &str) -> bool {
        same(self.0.as_bytes(), other.as_bytes())
    }
}

impl PartialEq<&str> for Text {
    #[inline]
    fn eq(&self, other: &&str) -> bool {
        same(self.0.as_bytes(), other.as_bytes())
    }
}

impl PartialEq<String> for Text {
    fn eq(&self, other: &String) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<Text> for String {
    fn eq(&self, other: &Text) -> bool {
        self == other.as_str()
    }
}

impl PartialEq<Text> for str {
    fn eq(&self, other: &Text) -> bool {
        self == other.as_str()
    }
}

impl PartialEq<Text> for &str {
    fn eq(&self, other: &Text) -> bool {
        *self == other.as_str()
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        // Byte order is code point order in UTF-8.
        self.0.as_bytes().cmp(other.0.as_bytes())
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // As `str` hashes, since `Text` borrows as `str`.
        self.as_str().hash(state);
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::Body;

    #[test]
    fn forms_compare_and_hash_alike() {
        let long = "a string of more than twenty-two bytes";
        let body = Body::from(long.to_owned());
        let shared = body.text(std::str::from_utf8(body.as_bytes()).unwrap());
        assert!(shared.is_shared());
        let forms = [
            Text::from(long),
            Text::from(long.to_owned()),
            Text::from_static(long),
            Text::from(Arc::<str>::from(long)),
            shared.clone(),
            shared.into_owned(),
        ];
        for text in &forms {
            assert_eq!(*text, forms[0]);
            let map = HashMap::from([(text.clone(), 1)]);
            assert_eq!(map.get(long), Some(&1));
        }
    }

    #[test]
    fn a_difference_is_seen_wherever_it_stands() {
        let all = "abcdefghijklmnopqrstuvwxyz";
        for len in 0..=all.len() {
            let text = Text::from(&all[..len]);
            assert_eq!(text, all[..len]);
            assert_eq!(text, Text::from(&all[..len]));
            for at in 0..len {
                let mut other = all[..len].to_owned();
                other.replace_range(at..=at, "!");
                assert_ne!(text, other.as_str());
                assert_ne!(text, Text::from(other));
            }
            if len > 0 {
                assert_ne!(text, all[..len - 1]);
            }
        }
    }

    #[test]
    fn into_owned_lets_the_input_go() {
        let body = Body::from("x".repeat(100));
        let text = body.text(std::str::from_utf8(body.as_bytes()).unwrap());
        let owned = text.into_owned();
        assert!(!owned.is_shared());
        assert_eq!(owned.len(), 100);
    }

    #[test]
    fn a_string_that_was_handed_over_is_its_own() {
        let string = "x".repeat(100);
        let start = string.as_ptr();
        let text = Text::from(string);
        assert!(!text.is_shared());
        assert_eq!(text.into_owned().as_ptr(), start);
    }

    #[test]
    fn compares_with_strings_both_ways() {
        let (text, string) = (Text::from("Oslo"), "Oslo".to_owned());
        let other = Text::from("Bergen");
        assert_eq!(text, string);
        assert_eq!(string, text);
        assert_eq!(*"Oslo", text);
        assert_ne!(string, other);
    }

    #[test]
    fn a_prefix_never_splits_a_character() {
        let window = "aé€😀 and more text to fill the window";
        for len in 0..=window.len() + 1 {
            let prefix = Text::inline_prefix(window, len);
            let expected = window
                .get(..len)
                .filter(|text| text.len() <= INLINE_CAPACITY);
            assert_eq!(prefix.as_deref(), expected);
        }
    }
}
