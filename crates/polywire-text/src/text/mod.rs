//! `Text`: a string, inline or shared.

mod compare;
mod convert;
mod gather;
mod xml;

use std::borrow::Borrow;
use std::ffi::OsStr;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, RangeBounds};
use std::path::Path;

use crate::repr::{Repr, WINDOW, bounds};
use crate::{Blob, Malformed, utf8};

/// An immutable UTF-8 string of 24 bytes: up to 23 bytes are inline, a longer string is a range of
/// the input that it was read from, or has its own allocation.
///
/// It dereferences to `str`, and compares, hashes and prints as one. It implements `Borrow<str>`,
/// so maps with `Text` keys can be queried with a `&str`. `Option<Text>` has 24 bytes, too.
///
/// # Costs
///
/// "Nothing" means a few instructions without an allocation or a pass over the string; "count" is
/// an atomic addition. Strings of up to 23 bytes are copied inline and never allocate; the tables
/// are about longer strings.
///
/// | from | to `Text` |
/// |---|---|
/// | a `&'static str`, by [`Text::from_static`] | nothing |
/// | `&str`, `&String` | one allocation, a copy |
/// | `String`, `Box<str>`, `Vec<u8>`, `Cow::Owned` | one allocation of 40 bytes; a copy instead if more than half of the capacity is unused |
/// | `Arc<str>` | nothing |
/// | `Bytes`, `Blob` | UTF-8 is checked; one allocation of 48 bytes, or nothing |
/// | a range of a [`Body`](crate::Body) | count; the first of a body allocates 48 bytes, and 24 if the body was a `Vec`; a copy if it is below 1/256 of a body above 4 KiB |
/// | a part of a `Text`, by [`Text::slice`] | count; a copy by the same rule; two allocations of 72 bytes in all if the `Text` is a copy, or was an `Arc<str>` |
/// | an iterator, [`Text::format`] | a `String` that grows, then as from that |
///
/// | operation | cost |
/// |---|---|
/// | `clone` | count; nothing if static |
/// | `drop` | count, and what that frees; nothing if inline or static |
/// | `as_str`, `len` | nothing |
/// | `==` with any string | lengths, then bytes: two chunks that overlap up to 64 bytes, `memcmp` beyond |
/// | `cmp`, `hash` | as `str` |
/// | [`Text::into_owned`] | an allocation and a copy if shared, else nothing |
///
/// | from `Text` | to |
/// |---|---|
/// | `String`, `Vec<u8>` | nothing if it was made from one and has no clone, else one allocation and a copy |
/// | `Bytes`, [`Blob`] | nothing; `Bytes` of an inline one allocates and copies, others allocate up to 48 bytes |
/// | `Arc<str>` | nothing if it was one, or copied from a `&str`, else one allocation and a copy |
/// | `Box<str>`, `Rc<str>` | one allocation and a copy |
/// | `Cow` | from `&Text` nothing, from `Text` as `String` |
///
/// ```
/// use polywire_text::Text;
///
/// let city = Text::from("Reykjavík");
/// assert_eq!(city, "Reykjavík");
/// assert_eq!(city.len(), 10);
/// assert_eq!(size_of::<Option<Text>>(), 24);
/// ```
#[derive(Clone)]
// Invariant: the bytes of the representation are valid UTF-8.
pub struct Text(Repr);

const _: () = assert!(size_of::<Option<Text>>() == 24);
const _: () = {
    const fn assert_traits<T: Send + Sync + Unpin + std::panic::RefUnwindSafe>() {}
    assert_traits::<Text>();
    assert_traits::<Blob>();
};

impl Text {
    /// The empty string.
    pub const EMPTY: Self = Self(Repr::EMPTY);

    /// Wraps bytes that must be valid UTF-8.
    #[inline]
    pub(crate) const fn from_valid(repr: Repr) -> Self {
        Self(repr)
    }

    /// A static string. Never allocates, and can be used in constants.
    ///
    /// ```
    /// use polywire_text::Text;
    ///
    /// const GREETING: Text = Text::from_static("a greeting that is not short");
    /// assert_eq!(GREETING.len(), 28);
    /// ```
    #[must_use]
    pub const fn from_static(text: &'static str) -> Self {
        Self(Repr::from_static(text.as_bytes()))
    }

    /// A copy of `bytes`, if they are UTF-8. To avoid the copy, use `TryFrom` from a `Vec<u8>`,
    /// `Bytes` or [`Blob`].
    ///
    /// # Errors
    ///
    /// The offset of the first byte that is not UTF-8.
    ///
    /// ```
    /// use polywire_text::Text;
    ///
    /// assert_eq!(Text::from_utf8(b"Z\xc3\xbcrich")?, "Zürich");
    /// assert_eq!(Text::from_utf8(b"Z\xfcrich").unwrap_err().offset, 1);
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    pub fn from_utf8(bytes: &[u8]) -> Result<Self, Malformed> {
        utf8::validate(bytes).map(Self::from)
    }

