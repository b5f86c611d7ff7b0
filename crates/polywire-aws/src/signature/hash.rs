//! SHA-256 (FIPS 180-4), HMAC-SHA-256 (RFC 2104), and their hexadecimal form.
//!
//! HMAC is built on the block function of `sha2`: a key is two hash states, which are zeroized as
//! eight words each. The types of the crate `hmac` zeroize their buffers after each message, so that
//! deriving a key takes three times as long. A test compares both.

use std::slice;

use polywire_text::hex;
use sha2::block_api::compress256;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroize as _;

/// The SHA-256 of nothing, in hexadecimal.
pub(super) const EMPTY_HASH: &[u8; 64] =
    b"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// The block size in bytes.
const BLOCK: usize = 64;

/// The state before the first block, FIPS 180-4, section 5.3.3.
const INITIAL: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// Returns the SHA-256 of `bytes`.
pub(super) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Returns `digest` as lower-case hexadecimal.
pub(super) fn to_hex(digest: &[u8; 32]) -> [u8; 64] {
    let mut text = [0; 64];
    let written = hex::encode_to_slice(digest, &mut text);
    debug_assert!(written.is_some(), "64 digits for 32 bytes");
    text
}

/// An HMAC key, as the hash states after its two padded blocks. Zeroized on drop.
#[derive(Clone)]
pub(super) struct MacKey {
    inner: [u32; 8],
    outer: [u32; 8],
}

impl MacKey {
    /// Creates a key from any number of bytes. Keys of more than a block are hashed first.
    pub(super) fn new(key: &[u8]) -> Self {
        let mut block = [0; BLOCK];
        match block.get_mut(..key.len()) {
            Some(start) => start.copy_from_slice(key),
            None => block[..32].copy_from_slice(&sha256(key)),
        }
        let mut state = |change: u8| {
            // One expression, which compiles to a few wide stores. The hash loads 16 bytes at a time,
            // and these loads would stall after narrower stores.
            block = block.map(|byte| byte ^ change);
            let mut state = INITIAL;
            compress256(&mut state, slice::from_ref(&block));
            state
        };
        let key = Self {
            inner: state(0x36),
            outer: state(0x36 ^ 0x5c),
        };
        block[..].zeroize();
        key
    }

    /// Returns the MAC of `message`.
    pub(super) fn mac(&self, message: &[u8]) -> [u8; 32] {
        let (blocks, rest) = message.as_chunks::<BLOCK>();
        let mut state = self.inner;
        if !blocks.is_empty() {
            compress256(&mut state, blocks);
        }
        // The end of the message and its padding, section 5.1.1. The length includes the key block.
        let mut last = [[0; BLOCK]; 2];
        let end = if rest.len() < BLOCK - 8 {
            BLOCK
        } else {
            2 * BLOCK
        };
        let bytes = last.as_flattened_mut();
        bytes[..rest.len()].copy_from_slice(rest);
        bytes[rest.len()] = 0x80;
        let bits = 8 * (BLOCK as u64 + message.len() as u64);
        bytes[end - 8..end].copy_from_slice(&bits.to_be_bytes());
        compress256(&mut state, &last[..end / BLOCK]);

        let mut block = [0; BLOCK];
        block[..32].copy_from_slice(state.map(u32::to_be_bytes).as_flattened());
        block[32] = 0x80;
        let bits = 8 * (BLOCK as u64 + 32);
        block[BLOCK - 8..].copy_from_slice(&bits.to_be_bytes());
        let mut state = self.outer;
        compress256(&mut state, slice::from_ref(&block));
        let mut code = [0; 32];
        code.copy_from_slice(state.map(u32::to_be_bytes).as_flattened());
        code
    }
}

impl Drop for MacKey {
    fn drop(&mut self) {
        // As slices: `Zeroize` of an array issues a fence for each word.
        self.inner[..].zeroize();
        self.outer[..].zeroize();
    }
}

#[cfg(test)]
mod tests {
    use hmac::{Hmac, KeyInit as _, Mac as _};

    use super::*;

    #[test]
    fn hash_of_nothing() {
        assert_eq!(&to_hex(&sha256(b"")), EMPTY_HASH);
    }

    /// RFC 4231, section 4.3.
    #[test]
    fn rfc4231_vector() {
        let code = MacKey::new(b"Jefe").mac(b"what do ya want for nothing?");
        let expected = b"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(&to_hex(&code), expected);
    }

    /// All lengths around the boundaries of blocks.
    #[test]
    fn agrees_with_hmac() {
        let bytes: Vec<u8> = (0..=255).collect();
        for key in [0, 1, 32, 63, 64, 65, 200] {
            for message in 0..=200 {
                let (key, message) = (&bytes[..key], &bytes[..message]);
                let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
                mac.update(message);
                assert_eq!(
                    MacKey::new(key).mac(message)[..],
                    mac.finalize().into_bytes()[..]
                );
            }
        }
    }
}
