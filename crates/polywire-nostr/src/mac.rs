//! HMAC-SHA-256 (RFC 2104) and HKDF (RFC 5869) from the block function of `sha2`.
//!
//! A key is stored as two hash states, which saves two block computations per message. A state is
//! eight words, so zeroizing it is cheaper than zeroizing the types of `sha2`. Event ids use the
//! same block function without zeroizing, because they are not secret.

use std::slice;

use zeroize::Zeroize as _;

use crate::sha256::{BLOCK, INITIAL, compress, pad, to_bytes};

/// A byte array that is zeroized on drop.
pub(crate) struct SecretBytes<const LEN: usize>(pub(crate) [u8; LEN]);

impl<const LEN: usize> Drop for SecretBytes<LEN> {
    fn drop(&mut self) {
        // As a slice: `Zeroize` of an array issues a fence for each byte.
        self.0[..].zeroize();
    }
}

/// A key, as the hash states after its padded block. Zeroized on drop.
#[derive(Clone)]
pub(crate) struct MacKey {
    inner: [u32; 8],
    outer: [u32; 8],
}

impl MacKey {
    /// Creates a key from at most 64 bytes. Longer keys need hashing first; this crate has none.
    pub(crate) fn new<const LEN: usize>(key: &[u8; LEN]) -> Self {
        const { assert!(LEN <= BLOCK) };
        let mut padded = SecretBytes([0; BLOCK]);
        padded.0[..LEN].copy_from_slice(key);
        let mut state = |pad: u8, previous_pad: u8| {
            // One expression, which compiles to a few wide stores. The hash loads 16 bytes at a
            // time, and these loads would stall after narrower stores.
            padded.0 = padded.0.map(|byte| byte ^ pad ^ previous_pad);
            let mut state = INITIAL;
            compress(&mut state, slice::from_ref(&padded.0));
            state
        };
        Self {
            inner: state(0x36, 0),
            outer: state(0x5c, 0x36),
        }
    }

    /// Starts the MAC of a message.
    pub(crate) fn start(&self) -> Mac {
        Mac {
            state: self.inner,
            outer: self.outer,
            buffer: [0; 2 * BLOCK],
            held: 0,
            len: BLOCK as u64,
        }
    }

    /// Returns the MAC of the concatenated parts.
    pub(crate) fn mac(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = self.start();
        for part in parts {
            mac.update(part);
        }
        mac.finish()
    }

    /// HKDF-Expand to 96 bytes, where this key is the pseudorandom key (RFC 5869, section 2.3).
    ///
    /// The messages have one or two blocks. This function builds the blocks without a [`Mac`],
    /// because the expansion is two fifths of the cost of encrypting a short message.
    pub(crate) fn expand(&self, info: &[u8; 32]) -> SecretBytes<96> {
        // Constants, because the loads of the hash would stall after narrow stores.
        const FIRST: [u8; BLOCK] = last_block(32, &[1], BLOCK + 33);
        const SECOND: [u8; BLOCK] = last_block(0, &[2], BLOCK + 65);
        const THIRD: [u8; BLOCK] = last_block(0, &[3], BLOCK + 65);

        let mut out = SecretBytes([0; 96]);
        // The previous output, followed by `info`.
        let mut block = SecretBytes(FIRST);
        block.0[..32].copy_from_slice(info);
        let mut state = self.inner;
        compress(&mut state, slice::from_ref(&block.0));
        let mut previous = finish(self.outer, &state);
        out.0[..32].copy_from_slice(&previous);
        block.0[32..].copy_from_slice(info);
        for (count, out) in [&SECOND, &THIRD]
            .into_iter()
            .zip(out.0[32..].as_chunks_mut().0)
        {
            block.0[..32].copy_from_slice(&previous);
            state = self.inner;
            compress(&mut state, slice::from_ref(&block.0));
            compress(&mut state, slice::from_ref(count));
            previous = finish(self.outer, &state);
            *out = previous;
        }
        state[..].zeroize();
        previous[..].zeroize();
        out
    }
}

