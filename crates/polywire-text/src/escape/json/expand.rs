//! Escaping with AVX2, at a cost that hardly depends on how much there is to
//! escape.
//!
//! A loop that copies up to the next special byte and then writes an escape guesses
//! twice each time, and text has something to escape every thirty bytes or so: the
//! guesses cost more than the work. Here 64 bytes are looked at together. If none is
//! special, which is easy to guess as most text is like the text before, they are
//! copied. Otherwise, without a further branch,
//!
//! 1. each special byte becomes the letter of its escape (line feed becomes `n`),
//! 2. each eight bytes are spread over sixteen, with a backslash before each letter:
//!    which byte goes where stands in a table of 256 rows, one for each pattern of
//!    special bytes among eight,
//! 3. all sixteen are stored, and the end of the output moves by as many as count.
//!
//! A control character without a short escape becomes six bytes, for which there is
//! no such table. Half a block with one of those is written byte by byte, from a
//! table of all escapes; still without a branch a byte.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_loadu_si128, _mm_set1_epi8, _mm_shuffle_epi8, _mm_storeu_si128,
    _mm_unpackhi_epi64, _mm_unpacklo_epi64, _mm256_adds_epu8, _mm256_andnot_si256,
    _mm256_broadcastsi128_si256, _mm256_castsi256_si128, _mm256_cmpeq_epi8,
    _mm256_extracti128_si256, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_storeu_si256,
};

use super::write::{BLOCK_ROOM, each_to_slice, push_each};
use crate::block::{Block, Block32};
use crate::cpu::Avx2;
use crate::scan;

/// As [`push_json_bytes`](super::push_json_bytes), for 32 bytes or more: fewer are
/// written too, but slowly.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn push(token: Avx2, out: &mut Vec<u8>, bytes: &[u8]) {
    // Text grows by some 4%; for what grows more the vector grows as it does.
    out.reserve(bytes.len() + bytes.len() / 16 + 64);
    let (blocks, rest) = bytes.as_chunks::<64>();
    for block in blocks {
        let (halves, _) = block.as_chunks::<32>();
        let (low, high) = (&halves[0], &halves[1]);
        let (first, second) = (Look::at(token, low), Look::at(token, high));
        if first.special | second.special == 0 {
            out.extend_from_slice(block);
        } else if first.long | second.long == 0 {
            first.push(out, 32);
            second.push(out, 32);
        } else {
            push_half(out, low, first);
            push_half(out, high, second);
        }
    }
    let (halves, rest) = rest.as_chunks::<32>();
    for half in halves {
        push_half(out, half, Look::at(token, half));
    }
    // The last bytes are looked at with some of those before them.
    let Some(last) = bytes.last_chunk::<32>() else {
        return push_each(out, rest);
    };
    let before = 32 - rest.len();
    let special = Look::at(token, last).special.checked_shr(before as u32);
    if special.unwrap_or(0) == 0 {
        return scan::push_bytes(out, rest);
    }
    let mut window = [b' '; 64];
    window[..32].copy_from_slice(last);
    if let Some(half) = window[before..].first_chunk::<32>() {
        let look = Look::at(token, half);
        if look.long == 0 {
            look.push(out, rest.len());
        } else {
            push_each(out, rest);
        }
    }
}

/// As [`json_to_slice`](super::json_to_slice), for blocks of 32 bytes. Returns the number of blocks
/// that were escaped, and the number of bytes that were written for them.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn blocks_to_slice(token: Avx2, bytes: &[u8], out: &mut [u8]) -> (usize, usize) {
    let (blocks, _) = bytes.as_chunks::<32>();
    let mut written = 0;
    for (index, block) in blocks.iter().enumerate() {
        let Some(room) = out[written..].first_chunk_mut::<BLOCK_ROOM>() else {
            return (index, written);
        };
        let look = Look::at(token, block);
        written += match look.long {
            // SAFETY: 64 bytes can be written, since the room is larger.
            0 => unsafe { look.expand(room.as_mut_ptr()) },
            _ => each_to_slice(block, room),
        };
    }
    (blocks.len(), written)
}

