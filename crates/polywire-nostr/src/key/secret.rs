//! Secret keys.

use std::fmt;

use polywire_text::hex::{self, Case};
use subtle::ConstantTimeEq as _;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::{InvalidPublicKey, KeyPair, SecretKeyError};
use crate::{InvalidHex, PublicKey};

/// The secret key of an author: an integer from 1 to the order of secp256k1 minus 1, as 32 bytes in
/// big-endian order (BIP-340).
///
/// The bytes are zeroized on drop. Moves may leave copies in memory. `Debug` hides the bytes, and
/// there is no `Display`.
///
/// ```
/// use polywire_nostr::SecretKey;
///
/// let key = SecretKey::from_hex("0000000000000000000000000000000000000000000000000000000000000003")?;
/// assert_eq!(
///     key.public_key().to_string(),
///     "f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9",
/// );
/// assert_eq!(format!("{key:?}"), "SecretKey(..)");
/// # Ok::<(), polywire_nostr::key::SecretKeyError>(())
/// ```
#[derive(Clone)]
pub struct SecretKey([u8; Self::LEN]);

impl SecretKey {
    /// The number of bytes.
    pub const LEN: usize = 32;

    /// Creates a key from these bytes, for example from the bytes of a random generator.
    ///
    /// # Errors
    ///
    /// [`SecretKeyError::OutOfRange`]. For random bytes, the probability is about 2^-127.
    pub fn from_bytes(bytes: [u8; Self::LEN]) -> Result<Self, SecretKeyError> {
        // From here on, the bytes are zeroized in all cases.
        let key = Self(bytes);
        match secp256k1::SecretKey::from_secret_bytes(key.0) {
            Ok(mut number) => {
                number.non_secure_erase();
                Ok(key)
            }
            Err(_) => Err(SecretKeyError::OutOfRange),
        }
    }

    /// Parses 64 lower-case hexadecimal digits.
    ///
    /// # Errors
    ///
    /// [`SecretKeyError::Hex`] with the offset of the error, or [`SecretKeyError::OutOfRange`].
    pub fn from_hex(text: impl AsRef<[u8]>) -> Result<Self, SecretKeyError> {
        match hex::decode_to_array(text.as_ref(), Case::Lower) {
            Ok(bytes) => Self::from_bytes(bytes),
            Err(error) => Err(SecretKeyError::Hex(InvalidHex {
                expected_digits: 2 * Self::LEN,
                offset: error.offset,
            })),
        }
    }

    /// Generates a key from random bytes of the operating system.
    ///
    /// # Errors
    ///
    /// The operating system returned no random bytes.
    #[cfg(feature = "os-rng")]
    pub fn generate() -> Result<Self, super::NoRandomness> {
        loop {
            let mut bytes = Zeroizing::new([0; Self::LEN]);
            super::fill_random(&mut *bytes)?;
            // The probability of a second iteration is about 2^-127.
            if let Ok(key) = Self::from_bytes(*bytes) {
                return Ok(key);
            }
        }
    }

    /// Returns the bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }

    /// Returns the lower-case hexadecimal digits, which are zeroized on drop.
    #[must_use]
    pub fn to_hex(&self) -> Zeroizing<String> {
        let mut digits = Zeroizing::new([0; 2 * Self::LEN]);
        // Cannot fail: the array has the required length.
        let _ = hex::encode_to_slice(&self.0, &mut *digits);
        // Hexadecimal digits are ASCII.
        Zeroizing::new(std::str::from_utf8(&*digits).unwrap_or_default().to_owned())
    }

    /// Computes the public key. For signing, create a [`KeyPair`], which stores it.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        KeyPair::from_secret_key(self).public_key()
    }

    /// ECDH: multiplies a point of `public` with this key and returns the x coordinate. There are
    /// two such points with opposite signs; the result is the same for both.
    pub(crate) fn agree(
        &self,
        public: &PublicKey,
    ) -> Result<Zeroizing<[u8; 32]>, InvalidPublicKey> {
        let mut compressed = [0; 33];
        compressed[0] = 2;
        compressed[1..].copy_from_slice(public.as_bytes());
        let point = secp256k1::PublicKey::from_byte_array_compressed(compressed)
            .map_err(|_| InvalidPublicKey)?;
        let mut number = self.number();
        let mut coordinates = secp256k1::ecdh::shared_secret_point(&point, &number);
        number.non_secure_erase();
        let mut x = Zeroizing::new([0; 32]);
        x.copy_from_slice(&coordinates[..32]);
        coordinates.zeroize();
        Ok(x)
    }

    /// Converts the key to the type of the library. The caller must erase the result.
    #[expect(
        clippy::expect_used,
        reason = "the range was checked when this value was created"
    )]
    pub(super) fn number(&self) -> secp256k1::SecretKey {
        secp256k1::SecretKey::from_secret_bytes(self.0).expect("a number in range")
    }

    /// Converts a key of the library, which is always in range.
    pub(super) fn from_number(mut number: secp256k1::SecretKey) -> Self {
        let key = Self(*number.as_secret_bytes());
        number.non_secure_erase();
        key
    }
}

impl Drop for SecretKey {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl ZeroizeOnDrop for SecretKey {}

/// Compares in constant time.
impl PartialEq for SecretKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for SecretKey {}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(..)")
    }
}
