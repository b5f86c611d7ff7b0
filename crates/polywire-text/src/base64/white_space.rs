//! Decodes base64 with white space.
//!
//! Characters without the white space are copied to a buffer on the stack, which is decoded
//! whenever it is full: whole groups, and the last ones with padding. The white space is counted
//! first, so that the result is allocated once.

use std::mem::MaybeUninit;

use base64_simd::Out;

use super::{Base64, blob, bytes_of};
use crate::{Blob, Malformed};

/// Sixteen bytes are copied at once, so buffers have this many bytes more than they hold.
const BLOCK: usize = 16;
const SHORT: usize = 128 + BLOCK;
const LONG: usize = 1024 + BLOCK;

impl Base64 {
    /// Like [`decode`](Self::decode), but skips white space (space, tab, line feed, carriage
    /// return) anywhere. Some XML-RPC peers break lines and indent.
    ///
    /// ```
    /// use polywire_text::base64::STANDARD;
    ///
    /// assert_eq!(&STANDARD.decode_with_white_space(b"\n  AQ\r\n  ID\n")?[..], [1, 2, 3]);
    /// assert_eq!(STANDARD.decode_with_white_space(b"AQ\nI?").unwrap_err().offset, 4);
    /// # Ok::<(), polywire_text::Malformed>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode).
    pub fn decode_with_white_space(self, text: &[u8]) -> Result<Blob, Malformed> {
        // In short values, white space is mostly at both ends.
        let value = trim(text);
        if value.len() <= SHORT && !has_space(value) {
            let decoded = self.decode(value);
            return decoded.map_err(|_| self.locate_with_white_space(text));
        }
        let characters = text.len() - count_spaces(text);
        if characters == text.len() {
            return self.decode(text);
        }
        let reversed = text.iter().rev().filter(|byte| !is_space(**byte));
        let padding = reversed.take(2).take_while(|byte| **byte == b'=');
        let len = bytes_of(characters - padding.count());
        let decoded = blob(len, |space| match characters < SHORT {
            true => self.gather::<SHORT>(text, characters, space),
            false => self.gather::<LONG>(text, characters, space),
        });
        decoded.ok_or_else(|| self.locate_with_white_space(text))
    }

    /// Decodes the `characters` in `text` that are not white space to the beginning of `space`.
    /// Returns the number of bytes, or `None` if the text is invalid.
    fn gather<const SIZE: usize>(
        self,
        text: &[u8],
        characters: usize,
        space: &mut [MaybeUninit<u8>],
    ) -> Option<usize> {
        // Invariants: the first `held` bytes of the buffer are from `text[..at]`, and belong to the
        // `left` characters that are not decoded yet; held <= left.
        let mut buffer = [0; SIZE];
        let gathered = SIZE - BLOCK;
        let (mut held, mut at, mut left) = (0, 0, characters);
        let mut written = 0;
        loop {
            while held < gathered && held < left {
                let rest = &text[at..];
                if let Some(block) = rest.first_chunk::<BLOCK>() {
                    buffer[held..held + BLOCK].copy_from_slice(block);
                    let clean = before_space(block);
                    held += clean;
                    // Also skips the white space that ended the run.
                    at += (clean + 1).min(BLOCK);
                } else {
                    buffer[held] = rest[0];
                    held += usize::from(!is_space(rest[0]));
                    at += 1;
                }
            }
            let last = held == left;
            let (ready, engine) = match last {
                true => (held, self.engine_of(&buffer[..held])),
                false => (gathered, self.engine(false)),
            };
            let (text, space) = (&buffer[..ready], &mut space[written..]);
            // False if padding comes too early.
            let fits = engine
                .decoded_length(text)
                .is_ok_and(|len| len <= space.len());
            if !fits {
                return None;
            }
            let Ok(bytes) = engine.decode(text, Out::from_uninit_slice(space)) else {
                return None;
            };
            written += bytes.len();
            if last {
                return Some(written);
            }
            buffer.copy_within(gathered..held, 0);
            held -= gathered;
            left -= gathered;
        }
    }

    /// The error of `text`, with the offset in the text with white space.
    #[cold]
    fn locate_with_white_space(self, text: &[u8]) -> Malformed {
        let gathered: Vec<u8> = text
            .iter()
            .copied()
            .filter(|byte| !is_space(*byte))
            .collect();
        let error = self.locate(&gathered);
        let mut places = (0..text.len()).filter(|at| !is_space(text[*at]));
        let offset = places.nth(error.offset).unwrap_or(text.len());
        Malformed::new(offset, error.expected)
    }
}

// No branches, so that the compiler can vectorize `count_spaces`.
fn is_space(byte: u8) -> bool {
    (byte == b' ') | (byte == b'\t') | (byte == b'\n') | (byte == b'\r')
}

fn trim(text: &[u8]) -> &[u8] {
    let mut text = text;
    while let [first, rest @ ..] = text
        && is_space(*first)
    {
        text = rest;
    }
    while let [rest @ .., last] = text
        && is_space(*last)
    {
        text = rest;
    }
    text
}

fn has_space(text: &[u8]) -> bool {
    let Some(last) = text.last_chunk::<BLOCK>() else {
        return text.iter().any(|byte| is_space(*byte));
    };
    let (blocks, _) = text.as_chunks::<BLOCK>();
    let clean = |block| before_space(block) == BLOCK;
    !(clean(last) && blocks.iter().all(clean))
}

fn count_spaces(text: &[u8]) -> usize {
    // Chunks whose count fits into a byte, so that vectors of bytes can count.
    let counts = text.chunks(usize::from(u8::MAX)).map(|chunk| {
        let count: u8 = chunk.iter().map(|byte| u8::from(is_space(*byte))).sum();
        usize::from(count)
    });
    counts.sum()
}

/// The number of bytes before the first white space, or 16.
#[inline]
fn before_space(block: &[u8; BLOCK]) -> usize {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 is part of every x86-64 target.
    let mask = unsafe { spaces(block) };
    #[cfg(not(target_arch = "x86_64"))]
    let mask = (0..BLOCK).fold(0, |mask, at| mask | u32::from(is_space(block[at])) << at);
    // A bit at the end limits the result to 16.
    (mask | 1 << BLOCK).trailing_zeros() as usize
}

/// A bit per byte, set for white space.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn spaces(block: &[u8; BLOCK]) -> u32 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8,
    };
    // SAFETY: the reference covers 16 initialised bytes; the load is unaligned.
    let block = unsafe { _mm_loadu_si128(block.as_ptr().cast()) };
    let equals = |byte: u8| _mm_cmpeq_epi8(block, _mm_set1_epi8(byte.cast_signed()));
    let breaks = _mm_or_si128(equals(b'\n'), equals(b'\r'));
    let blanks = _mm_or_si128(equals(b' '), equals(b'\t'));
    _mm_movemask_epi8(_mm_or_si128(breaks, blanks)).cast_unsigned()
}
