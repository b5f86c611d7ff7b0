//! The keys of maps, none of which may come twice.

use std::borrow::Cow;

use polywire_schema::{Error, ErrorKind, Limits};

use super::super::{CborDecoder, CborEncoder, CborProfile, locate};

/// The keys of a map so far, each as the bytes that it is written as.
#[derive(Default)]
pub(super) struct Keys<'de>(Vec<Cow<'de, [u8]>>);

/// Who sees to it that no key comes twice.
pub(super) trait Seen<'de> {
    /// A key came, which these bytes are.
    fn push(&mut self, key: &'de [u8]);

    /// The map has ended.
    fn end(self, decoder: &CborDecoder<'_>) -> Result<(), Error>;
}

/// The type that is read.
impl Seen<'_> for () {
    #[inline(always)]
    fn push(&mut self, _: &[u8]) {}

    #[inline(always)]
    fn end(self, _: &CborDecoder<'_>) -> Result<(), Error> {
        Ok(())
    }
}

impl<'de> Seen<'de> for Keys<'de> {
    #[inline]
    fn push(&mut self, key: &'de [u8]) {
        self.0.push(shortest(key));
    }

    fn end(mut self, decoder: &CborDecoder<'_>) -> Result<(), Error> {
        self.0.sort_unstable();
        match self.0.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(()),
            Some(pair) => Err(twice(decoder, &pair[0])),
        }
    }
}

#[cold]
fn twice(decoder: &CborDecoder<'_>, key: &[u8]) -> Error {
    let text = CborDecoder::from_slice(key, CborProfile::DEFAULT, &Limits::DEFAULT)
        .and_then(|mut key| key.text_string());
    match text {
        Ok(text) => decoder.twice(&text),
        Err(_) => {
            use polywire_schema::Decoder as _;

            let error = decoder.error(ErrorKind::Duplicate, "each key once");
            error.found(locate::describe(key))
        }
    }
}

/// A key as it would be written in the shortest way, which nearly all are: two spellings
/// of one key are one. A float of another width is another key.
#[inline]
fn shortest(key: &[u8]) -> Cow<'_, [u8]> {
    // Integers and strings whose length stands in the first byte or in the second.
    let plain = match *key {
        [first, ..] if first >> 5 < 4 && first & 0x1f < 24 => true,
        [first, len, ..] if first >> 5 < 4 && first & 0x1f == 24 => len >= 24,
        _ => false,
    };
    match plain {
        true => Cow::Borrowed(key),
        false => written_again(key),
    }
}

#[inline(never)]
fn written_again(key: &[u8]) -> Cow<'_, [u8]> {
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
