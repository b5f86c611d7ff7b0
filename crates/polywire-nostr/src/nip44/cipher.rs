//! ChaCha20 (RFC 8439, section 2.4), from block 0 on.

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit as _, StreamCipher as _};

/// The library computes four blocks at a time where it can, also for a single one and for each that is
/// left over.
pub(super) const WIDE: usize = 4 * 64;

/// A key stream. Its state is overwritten when it goes.
pub(super) struct Cipher(ChaCha20);

impl Cipher {
    /// The key, 32 bytes, and the nonce, 12 bytes.
    pub(super) fn new(key_and_nonce: &[u8; 44]) -> Self {
        let (key, nonce) = key_and_nonce.split_at(32);
        // The lengths are those of the array types that the library wants.
        let (Ok(key), Ok(nonce)) = (key.try_into(), nonce.try_into()) else {
            unreachable!("32 and 12 bytes")
        };
        Self(ChaCha20::new(key, nonce))
    }

    /// Encrypts or decrypts what comes next, which is a multiple of [`WIDE`] long. If it is the last,
    /// what fills it up becomes a part of the key stream that nothing is encrypted with.
    pub(super) fn apply(&mut self, bytes: &mut [u8]) {
        debug_assert!(bytes.len().is_multiple_of(WIDE));
        self.0.apply_keystream(bytes);
    }
}
