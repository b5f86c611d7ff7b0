//! UTF-8 validation.

use crate::Malformed;
use crate::block::{Block, Block16};

/// Below this length, the standard library is faster than the SIMD validator.
const SIMD_FROM: usize = 64;

/// Validates `bytes` as UTF-8.
///
/// Short ASCII, the most common input, is tested eight bytes at a time; long input is validated by
/// the crate simdutf8, which selects vector instructions itself.
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
/// The offset of the first byte that is not UTF-8.
#[inline]
pub fn validate(bytes: &[u8]) -> Result<&str, Malformed> {
    if is_short_ascii(bytes) {
        // SAFETY: all bytes are below 0x80, and ASCII is valid UTF-8.
        return Ok(unsafe { std::str::from_utf8_unchecked(bytes) });
    }
    validate_long(bytes)
}

/// Converts `bytes` to a `String` without a copy.
///
/// ```
/// use polywire_text::utf8;
///
/// assert_eq!(utf8::into_string("Zürich".into()).unwrap(), "Zürich");
/// let (bytes, error) = utf8::into_string(b"Z\xfcrich".into()).unwrap_err();
/// assert_eq!((bytes.as_slice(), error.offset), (&b"Z\xfcrich"[..], 1));
/// ```
///
/// # Errors
///
/// `bytes` and the error of [`validate`].
#[inline]
pub fn into_string(bytes: Vec<u8>) -> Result<String, (Vec<u8>, Malformed)> {
    match validate(&bytes) {
        // SAFETY: `validate` has accepted these bytes.
        Ok(_) => Ok(unsafe { String::from_utf8_unchecked(bytes) }),
        Err(error) => Err((bytes, error)),
    }
}

/// `bytes` as a string, if all are ASCII and none is `byte`: two tests in one pass.
///
/// ```
/// use polywire_text::utf8;
///
/// assert_eq!(utf8::ascii_without(b"plain", b']'), Some("plain"));
/// assert_eq!(utf8::ascii_without(b"not [plain]", b']'), None);
/// ```
#[must_use]
pub fn ascii_without(bytes: &[u8], byte: u8) -> Option<&str> {
    // SAFETY: all bytes are below 0x80, and ASCII is valid UTF-8.
    is_ascii_without(bytes, byte).then(|| unsafe { std::str::from_utf8_unchecked(bytes) })
}

/// `bytes` as a string, if all are ASCII.
///
/// ```
/// use polywire_text::utf8;
///
/// assert_eq!(utf8::ascii(b"plain"), Some("plain"));
/// assert_eq!(utf8::ascii("Zürich".as_bytes()), None);
/// ```
#[must_use]
pub fn ascii(bytes: &[u8]) -> Option<&str> {
    // SAFETY: all bytes are below 0x80, and ASCII is valid UTF-8.
    is_ascii(bytes).then(|| unsafe { std::str::from_utf8_unchecked(bytes) })
}

