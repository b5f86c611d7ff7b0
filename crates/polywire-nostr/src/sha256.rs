//! What event ids and HMAC share of SHA-256 (FIPS 180-4); the block function is that of `sha2`.

pub(crate) use sha2::block_api::compress256 as compress;

/// The bytes of a block.
pub(crate) const BLOCK: usize = 64;

/// The state before the first block (section 5.3.3).
pub(crate) const INITIAL: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// Pads the end of a message (section 5.1.1), which is the first `len` bytes of `buffer`, and returns the
/// whole blocks. `total` is the length of the whole message in bytes. `buffer` must have room for 9 more
/// bytes, up to the end of a block.
#[inline(always)]
pub(crate) fn pad(buffer: &mut [u8], len: usize, total: u64) -> &[[u8; BLOCK]] {
    let end = (len + 9).next_multiple_of(BLOCK);
    buffer[len] = 0x80;
    buffer[len + 1..end - 8].fill(0);
    buffer[end - 8..end].copy_from_slice(&(8 * total).to_be_bytes());
    buffer[..end].as_chunks().0
}

/// The digest of a state.
#[inline(always)]
pub(crate) fn to_bytes(state: &[u32; 8]) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(state.map(u32::to_be_bytes).as_flattened());
    bytes
}
