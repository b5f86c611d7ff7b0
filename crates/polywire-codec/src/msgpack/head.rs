//! Heads: the first byte of a value and the number after it.

use polywire_schema::{Error, ErrorKind, TokenReader as _};

use super::MsgPackDecoder;

/// The content of a head.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Head {
    Nil,
    Boolean(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f32),
    Double(f64),
    /// Text of this length in bytes.
    Str(u32),
    /// Binary data of this length.
    Bin(u32),
    /// A list of this many items.
    Array(u32),
    /// A map of this many entries.
    Map(u32),
    /// Data of this length with this extension type.
    Extension(u32, i8),
}

impl MsgPackDecoder<'_> {
    /// Reads a head.
    pub(super) fn head(&mut self) -> Result<Head, Error> {
        let Some((&first, rest)) = self.rest().split_first() else {
            return Err(self.error(ErrorKind::Truncated, "a value"));
        };
        match head(first, rest) {
            Some((head, len)) => {
                self.at += len;
                Ok(head)
            }
            None if first == 0xc1 => {
                Err(self.error(ErrorKind::Syntax, "a value with a known first byte"))
            }
            None => {
                self.at = self.bytes.len();
                Err(self.error(ErrorKind::Truncated, "the rest of a number or length"))
            }
        }
    }
}

/// Decodes a head. Returns it with its length. `None` if it is incomplete or 0xc1.
pub(super) fn head(first: u8, rest: &[u8]) -> Option<(Head, usize)> {
    let u8_at = |at: usize| rest.get(at).copied();
    let u16_at = || rest.first_chunk().map(|bytes| u16::from_be_bytes(*bytes));
    let u32_at = || rest.first_chunk().map(|bytes| u32::from_be_bytes(*bytes));
    let u64_at = || rest.first_chunk().map(|bytes| u64::from_be_bytes(*bytes));
    let extension = |len: u32, size: usize| {
        let kind = u8_at(size)?;
        Some((Head::Extension(len, i8::from_be_bytes([kind])), 2 + size))
    };
    Some(match first {
        0x00..=0x7f => (Head::Unsigned(first.into()), 1),
        0x80..=0x8f => (Head::Map((first & 0x0f).into()), 1),
        0x90..=0x9f => (Head::Array((first & 0x0f).into()), 1),
        0xa0..=0xbf => (Head::Str((first & 0x1f).into()), 1),
        0xc0 => (Head::Nil, 1),
        0xc1 => return None,
        0xc2 => (Head::Boolean(false), 1),
        0xc3 => (Head::Boolean(true), 1),
        0xc4 => (Head::Bin(u8_at(0)?.into()), 2),
        0xc5 => (Head::Bin(u16_at()?.into()), 3),
        0xc6 => (Head::Bin(u32_at()?), 5),
        0xc7 => return extension(u8_at(0)?.into(), 1),
        0xc8 => return extension(u16_at()?.into(), 2),
        0xc9 => return extension(u32_at()?, 4),
        0xca => (Head::Float(f32::from_bits(u32_at()?)), 5),
        0xcb => (Head::Double(f64::from_bits(u64_at()?)), 9),
        0xcc => (Head::Unsigned(u8_at(0)?.into()), 2),
        0xcd => (Head::Unsigned(u16_at()?.into()), 3),
        0xce => (Head::Unsigned(u32_at()?.into()), 5),
        0xcf => (Head::Unsigned(u64_at()?), 9),
        0xd0 => (Head::Signed(i8::from_be_bytes([u8_at(0)?]).into()), 2),
        0xd1 => (Head::Signed(u16_at()?.cast_signed().into()), 3),
        0xd2 => (Head::Signed(u32_at()?.cast_signed().into()), 5),
        0xd3 => (Head::Signed(u64_at()?.cast_signed()), 9),
        0xd4 => return extension(1, 0),
        0xd5 => return extension(2, 0),
        0xd6 => return extension(4, 0),
        0xd7 => return extension(8, 0),
        0xd8 => return extension(16, 0),
        0xd9 => (Head::Str(u8_at(0)?.into()), 2),
        0xda => (Head::Str(u16_at()?.into()), 3),
        0xdb => (Head::Str(u32_at()?), 5),
        0xdc => (Head::Array(u16_at()?.into()), 3),
        0xdd => (Head::Array(u32_at()?), 5),
        0xde => (Head::Map(u16_at()?.into()), 3),
        0xdf => (Head::Map(u32_at()?), 5),
        0xe0..=0xff => (Head::Signed(i8::from_be_bytes([first]).into()), 1),
    })
}