/// Returns the padded last block of a message of `len` bytes. `bytes` are the end of the message,
/// at offset `at` of the block. The caller fills in the bytes before `at`.
const fn last_block(at: usize, bytes: &[u8], len: usize) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let (_, rest) = block.split_at_mut(at);
    let (to, rest) = rest.split_at_mut(bytes.len());
    to.copy_from_slice(bytes);
    rest[0] = 0x80;
    let bits = (8 * len as u64).to_be_bytes();
    let (_, to) = block.split_at_mut(BLOCK - bits.len());
    to.copy_from_slice(&bits);
    block
}

/// Returns the MAC, computed from the outer state of the key and the inner state after the message.
fn finish(mut outer: [u32; 8], inner: &[u32; 8]) -> [u8; 32] {
    let mut block = const { last_block(32, &[], BLOCK + 32) };
    block[..32].copy_from_slice(&to_bytes(inner));
    compress(&mut outer, slice::from_ref(&block));
    let code = to_bytes(&outer);
    outer[..].zeroize();
    code
}

impl Drop for MacKey {
    fn drop(&mut self) {
        self.inner[..].zeroize();
        self.outer[..].zeroize();
    }
}

/// An incremental MAC computation. Zeroized on drop.
pub(crate) struct Mac {
    state: [u32; 8],
    outer: [u32; 8],
    /// The first `held` bytes, less than a block, are not hashed yet. The second block is room for
    /// the padding.
    buffer: [u8; 2 * BLOCK],
    held: usize,
    /// The length of the message in bytes, including the block of the key.
    len: u64,
}

impl Mac {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.len += bytes.len() as u64;
        let mut bytes = bytes;
        if self.held > 0 {
            let (first, rest) = bytes.split_at(bytes.len().min(BLOCK - self.held));
            self.buffer[self.held..self.held + first.len()].copy_from_slice(first);
            self.held += first.len();
            if self.held < BLOCK {
                return;
            }
            compress(&mut self.state, &self.buffer.as_chunks().0[..1]);
            bytes = rest;
        }
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        if !blocks.is_empty() {
            compress(&mut self.state, blocks);
        }
        self.buffer[..rest.len()].copy_from_slice(rest);
        self.held = rest.len();
    }

    pub(crate) fn finish(mut self) -> [u8; 32] {
        let blocks = pad(&mut self.buffer, self.held, self.len);
        compress(&mut self.state, blocks);
        finish(self.outer, &self.state)
    }
}

impl Drop for Mac {
    fn drop(&mut self) {
        self.state[..].zeroize();
        self.outer[..].zeroize();
        // The second block has only padding.
        self.buffer[..BLOCK].zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        let digit = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
        (0..text.len()).step_by(2).map(digit).collect()
    }

    /// RFC 4231, sections 4.2 to 4.5.
    #[test]
    fn rfc4231_vectors() {
        let code = MacKey::new(&[0x0b; 20]).mac(&[b"Hi There"]);
        let expected = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7";
        assert_eq!(code, *hex(expected));
        let code = MacKey::new(b"Jefe").mac(&[b"what do ya want ", b"for nothing?"]);
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(code, *hex(expected));
        let code = MacKey::new(&[0xaa; 20]).mac(&[&[0xdd; 50]]);
        let expected = "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe";
        assert_eq!(code, *hex(expected));
    }

    /// Compares with the definition of RFC 5869, section 2.3.
    #[test]
    fn expansion() {
        let (key, info) = (MacKey::new(&[5; 32]), [6; 32]);
        let first = key.mac(&[&info, &[1]]);
        let second = key.mac(&[&first, &info, &[2]]);
        let third = key.mac(&[&second, &info, &[3]]);
        assert_eq!(key.expand(&info).0, *[first, second, third].as_flattened());
    }

    #[test]
    fn result_does_not_depend_on_update_lengths() {
        let key = MacKey::new(b"key");
        let message: Vec<u8> = (0..200).map(|at| at as u8).collect();
        for len in 0..message.len() {
            let whole = crate::reference::hmac::hmac(b"key", &message[..len]);
            assert_eq!(key.mac(&[&message[..len]]), whole, "{len}");
            for at in 0..=len {
                assert_eq!(
                    key.mac(&[&message[..at], &message[at..len]]),
                    whole,
                    "{len} {at}"
                );
            }
            let bytes: Vec<_> = message[..len].chunks(1).collect();
            assert_eq!(key.mac(&bytes), whole, "{len}");
        }
    }
}
