//! Conversation keys and message keys.

use std::fmt;

use subtle::ConstantTimeEq as _;
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::cipher::Cipher;
use super::{DEFAULT_MAX_PLAINTEXT, NONCE};
use crate::key::InvalidPublicKey;
use crate::mac::MacKey;
use crate::{PublicKey, SecretKey};

/// The shared key of two authors, which is the same for both directions (NIP-44, "Encryption", step
/// 1).
///
/// Deriving a key takes much longer than encrypting a short message: callers should keep the key.
/// It is zeroized on drop, and `Debug` does not show it.
#[derive(Clone)]
pub struct ConversationKey {
    bytes: [u8; Self::LEN],
    /// The same bytes as an HMAC key.
    pub(super) mac: MacKey,
    pub(super) max_plaintext: u32,
}

impl ConversationKey {
    /// The number of bytes.
    pub const LEN: usize = 32;

    /// Derives the conversation key of `secret` and `public`.
    ///
    /// # Errors
    ///
    /// `public` is not the x coordinate of a point on the curve.
    pub fn derive(secret: &SecretKey, public: &PublicKey) -> Result<Self, InvalidPublicKey> {
        let x = secret.agree(public)?;
        Ok(Self::from_bytes(MacKey::new(b"nip44-v2").mac(&[&*x])))
    }

    /// Creates a key from the bytes of a key that was derived before.
    #[must_use]
    pub fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self {
            bytes,
            mac: MacKey::new(&bytes),
            max_plaintext: DEFAULT_MAX_PLAINTEXT,
        }
    }

    /// Returns the bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.bytes
    }

    /// Sets the maximum length of a plaintext in bytes. [`DEFAULT_MAX_PLAINTEXT`] by default. When
    /// decrypting, it limits the length of the payload and thus the reserved memory. NIP-44 allows
    /// up to [`u32::MAX`].
    ///
    /// ```
    /// use polywire_nostr::nip44::{ConversationKey, Nip44Error};
    ///
    /// let key = ConversationKey::from_bytes([1; 32]).with_max_plaintext(10);
    /// let error = key.encrypt_with_nonce("more than that", &[2; 32]).unwrap_err();
    /// assert_eq!(error, Nip44Error::TooLong { len: 14, max: 10 });
    /// ```
    #[must_use]
    pub const fn with_max_plaintext(mut self, bytes: u32) -> Self {
        self.max_plaintext = bytes;
        self
    }

    /// Derives the keys of the message with this nonce (NIP-44, "Encryption", step 3).
    pub(super) fn message_keys(&self, nonce: &[u8; NONCE]) -> MessageKeys {
        let expanded = self.mac.expand(nonce);
        // NIP-44 uses the first 76 of the 96 bytes.
        let (Some(cipher), Some(mac)) = (expanded.0.first_chunk(), expanded.0[44..].first_chunk())
        else {
            unreachable!("96 bytes contain 44 and 32 bytes")
        };
        MessageKeys {
            cipher: Cipher::new(cipher),
            mac: MacKey::new::<32>(mac),
        }
    }
}

impl Drop for ConversationKey {
    fn drop(&mut self) {
        self.bytes[..].zeroize();
    }
}

impl ZeroizeOnDrop for ConversationKey {}

/// Compares in constant time.
impl PartialEq for ConversationKey {
    fn eq(&self, other: &Self) -> bool {
        self.bytes.ct_eq(&other.bytes).into()
    }
}

impl Eq for ConversationKey {}

impl fmt::Debug for ConversationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConversationKey(..)")
    }
}

/// The keys of one message.
pub(super) struct MessageKeys {
    pub(super) cipher: Cipher,
    pub(super) mac: MacKey,
}
