//! Ranges of objects: RFC 9110, section 14.
//!
//! <https://www.rfc-editor.org/rfc/rfc9110#section-14>

use std::ops::Range;

use crate::error::Error;

/// The bytes that a `Range` header selects of `len` bytes. `None` if there is no header, or one that S3 ignores: another
/// unit, several ranges, or a malformed range.
///
/// # Errors
///
/// There are no such bytes.
pub(crate) fn find(range: Option<&str>, len: u64) -> Result<Option<Range<u64>>, Error> {
    let Some((first, last)) = range.and_then(parts) else {
        return Ok(None);
    };
    let range = match (first, last) {
        (Some(first), Some(last)) if first > last => return Ok(None),
        (Some(first), last) => {
            let end = last.map_or(len, |last| last.saturating_add(1).min(len));
            first..end
        }
        (None, Some(count)) => len.saturating_sub(count)..len,
        (None, None) => return Ok(None),
    };
    match range.is_empty() {
        true => Err(Error::InvalidRange),
        false => Ok(Some(range)),
    }
}

/// The bytes of `x-amz-copy-source-range`, which has both ends.
///
/// # Errors
///
/// It is malformed, or goes beyond the end.
pub(crate) fn of_copy(range: Option<&str>, len: u64) -> Result<Range<u64>, Error> {
    let wrong = Error::InvalidArgument(
        "The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy",
    );
    let Some(range) = range else {
        return Ok(0..len);
    };
    match parts(range) {
        Some((Some(first), Some(last))) if first > last => Err(wrong),
        Some((Some(first), Some(last))) if last < len => Ok(first..last + 1),
        Some((Some(_), Some(_))) => Err(Error::InvalidRange),
        _ => Err(wrong),
    }
}

fn parts(range: &str) -> Option<(Option<u64>, Option<u64>)> {
    let (first, last) = range.trim().strip_prefix("bytes=")?.split_once('-')?;
    let number = |text: &str| match text.trim() {
        "" => Some(None),
        text if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            // A number that is too large is beyond the end.
            Some(Some(text.parse().unwrap_or(u64::MAX)))
        }
        _ => None,
    };
    Some((number(first)?, number(last)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        for (range, found) in [
            ("bytes=0-0", Ok(Some(0..1))),
            ("bytes=2-", Ok(Some(2..10))),
            ("bytes=-3", Ok(Some(7..10))),
            ("bytes=-99", Ok(Some(0..10))),
            ("bytes=5-99999999999999999999999", Ok(Some(5..10))),
            ("bytes=10-", Err(Error::InvalidRange)),
            ("bytes=-0", Err(Error::InvalidRange)),
            ("bytes=3-2", Ok(None)),
            ("bytes=-", Ok(None)),
            ("bytes=1-2,4-5", Ok(None)),
            ("lines=1-2", Ok(None)),
            ("bytes=+1-2", Ok(None)),
        ] {
            assert_eq!(find(Some(range), 10), found, "{range}");
        }
        assert_eq!(find(None, 10), Ok(None));
        assert_eq!(find(Some("bytes=0-"), 0), Err(Error::InvalidRange));
    }
    #[test]
    fn ranges_of_copies() {
        assert_eq!(of_copy(None, 10), Ok(0..10));
        assert_eq!(of_copy(Some("bytes=2-9"), 10), Ok(2..10));
        assert_eq!(of_copy(Some("bytes=2-10"), 10), Err(Error::InvalidRange));
        for wrong in ["bytes=2-", "bytes=-2", "2-3", "bytes=3-2"] {
            assert!(matches!(
                of_copy(Some(wrong), 10),
                Err(Error::InvalidArgument(_))
            ));
        }
    }
}
