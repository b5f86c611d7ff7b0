//! ChaCha20 (RFC 8439, section 2.4), from block 0 on.

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit as _, StreamCipher as _};
use zeroize::Zeroize as _;

/// The library computes four blocks at a time where it can, also for a single one.
const WIDE: usize = 4 * 64;

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

    /// Encrypts or decrypts what comes next: whole blocks, unless it is the last.
    pub(super) fn apply(&mut self, bytes: &mut [u8]) {
        let (wide, rest) = bytes.split_at_mut(bytes.len() / WIDE * WIDE);
        self.0.apply_keystream(wide);
        if !rest.is_empty() {
            let mut stream = [0; WIDE];
            self.0.write_keystream(&mut stream);
            for (to, from) in rest.iter_mut().zip(&stream) {
                *to ^= from;
            }
            stream.zeroize();
        }
    }
}
