//! ChaCha20 (RFC 8439, section 2.4) with an initial counter of 0.

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit as _, StreamCipher as _};

/// The number of bytes that the library computes at once. It also computes this many for each block
/// of a shorter rest, so callers pass multiples of this.
pub(super) const WIDE: usize = 4 * 64;

/// A key stream. Its state is zeroized on drop.
pub(super) struct Cipher(ChaCha20);

impl Cipher {
    /// The parameter is the key, 32 bytes, followed by the nonce, 12 bytes.
    pub(super) fn new(key_and_nonce: &[u8; 44]) -> Self {
        let (key, nonce) = key_and_nonce.split_at(32);
        let (Ok(key), Ok(nonce)) = (key.try_into(), nonce.try_into()) else {
            unreachable!("32 and 12 bytes")
        };
        Self(ChaCha20::new(key, nonce))
    }

    /// Encrypts or decrypts the next bytes. The length is a multiple of [`WIDE`]. Callers pad the
    /// last bytes with zeros; the padding becomes unused key stream.
    pub(super) fn apply(&mut self, bytes: &mut [u8]) {
        debug_assert!(bytes.len().is_multiple_of(WIDE));
        self.0.apply_keystream(bytes);
    }
}
