//! Escapes with AVX2, at a cost that hardly depends on the number of escapes.
//!
//! A loop that copies up to the next special byte and writes its escape has two branches per
//! escape, which are mispredicted: text has an escape about every 30 bytes. Here, 64 bytes are
//! tested together, and copied if none is special. Otherwise, without further branches:
//!
//! 1. Each special byte is replaced by the letter of its escape (line feed by `n`).
//! 2. Groups of eight bytes are spread over 16, with a backslash before each letter. A table has a
//!    row for each of the 256 patterns of special bytes among eight.
//! 3. All 16 bytes are stored, and the output advances by the number of bytes used.
//!
//! Control characters without a short escape need six bytes. Halves of a block with one of those
//! are written byte by byte from a table of all escapes, also without branches.

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

/// As [`push_json_bytes`](super::push_json_bytes). Fast for 32 bytes or more.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn push(token: Avx2, out: &mut Vec<u8>, bytes: &[u8]) {
    // Typical text grows by 4%. If more is needed, the vector grows as usual.
    out.reserve(bytes.len() + bytes.len() / 16 + 64);
    let (blocks, rest) = bytes.as_chunks::<64>();
    for block in blocks {
        let (halves, _) = block.as_chunks::<32>();
        let (low, high) = (&halves[0], &halves[1]);
        let (first, second) = (Classified::at(token, low), Classified::at(token, high));
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
        push_half(out, half, Classified::at(token, half));
    }
    // The last block overlaps the one before.
    let Some(last) = bytes.last_chunk::<32>() else {
        return push_each(out, rest);
    };
    let before = 32 - rest.len();
    let special = Classified::at(token, last)
        .special
        .checked_shr(before as u32);
    if special.unwrap_or(0) == 0 {
        return scan::push_bytes(out, rest);
    }
    let mut window = [b' '; 64];
    window[..32].copy_from_slice(last);
    if let Some(half) = window[before..].first_chunk::<32>() {
        let classes = Classified::at(token, half);
        if classes.long == 0 {
            classes.push(out, rest.len());
        } else {
            push_each(out, rest);
        }
    }
}

/// As [`json_to_slice`](super::json_to_slice), in blocks of 32 bytes. Returns the number of blocks
/// read and the number of bytes written.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn blocks_to_slice(token: Avx2, bytes: &[u8], out: &mut [u8]) -> (usize, usize) {
    let (blocks, _) = bytes.as_chunks::<32>();
    let mut written = 0;
    for (index, block) in blocks.iter().enumerate() {
        let Some(room) = out[written..].first_chunk_mut::<BLOCK_ROOM>() else {
            return (index, written);
        };
        let classes = Classified::at(token, block);
        written += match classes.long {
            // SAFETY: `room` has more than 64 bytes.
            0 => unsafe { classes.expand(room.as_mut_ptr()) },
            _ => each_to_slice(block, room),
        };
    }
    (blocks.len(), written)
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn push_half(out: &mut Vec<u8>, half: &[u8; 32], classes: Classified) {
    if classes.long == 0 {
        classes.push(out, 32);
    } else {
        push_each(out, half);
    }
}

/// A classified block of 32 bytes.
#[derive(Clone, Copy)]
struct Classified {
    /// The bytes, with special ones replaced by the letters of their escapes.
    letters: __m256i,
    /// A bit per byte that needs an escape.
    special: u32,
    /// A bit per byte without a short escape, whose letter is 0.
    long: u32,
}

/// The letters of the short escapes of 0x00 to 0x0f.
const LETTERS: [u8; 16] = *b"\0\0\0\0\0\0\0\0btn\0fr\0\0";

impl Classified {
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn at(token: Avx2, bytes: &[u8; 32]) -> Self {
        let block = Block32::load(token, bytes);
        let control = block.at_most(0x1f);
        let special = control.or(block.equals(b'"')).or(block.equals(b'\\'));
        // A shuffle gives 0 if the index is 0x80 or more, which this sum is for bytes of 0x10 or
        // more. It keeps the low four bits of smaller bytes.
        let bytes = block.register();
        let index = _mm256_adds_epu8(bytes, _mm256_set1_epi8(0x70));
        // SAFETY: the table has 16 bytes; the load is unaligned.
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

    /// Appends the first `len` bytes, which have only short escapes. The bytes after them must be
    /// clean.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn push(self, out: &mut Vec<u8>, len: usize) {
        out.reserve(64);
        // SAFETY: the end of the contents is within the allocation.
        let to = unsafe { out.as_mut_ptr().add(out.len()) };
        let written = if self.special == 0 {
            // SAFETY: there is capacity for 64 bytes; the store is unaligned.
            unsafe { _mm256_storeu_si256(to.cast(), self.letters) };
            32
        } else {
            // SAFETY: there is capacity for 64 bytes.
            unsafe { self.expand(to) }
        };
        // Without the clean bytes after `len`, which are one byte each.
        let written = written - (32 - len);
        // SAFETY: `written` is at most 64, which is within the capacity, and these bytes are
        // stored.
        unsafe { out.set_len(out.len() + written) };
    }

    /// Writes all bytes, with a backslash before the letters of escapes. Returns the number of
    /// bytes.
    ///
    /// # Safety
    ///
    /// 64 bytes at `to` must be writable.
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
        for (index, eight) in eights.into_iter().enumerate() {
            let special = (self.special >> (8 * index)) & 0xff;
            let row = &SPREAD[special as usize];
            // SAFETY: a row has 16 bytes; load and store are unaligned. Each of at most three
            // earlier stores has advanced by at most 16 bytes, so this one ends within 64 bytes.
            unsafe {
                let row = _mm_loadu_si128(row.as_ptr().cast());
                _mm_storeu_si128(to.add(written).cast(), _mm_shuffle_epi8(eight, row));
            }
            written += 8 + special.count_ones() as usize;
        }
        written
    }
}

/// Shuffles for each pattern of special bytes among eight, the first one lowest. Indices 0 to 7 are
/// the bytes, 8 is a backslash.
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
