//! Parts of objects: RFC 9110, section 14.
//!
//! <https://www.rfc-editor.org/rfc/rfc9110#section-14>

use std::ops::Range;

use crate::error::Error;

/// What a `Range` names of so many bytes; none if it names them all, or what
/// S3 does not look at: other units, several ranges, ranges that are none.
///
/// # Errors
///
/// There are no such bytes.
pub(crate) fn find(range: Option<&str>, len: usize) -> Result<Option<Range<usize>>, Error> {
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

fn parts(range: &str) -> Option<(Option<usize>, Option<usize>)> {
    let (first, last) = range.trim().strip_prefix("bytes=")?.split_once('-')?;
    let number = |text: &str| match text.trim() {
        "" => Some(None),
        text if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            // More than can be counted is more than there is.
            Some(Some(text.parse().unwrap_or(usize::MAX)))
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
}
