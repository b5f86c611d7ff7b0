//! Reading base64 with line breaks and indentation.
//!
//! The characters are gathered, without the white space between them, in a
//! buffer on the stack, and decoded from there whenever it is full: whole
//! groups as they come, the last ones by the policy for padding. How long the
//! result is follows from the number of white-space bytes, which are counted
//! first, so that it is allocated once.

use std::mem::MaybeUninit;

use base64_simd::Out;

use super::{Base64, blob, bytes_of};
use crate::{Blob, Malformed};

/// Sixteen bytes are copied at once, of which not all may count: the buffers
/// are so much longer than the whole groups that they are for.
const BLOCK: usize = 16;
const SHORT: usize = 128 + BLOCK;
const LONG: usize = 1024 + BLOCK;

impl Base64 {
    /// [`decode`](Self::decode), skipping white space (space, tab, line feed,
    /// carriage return) wherever it stands: between any two characters,
    /// before, and behind. Everything else is as strict, and the allocation is
    /// the same.
    ///
    /// XML-RPC's writers break lines, as mail does, and indent.
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
        // Most white space of short values is around them.
        let value = trim(text);
        if value.len() <= SHORT && !has_space(value) {
            let decoded = self.decode(value);
            return decoded.map_err(|_| self.locate_behind_spaces(text));
        }
        let characters = text.len() - count_spaces(text);
        if characters == text.len() {
            return self.decode(text);
        }
        let from_behind = text.iter().rev().filter(|byte| !is_space(**byte));
        let padding = from_behind.take(2).take_while(|byte| **byte == b'=');
        let len = bytes_of(characters - padding.count());
        let decoded = blob(len, |space| match characters < SHORT {
            true => self.gather::<SHORT>(text, characters, space),
            false => self.gather::<LONG>(text, characters, space),
        });
        decoded.ok_or_else(|| self.locate_behind_spaces(text))
    }

    /// Decodes the `characters` of `text` to the beginning of `space`, and
    /// returns how many bytes they were; `None` if something is wrong.
    fn gather<const SIZE: usize>(
        self,
        text: &[u8],
        characters: usize,
        space: &mut [MaybeUninit<u8>],
    ) -> Option<usize> {
        // Invariants: the first `held` bytes of the buffer stood in `text`
        // before `at`, and are some of the `left` characters that have not
        // been decoded; held <= left.
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
                    // The white space goes too, if that is what stopped it.
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
            // Padding that comes too early makes the result look shorter.
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

    /// Finds what is wrong, on the way out.
    #[cold]
    fn locate_behind_spaces(self, text: &[u8]) -> Malformed {
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

// Without a branch, so that the compiler can count many at once.
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
    // As many as can be counted in a byte, which is what registers have most of.
    let counts = text.chunks(usize::from(u8::MAX)).map(|chunk| {
        let count: u8 = chunk.iter().map(|byte| u8::from(is_space(*byte))).sum();
        usize::from(count)
    });
    counts.sum()
}

/// How many bytes stand before the first white space.
#[inline]
fn before_space(block: &[u8; BLOCK]) -> usize {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 is part of every x86-64 target.
    let mask = unsafe { spaces(block) };
    #[cfg(not(target_arch = "x86_64"))]
    let mask = (0..BLOCK).fold(0, |mask, at| mask | u32::from(is_space(block[at])) << at);
    // The bit behind them all: sixteen if there is none.
    (mask | 1 << BLOCK).trailing_zeros() as usize
}

/// A bit for each byte, set where it is white space.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn spaces(block: &[u8; BLOCK]) -> u32 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8,
    };
    // SAFETY: the reference covers 16 readable, initialised bytes; this load
    // asks for no alignment.
    let block = unsafe { _mm_loadu_si128(block.as_ptr().cast()) };
    let equals = |byte: u8| _mm_cmpeq_epi8(block, _mm_set1_epi8(byte.cast_signed()));
    let breaks = _mm_or_si128(equals(b'\n'), equals(b'\r'));
    let blanks = _mm_or_si128(equals(b' '), equals(b'\t'));
    _mm_movemask_epi8(_mm_or_si128(breaks, blanks)).cast_unsigned()
}
