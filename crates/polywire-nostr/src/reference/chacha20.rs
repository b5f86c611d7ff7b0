//! ChaCha20 (RFC 8439), one block at a time.

/// The quarter round (section 2.1).
fn quarter_round(state: &mut [u32; 16], a: usize, b: usize, c: usize, d: usize) {
    state[a] = state[a].wrapping_add(state[b]);
    state[d] = (state[d] ^ state[a]).rotate_left(16);
    state[c] = state[c].wrapping_add(state[d]);
    state[b] = (state[b] ^ state[c]).rotate_left(12);
    state[a] = state[a].wrapping_add(state[b]);
    state[d] = (state[d] ^ state[a]).rotate_left(8);
    state[c] = state[c].wrapping_add(state[d]);
    state[b] = (state[b] ^ state[c]).rotate_left(7);
}

/// Returns a block of the key stream (section 2.3).
#[must_use]
pub fn block(key: &[u8; 32], counter: u32, nonce: &[u8; 12]) -> [u8; 64] {
    let mut state = [0; 16];
    let words = [&b"expand 32-byte k"[..], key, &counter.to_le_bytes(), nonce].concat();
    for (word, bytes) in state.iter_mut().zip(words.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    let initial = state;
    for _ in 0..10 {
        quarter_round(&mut state, 0, 4, 8, 12);
        quarter_round(&mut state, 1, 5, 9, 13);
        quarter_round(&mut state, 2, 6, 10, 14);
        quarter_round(&mut state, 3, 7, 11, 15);
        quarter_round(&mut state, 0, 5, 10, 15);
        quarter_round(&mut state, 1, 6, 11, 12);
        quarter_round(&mut state, 2, 7, 8, 13);
        quarter_round(&mut state, 3, 4, 9, 14);
    }
    let mut out = [0; 64];
    for ((bytes, word), initial) in out.as_chunks_mut().0.iter_mut().zip(state).zip(initial) {
        *bytes = word.wrapping_add(initial).to_le_bytes();
    }
    out
}

/// Encrypts or decrypts, starting with block 0 (section 2.4).
#[must_use]
pub fn apply(key: &[u8; 32], nonce: &[u8; 12], bytes: &[u8]) -> Vec<u8> {
    let blocks = bytes.chunks(64).zip(0..);
    blocks
        .flat_map(|(bytes, counter)| {
            let stream = block(key, counter, nonce);
            bytes
                .iter()
                .zip(stream)
                .map(|(byte, stream)| byte ^ stream)
                .collect::<Vec<_>>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 2.3.2.
    #[test]
    fn block_of_the_rfc() {
        let key = std::array::from_fn(|at| at as u8);
        let nonce = [0, 0, 0, 9, 0, 0, 0, 0x4a, 0, 0, 0, 0];
        let stream = block(&key, 1, &nonce);
        assert_eq!(
            stream[..8],
            [0x10, 0xf1, 0xe7, 0xe4, 0xd1, 0x3b, 0x59, 0x15]
        );
        assert_eq!(
            stream[56..],
            [0xcb, 0xd0, 0x83, 0xe8, 0xa2, 0x50, 0x3c, 0x4e]
        );
    }
}
