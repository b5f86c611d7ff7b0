//! Keys and signatures: secp256k1 and the Schnorr signatures of BIP-340.
//!
//! The arithmetic is that of libsecp256k1. Each thread creates its own context of a few hundred
//! bytes at first use, so threads do not block each other. The context is randomized again after
//! each use of a secret key, as protection against side channels.
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

/// The error of creating a secret key. It contains no part of the input.
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
                f.write_str("secret key: zero, or not less than the order of the curve")
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

/// The error for a public key that is not the x coordinate of a point on the curve.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct InvalidPublicKey;

impl fmt::Display for InvalidPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("public key: not the x coordinate of a point on the curve")
    }
}

impl std::error::Error for InvalidPublicKey {}

/// The error of verifying a signature (BIP-340, "Verification").
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum SignatureError {
    /// The public key is not the x coordinate of a point on the curve.
    PublicKey,
    /// The signature is not valid for the message and the public key. This includes signatures with
    /// a component out of range: libsecp256k1 does not report them separately.
    Mismatch,
}

impl fmt::Display for SignatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PublicKey => InvalidPublicKey.fmt(f),
            Self::Mismatch => {
                f.write_str("signature: does not match the message and the public key")
            }
        }
    }
}

impl std::error::Error for SignatureError {}

impl From<InvalidPublicKey> for SignatureError {
    fn from(_: InvalidPublicKey) -> Self {
        Self::PublicKey
    }
}

/// The error of a failed random generator: the operating system returned no random bytes.
#[cfg(feature = "os-rng")]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NoRandomness;

#[cfg(feature = "os-rng")]
impl fmt::Display for NoRandomness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the operating system returned no random bytes")
    }
}

#[cfg(feature = "os-rng")]
impl std::error::Error for NoRandomness {}

/// Fills `bytes` with random bytes of the operating system.
#[cfg(feature = "os-rng")]
pub(crate) fn fill_random(bytes: &mut [u8]) -> Result<(), NoRandomness> {
    getrandom::fill(bytes).map_err(|_| NoRandomness)
}
