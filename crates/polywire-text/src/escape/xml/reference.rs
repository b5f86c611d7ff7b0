//! References to characters and entities.

use super::is_xml;
use super::read::{TEXT_OR_RARE, XmlReading};
use crate::Malformed;
use crate::rewrite::Piece;

/// A reference to an entity.
#[derive(Clone, Copy)]
struct Named {
    /// The reference as a word, the first byte lowest, and a mask of its bytes.
    word: u64,
    mask: u64,
    byte: u8,
    /// The number of bytes after the `&`.
    more: u8,
}

/// The five entities, at the index of [`slot`], so that finding one needs no branches.
static NAMED: [Named; 8] = {
    const NAMES: [(&[u8], u8); 5] = [
        (b"&lt;", b'<'),
        (b"&gt;", b'>'),
        (b"&amp;", b'&'),
        (b"&quot;", b'"'),
        (b"&apos;", b'\''),
    ];
    let nothing = Named {
        word: u64::MAX,
        mask: 0,
        byte: 0,
        more: 0,
    };
    let mut named = [nothing; 8];
    let mut at = 0;
    while at < NAMES.len() {
        let (name, byte) = NAMES[at];
        let mut word = 0;
        let mut byte_at = 0;
        while byte_at < name.len() {
            word |= (name[byte_at] as u64) << (8 * byte_at);
            byte_at += 1;
        }
        assert!(named[slot(word)].mask == 0, "two names in one slot");
        named[slot(word)] = Named {
            word,
            mask: u64::MAX >> (64 - 8 * name.len()),
            byte,
            more: name.len() as u8 - 1,
        };
        at += 1;
    }
    named
};

/// The first four bytes, hashed to three bits.
#[inline(always)]
const fn slot(word: u64) -> usize {
    (word as u32).wrapping_mul(MULTIPLIER) as usize >> 29
}

/// Found by search. The table above asserts that there are no collisions.
const MULTIPLIER: u32 = 1746;

/// Fast path for short text whose only special bytes are entity references. Returns the result and
/// its length. `None` for any other text.
#[inline]
pub(crate) fn short(text: &str) -> Option<([u8; SHORT], usize)> {
    let bytes = text.as_bytes();
    let mut out = [0; SHORT];
    let (mut from, mut to) = (0, 0);
    if bytes.len() > SHORT {
        return None;
    }
    while let Some(byte) = bytes.get(from) {
        let slot = out.get_mut(to)?;
        to += 1;
        from += 1;
        if !TEXT_OR_RARE.has(*byte) {
            *slot = *byte;
            continue;
        }
        // Most references have eight bytes to load.
        let word = bytes.get(from - 1..)?.first_chunk();
        let (byte, more) = match word {
            Some(word) => named(u64::from_le_bytes(*word))?,
            None => {
                let mut word = [0; 8];
                let rest = &bytes[from - 1..];
                word[..rest.len()].copy_from_slice(rest);
                named(u64::from_le_bytes(word))?
            }
        };
        *slot = byte;
        from += more;
    }
    Some((out, to))
}

/// The longest text of [`short`].
pub(crate) const SHORT: usize = 64;

/// The character of the entity reference that `word` starts with, and the number of bytes after its
/// `&`.
#[inline(always)]
pub(super) fn named(word: u64) -> Option<(u8, usize)> {
    let named = &NAMED[slot(word)];
    (word & named.mask == named.word).then_some((named.byte, usize::from(named.more)))
}

/// Reads the reference at the beginning of `bytes`.
#[inline(always)]
pub(super) fn reference(bytes: &[u8], reading: XmlReading) -> Result<Piece, Malformed> {
    if let Some(word) = bytes.first_chunk()
        && let Some((byte, more)) = named(u64::from_le_bytes(*word))
    {
        return Ok(Piece::byte(byte, more + 1));
    }
    let (character, len) = after_ampersand(&bytes[1..], reading)
        .map_err(|error| Malformed::new(1 + error.offset, error.expected))?;
    let mut piece = Piece::byte(0, 1 + len);
    piece.written = character.encode_utf8(&mut piece.bytes).len();
    Ok(piece)
}

/// Reads a reference without its `&`. Returns the character and the number of bytes read.
fn after_ampersand(bytes: &[u8], reading: XmlReading) -> Result<(char, usize), Malformed> {
    let (digits, radix, before) = match bytes {
        [b'#', b'x', digits @ ..] => (digits, 16, 2),
        [b'#', digits @ ..] => (digits, 10, 1),
        [b'l', b't', b';', ..] => return Ok(('<', 3)),
        [b'g', b't', b';', ..] => return Ok(('>', 3)),
        [b'a', b'm', b'p', b';', ..] => return Ok(('&', 4)),
        [b'q', b'u', b'o', b't', b';', ..] => return Ok(('"', 5)),
        [b'a', b'p', b'o', b's', b';', ..] => return Ok(('\'', 5)),
        _ => {
            let expected = "one of lt; gt; amp; quot; apos; or # and a number after &";
            return Err(Malformed::new(0, expected));
        }
    };
    let mut code: u32 = 0;
    let mut len = 0;
    while let Some(digit) = digits
        .get(len)
        .and_then(|byte| char::from(*byte).to_digit(radix))
    {
        // Saturates above the last character.
        code = code.saturating_mul(radix).saturating_add(digit);
        len += 1;
    }
    if len == 0 || digits.get(len) != Some(&b';') {
        let expected = "the digits of a character reference and ;";
        return Err(Malformed::new(before + len, expected));
    }
    match char::from_u32(code) {
        Some(character) if is_xml(character) || reading == XmlReading::Lenient => {
            Ok((character, before + len + 1))
        }
        _ => {
            let expected = "the number of a character that XML 1.0 allows";
            Err(Malformed::new(before, expected))
        }
    }
}
