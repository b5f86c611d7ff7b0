//! Signers for authentication.

use polywire_nostr::{KeyPair, PublicKey, Signature, UnsignedEvent};

/// Signs the events that answer authentication challenges of relays (NIP-42).
///
/// [`KeyPair`] implements this trait. Other implementations can keep the secret key elsewhere, or
/// inspect the event before signing.
pub trait Signer: Send + Sync {
    /// Returns the public key of the signatures.
    fn public_key(&self) -> PublicKey;

    /// Signs the id of an event. Blocks the task of the connection.
    ///
    /// # Errors
    ///
    /// Any error. The client then does not answer the challenge.
    fn sign(&self, event: &UnsignedEvent) -> Result<Signature, SignerError>;
}

/// The error of a [`Signer`].
pub type SignerError = Box<dyn std::error::Error + Send + Sync>;

impl Signer for KeyPair {
    fn public_key(&self) -> PublicKey {
        Self::public_key(self)
    }

    fn sign(&self, event: &UnsignedEvent) -> Result<Signature, SignerError> {
        Ok(Self::sign(self, event.id()))
    }
}
