//! Comparison with bytes.

use std::borrow::Cow;
use std::cmp::Ordering;

use bytes::Bytes;

use super::Blob;

impl PartialEq for Blob {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Blob {}

impl PartialOrd for Blob {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Blob {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

/// Comparison in both directions with a type that is a slice of bytes.
macro_rules! compares {
    ($([$($length:tt)*] $other:ty),* $(,)?) => {$(
        impl<$($length)*> PartialEq<$other> for Blob {
            fn eq(&self, other: &$other) -> bool {
                let other: &[u8] = other.as_ref();
                self.as_bytes() == other
            }
        }

        impl<$($length)*> PartialEq<Blob> for $other {
            fn eq(&self, other: &Blob) -> bool {
                other == self
            }
        }

        impl<$($length)*> PartialOrd<$other> for Blob {
            fn partial_cmp(&self, other: &$other) -> Option<Ordering> {
                let other: &[u8] = other.as_ref();
                Some(self.as_bytes().cmp(other))
            }
        }

        impl<$($length)*> PartialOrd<Blob> for $other {
            fn partial_cmp(&self, other: &Blob) -> Option<Ordering> {
                let bytes: &[u8] = self.as_ref();
                Some(bytes.cmp(other.as_bytes()))
            }
        }
    )*};
}

compares!(
    [] [u8],
    [] &[u8],
    [const N: usize] [u8; N],
    [const N: usize] &[u8; N],
    [] Vec<u8>,
    [] Cow<'_, [u8]>,
    [] Bytes,
);
