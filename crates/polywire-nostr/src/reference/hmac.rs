//! HMAC-SHA-256 (RFC 2104) and HKDF (RFC 5869), by their definitions.

use sha2::{Digest as _, Sha256};

/// Returns the MAC of `message` with a key of up to 64 bytes.
///
/// # Panics
///
/// If the key is longer than 64 bytes.
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

/// HKDF-Extract (RFC 5869, section 2.2).
#[must_use]
pub fn extract(salt: &[u8], material: &[u8]) -> [u8; 32] {
    hmac(salt, material)
}

/// HKDF-Expand to `len` bytes, at most 255 * 32 (RFC 5869, section 2.3).
///
/// # Panics
///
/// If `len` is greater than 255 * 32.
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
