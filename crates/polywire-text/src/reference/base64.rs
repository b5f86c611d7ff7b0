//! Base64: see [`base64`](crate::base64).

use crate::Malformed;
use crate::base64::{Alphabet, Padding};

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn characters(alphabet: Alphabet) -> &'static [u8; 64] {
    match alphabet {
        Alphabet::Standard => STANDARD,
        Alphabet::UrlSafe => URL_SAFE,
    }
}

/// The characters of `bytes`: groups of 24 bits, the last one padded with zeros, six bits at a
/// time.
#[must_use]
pub fn encode(bytes: &[u8], alphabet: Alphabet, padding: Padding) -> String {
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            if at <= group.len() {
                let six = bits >> (18 - 6 * at) & 0x3f;
                text.push(char::from(characters(alphabet)[six as usize]));
            } else if padding != Padding::Forbidden {
                text.push('=');
            }
        }
    }
    text
}

/// The bytes of `text`.
///
/// # Errors
///
/// The first character that is wrong.
pub fn decode(
    text: &[u8],
    alphabet: Alphabet,
    padding: Padding,
    skip_white_space: bool,
) -> Result<Vec<u8>, Malformed> {
    let is_space = |byte: u8| skip_white_space && b" \t\r\n".contains(&byte);
    let mut rest = text
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, byte)| !is_space(*byte))
        .peekable();
    // The value of each character, with its offset.
    let mut sixes = Vec::new();
    while let Some((offset, byte)) = rest.peek().copied() {
        let Some(value) = characters(alphabet).iter().position(|c| *c == byte) else {
            break;
        };
        sixes.push((offset, value as u8));
        rest.next();
    }
    let next = rest.peek().copied();
    let end = |place: Option<(usize, u8)>| place.map_or(text.len(), |(offset, _)| offset);
    let stopped_by_padding = next.is_none_or(|(_, byte)| byte == b'=');
    if sixes.len() % 4 == 1 || !stopped_by_padding {
        return Err(Malformed::new(end(next), character(alphabet, padding)));
    }
    let needed = (4 - sixes.len() % 4) % 4;
    let demanded = match padding {
        Padding::Required => true,
        Padding::Forbidden => false,
        Padding::Optional => next.is_some(),
    };
    for _ in 0..needed {
        if demanded && rest.next_if(|(_, byte)| *byte == b'=').is_none() {
            let expected = "base64 in groups of four characters, padded with =";
            return Err(Malformed::new(end(rest.peek().copied()), expected));
        }
    }
    if let Some((offset, _)) = rest.next() {
        return Err(Malformed::new(offset, "the end of the base64"));
    }
    let mut bytes = Vec::new();
    for group in sixes.chunks(4) {
        let six = |at: usize| group.get(at).map_or(0, |(_, value)| u32::from(*value));
        let bits = six(0) << 18 | six(1) << 12 | six(2) << 6 | six(3);
        let whole = group.len() * 6 / 8;
        bytes.extend_from_slice(&bits.to_be_bytes()[1..][..whole]);
        if whole < 3 && bits << (8 + 8 * whole) != 0 {
            let expected = "base64 whose last character has no stray bits";
            return Err(Malformed::new(group[group.len() - 1].0, expected));
        }
    }
    Ok(bytes)
}

fn character(alphabet: Alphabet, padding: Padding) -> &'static str {
    match (alphabet, padding) {
        (Alphabet::Standard, Padding::Forbidden) => "base64 (A-Z a-z 0-9 + /)",
        (Alphabet::Standard, _) => "base64 (A-Z a-z 0-9 + / and = padding)",
        (Alphabet::UrlSafe, Padding::Forbidden) => "base64 (A-Z a-z 0-9 - _)",
        (Alphabet::UrlSafe, _) => "base64 (A-Z a-z 0-9 - _ and = padding)",
    }
}
