//! `Blob`: bytes, inline or shared.

mod compare;
mod convert;

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, RangeBounds};

use bytes::Bytes;

use crate::repr::{Repr, bounds};

/// Immutable bytes in a value of 24 bytes: up to [`INLINE_CAPACITY`](crate::INLINE_CAPACITY) are
/// inline, more are a range of the input that they were read from, or have their own allocation.
///
/// The costs are those of [`Text`](crate::Text), with `Vec<u8>` for `String` and `Arc<[u8]>` for
/// `Arc<str>`, and without validation of UTF-8.
///
/// ```
/// use polywire_text::Blob;
///
/// let blob = Blob::from(vec![1, 2, 3]);
/// assert_eq!(blob.len(), 3);
/// assert_eq!(&blob[1..], &[2, 3]);
/// assert_eq!(format!("{blob:?} {blob:x}"), r#"b"\x01\x02\x03" 010203"#);
/// ```
#[derive(Clone)]
pub struct Blob(Repr);

impl Blob {
    /// No bytes.
    pub const EMPTY: Self = Self(Repr::EMPTY);

    #[inline]
    pub(crate) const fn from_repr(repr: Repr) -> Self {
        Self(repr)
    }

    #[inline]
    pub(crate) fn into_repr(self) -> Repr {
        self.0
    }

    #[inline]
    fn copy_from(bytes: &[u8]) -> Self {
        Self(Repr::copy(bytes))
    }

    /// Static bytes. Never allocates.
    #[must_use]
    pub const fn from_static(bytes: &'static [u8]) -> Self {
        Self(Repr::from_static(bytes))
    }

    /// The bytes.
    #[inline]
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// The number of bytes.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
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

    /// Whether the value keeps alive an allocation that is larger, or that others hold.
    #[inline]
    #[must_use]
    pub const fn is_shared(&self) -> bool {
        self.0.is_shared()
    }

    /// The number of bytes on the heap that the value keeps alive: see
    /// [`Text::heap_size`](crate::Text::heap_size).
    #[must_use]
    pub fn heap_size(&self) -> usize {
        self.0.heap_size()
    }

    /// A part of the bytes that shares their allocation. `None` if the range is out of bounds. A
    /// short part is inline; a part below 1/256 of an allocation above 4 KiB is a copy.
    ///
    /// ```
    /// use polywire_text::Blob;
    ///
    /// let frame = Blob::from(vec![7; 100]);
    /// let payload = frame.slice(4..).unwrap();
    /// assert_eq!(payload.as_ptr(), frame[4..].as_ptr());
    /// assert!(frame.slice(..101).is_none());
    /// ```
    #[must_use]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Option<Self> {
        let part = self.get(bounds(&range, self.len())?)?;
        Some(self.slice_ref(part))
    }

    /// `part` as a `Blob`: as by [`Blob::slice`] if it is a part of these bytes, else a copy.
    #[must_use]
    pub fn slice_ref(&self, part: &[u8]) -> Self {
        Self(self.0.part(part))
    }

    /// Copies the bytes if they are shared, so that they keep no input alive.
    #[must_use]
    pub fn into_owned(self) -> Self {
        Self(self.0.into_unshared())
    }

    /// The bytes as [`Bytes`]. Only inline bytes are copied.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        self.0.into_bytes()
    }
}

impl Default for Blob {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Deref for Blob {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl AsRef<[u8]> for Blob {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl Borrow<[u8]> for Blob {
    fn borrow(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl Hash for Blob {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Equal to the hash of `[u8]`, as `Borrow<[u8]>` requires.
        self.as_bytes().hash(state);
    }
}

impl fmt::Debug for Blob {
    /// A byte string; above 64 bytes only the beginning, and the length.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.as_bytes();
        match bytes.get(..64) {
            None => write!(f, "b\"{}\"", bytes.escape_ascii()),
            Some(head) => write!(f, "b\"{}\"... ({} bytes)", head.escape_ascii(), bytes.len()),
        }
    }
}

impl fmt::LowerHex for Blob {
    /// All bytes, two digits each; with `#` after `0x`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(f, self, b"0123456789abcdef")
    }
}

impl fmt::UpperHex for Blob {
    /// All bytes, two digits each; with `#` after `0x`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(f, self, b"0123456789ABCDEF")
    }
}

fn hex(f: &mut fmt::Formatter<'_>, bytes: &[u8], digits: &[u8; 16]) -> fmt::Result {
    use fmt::Write as _;
    if f.alternate() {
        f.write_str("0x")?;
    }
    for byte in bytes {
        f.write_char(char::from(digits[usize::from(byte >> 4)]))?;
        f.write_char(char::from(digits[usize::from(byte & 15)]))?;
    }
    Ok(())
}
