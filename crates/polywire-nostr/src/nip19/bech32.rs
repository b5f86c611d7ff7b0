//! Bech32 (BIP-173) with the length limit of NIP-19.
//!
//! The errors of the crate `bech32` have no offsets, so this module computes them.

use bech32::primitives::decode::CheckedHrpstring;
use bech32::{Bech32, ByteIterExt as _, Checksum, Fe32IterExt as _, Hrp};
use zeroize::Zeroizing;

use super::{MAX_CHARACTERS, Nip19Error, Nip19Reason};

const CHECKSUM: usize = 6;

/// The checksum of BIP-173, without the limit of 90 characters.
enum LongBech32 {}

impl Checksum for LongBech32 {
    type MidstateRepr = <Bech32 as Checksum>::MidstateRepr;
    type CorrectionField = <Bech32 as Checksum>::CorrectionField;
    const ROOT_GENERATOR: Self::CorrectionField = Bech32::ROOT_GENERATOR;
    const ROOT_EXPONENTS: std::ops::RangeInclusive<usize> = Bech32::ROOT_EXPONENTS;
    const CODE_LENGTH: usize = MAX_CHARACTERS;
    const CHECKSUM_LENGTH: usize = CHECKSUM;
    const GENERATOR_SH: [Self::MidstateRepr; 5] = Bech32::GENERATOR_SH;
    const TARGET_RESIDUE: Self::MidstateRepr = Bech32::TARGET_RESIDUE;
}

/// A bech32 entity with valid characters, checksum and padding.
pub(super) struct Name<'a> {
    prefix: [u8; 8],
    prefix_len: usize,
    checked: CheckedHrpstring<'a>,
}

impl<'a> Name<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self, Nip19Error> {
        let fail = |reason, offset| Err(Nip19Error { reason, offset });
        if text.len() > MAX_CHARACTERS {
            return fail(Nip19Reason::TooLong, MAX_CHARACTERS);
        }
        let Some(separator) = text.rfind('1').filter(|at| *at > 0) else {
            return fail(Nip19Reason::NoSeparator, 0);
        };
        let is_data = |byte: u8| bech32::Fe32::from_char(char::from(byte)).is_ok();
        let is_valid = |(at, byte): (usize, u8)| match at <= separator {
            true => byte.is_ascii_graphic(),
            false => is_data(byte),
        };
        if let Some(offset) = text.bytes().enumerate().position(|next| !is_valid(next)) {
            return fail(Nip19Reason::Character, offset);
        }
        if let Some(first) = text.bytes().find(u8::is_ascii_alphabetic) {
            let differs = |byte: u8| {
                byte.is_ascii_alphabetic()
                    && byte.is_ascii_uppercase() != first.is_ascii_uppercase()
            };
            if let Some(offset) = text.bytes().position(differs) {
                return fail(Nip19Reason::MixedCase, offset);
            }
        }
        let end = text.len().saturating_sub(CHECKSUM).max(separator + 1);
        let Ok(checked) = CheckedHrpstring::new::<LongBech32>(text) else {
            return fail(Nip19Reason::Checksum, end);
        };
        if checked.validate_segwit_padding().is_err() {
            return fail(Nip19Reason::Padding, end - 1);
        }
        // A longer prefix is unknown; `prefix` returns an empty string for it.
        let mut prefix = [0; 8];
        for (to, from) in prefix.iter_mut().zip(text[..separator].bytes()) {
            *to = from.to_ascii_lowercase();
        }
        Ok(Self {
            prefix,
            prefix_len: separator,
            checked,
        })
    }

    /// Returns the prefix in lower case, or an empty string if it is longer than all known ones.
    pub(super) fn prefix(&self) -> &str {
        let prefix = self.prefix.get(..self.prefix_len).unwrap_or_default();
        std::str::from_utf8(prefix).unwrap_or_default()
    }

    /// Returns the contents, which must have 32 bytes.
    pub(super) fn array(&self) -> Result<Zeroizing<[u8; 32]>, Nip19Error> {
        let mut contents = self.checked.byte_iter();
        if contents.len() != 32 {
            return Err(self.error(Nip19Reason::Length, 0));
        }
        let mut array = Zeroizing::new([0; 32]);
        array.fill_with(|| contents.next().unwrap_or_default());
        Ok(array)
    }

    pub(super) fn contents(&self) -> Vec<u8> {
        self.checked.byte_iter().collect()
    }

    /// Returns an error at a byte offset in the contents.
    pub(super) fn error(&self, reason: Nip19Reason, at: usize) -> Nip19Error {
        error_at(self.prefix_len, reason, at)
    }

    pub(super) fn other_prefix(&self) -> Nip19Error {
        Nip19Error {
            reason: Nip19Reason::Prefix,
            offset: 0,
        }
    }
}

/// Returns an error at the character that contains the first bit of a byte of the contents.
pub(super) fn error_at(prefix_len: usize, reason: Nip19Reason, at: usize) -> Nip19Error {
    Nip19Error {
        reason,
        offset: prefix_len + 1 + at * 8 / 5,
    }
}

/// Encodes `contents` in lower case.
pub(super) fn write(prefix: &str, contents: &[u8]) -> Result<String, Nip19Error> {
    let len = prefix.len() + 1 + (contents.len() * 8).div_ceil(5) + CHECKSUM;
    let too_long = Nip19Error {
        reason: Nip19Reason::TooLong,
        offset: MAX_CHARACTERS,
    };
    // The prefixes of NIP-19 are valid, so `parse` does not fail.
    let Some(prefix) = Hrp::parse(prefix).ok().filter(|_| len <= MAX_CHARACTERS) else {
        return Err(too_long);
    };
    // The full capacity, so that growing leaves no copy of a secret key in freed memory.
    let mut name = String::with_capacity(len);
    let characters = contents.iter().copied().bytes_to_fes();
    name.extend(characters.with_checksum::<LongBech32>(&prefix).chars());
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_sane() {
        LongBech32::sanity_check();
    }
}
