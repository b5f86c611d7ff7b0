//! Equality and order, with strings of every kind and both ways.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::Text;

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
        match (self.0.outside_bytes(), other.0.outside_bytes()) {
            (Some(one), Some(other)) => one == other,
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
        // Byte order is code point order in UTF-8.
        self.0.as_bytes().cmp(other.0.as_bytes())
    }
}

/// Both ways, for a type that dereferences to `str`.
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