    /// A copy of `bytes` with invalid UTF-8 replaced by U+FFFD, as by [`String::from_utf8_lossy`].
    ///
    /// ```
    /// use polywire_text::Text;
    ///
    /// assert_eq!(Text::from_utf8_lossy(b"Z\xfcrich"), "Z\u{fffd}rich");
    /// ```
    #[must_use]
    pub fn from_utf8_lossy(bytes: &[u8]) -> Self {
        match utf8::validate(bytes) {
            Ok(text) => Self::from(text),
            Err(_) => Self::from(String::from_utf8_lossy(bytes)),
        }
    }

    /// The first `len` bytes of `window`, if they are at most 23 and end at a character boundary.
    /// Fastest if `window` has 24 bytes or more, which allows a copy of fixed width.
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
        let Some(chunk) = window.as_bytes().first_chunk::<WINDOW>() else {
            return Self::inline_at_the_end(window, len);
        };
        // Continuation bytes are 0b10xx_xxxx. A prefix of a `str` that ends before any other byte
        // is valid UTF-8.
        let next = chunk.get(len)?;
        if next.cast_signed() < -64 {
            return None;
        }
        Repr::inline_window(chunk, len).map(Self)
    }

    /// [`Self::inline_prefix`] near the end of the input.
    #[cold]
    #[inline(never)]
    fn inline_at_the_end(window: &str, len: usize) -> Option<Self> {
        Repr::inline(window.get(..len)?.as_bytes()).map(Self)
    }

    /// The first `len` bytes of `window`, if they are at most 23 and all ASCII: as
    /// [`Text::inline_prefix`], for input that has not been validated.
    ///
    /// ```
    /// use polywire_text::Text;
    ///
    /// let window = b"London and whatever comes after it";
    /// assert_eq!(Text::ascii_prefix(window, 6).as_deref(), Some("London"));
    /// assert!(Text::ascii_prefix("Zürich and whatever comes".as_bytes(), 7).is_none());
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn ascii_prefix(window: &[u8], len: usize) -> Option<Self> {
        // ASCII is valid UTF-8.
        Repr::inline_ascii_prefix(window, len).map(Self)
    }

    /// The result of `format!`, without an allocation if it has at most 23 bytes.
    ///
    /// # Errors
    ///
    /// An implementation of a trait of `std::fmt` has returned an error, for which `format!`
    /// panics.
    ///
    /// ```
    /// use polywire_text::Text;
    ///
    /// let (host, port) = ("localhost".to_owned(), 8080);
    /// let address = Text::format(format_args!("{host}:{port}"))?;
    /// assert!(address.is_inline());
    /// assert_eq!(address, "localhost:8080");
    /// # Ok::<(), std::fmt::Error>(())
    /// ```
    pub fn format(arguments: fmt::Arguments<'_>) -> Result<Self, fmt::Error> {
        match arguments.as_str() {
            Some(text) => Ok(Self::from_static(text)),
            None => gather::formatted(arguments),
        }
    }

    /// The string.
    #[inline]
    #[must_use]
    pub const fn as_str(&self) -> &str {
        let bytes = self.0.as_bytes();
        // SAFETY: the invariant of the type. All constructors take a `str`, bytes that were
        // validated or are ASCII, or a range of these at character boundaries, and the bytes never
        // change.
        unsafe { std::str::from_utf8_unchecked(bytes) }
    }

    /// The number of bytes.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the string has no bytes.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the bytes are stored in the value itself.
    #[inline]
    #[must_use]
    pub const fn is_inline(&self) -> bool {
        self.0.is_inline()
    }

    /// The bytes of an inline string, followed by unspecified ones, and its length.
    #[inline]
    pub(crate) fn window(&self) -> Option<(&[u8; WINDOW], usize)> {
        self.0.window()
    }

    /// The first and the last eight bytes of an inline string, in little-endian order; of fewer
    /// than eight bytes, all of them, padded with zeros, and 0.
    ///
    /// ```
    /// use polywire_text::Text;
    ///
    /// assert_eq!(Text::from("Oslo").inline_ends(), Some([u64::from_le_bytes(*b"Oslo\0\0\0\0"), 0]));
    /// assert_eq!(Text::from("a string of more than 23 bytes").inline_ends(), None);
    /// ```
    #[inline]
    #[must_use]
    pub fn inline_ends(&self) -> Option<[u64; 2]> {
        let (window, len) = self.window()?;
        let word = |at: usize| {
            let bytes = window.get(at..).and_then(<[u8]>::first_chunk::<8>);
            bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        Some(match len.checked_sub(8) {
            Some(last) => [word(0), word(last)],
            // The bytes after the string are unspecified.
            None => [word(0) & !(u64::MAX << (8 * len)), 0],
        })
    }

    /// Appends `head` of the length, and the bytes, if the string is inline. Returns whether it is.
    /// A copy of fixed width instead of a `memcpy`.
    ///
    /// ```
    /// use polywire_text::Text;
    ///
    /// let mut out = Vec::new();
    /// assert!(Text::from("Oslo").push_inline(&mut out, |len| b'0' + len));
    /// assert_eq!(out, b"4Oslo");
    /// ```
    #[inline]
    pub fn push_inline(&self, out: &mut Vec<u8>, head: impl FnOnce(u8) -> u8) -> bool {
        let Some((window, len)) = self.window() else {
            return false;
        };
        out.reserve(1 + WINDOW);
        // SAFETY: there is capacity for one byte and the window, all of which are written, and
        // `len` is at most the length of the window.
        unsafe {
            let to = out.as_mut_ptr().add(out.len());
            to.write(head(len as u8));
            to.add(1).cast::<[u8; WINDOW]>().write_unaligned(*window);
            out.set_len(out.len() + 1 + len);
        }
        true
    }

    /// Whether the string keeps alive an allocation that is larger, or that others hold.
    #[inline]
    #[must_use]
    pub const fn is_shared(&self) -> bool {
        self.0.is_shared()
    }

    /// The number of bytes on the heap that the string keeps alive: those of the input, if it is
    /// shared, else its own, including unused capacity. Zero for static and inline strings. Without
    /// the overhead of the allocator and the handle, and without the parts of an allocation that a
    /// `Bytes` does not show.
    ///
    /// ```
    /// use polywire_text::{Body, Text};
    ///
    /// let body = Body::from("a sentence that is longer than twenty-three bytes");
    /// let whole = std::str::from_utf8(body.as_bytes())?;
    /// assert_eq!(body.text(&whole[..30]).heap_size(), 49);
    /// assert_eq!(body.text(&whole[..30]).into_owned().heap_size(), 30);
    /// assert_eq!(body.text(&whole[..10]).heap_size(), 0);
    /// # Ok::<(), std::str::Utf8Error>(())
    /// ```
    #[must_use]
    pub fn heap_size(&self) -> usize {
        self.0.heap_size()
    }

    /// A part of the string that shares its allocation. `None` if the range is out of bounds or
    /// splits a character. A short part is inline; a part below 1/256 of an allocation above 4 KiB
    /// is a copy.
    ///
    /// ```
    /// use polywire_text::Text;
    ///
    /// let line = Text::from("name: a value that is longer than twenty-three bytes".to_owned());
    /// let value = line.slice(6..).unwrap();
    /// assert_eq!(value.as_ptr(), line[6..].as_ptr());
    /// assert!(line.slice(..100).is_none());
    /// ```
    #[must_use]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Option<Self> {
        let part = self.as_str().get(bounds(&range, self.len())?)?;
        Some(self.slice_ref(part))
    }

    /// `part` as a `Text`: as by [`Text::slice`] if it is a part of this string, else a copy.
    ///
    /// ```
    /// use polywire_text::Text;
    ///
    /// let line = Text::from("  a value that is longer than twenty-three bytes ");
    /// let value = line.slice_ref(line.trim());
    /// assert_eq!(value.as_ptr(), line[2..].as_ptr());
    /// ```
    #[must_use]
    pub fn slice_ref(&self, part: &str) -> Self {
        // The bytes are those of a `str`.
        Self(self.0.part(part.as_bytes()))
    }

    /// Copies the string if it is shared, so that it keeps no input alive. Call it before you store
    /// a string for longer than the message that it is from.
    #[must_use]
    pub fn into_owned(self) -> Self {
        Self(self.0.into_unshared())
    }

    /// The bytes of the string.
    #[inline]
    #[must_use]
    pub fn into_blob(self) -> Blob {
        Blob::from_repr(self.0)
    }

    /// The bytes of the string as [`Bytes`](bytes::Bytes). Only inline bytes are copied.
    #[must_use]
    pub fn into_bytes(self) -> bytes::Bytes {
        self.0.into_bytes()
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

impl AsRef<OsStr> for Text {
    fn as_ref(&self) -> &OsStr {
        self.as_str().as_ref()
    }
}

impl AsRef<Path> for Text {
    fn as_ref(&self) -> &Path {
        self.as_str().as_ref()
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Equal to the hash of `str`, as `Borrow<str>` requires.
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
