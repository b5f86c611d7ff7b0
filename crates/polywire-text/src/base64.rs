//! Base64 by RFC 4648, section 4: the standard alphabet, padding required,
//! strict on reading (no white space, no stray bits). The work is done by
//! `base64-simd`.

use base64_simd::{AsOut, STANDARD};
use std::sync::Arc;

use crate::repr::Repr;
use crate::{Blob, INLINE_CAPACITY, Malformed};

/// The number of characters that `len` bytes take.
#[must_use]
pub const fn encoded_len(len: usize) -> usize {
    len.div_ceil(3) * 4
}

/// Appends `bytes` in base64.
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::base64::push(&mut out, b"light work.");
/// assert_eq!(out, b"bGlnaHQgd29yay4=");
/// ```
pub fn push(out: &mut Vec<u8>, bytes: &[u8]) {
    STANDARD.encode_append(bytes, out);
}

/// Decodes base64 straight into a [`Blob`]: one allocation if the result is
/// longer than 23 bytes, else none.
///
/// # Errors
///
/// The offset of the first byte that is not base64.
///
/// ```
/// use polywire_text::base64;
///
/// assert_eq!(&base64::decode(b"AQID")?[..], [1, 2, 3]);
/// assert!(base64::decode(b"AQI").is_err());
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
pub fn decode(text: &[u8]) -> Result<Blob, Malformed> {
    let Ok(len) = STANDARD.decoded_length(text) else {
        return Err(locate(text));
    };
    if len <= INLINE_CAPACITY {
        let mut short = [0; 24];
        let decoded = STANDARD.decode(text, short.as_mut_slice().as_out());
        let decoded = decoded.map_err(|_| locate(text))?;
        return Ok(Blob::from_repr(Repr::copy(decoded)));
    }
    let mut bytes = Arc::<[u8]>::new_uninit_slice(len);
    // The handle was made on the line above, so nobody shares it.
    let Some(space) = Arc::get_mut(&mut bytes) else {
        return Err(locate(text));
    };
    let written = STANDARD.decode(text, base64_simd::Out::from_uninit_slice(space));
    if written.map_err(|_| locate(text))?.len() != len {
        return Err(locate(text));
    }
    // SAFETY: `decode` has written exactly `len` bytes to the beginning of
    // the slice, which has `len` bytes; the check above saw it.
    let bytes = unsafe { bytes.assume_init() };
    Ok(Blob::from_repr(Repr::from_arc(bytes)))
}

/// Finds what is wrong, on the way out.
#[cold]
fn locate(text: &[u8]) -> Malformed {
    const EXPECTED: &str = "base64 (A-Z a-z 0-9 + / and = padding)";
    let data = text
        .iter()
        .position(|byte| !(byte.is_ascii_alphanumeric() || b"+/".contains(byte)));
    match data {
        // Padding at the very end: then its amount or the stray bits are wrong.
        Some(offset) if !text[offset..].iter().all(|byte| *byte == b'=') => {
            Malformed::new(offset, EXPECTED)
        }
        _ => Malformed::new(
            text.len(),
            "base64 in groups of four characters, padded with =",
        ),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn strict() {
        for bad in [
            "A", "AA", "AAA", "AA=", "A===", "AAAA=", "AA==AA==", "AA\n==", "AB==", "A-_=", "=AAA",
        ] {
            assert!(decode(bad.as_bytes()).is_err(), "{bad}");
        }
        assert_eq!(decode(b"AA!A").unwrap_err().offset, 2);
        assert_eq!(decode(b"").unwrap().len(), 0);
    }

    proptest! {
        #[test]
        fn round_trips(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut text = Vec::new();
            push(&mut text, &bytes);
            prop_assert_eq!(text.len(), encoded_len(bytes.len()));
            let decoded = decode(&text).unwrap();
            prop_assert_eq!(decoded.as_bytes(), &bytes[..]);
        }
    }
}
