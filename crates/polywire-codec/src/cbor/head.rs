//! Tags and the heads of data items.

use polywire_schema::{Decoder, Error, ErrorKind};

use super::CborDecoder;

/// The argument of the head of a list, map or string of indefinite length, which ends with a break.
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

/// The known tags, RFC 8949, sections 3.4.1 to 3.4.4.
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

    fn long_head(&mut self, head: Head) -> Result<Head, Error> {
        let rest = self.bytes.get(self.at + 1..).unwrap_or_default();
        let (argument, len) = match head.info {
            24 => (rest.first().map(|byte| u64::from(*byte)), 1),
            25 => (
                rest.first_chunk()
                    .map(|bytes| u16::from_be_bytes(*bytes).into()),
                2,
            ),
            26 => (
                rest.first_chunk()
                    .map(|bytes| u32::from_be_bytes(*bytes).into()),
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
            // A length of 2^64 - 1 must not be taken for `INDEFINITE`.
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

    /// The argument of a complete head of a known form, and the length of the head.
    #[inline]
    pub(super) fn quick_head(rest: &[u8]) -> Option<(u64, usize)> {
        let (first, rest) = rest.split_first()?;
        let info = first & 0x1f;
        if info < 24 {
            return Some((u64::from(info), 1));
        }
        let size = 1_u32
            .checked_shl(u32::from(info - 24))
            .filter(|size| *size <= 8)?;
        // Reading eight bytes and shifting is faster than a branch for each size.
        let word = match rest.first_chunk::<8>() {
            Some(word) => u64::from_be_bytes(*word),
            None => short_word(rest, size)?,
        };
        Some((word >> (64 - 8 * size), 1 + size as usize))
    }

    /// Skips all tags, also known ones. Only for lists, maps, variants and skipped values, where tags
    /// are ignored.
    #[inline]
    pub(super) fn skip_tags(&mut self) -> Result<(), Error> {
        while self.peek() >> 5 == 6 {
            self.head("a tag")?;
        }
        Ok(())
    }

    /// Reads the tags before a value up to and including the first known one. Returns that tag
    /// and its offset.
    #[cold]
    #[inline(never)]
    pub(super) fn tag(&mut self) -> Result<Option<(Tag, usize)>, Error> {
        // A loop instead of recursion: tags may be nested to any depth.
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

    /// Skips unknown tags, such as self-described CBOR (RFC 8949, section 3.4.6). A known tag is left
    /// unread, and most callers then report it as a wrong type.
    #[cold]
    #[inline(never)]
    pub(super) fn skip_unknown_tags(&mut self) -> Result<(), Error> {
        if let Some((_, start)) = self.tag()? {
            self.at = start;
        }
        Ok(())
    }
}

/// The first `size` bytes of a big-endian word of which less than eight bytes are left. `None` if
/// there are fewer.
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
