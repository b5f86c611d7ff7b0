//! Encoded keys and their segments.

use std::cmp::Ordering;

use polywire_text::percent;

use super::super::index;

/// The offsets of a field in the form: `key <= key_end <= value <= end`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) key: usize,
    pub(super) key_end: usize,
    pub(super) value: usize,
    pub(super) end: usize,
}

impl Field {
    pub(super) const fn new([key, key_end, value, end]: [usize; 4]) -> Self {
        Self {
            key,
            key_end,
            value,
            end,
        }
    }

    #[inline]
    pub(super) fn key(self, form: &str) -> &str {
        &form[self.key..self.key_end]
    }
}

/// The end of the segment of a key that begins at `at`.
#[inline]
pub(super) fn segment_end(key: &str, at: usize) -> usize {
    let rest = key.as_bytes().get(at..).unwrap_or_default();
    rest.iter()
        .position(|byte| *byte == b'.')
        .map_or(key.len(), |len| at + len)
}

/// Whether a segment is the number of an item: digits without a leading zero.
pub(super) fn is_number(segment: &str) -> bool {
    let bytes = segment.as_bytes();
    matches!(bytes, [b'1'..=b'9', ..]) && bytes.iter().all(u8::is_ascii_digit)
}

/// Compares segments. Numbers come before names.
fn compare_segments(left: &str, right: &str) -> Ordering {
    match (is_number(left), is_number(right)) {
        (true, true) => left.len().cmp(&right.len()).then_with(|| left.cmp(right)),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => compare_names(left, right),
    }
}

fn compare_names(left: &str, right: &str) -> Ordering {
    let is_encoded = |name: &str| name.bytes().any(|byte| matches!(byte, b'%' | b'+'));
    match is_encoded(left) || is_encoded(right) {
        true => decoded(left).cmp(decoded(right)),
        false => left.cmp(right),
    }
}

/// The decoded bytes of a segment whose percent-encoding is known to be valid.
fn decoded(segment: &str) -> impl Iterator<Item = u8> {
    let mut rest = segment.as_bytes();
    std::iter::from_fn(move || {
        let (byte, len) = match rest {
            [b'%', high, low, ..] => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16).unwrap_or_default() as u8;
                (digit(high) << 4 | digit(low), 3)
            }
            [b'+', ..] => (b' ', 1),
            [byte, ..] => (*byte, 1),
            [] => return None,
        };
        rest = &rest[len..];
        Some(byte)
    })
}

/// Compares keys by their segments, so that the fields of a structure, list or map are adjacent and
/// items have the order of their numbers.
pub(super) fn compare(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left.split('.'), right.split('.'));
    loop {
        let order = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(left), Some(right)) => compare_segments(left, right),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// The end of the first segments of a key if they are equal to the segments of `prefix`, else `None`.
#[inline]
pub(super) fn strip_prefix(key: &str, prefix: &str) -> Option<usize> {
    if let Some(rest) = key.strip_prefix(prefix)
        && matches!(rest.as_bytes(), [] | [b'.', ..])
    {
        return Some(prefix.len());
    }
    let may_be_equal = key
        .bytes()
        .chain(prefix.bytes())
        .any(|byte| matches!(byte, b'%' | b'+'));
    may_be_equal
        .then(|| slow_strip_prefix(key, prefix))
        .flatten()
}

#[cold]
fn slow_strip_prefix(key: &str, prefix: &str) -> Option<usize> {
    let mut end = 0;
    let mut start = 0;
    for segment in prefix.split('.') {
        if start > key.len() {
            return None;
        }
        end = segment_end(key, start);
        if compare_segments(&key[start..end], segment) != Ordering::Equal {
            return None;
        }
        start = end + 1;
    }
    Some(end)
}

/// A key for errors: decoded, shortened and printable.
#[cold]
pub(super) fn shown(key: &str) -> String {
    index::shown(&percent::decode_query(key).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order() {
        let keys = [
            "1", "2", "10", "a", "a.1", "a.2.b", "a.10", "a.b", "a-b", "b",
        ];
        for (left, one) in keys.iter().enumerate() {
            for (right, other) in keys.iter().enumerate() {
                assert_eq!(compare(one, other), left.cmp(&right), "{one} {other}");
            }
        }
        assert_eq!(compare("%61.b", "a.b"), Ordering::Equal);
        assert_eq!(compare("a%2Eb", "a.b"), Ordering::Greater);
    }

    #[test]
    fn prefixes() {
        for (key, prefix, at) in [
            ("a.b", "a", Some(1)),
            ("a", "a", Some(1)),
            ("ab", "a", None),
            ("a.b.c", "a.b", Some(3)),
            ("%61.b", "a", Some(3)),
            ("a.b", "%61", Some(1)),
            ("a", "%61.b", None),
            ("a%2Eb", "a", None),
        ] {
            assert_eq!(strip_prefix(key, prefix), at, "{key} {prefix}");
        }
    }
}
