//! UTF-8 validation.

use crate::Malformed;

/// Below this length a plain check beats the set-up of the SIMD validator.
const SIMD_FROM: usize = 64;

/// `bytes` as a string, or the offset of the first byte that is not UTF-8.
///
/// Short ASCII, which is most of what a wire carries, is seen by masking
/// eight bytes at a time; long input goes through SIMD.
///
/// ```
/// use polywire_text::utf8;
///
/// assert_eq!(utf8::validate(b"Z\xc3\xbcrich").unwrap(), "Zürich");
/// assert_eq!(utf8::validate(b"Z\xfcrich").unwrap_err().offset, 1);
/// ```
///
/// # Errors
///
/// A [`Malformed`] whose offset is that of the first invalid byte.
#[inline]
pub fn validate(bytes: &[u8]) -> Result<&str, Malformed> {
    if bytes.len() < SIMD_FROM {
        return std::str::from_utf8(bytes).map_err(|error| malformed(error.valid_up_to()));
    }
    simdutf8::basic::from_utf8(bytes).map_err(|_| locate(bytes))
}

/// Finds the offset that the SIMD validator doesn't tell.
#[cold]
fn locate(bytes: &[u8]) -> Malformed {
    let offset = std::str::from_utf8(bytes)
        .err()
        .map_or(0, |error| error.valid_up_to());
    malformed(offset)
}

#[cold]
fn malformed(offset: usize) -> Malformed {
    Malformed::new(offset, "UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_is_that_of_the_first_bad_byte() {
        for len in [1, 10, 63, 64, 65, 200] {
            let mut bytes = vec![b'a'; len];
            assert!(validate(&bytes).is_ok());
            bytes[len - 1] = 0xff;
            assert_eq!(validate(&bytes).unwrap_err().offset, len - 1);
        }
    }
}
