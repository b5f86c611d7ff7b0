//! Signers.

use polywire_nostr::{KeyPair, PublicKey, Signature, UnsignedEvent};

/// Signs the events with which a client answers challenges of relays (NIP-42).
///
/// [`KeyPair`] is one. Others keep the secret key elsewhere, or look at the event before they sign.
pub trait Signer: Send + Sync {
    /// Returns the public key that belongs to the signatures.
    fn public_key(&self) -> PublicKey;

    /// Signs the id of an event. Runs on the task of the connection, which waits for it.
    ///
    /// # Errors
    ///
    /// Whatever prevents a signature. The client then sends no answer to the challenge.
    fn sign(&self, event: &UnsignedEvent) -> Result<Signature, SignerError>;
}

/// Why a [`Signer`] did not sign.
pub type SignerError = Box<dyn std::error::Error + Send + Sync>;

impl Signer for KeyPair {
    fn public_key(&self) -> PublicKey {
        Self::public_key(self)
    }

    fn sign(&self, event: &UnsignedEvent) -> Result<Signature, SignerError> {
        Ok(Self::sign(self, event.id()))
    }
}
