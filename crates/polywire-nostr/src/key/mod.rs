//! Keys and signatures: secp256k1 and the Schnorr signatures of BIP-340.
//!
//! The arithmetic is that of libsecp256k1. Its context, a few hundred bytes, is made once for each
//! thread, at the first use on that thread, so that threads do not wait for each other. It is randomized
//! anew after each use of a secret key, against what a device may leak.
//!
//! ```
//! use polywire_nostr::key::{KeyPair, SignatureError};
//! use polywire_nostr::{EventId, SecretKey};
//!
//! let keys = KeyPair::from(SecretKey::from_bytes([7; 32])?);
//! let id = EventId::from_bytes([1; 32]);
//! let signature = keys.sign_with_aux(&id, &[0; 32]);
//! assert_eq!(keys.public_key().verify(&id, &signature), Ok(()));
//!
//! let other = EventId::from_bytes([2; 32]);
//! assert_eq!(keys.public_key().verify(&other, &signature), Err(SignatureError::Mismatch));
//! # Ok::<(), polywire_nostr::key::SecretKeyError>(())
//! ```

mod pair;
mod secret;
mod verify;

use std::fmt;

use crate::InvalidHex;

pub use pair::KeyPair;
pub use secret::SecretKey;
pub use verify::verify_batch;

/// Why something is not a secret key. It tells nothing about the bytes that were given.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum SecretKeyError {
    /// The text is not 64 lower-case hexadecimal digits.
    Hex(InvalidHex),
    /// The number is zero, or not less than the order of the curve (BIP-340, "Public Key
    /// Generation").
    OutOfRange,
}

impl fmt::Display for SecretKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hex(error) => write!(f, "secret key: {error}"),
            Self::OutOfRange => {
                f.write_str("secret key: zero, or not below the order of the curve")
            }
        }
    }
}

impl std::error::Error for SecretKeyError {}

impl From<InvalidHex> for SecretKeyError {
    fn from(error: InvalidHex) -> Self {
        Self::Hex(error)
    }
}

/// A public key that is not the x coordinate of a point of the curve.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct InvalidPublicKey;

impl fmt::Display for InvalidPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("public key: not the x coordinate of a point of the curve")
    }
}

impl std::error::Error for InvalidPublicKey {}

/// Why a signature does not hold (BIP-340, "Verification").
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum SignatureError {
    /// The public key is not the x coordinate of a point of the curve.
    PublicKey,
    /// The signature is not one of this message by this key. This includes signatures whose halves
    /// are out of range: libsecp256k1 does not tell them apart.
    Mismatch,
}

impl fmt::Display for SignatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PublicKey => InvalidPublicKey.fmt(f),
            Self::Mismatch => f.write_str("signature: not of this message by this key"),
        }
    }
}

impl std::error::Error for SignatureError {}

impl From<InvalidPublicKey> for SignatureError {
    fn from(_: InvalidPublicKey) -> Self {
        Self::PublicKey
    }
}

/// The operating system gave no random bytes.
#[cfg(feature = "os-rng")]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NoRandomness;

#[cfg(feature = "os-rng")]
impl fmt::Display for NoRandomness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the operating system gave no random bytes")
    }
}

#[cfg(feature = "os-rng")]
impl std::error::Error for NoRandomness {}

/// Fills `bytes` from the generator of the operating system.
#[cfg(feature = "os-rng")]
pub(crate) fn fill_random(bytes: &mut [u8]) -> Result<(), NoRandomness> {
    getrandom::fill(bytes).map_err(|_| NoRandomness)
}
