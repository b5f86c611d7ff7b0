//! Comparison with strings.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::Text;

/// Whether two strings are equal. Up to 64 bytes are compared as two overlapping chunks, which is
/// faster than a call of `memcmp`.
#[inline]
fn same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len()
        && match one.len() {
            8..=16 => chunks::<8>(one, other),
            4..=7 => chunks::<4>(one, other),
            2..=3 => chunks::<2>(one, other),
            17.. => same_long(one, other),
            _ => one == other,
        }
}

/// Whether two strings of equal length, at least 16 bytes, are equal.
#[inline]
fn same_long(one: &[u8], other: &[u8]) -> bool {
    match one.len() {
        16..=32 => chunks::<16>(one, other),
        33..=64 => chunks::<32>(one, other),
        _ => one == other,
    }
}

/// Whether two strings of `N` to `2 * N` bytes are equal.
#[inline(always)]
fn chunks<const N: usize>(one: &[u8], other: &[u8]) -> bool {
    let head = one.first_chunk::<N>().zip(other.first_chunk());
    let tail = one.last_chunk::<N>().zip(other.last_chunk());
    // `&` instead of `&&`: no branch between the comparisons.
    head.is_some_and(|(one, other)| one == other) & tail.is_some_and(|(one, other)| one == other)
}

impl Text {
    /// Whether the bytes of the string are equal to `bytes`.
    #[inline]
    #[must_use]
    pub fn is(&self, bytes: &[u8]) -> bool {
        same(self.0.as_bytes(), bytes)
    }
}

impl PartialEq for Text {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        match (self.0.external_bytes(), other.0.external_bytes()) {
            (Some(one), Some(other)) => one.len() == other.len() && same_long(one, other),
            _ => self.is(other.0.as_bytes()),
        }
    }
}

impl Eq for Text {}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> Ordering {
        // In UTF-8, the order of bytes is that of code points.
        self.0.as_bytes().cmp(other.0.as_bytes())
    }
}

/// Comparison in both directions with a type that dereferences to `str`.
macro_rules! compares {
    ($($other:ty),*) => {$(
        impl PartialEq<$other> for Text {
            #[inline]
            fn eq(&self, other: &$other) -> bool {
                self.is(other.as_bytes())
            }
        }

        impl PartialEq<Text> for $other {
            #[inline]
            fn eq(&self, other: &Text) -> bool {
                other.is(self.as_bytes())
            }
        }

        impl PartialOrd<$other> for Text {
            fn partial_cmp(&self, other: &$other) -> Option<Ordering> {
                Some(self.0.as_bytes().cmp(other.as_bytes()))
            }
        }

        impl PartialOrd<Text> for $other {
            fn partial_cmp(&self, other: &Text) -> Option<Ordering> {
                Some(self.as_bytes().cmp(other.0.as_bytes()))
            }
        }
    )*};
}

compares!(str, &str, String, Cow<'_, str>);
