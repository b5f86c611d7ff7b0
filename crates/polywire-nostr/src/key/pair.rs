//! Key pairs and signing.

use std::fmt;

use secp256k1::{Keypair, XOnlyPublicKey, schnorr};

use super::SecretKey;
use crate::{EventId, PublicKey, Signature};

/// A secret key with its public key. Signs (BIP-340, "Default Signing").
///
/// Signing needs the public key. It is computed once, because that costs as much as a signature.
/// The secret is zeroized on drop, and `Debug` shows only the public key.
///
/// ```
/// use polywire_nostr::{EventId, KeyPair, SecretKey};
///
/// let keys = KeyPair::from(SecretKey::from_bytes([7; 32])?);
/// let id = EventId::from_bytes([1; 32]);
/// # #[cfg(feature = "os-rng")]
/// let signature = keys.sign(&id);
/// # #[cfg(not(feature = "os-rng"))]
/// # let signature = keys.sign_with_aux(&id, &[0; 32]);
/// assert!(keys.public_key().verify(&id, &signature).is_ok());
/// # Ok::<(), polywire_nostr::key::SecretKeyError>(())
/// ```
#[derive(Clone)]
pub struct KeyPair {
    pair: Keypair,
    public: PublicKey,
}

impl KeyPair {
    /// Computes the public key of `secret`.
    #[must_use]
    pub fn from_secret_key(secret: &SecretKey) -> Self {
        let mut number = secret.number();
        let pair = Keypair::from_secret_key(&number);
        number.non_secure_erase();
        let (public, _parity) = XOnlyPublicKey::from_keypair(&pair);
        Self {
            pair,
            public: PublicKey::from_bytes(public.to_byte_array()),
        }
    }

    /// Generates a key pair from random bytes of the operating system.
    ///
    /// # Errors
    ///
    /// The operating system returned no random bytes.
    #[cfg(feature = "os-rng")]
    pub fn generate() -> Result<Self, super::NoRandomness> {
        SecretKey::generate().map(Self::from)
    }

    /// Returns the public key.
    #[must_use]
    pub const fn public_key(&self) -> PublicKey {
        self.public
    }

    /// Returns the secret key.
    #[must_use]
    pub fn secret_key(&self) -> SecretKey {
        SecretKey::from_number(self.pair.secret_key())
    }

    /// Signs the id of an event with auxiliary randomness from the operating system. Two signatures
    /// of the same id differ.
    ///
    /// The randomness hardens signing against side channels (BIP-340, "Synthetic nonces"). If the
    /// operating system returns none, zeros are used; the signature is still secure. Therefore
    /// signing cannot fail.
    #[cfg(feature = "os-rng")]
    #[must_use]
    pub fn sign(&self, id: &EventId) -> Signature {
        let mut aux = [0; 32];
        if super::fill_random(&mut aux).is_err() {
            aux = [0; 32];
        }
        self.sign_with_aux(id, &aux)
    }

    /// Signs the id of an event with the given auxiliary randomness.
    #[must_use]
    pub fn sign_with_aux(&self, id: &EventId, aux: &[u8; 32]) -> Signature {
        self.sign_message(id.as_bytes(), aux)
    }

    /// Signs a message of any length with the given auxiliary randomness. Start the message with a
    /// domain-separation prefix, so that it cannot equal an event id (BIP-340, "Messages of
    /// Arbitrary Size").
    #[must_use]
    pub fn sign_message(&self, message: &[u8], aux: &[u8; 32]) -> Signature {
        let signature = schnorr::sign_with_aux_rand(message, &self.pair, aux);
        Signature::from_bytes(signature.to_byte_array())
    }
}

impl Drop for KeyPair {
    fn drop(&mut self) {
        // The library type gives no mutable access to its bytes. Like `zeroize`, its method uses
        // volatile writes.
        self.pair.non_secure_erase();
    }
}

impl From<SecretKey> for KeyPair {
    fn from(secret: SecretKey) -> Self {
        Self::from_secret_key(&secret)
    }
}

impl From<&SecretKey> for KeyPair {
    fn from(secret: &SecretKey) -> Self {
        Self::from_secret_key(secret)
    }
}

impl fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyPair")
            .field("public_key", &self.public)
            .finish_non_exhaustive()
    }
}
