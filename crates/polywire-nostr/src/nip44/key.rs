//! Keys of conversations and of messages.

use std::fmt;

use subtle::ConstantTimeEq as _;
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::cipher::Cipher;
use super::{DEFAULT_MAX_PLAINTEXT, NONCE};
use crate::key::InvalidPublicKey;
use crate::mac::MacKey;
use crate::{PublicKey, SecretKey};

/// The key that two authors share, the same for both directions (NIP-44, "Encryption", step 1).
///
/// To derive it costs much more than to encrypt a short message, so that callers keep it. It is
/// overwritten when it goes, and `Debug` does not show it.
#[derive(Clone)]
pub struct ConversationKey {
    bytes: [u8; Self::LEN],
    /// The same, as a key of HMAC.
    pub(super) mac: MacKey,
    pub(super) max_plaintext: u32,
}

impl ConversationKey {
    /// The number of bytes.
    pub const LEN: usize = 32;

    /// Derives the key of the conversation between the owner of `secret` and the owner of `public`.
    ///
    /// # Errors
    ///
    /// `public` is not the x coordinate of a point of the curve.
    pub fn derive(secret: &SecretKey, public: &PublicKey) -> Result<Self, InvalidPublicKey> {
        let x = secret.agree(public)?;
        Ok(Self::from_bytes(MacKey::new(b"nip44-v2").mac(&[&*x])))
    }

    /// Wraps a key that was derived before.
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

    /// Sets how many bytes a plaintext may have instead of [`DEFAULT_MAX_PLAINTEXT`]. When
    /// decrypting, this bounds the characters of the payload, and so the memory that is reserved.
    /// NIP-44 itself allows up to [`u32::MAX`].
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

    /// The keys of the message with this nonce (NIP-44, "Encryption", step 3).
    pub(super) fn message_keys(&self, nonce: &[u8; NONCE]) -> MessageKeys {
        let expanded = self.mac.expand(nonce);
        // The last 20 of the 96 bytes are not asked for.
        let (Some(cipher), Some(mac)) = (expanded.0.first_chunk(), expanded.0[44..].first_chunk())
        else {
            unreachable!("96 bytes have 44 and 32 in them")
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

/// Takes as long whatever differs.
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
