//! Encoded keys of maps, to detect duplicates.

use std::borrow::Cow;

use polywire_schema::{Error, ErrorKind, Limits, TokenReader as _};

use super::super::{CborDecoder, CborEncoder, CborProfile, locate};

/// The error for a duplicate key.
#[cold]
pub(super) fn duplicate(decoder: &CborDecoder<'_>, key: &[u8]) -> Error {
    let text = CborDecoder::from_slice(key, CborProfile::DEFAULT, &Limits::DEFAULT)
        .and_then(|mut key| key.text_string());
    match text {
        Ok(text) => decoder.duplicate_key(&text),
        Err(_) => {
            let error = decoder.error(ErrorKind::Duplicate, "each key once");
            error.found(locate::describe(key))
        }
    }
}

/// The shortest encoding of a key. Two encodings of the same key have the same shortest encoding,
/// except for floating-point numbers of different widths.
#[inline]
pub(super) fn shortest(key: &[u8]) -> Cow<'_, [u8]> {
    // Most keys: integers and strings with a minimal head of one or two bytes.
    let is_shortest = match *key {
        [first, ..] if first >> 5 < 4 && first & 0x1f < 24 => true,
        [first, len, ..] if first >> 5 < 4 && first & 0x1f == 24 => len >= 24,
        _ => false,
    };
    match is_shortest {
        true => Cow::Borrowed(key),
        false => reencode(key),
    }
}

#[inline(never)]
fn reencode(key: &[u8]) -> Cow<'_, [u8]> {
    let value = CborDecoder::from_slice(key, CborProfile::DEFAULT, &Limits::DEFAULT)
        .and_then(|mut key| key.document_value());
    let Ok(value) = value else {
        // A map with keys other than text cannot be read without a type.
        return Cow::Borrowed(key);
    };
    let mut encoder = CborEncoder::new(Vec::new());
    encoder.document_value(&value);
    encoder.finish().map_or(Cow::Borrowed(key), Cow::Owned)
}
