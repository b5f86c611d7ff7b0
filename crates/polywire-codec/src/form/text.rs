//! Percent-encoding, with fast paths for text that needs none.

use polywire_text::{number, percent};

/// Writes the number of an item or entry, which usually has one digit.
#[inline]
pub(super) fn push_number(out: &mut Vec<u8>, number: u64) {
    match u8::try_from(number) {
        Ok(digit @ 0..=9) => out.push(b'0' + digit),
        _ => number::push_u64(out, number),
    }
}

/// Writes a percent-encoded text.
#[inline]
pub(super) fn push_text(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    match is_plain(bytes) {
        true => out.extend_from_slice(bytes),
        false => percent::push_bytes(out, bytes, &percent::UNRESERVED),
    }
}

/// Writes `=` and a percent-encoded text. Used for long texts and those that need encoding.
#[inline(never)]
pub(super) fn push_value(out: &mut Vec<u8>, text: &str) {
    out.push(b'=');
    push_text(out, text);
}

/// Whether a text has 4 to 32 bytes that are all unreserved characters. The words that are compared
/// overlap unless the length is a multiple of the word size.
#[inline]
fn is_plain(bytes: &[u8]) -> bool {
    let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) else {
        return is_short_plain(bytes);
    };
    let mut plain = unreserved(first) & unreserved(last);
    if bytes.len() > 16 {
        let middle = bytes.get(8..16).and_then(<[u8]>::first_chunk);
        let second_last = bytes.get(bytes.len() - 16..).and_then(<[u8]>::first_chunk);
        let (Some(middle), Some(second_last)) = (middle, second_last) else {
            return false;
        };
        plain &= unreserved(middle) & unreserved(second_last);
    }
    plain == HIGH && bytes.len() <= 32
}

/// Like [`is_plain`], for 4 to 7 bytes.
#[inline]
fn is_short_plain(bytes: &[u8]) -> bool {
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(&[a, b, c, d]), Some(&[e, f, g, h])) => unreserved(&[a, b, c, d, e, f, g, h]) == HIGH,
        _ => false,
    }
}

const HIGH: u64 = 0x8080_8080_8080_8080;

/// Sets the high bit of each byte that is an unreserved character of RFC 3986.
#[inline]
const fn unreserved(bytes: &[u8; 8]) -> u64 {
    const fn all(byte: u8) -> u64 {
        u64::from_le_bytes([byte; 8])
    }
    /// Sets the high bit of each byte that is at least `min`. All bytes must be below 0x80.
    const fn from(word: u64, min: u8) -> u64 {
        word + all(0x80 - min)
    }
    let word = u64::from_le_bytes(*bytes);
    let low = word & !HIGH;
    let letter = low | all(0x20);
    let letters = from(letter, b'a') & !from(letter, b'z' + 1);
    // `-`, `.`, `/` and the digits, without the slash.
    let digits = from(low, b'-') & !from(low, b'9' + 1) & from(low ^ all(b'/'), 1);
    let marks = from(low ^ all(b'_'), 1) & from(low ^ all(b'~'), 1);
    (letters | digits | !marks) & !word & HIGH
}

/// Percent-encodes the `+` of an exponent.
#[inline]
pub(super) fn encode_plus(out: &mut Vec<u8>, start: usize) {
    // A number with an exponent has more than four characters.
    let may_have_exponent = out.len() - start > 4;
    if may_have_exponent && out[start..].contains(&b'+') {
        encode_again(out, start);
    }
}

/// Percent-encodes the output from `start` on.
#[cold]
pub(super) fn encode_again(out: &mut Vec<u8>, start: usize) {
    let plain = out.split_off(start);
    percent::push_bytes(out, &plain, &percent::UNRESERVED);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_texts_are_not_changed_by_encoding() {
        for byte in 0..=u8::MAX {
            let mut encoded = Vec::new();
            percent::push_bytes(&mut encoded, &[byte], &percent::UNRESERVED);
            for len in 0..40 {
                for at in 0..len {
                    let mut text = vec![b'a'; len];
                    text[at] = byte;
                    let is_unchanged = encoded == [byte];
                    let has_fast_path = (4..=32).contains(&len);
                    assert_eq!(
                        is_plain(&text),
                        is_unchanged && has_fast_path,
                        "{byte} at {at} of {len}"
                    );
                }
            }
        }
    }
}
