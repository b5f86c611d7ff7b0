//! Conversion from and to other bytes.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;

use super::Blob;
use crate::repr::Repr;

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

impl<const N: usize> From<[u8; N]> for Blob {
    fn from(bytes: [u8; N]) -> Self {
        Self::copy_from(&bytes)
    }
}

impl From<&Vec<u8>> for Blob {
    fn from(bytes: &Vec<u8>) -> Self {
        Self::copy_from(bytes)
    }
}

impl From<&Self> for Blob {
    fn from(blob: &Self) -> Self {
        blob.clone()
    }
}

impl From<Vec<u8>> for Blob {
    /// Takes over the vector without a copy, unless it fits inline or more than half of its
    /// capacity is unused.
    fn from(bytes: Vec<u8>) -> Self {
        Self(Repr::from_vec(bytes))
    }
}

impl From<Box<[u8]>> for Blob {
    fn from(bytes: Box<[u8]>) -> Self {
        Self::from(Vec::from(bytes))
    }
}

impl From<String> for Blob {
    fn from(text: String) -> Self {
        Self::from(text.into_bytes())
    }
}

impl From<Cow<'_, [u8]>> for Blob {
    fn from(bytes: Cow<'_, [u8]>) -> Self {
        match bytes {
            Cow::Borrowed(bytes) => Self::copy_from(bytes),
            Cow::Owned(bytes) => Self::from(bytes),
        }
    }
}

impl From<Arc<[u8]>> for Blob {
    /// Shares the allocation of long bytes.
    fn from(bytes: Arc<[u8]>) -> Self {
        Self(Repr::from_arc(bytes))
    }
}

impl From<Rc<[u8]>> for Blob {
    fn from(bytes: Rc<[u8]>) -> Self {
        Self::copy_from(&bytes)
    }
}

impl From<Bytes> for Blob {
    /// Takes over the bytes without a copy, unless they fit inline. They count as shared, as they
    /// may be a part of a larger allocation.
    fn from(bytes: Bytes) -> Self {
        Self(Repr::from_bytes(bytes))
    }
}

impl FromIterator<u8> for Blob {
    fn from_iter<I: IntoIterator<Item = u8>>(bytes: I) -> Self {
        Self::from(Vec::from_iter(bytes))
    }
}

impl From<Blob> for Vec<u8> {
    /// Returns the `Vec<u8>` that the blob was made from, if there are no clones.
    fn from(blob: Blob) -> Self {
        blob.0.into_vec()
    }
}

impl From<&Blob> for Vec<u8> {
    fn from(blob: &Blob) -> Self {
        blob.as_bytes().to_vec()
    }
}

impl From<Blob> for Box<[u8]> {
    fn from(blob: Blob) -> Self {
        Self::from(blob.as_bytes())
    }
}

impl From<Blob> for Arc<[u8]> {
    /// Returns the `Arc<[u8]>` that the blob was made from.
    fn from(blob: Blob) -> Self {
        blob.0.into_arc()
    }
}

impl From<Blob> for Rc<[u8]> {
    fn from(blob: Blob) -> Self {
        Self::from(blob.as_bytes())
    }
}

impl From<Blob> for Bytes {
    fn from(blob: Blob) -> Self {
        blob.into_bytes()
    }
}

impl From<Blob> for Cow<'_, [u8]> {
    fn from(blob: Blob) -> Self {
        Cow::Owned(blob.into())
    }
}

impl<'a> From<&'a Blob> for Cow<'a, [u8]> {
    fn from(blob: &'a Blob) -> Self {
        Cow::Borrowed(blob)
    }
}
