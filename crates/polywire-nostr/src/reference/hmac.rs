//! HMAC-SHA-256 by its definition (RFC 2104), and HKDF on top (RFC 5869).

use sha2::{Digest as _, Sha256};

/// The code of `message` under a key of up to 64 bytes.
///
/// # Panics
///
/// The key is longer.
#[must_use]
pub fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut padded = [0; 64];
    padded[..key.len()].copy_from_slice(key);
    let inner = Sha256::new()
        .chain_update(padded.map(|byte| byte ^ 0x36))
        .chain_update(message)
        .finalize();
    let outer = Sha256::new()
        .chain_update(padded.map(|byte| byte ^ 0x5c))
        .chain_update(inner)
        .finalize();
    outer.into()
}

/// HKDF-Extract.
#[must_use]
pub fn extract(salt: &[u8], material: &[u8]) -> [u8; 32] {
    hmac(salt, material)
}

/// HKDF-Expand to `len` bytes, up to 255 times 32.
///
/// # Panics
///
/// `len` is greater.
#[must_use]
pub fn expand(key: &[u8; 32], info: &[u8], len: usize) -> Vec<u8> {
    assert!(len <= 255 * 32, "HKDF has no more than 255 blocks");
    let mut out = Vec::new();
    let mut previous = Vec::new();
    for count in 1..=255 {
        if out.len() >= len {
            break;
        }
        previous = hmac(key, &[&previous, info, &[count]].concat()).to_vec();
        out.extend(&previous);
    }
    out.truncate(len);
    out
}
