//! Keys of maps as bytes: two spellings of one key are one.

use std::borrow::Cow;

use polywire_schema::{Error, ErrorKind, Limits, TokenReader as _};

use super::super::{CborDecoder, CborEncoder, CborProfile, locate};

/// The error for a duplicate key.
#[cold]
pub(super) fn duplicate(decoder: &CborDecoder<'_>, key: &[u8]) -> Error {
    let text = CborDecoder::from_slice(key, CborProfile::DEFAULT, &Limits::DEFAULT)
        .and_then(|mut key| key.text_string());
    match text {
        Ok(text) => decoder.twice(&text),
        Err(_) => {
            let error = decoder.error(ErrorKind::Duplicate, "each key once");
            error.found(locate::describe(key))
        }
    }
}

/// A key as it would be written in the shortest way, which nearly all are: two spellings
/// of one key are one. A float of another width is another key.
#[inline]
pub(super) fn shortest(key: &[u8]) -> Cow<'_, [u8]> {
    // Integers and strings whose length stands in the first byte or in the second.
    let plain = match *key {
        [first, ..] if first >> 5 < 4 && first & 0x1f < 24 => true,
        [first, len, ..] if first >> 5 < 4 && first & 0x1f == 24 => len >= 24,
        _ => false,
    };
    match plain {
        true => Cow::Borrowed(key),
        false => reencode(key),
    }
}

#[inline(never)]
fn reencode(key: &[u8]) -> Cow<'_, [u8]> {
    let value = CborDecoder::from_slice(key, CborProfile::DEFAULT, &Limits::DEFAULT)
        .and_then(|mut key| key.document_value());
    let Ok(value) = value else {
        // Such as a map with other keys than text.
        return Cow::Borrowed(key);
    };
    let mut encoder = CborEncoder::new(Vec::new());
    encoder.document_value(&value);
    encoder.finish().map_or(Cow::Borrowed(key), Cow::Owned)
}
