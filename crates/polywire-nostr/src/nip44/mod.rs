//! Encryption of payloads, version 2 (NIP-44, as amended on 2026-06-28).
//!
//! ```text
//! conversation key = HKDF-Extract(salt "nip44-v2", x coordinate of ECDH)
//! chacha key 32, chacha nonce 12, hmac key 32 = HKDF-Expand(conversation key, info = nonce, 76)
//! padded  = length plaintext *zero
//! length  = 2 bytes if less than 65,536, otherwise two zero bytes and 4 bytes; big-endian
//! payload = base64(2 nonce ChaCha20(padded) HMAC-SHA-256(hmac key, nonce ChaCha20(padded)))
//! ```
//!
//! A payload hides the plaintext and its approximate length. It does not hide the sender, the
//! receiver or the time. There is no forward secrecy: with a secret key, all past payloads can be
//! decrypted (NIP-44, "Limitations").
//!
//! Encryption and decryption work in chunks of a few kilobytes and allocate only the result. The
//! MAC is verified before any plaintext is interpreted or returned.
//!
//! ```
//! use polywire_nostr::SecretKey;
//! use polywire_nostr::nip44::{ConversationKey, Nip44Error};
//!
//! let alice = SecretKey::from_bytes([1; 32])?;
//! let bob = SecretKey::from_bytes([2; 32])?;
//!
//! let key = ConversationKey::derive(&alice, &bob.public_key())?;
//! // A fixed nonce for this example. `encrypt` uses a random nonce from the operating system.
//! let payload = key.encrypt_with_nonce("Grüezi", &[3; 32])?;
//!
//! let same = ConversationKey::derive(&bob, &alice.public_key())?;
//! assert_eq!(same.decrypt(&payload)?, "Grüezi");
//! let forged = payload.replacen("AwMD", "AwMA", 1);
//! assert_eq!(same.decrypt(&forged), Err(Nip44Error::Mac));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cipher;
mod decrypt;
mod encrypt;
mod key;
mod layout;

use std::fmt;

pub use key::ConversationKey;

/// The default maximum length of a plaintext in bytes: 1 MiB.
///
/// Relays commonly reject messages far below this. The payload length is not authenticated, and
/// memory is allocated for it before the MAC is verified.
pub const DEFAULT_MAX_PLAINTEXT: u32 = 1 << 20;

const VERSION: u8 = 2;
const NONCE: usize = 32;
const TAG: usize = 32;
/// The version and the nonce: whole groups of base64, so that the rest can be decoded separately.
const HEAD: usize = 1 + NONCE;
const HEAD_CHARACTERS: usize = HEAD / 3 * 4;
/// Whole blocks of the cipher and whole groups of base64. The chunk and its output fit in the L1
/// cache.
const CHUNK: usize = 3072;
const CHUNK_CHARACTERS: usize = CHUNK / 3 * 4;
/// The characters of a payload with the shortest ciphertext: 32 bytes and the length.
const MIN_CHARACTERS: usize = 132;

/// The error of encryption or decryption.
///
/// Checks run in the order of the variants. Variants before [`Mac`](Self::Mac) depend only on
/// public data. [`Padding`](Self::Padding) and [`Utf8`](Self::Utf8) occur only for authentic
/// payloads.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Nip44Error {
    /// The plaintext is empty.
    Empty,
    /// The plaintext has too many bytes, or the payload has more characters than the longest
    /// allowed plaintext encrypts to.
    TooLong {
        /// The length in bytes or characters.
        len: usize,
        /// The maximum length.
        max: usize,
    },
    /// The payload has too few characters.
    PayloadLength {
        /// The length in characters.
        len: usize,
    },
    /// The payload is not strict base64 with padding.
    Base64 {
        /// The offset of the first invalid character.
        offset: usize,
    },
    /// The version is not supported. `None`: the payload starts with `#`, which marks a version
    /// that is not base64.
    UnknownVersion(Option<u8>),
    /// The MAC does not match: the payload was encrypted with a different key or was modified.
    Mac,
    /// The payload is authentic, but its length prefix or padding is invalid.
    Padding,
    /// The payload is authentic, but its plaintext is not UTF-8.
    Utf8,
    /// The operating system returned no random bytes.
    Randomness,
}

impl fmt::Display for Nip44Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NIP-44: ")?;
        match self {
            Self::Empty => f.write_str("the plaintext is empty"),
            Self::TooLong { len, max } => write!(f, "length {len}, maximum {max}"),
            Self::UnknownVersion(None) => f.write_str("unsupported version of the encryption"),
            Self::UnknownVersion(Some(version)) => write!(f, "unsupported version {version}"),
            Self::PayloadLength { len } => {
                write!(f, "{len} characters, minimum {MIN_CHARACTERS}")
            }
            Self::Base64 { offset } => write!(f, "not base64 at byte {offset}"),
            Self::Mac => f.write_str("wrong MAC: encrypted with a different key, or modified"),
            Self::Padding => f.write_str("wrong padding"),
            Self::Utf8 => f.write_str("the plaintext is not UTF-8"),
            Self::Randomness => f.write_str("the operating system returned no random bytes"),
        }
    }
}

impl std::error::Error for Nip44Error {}