/// As [`json_escaped_len`](super::json_escaped_len).
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn escaped_len(token: Avx2, bytes: &[u8]) -> usize {
    // A backslash for each special byte, and four more for one that is long.
    let more = |chunk: &[u8; 32]| {
        let look = Look::at(token, chunk);
        (look.special.count_ones() + 4 * look.long.count_ones()) as usize
    };
    let (chunks, rest) = bytes.as_chunks::<32>();
    let mut window = [b' '; 32];
    window[..rest.len()].copy_from_slice(rest);
    bytes.len() + chunks.iter().map(more).sum::<usize>() + more(&window)
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn push_half(out: &mut Vec<u8>, half: &[u8; 32], look: Look) {
    if look.long == 0 {
        look.push(out, 32);
    } else {
        push_each(out, half);
    }
}

/// What thirty-two bytes are.
#[derive(Clone, Copy)]
struct Look {
    /// The bytes, those to escape as the letters of their escapes.
    letters: __m256i,
    /// A bit for each byte to escape.
    special: u32,
    /// A bit for each that has no short escape; its letter is 0.
    long: u32,
}

/// The letters of the short escapes of 0x00 to 0x0f.
const LETTERS: [u8; 16] = *b"\0\0\0\0\0\0\0\0btn\0fr\0\0";

impl Look {
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn at(token: Avx2, bytes: &[u8; 32]) -> Self {
        let block = Block32::load(token, bytes);
        let control = block.at_most(0x1f);
        let special = control.or(block.equals(b'"')).or(block.equals(b'\\'));
        // A shuffle gives 0 where the index is 0x80 or more. This sum is for all
        // bytes from 0x10 on, and keeps the four bits that count of those below.
        let bytes = block.register();
        let index = _mm256_adds_epu8(bytes, _mm256_set1_epi8(0x70));
        // SAFETY: the table has sixteen bytes to read; no alignment is asked for.
        let letters = unsafe { _mm_loadu_si128(LETTERS.as_ptr().cast()) };
        let letters = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(letters), index);
        // A quote and a backslash are their own letters.
        let letters = _mm256_or_si256(letters, _mm256_andnot_si256(control.register(), bytes));
        let long = _mm256_cmpeq_epi8(letters, _mm256_setzero_si256());
        Self {
            letters,
            special: special.mask(),
            long: _mm256_movemask_epi8(long).cast_unsigned(),
        }
    }

    /// Appends the first `len` bytes, which have short escapes only; those behind
    /// are clean.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn push(self, out: &mut Vec<u8>, len: usize) {
        out.reserve(64);
        // SAFETY: there is capacity for 64 bytes, so the end is within the vector.
        let to = unsafe { out.as_mut_ptr().add(out.len()) };
        let written = if self.special == 0 {
            // SAFETY: the same capacity; no alignment is asked for.
            unsafe { _mm256_storeu_si256(to.cast(), self.letters) };
            32
        } else {
            // SAFETY: the same capacity.
            unsafe { self.expand(to) }
        };
        // The clean bytes at the end are one byte each and don't count.
        let written = written - (32 - len);
        // SAFETY: `written` is at most 64, for which there is capacity, and bytes up
        // to there have just been stored.
        unsafe { out.set_len(out.len() + written) };
    }

    /// Writes all, with a backslash before each letter of an escape; returns how many
    /// bytes count.
    ///
    /// # Safety
    ///
    /// 64 bytes from `to` on can be written.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn expand(self, to: *mut u8) -> usize {
        let backslashes = _mm_set1_epi8(b'\\'.cast_signed());
        let (low, high) = (
            _mm256_castsi256_si128(self.letters),
            _mm256_extracti128_si256::<1>(self.letters),
        );
        let eights: [__m128i; 4] = [
            _mm_unpacklo_epi64(low, backslashes),
            _mm_unpackhi_epi64(low, backslashes),
            _mm_unpacklo_epi64(high, backslashes),
            _mm_unpackhi_epi64(high, backslashes),
        ];
        let mut written = 0;
        for (place, eight) in eights.into_iter().enumerate() {
            let special = (self.special >> (8 * place)) & 0xff;
            let row = &SPREAD[special as usize];
            // SAFETY: a row has sixteen bytes; no alignment is asked for. Each of the
            // `place` stores before this one counted for eight to sixteen bytes, so
            // this one ends at most at 16 * 3 + 16 bytes, up to which may be written.
            unsafe {
                let row = _mm_loadu_si128(row.as_ptr().cast());
                _mm_storeu_si128(to.add(written).cast(), _mm_shuffle_epi8(eight, row));
            }
            written += 8 + special.count_ones() as usize;
        }
        written
    }
}

/// For each pattern of special bytes among eight, the first one lowest: which of
/// them, 0 to 7, or a backslash, 8, stands at each place.
static SPREAD: [[u8; 16]; 256] = {
    let mut rows = [[0; 16]; 256];
    let mut pattern = 0;
    while pattern < 256 {
        let (mut to, mut from) = (0, 0);
        while from < 8 {
            if pattern >> from & 1 == 1 {
                rows[pattern][to] = 8;
                to += 1;
            }
            rows[pattern][to] = from as u8;
            to += 1;
            from += 1;
        }
        pattern += 1;
    }
    rows
};