fn is_ascii(bytes: &[u8]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = crate::cpu::avx2() {
        // SAFETY: the token proves that the processor has the features of the function.
        return unsafe { is_ascii_wide(token, bytes) };
    }
    bytes.is_ascii()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn is_ascii_wide(token: crate::cpu::Avx2, bytes: &[u8]) -> bool {
    use crate::block::Block32;

    // The last block overlaps the one before.
    let Some(last) = bytes.last_chunk::<32>() else {
        return bytes.is_ascii();
    };
    let mut rest = bytes;
    while let Some((block, tail)) = rest.split_first_chunk::<256>() {
        let parts = block.as_chunks::<32>().0.iter();
        let all = parts.map(|part| Block32::load(token, part));
        if all.reduce(Block32::or).is_some_and(|seen| seen.mask() != 0) {
            return false;
        }
        rest = tail;
    }
    let mut seen = Block32::load(token, last);
    if let Some((half, tail)) = rest.split_first_chunk::<128>() {
        for part in half.as_chunks::<32>().0 {
            seen = seen.or(Block32::load(token, part));
        }
        rest = tail;
    }
    while let Some((part, tail)) = rest.split_first_chunk::<32>() {
        seen = seen.or(Block32::load(token, part));
        rest = tail;
    }
    seen.mask() == 0
}

fn is_ascii_without(bytes: &[u8], byte: u8) -> bool {
    #[cfg(target_arch = "x86_64")]
    if let Some(token) = crate::cpu::avx2() {
        // SAFETY: the token proves that the processor has the features of the function.
        return unsafe { is_ascii_without_wide(token, bytes, byte) };
    }
    let (blocks, rest) = bytes.as_chunks::<64>();
    blocks.iter().all(|block| is_plain_block(block, byte)) && is_plain_rest(rest, byte)
}

/// Whether all bytes are ASCII and none is `byte`. `N` must be a multiple of 16.
#[inline(always)]
fn is_plain_block<const N: usize>(block: &[u8; N], byte: u8) -> bool {
    let blocks = block.as_chunks::<16>().0.iter().map(|part| {
        let part = Block16::load(part);
        // The mask has the high bit of both.
        part.or(part.equals(byte))
    });
    blocks.reduce(Block16::or).is_none_or(|all| all.mask() == 0)
}

/// As [`is_plain_block`], for fewer than 256 bytes.
fn is_plain_rest(rest: &[u8], byte: u8) -> bool {
    let Some(last) = rest.last_chunk::<16>() else {
        return rest.iter().all(|own| own.is_ascii() && *own != byte);
    };
    // The last block overlaps the one before.
    let (blocks, _) = rest.as_chunks::<16>();
    is_plain_block(last, byte) && blocks.iter().all(|block| is_plain_block(block, byte))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn is_ascii_without_wide(token: crate::cpu::Avx2, bytes: &[u8], byte: u8) -> bool {
    use crate::block::Block32;

    let (blocks, rest) = bytes.as_chunks::<256>();
    let is_plain = |block: &[u8; 256]| {
        let parts = block.as_chunks::<32>().0.iter().map(|part| {
            let part = Block32::load(token, part);
            part.or(part.equals(byte))
        });
        parts.reduce(Block32::or).is_none_or(|all| all.mask() == 0)
    };
    blocks.iter().all(is_plain) && is_plain_rest(rest, byte)
}

#[inline(never)]
fn validate_long(bytes: &[u8]) -> Result<&str, Malformed> {
    if bytes.len() < SIMD_FROM {
        return std::str::from_utf8(bytes).map_err(|error| malformed(error.valid_up_to()));
    }
    if is_medium_ascii(bytes) {
        // SAFETY: as in `validate`.
        return Ok(unsafe { std::str::from_utf8_unchecked(bytes) });
    }
    simdutf8::basic::from_utf8(bytes).map_err(|_| locate(bytes))
}

/// Whether there are 16 to 256 bytes, all ASCII.
#[inline]
fn is_medium_ascii(bytes: &[u8]) -> bool {
    let Some(last) = bytes.last_chunk::<16>() else {
        return false;
    };
    let (chunks, _) = bytes.as_chunks::<16>();
    chunks.len() <= 16
        && chunks
            .iter()
            .fold(Block16::load(last), |all, chunk| {
                all.or(Block16::load(chunk))
            })
            .mask()
            == 0
}

/// Whether there are at most 32 bytes, all ASCII.
#[inline]
fn is_short_ascii(bytes: &[u8]) -> bool {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) else {
        return bytes.iter().fold(0, |all, byte| all | byte) < 0x80;
    };
    let mut all = word(first) | word(last);
    if bytes.len() > 16 {
        let (Some(second), Some(third)) = (
            bytes.get(8..).and_then(<[u8]>::first_chunk::<8>),
            bytes
                .get(..bytes.len() - 8)
                .and_then(<[u8]>::last_chunk::<8>),
        ) else {
            return false;
        };
        all |= word(second) | word(third);
    }
    // Up to 32 bytes, these four words cover everything.
    bytes.len() <= 32 && all & HIGH == 0
}

/// The error, whose offset the SIMD validator does not return.
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
