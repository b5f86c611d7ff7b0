//! The algorithms, and the value of a signature.

use std::fmt;

use polywire_text::hex;

use super::hash::to_hex;

/// The version of the signature.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Algorithm {
    /// Version 4: HMAC-SHA256 with a key for one day, region and service.
    V4,
    /// Version 4A: ECDSA over P-256, for a set of regions. Needs the feature `sigv4a`.
    V4a,
}

impl Algorithm {
    /// The name in `Authorization`, in `X-Amz-Algorithm` and in the string to sign.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V4 => "AWS4-HMAC-SHA256",
            Self::V4a => "AWS4-ECDSA-P256-SHA256",
        }
    }

    /// Reads a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::V4, Self::V4a]
            .into_iter()
            .find(|algorithm| algorithm.name() == name)
    }
}

/// The largest number of hexadecimal digits: a DER-encoded signature of P-256 has at most 72 bytes.
pub(super) const MAX_SIGNATURE: usize = 144;

/// A signature as lower-case hexadecimal: 64 digits for Version 4, at most 144 for Version 4A, which
/// encodes it in DER.
#[derive(Clone, Copy)]
pub struct Signature {
    len: u8,
    digits: [u8; MAX_SIGNATURE],
}

impl Signature {
    /// A signature of Version 4.
    pub(super) fn from_mac(mac: &[u8; 32]) -> Self {
        Self::from_digits(&to_hex(mac))
    }

    /// At most [`MAX_SIGNATURE`] digits; more are cut off.
    pub(super) fn from_digits(digits: &[u8]) -> Self {
        let mut signature = Self {
            len: digits.len().min(MAX_SIGNATURE) as u8,
            digits: [b'*'; MAX_SIGNATURE],
        };
        let len = usize::from(signature.len);
        signature.digits[..len].copy_from_slice(&digits[..len]);
        signature
    }

    /// The bytes of a signature of Version 4. Returns `None` for other lengths.
    pub(super) fn to_mac(self) -> Option<[u8; 32]> {
        let mut mac = [0; 32];
        hex::decode_to_slice(self.as_bytes(), &mut mac, hex::Case::Lower).ok()?;
        Some(mac)
    }

    /// Reads lower-case hexadecimal digits: 64 for Version 4, an even number of at most 144 for
    /// Version 4A, after which there may be `*`, with which chunk signatures are padded. Returns
    /// `None` for anything else.
    #[must_use]
    pub fn parse(algorithm: Algorithm, text: &[u8]) -> Option<Self> {
        if algorithm == Algorithm::V4 {
            let mut mac = [0; 32];
            hex::decode_to_slice(text, &mut mac, hex::Case::Lower).ok()?;
            return Some(Self::from_digits(text));
        }
        let padding = text.iter().rev().take_while(|byte| **byte == b'*').count();
        let digits = &text[..text.len() - padding];
        let is_signature = text.len() <= MAX_SIGNATURE
            && digits.len().is_multiple_of(2)
            && !digits.is_empty()
            && digits
                .iter()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_signature.then(|| Self::from_digits(digits))
    }

    /// The digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    /// The digits.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.digits[..usize::from(self.len)]
    }

    /// The digits, padded to 144 bytes with `*`, as chunks of Version 4A have them: so the length of
    /// a body is known before it is signed.
    #[must_use]
    pub fn padded(&self) -> [u8; MAX_SIGNATURE] {
        self.digits
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
