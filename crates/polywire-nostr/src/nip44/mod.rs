//! Encryption of payloads, version 2 (NIP-44, as amended on 2026-06-28).
//!
//! ```text
//! conversation key = HKDF-Extract(salt "nip44-v2", x coordinate of ECDH)
//! chacha key 32, chacha nonce 12, hmac key 32 = HKDF-Expand(conversation key, info = nonce, 76)
//! padded  = length plaintext *zero
//! length  = 2 bytes below 65,536; from there on two zero bytes and 4 bytes; big-endian
//! payload = base64(2 nonce ChaCha20(padded) HMAC-SHA-256(hmac key, nonce ChaCha20(padded)))
//! ```
//!
//! A payload hides what is said, and about how long it is. It does not hide who talks to whom and
//! when, and whoever learns a secret key can read all that was ever encrypted for it (NIP-44,
//! "Limitations").
//!
//! Padding, cipher, authentication and base64 go over a few kilobytes at a time, straight into what
//! is returned, which is the only allocation. Nothing of a plaintext is looked at or returned before
//! all of it is known to be authentic.
//!
//! ```
//! use polywire_nostr::SecretKey;
//! use polywire_nostr::nip44::{ConversationKey, Nip44Error};
//!
//! let alice = SecretKey::from_bytes([1; 32])?;
//! let bob = SecretKey::from_bytes([2; 32])?;
//!
//! let key = ConversationKey::derive(&alice, &bob.public_key())?;
//! // A nonce is random and never used again: `encrypt` takes it from the operating system.
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

/// The length of a plaintext in bytes that a key accepts unless it is told otherwise: 1 MiB.
///
/// Relays commonly refuse messages far below this. The length of a payload is what a stranger
/// chooses, and memory is reserved for it before it is known to be authentic.
pub const DEFAULT_MAX_PLAINTEXT: u32 = 1 << 20;

const VERSION: u8 = 2;
const NONCE: usize = 32;
const TAG: usize = 32;
/// The version and the nonce: whole groups of base64, so that the rest can be read without them.
const HEAD: usize = 1 + NONCE;
const HEAD_CHARACTERS: usize = HEAD / 3 * 4;
/// Whole blocks of the cipher and whole groups of base64. Fits the first cache with what is made of it.
const CHUNK: usize = 3072;
const CHUNK_CHARACTERS: usize = CHUNK / 3 * 4;
/// The characters of a payload with the shortest ciphertext: 32 bytes and the length.
const MIN_CHARACTERS: usize = 132;

/// Why something cannot be encrypted or decrypted.
///
/// What stands before [`Mac`](Self::Mac) is plain to everybody who sees a payload; what comes after it
/// is reported only for payloads that somebody with the key has made.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Nip44Error {
    /// The plaintext is empty.
    Empty,
    /// The plaintext has too many bytes, or the payload more characters than the longest plaintext
    /// is encrypted to.
    TooLong {
        /// How many it has.
        len: usize,
        /// How many are allowed.
        max: usize,
    },
    /// The payload has too few characters.
    PayloadLength {
        /// How many it has.
        len: usize,
    },
    /// The payload is not strict base64 with padding.
    Base64 {
        /// The offset of the first wrong character.
        offset: usize,
    },
    /// The payload is of another version: of this one, or of one that is not base64 and begins with
    /// `#`.
    UnknownVersion(Option<u8>),
    /// The payload was not made with this key, or was changed.
    Mac,
    /// The payload is authentic, but its length and its padding are not as they should be.
    Padding,
    /// The payload is authentic, but its plaintext is not UTF-8.
    Utf8,
    /// The operating system gave no random bytes.
    Randomness,
}

impl fmt::Display for Nip44Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NIP-44: ")?;
        match self {
            Self::Empty => f.write_str("the plaintext is empty"),
            Self::TooLong { len, max } => write!(f, "a length of {len}, of at most {max}"),
            Self::UnknownVersion(None) => f.write_str("a later version of the encryption"),
            Self::UnknownVersion(Some(version)) => write!(f, "version {version} of the encryption"),
            Self::PayloadLength { len } => {
                write!(f, "{len} characters, of at least {MIN_CHARACTERS}")
            }
            Self::Base64 { offset } => write!(f, "not base64 at byte {offset}"),
            Self::Mac => f.write_str("not made with this key, or changed"),
            Self::Padding => f.write_str("wrong padding"),
            Self::Utf8 => f.write_str("the plaintext is not UTF-8"),
            Self::Randomness => f.write_str("the operating system gave no random bytes"),
        }
    }
}

impl std::error::Error for Nip44Error {}
