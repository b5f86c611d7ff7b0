//! Heads and tags: what every data item begins with.

use polywire_schema::{Decoder, Error, ErrorKind};

use super::CborDecoder;

/// A list or map without a length: it ends with a break.
pub(super) const INDEFINITE: u64 = u64::MAX;
pub(super) const BREAK: u8 = 0xff;

/// The head of a data item: major type and argument.
#[derive(Clone, Copy)]
pub(super) struct Head {
    pub(super) major: u8,
    /// The lower five bits of the first byte.
    pub(super) info: u8,
    pub(super) argument: u64,
}

/// The tags that have a meaning here, RFC 8949, sections 3.4.1 to 3.4.4.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Tag {
    DateTime,
    Epoch,
    Unsigned,
    Negative,
    Decimal,
}

impl CborDecoder<'_> {
    /// Reads a head. Reserved forms (RFC 8949, section 3) are errors.
    #[inline]
    pub(super) fn head(&mut self, expected: &'static str) -> Result<Head, Error> {
        let Some(&first) = self.bytes.get(self.at) else {
            return Err(self.error(ErrorKind::Truncated, expected));
        };
        let info = first & 0x1f;
        let head = Head {
            major: first >> 5,
            info,
            argument: u64::from(info),
        };
        if info < 24 {
            self.at += 1;
            return Ok(head);
        }
        self.long_head(head)
    }

    pub(super) fn long_head(&mut self, head: Head) -> Result<Head, Error> {
        let rest = self.bytes.get(self.at + 1..).unwrap_or_default();
        let (argument, len) = match head.info {
            24 => (
                rest.first_chunk()
                    .map(|bytes| u64::from(u8::from_be_bytes(*bytes))),
                1,
            ),
            25 => (
                rest.first_chunk()
                    .map(|bytes| u64::from(u16::from_be_bytes(*bytes))),
                2,
            ),
            26 => (
                rest.first_chunk()
                    .map(|bytes| u64::from(u32::from_be_bytes(*bytes))),
                4,
            ),
            27 => (
                rest.first_chunk().map(|bytes| u64::from_be_bytes(*bytes)),
                8,
            ),
            31 if matches!(head.major, 2..=5) => (Some(INDEFINITE), 0),
            _ => return Err(self.error(ErrorKind::Syntax, "a data item with a valid first byte")),
        };
        match argument {
            // A length that no message can have would look indefinite.
            Some(INDEFINITE) if head.info == 27 && matches!(head.major, 2..=5) => {
                Err(self.error(ErrorKind::Truncated, "a length that fits the message"))
            }
            Some(argument) => {
                self.at += 1 + len;
                Ok(Head { argument, ..head })
            }
            None => {
                self.at = self.bytes.len();
                Err(self.error(ErrorKind::Truncated, "the rest of a number or length"))
            }
        }
    }

    /// The argument of a head and the head's length, if both are there within
    /// the message: the quick way.
    #[inline]
    pub(super) fn quick_head(rest: &[u8]) -> Option<(u64, usize)> {
        let (first, behind) = rest.split_first()?;
        let info = first & 0x1f;
        if info < 24 {
            return Some((u64::from(info), 1));
        }
        let size = 1_u32
            .checked_shl(u32::from(info - 24))
            .filter(|size| *size <= 8)?;
        // Eight bytes are read whatever the size, and shifted.
        let word = match behind.first_chunk::<8>() {
            Some(word) => u64::from_be_bytes(*word),
            None => short_word(behind, size)?,
        };
        Some((word >> (64 - 8 * size), 1 + size as usize))
    }

    /// Skips all tags: what they say about a list or map is not asked.
    #[inline]
    pub(super) fn skip_tags(&mut self) -> Result<(), Error> {
        while self.peek() >> 5 == 6 {
            self.head("a tag")?;
        }
        Ok(())
    }

    /// Reads the tags in front of a value, up to and with the first that has a
    /// meaning here: which one, and where it begins.
    #[cold]
    #[inline(never)]
    pub(super) fn tag(&mut self) -> Result<Option<(Tag, usize)>, Error> {
        // A loop, since tags before tags must not cost stack.
        while self.peek() >> 5 == 6 {
            let start = self.at;
            let tag = match self.head("a tag")?.argument {
                0 => Tag::DateTime,
                1 => Tag::Epoch,
                2 => Tag::Unsigned,
                3 => Tag::Negative,
                4 => Tag::Decimal,
                _ => continue,
            };
            return Ok(Some((tag, start)));
        }
        Ok(None)
    }

    /// Skips tags without a meaning here, such as that which says that this is
    /// CBOR (RFC 8949, section 3.4.6). One with a meaning is left for an error:
    /// what it stands before is no plain value.
    #[cold]
    #[inline(never)]
    pub(super) fn skip_plain_tags(&mut self) -> Result<(), Error> {
        if let Some((_, start)) = self.tag()? {
            self.at = start;
        }
        Ok(())
    }
}

/// The first bytes of a word at the end of a message, where small messages have all of theirs. At
/// least `size` of them must be there.
#[inline(never)]
fn short_word(bytes: &[u8], size: u32) -> Option<u64> {
    if bytes.len() < size as usize {
        return None;
    }
    let mut word = 0;
    for (index, byte) in bytes.iter().take(size as usize).enumerate() {
        word |= u64::from(*byte) << (56 - 8 * index);
    }
    Some(word)
}
