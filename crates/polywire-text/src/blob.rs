//! `Blob`: bytes, inline or shared.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use bytes::Bytes;

use crate::repr::Repr;

/// Immutable bytes in 24 bytes: up to [`INLINE_CAPACITY`](crate::INLINE_CAPACITY)
/// inline, more as a range of the input that they were read from, or as one
/// allocation. The byte twin of [`Text`](crate::Text).
///
/// Cloning never copies long data: it copies 24 bytes or counts a handle up.
///
/// ```
/// use polywire_text::Blob;
///
/// let blob = Blob::from(vec![1, 2, 3]);
/// assert_eq!(blob.len(), 3);
/// assert_eq!(&blob[1..], &[2, 3]);
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

    /// A copy of `bytes`: one allocation if they are too long for the inline
    /// form, else none.
    #[inline]
    #[must_use]
    pub fn copy_from(bytes: &[u8]) -> Self {
        Self(Repr::copy(bytes))
    }

    /// Bytes that live as long as the program. Never allocates.
    #[must_use]
    pub const fn from_static(bytes: &'static [u8]) -> Self {
        Self(Repr::Static(bytes))
    }

    /// The bytes.
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Whether this value is a range of a shared input, which it keeps alive.
    #[must_use]
    pub const fn is_shared(&self) -> bool {
        self.0.is_shared()
    }

    /// A value that keeps no input alive: copies a shared range, returns
    /// anything else as it is.
    #[must_use]
    pub fn into_owned(self) -> Self {
        Self(self.0.detached())
    }

    /// The bytes as [`Bytes`], without a copy where they are shared or static.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        match self.0 {
            Repr::Static(bytes) => Bytes::from_static(bytes),
            Repr::Shared {
                len, body, start, ..
            } => {
                let start = start as usize;
                body.slice(start..start + len as usize)
            }
            Repr::Owned(bytes) => Bytes::from_owner(bytes),
            Repr::Inline { .. } => Bytes::copy_from_slice(self.as_bytes()),
        }
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

impl From<&[u8]> for Blob {
    fn from(bytes: &[u8]) -> Self {
        Self::copy_from(bytes)
    }
}

impl<const N: usize> From<&[u8; N]> for Blob {
    fn from(bytes: &[u8; N]) -> Self {
        Self::copy_from(bytes)
    }
}

impl From<Vec<u8>> for Blob {
    /// Takes the vector over without copying it, unless it fits inline or
    /// more than half of its capacity is unused.
    fn from(bytes: Vec<u8>) -> Self {
        Self(Repr::from_vec(bytes))
    }
}

impl From<Bytes> for Blob {
    /// Takes the bytes over without copying them, unless they fit inline.
    /// They count as shared: they may be a part of something larger.
    fn from(bytes: Bytes) -> Self {
        Self(Repr::from_bytes(bytes))
    }
}

impl PartialEq for Blob {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Blob {}

impl PartialEq<[u8]> for Blob {
    fn eq(&self, other: &[u8]) -> bool {
        self.as_bytes() == other
    }
}

impl PartialEq<&[u8]> for Blob {
    fn eq(&self, other: &&[u8]) -> bool {
        self.as_bytes() == *other
    }
}

impl<const N: usize> PartialEq<[u8; N]> for Blob {
    fn eq(&self, other: &[u8; N]) -> bool {
        self.as_bytes() == other
    }
}

impl PartialEq<Vec<u8>> for Blob {
    fn eq(&self, other: &Vec<u8>) -> bool {
        self.as_bytes() == other
    }
}

impl PartialEq<Blob> for [u8] {
    fn eq(&self, other: &Blob) -> bool {
        self == other.as_bytes()
    }
}

impl PartialEq<Blob> for Vec<u8> {
    fn eq(&self, other: &Blob) -> bool {
        self == other.as_bytes()
    }
}

impl PartialOrd for Blob {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Blob {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl Hash for Blob {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl fmt::Debug for Blob {
    /// Short blobs as a byte string, long ones by their beginning and length.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.as_bytes();
        match bytes.get(..64) {
            None => write!(f, "b\"{}\"", bytes.escape_ascii()),
            Some(head) => write!(f, "b\"{}\"... ({} bytes)", head.escape_ascii(), bytes.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_with_bytes_of_every_kind() {
        let blob = Blob::from(b"abc");
        assert_eq!(blob, b"abc"[..]);
        assert_eq!(blob, &b"abc"[..]);
        assert_eq!(blob, *b"abc");
        assert_eq!(blob, b"abc".to_vec());
        assert_eq!(b"abc".to_vec(), blob);
        assert_eq!(b"abc"[..], blob);
        assert_ne!(blob, b"abd".to_vec());
        assert_ne!(blob, &b"ab"[..]);
    }
}
