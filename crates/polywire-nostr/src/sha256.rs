//! SHA-256 (FIPS 180-4) for event ids and HMAC, around the block function of `sha2`.

pub(crate) use sha2::block_api::compress256 as compress;

/// The block size in bytes.
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

/// Pads a message (section 5.1.1) and returns its last blocks.
///
/// The first `len` bytes of `buffer` are the end of the message. `total` is the length of the whole
/// message in bytes. `buffer` must have room for `len + 9` bytes, rounded up to whole blocks.
#[inline(always)]
pub(crate) fn pad(buffer: &mut [u8], len: usize, total: u64) -> &[[u8; BLOCK]] {
    let end = (len + 9).next_multiple_of(BLOCK);
    buffer[len] = 0x80;
    buffer[len + 1..end - 8].fill(0);
    buffer[end - 8..end].copy_from_slice(&(8 * total).to_be_bytes());
    buffer[..end].as_chunks().0
}

/// Converts the final state to the digest.
#[inline(always)]
pub(crate) fn to_bytes(state: &[u32; 8]) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(state.map(u32::to_be_bytes).as_flattened());
    bytes
}
