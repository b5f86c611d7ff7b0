//! Verification of signatures.

use secp256k1::{XOnlyPublicKey, schnorr};

use super::{InvalidPublicKey, SignatureError};
use crate::{EventId, PublicKey, Signature};

impl PublicKey {
    /// Checks that these bytes are the x coordinate of a point on the curve.
    ///
    /// ```
    /// use polywire_nostr::PublicKey;
    ///
    /// assert!(PublicKey::from_bytes([1; 32]).check().is_ok());
    /// assert!(PublicKey::from_bytes([0; 32]).check().is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// [`InvalidPublicKey`] if they are not.
    pub fn check(&self) -> Result<(), InvalidPublicKey> {
        self.point().map(|_| ())
    }

    /// Verifies the signature of an event's id (BIP-340, "Verification").
    ///
    /// This does not check that `id` is the digest of an event; see
    /// [`EventRef::verify`](crate::EventRef::verify).
    ///
    /// # Errors
    ///
    /// [`SignatureError::PublicKey`] if the key is invalid, or [`SignatureError::Mismatch`].
    pub fn verify(&self, id: &EventId, signature: &Signature) -> Result<(), SignatureError> {
        self.verify_message(id.as_bytes(), signature)
    }

    /// Verifies the signature of a message of any length.
    ///
    /// # Errors
    ///
    /// Like [`verify`](Self::verify).
    pub fn verify_message(
        &self,
        message: &[u8],
        signature: &Signature,
    ) -> Result<(), SignatureError> {
        verify_by(&self.point()?, message, signature)
    }

    fn point(&self) -> Result<XOnlyPublicKey, InvalidPublicKey> {
        XOnlyPublicKey::from_byte_array(*self.as_bytes()).map_err(|_| InvalidPublicKey)
    }
}

fn verify_by(
    point: &XOnlyPublicKey,
    message: &[u8],
    signature: &Signature,
) -> Result<(), SignatureError> {
    let signature = schnorr::Signature::from_byte_array(*signature.as_bytes());
    schnorr::verify(&signature, message, point).map_err(|_| SignatureError::Mismatch)
}

/// Verifies many signatures. Yields one result for each item, in order, lazily.
///
/// Each signature is verified separately: libsecp256k1 has no batch verification. For successive
/// items with the same public key, its point is computed once, which saves a few percent.
///
/// ```
/// use polywire_nostr::key::verify_batch;
/// use polywire_nostr::{EventId, KeyPair, SecretKey};
///
/// let keys = KeyPair::from(SecretKey::from_bytes([7; 32])?);
/// let ids = [EventId::from_bytes([1; 32]), EventId::from_bytes([2; 32])];
/// let signature = keys.sign_with_aux(&ids[0], &[0; 32]);
/// let outcomes = verify_batch(ids.iter().map(|id| (keys.public_key(), *id, signature)));
/// assert_eq!(outcomes.map(|outcome| outcome.is_ok()).collect::<Vec<_>>(), [true, false]);
/// # Ok::<(), polywire_nostr::key::SecretKeyError>(())
/// ```
pub fn verify_batch<I>(items: I) -> impl Iterator<Item = Result<(), SignatureError>>
where
    I: IntoIterator<Item = (PublicKey, EventId, Signature)>,
{
    let mut last: Option<(PublicKey, Result<XOnlyPublicKey, InvalidPublicKey>)> = None;
    items.into_iter().map(move |(key, id, signature)| {
        let point = match last {
            Some((last_key, point)) if last_key == key => point,
            _ => key.point(),
        };
        last = Some((key, point));
        verify_by(&point?, id.as_bytes(), &signature)
    })
}
