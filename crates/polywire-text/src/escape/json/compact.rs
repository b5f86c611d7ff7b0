//! Unescapes with AVX2, at a cost that hardly depends on the number of escapes: the inverse of
//! `expand`.
//!
//! For each 64 bytes:
//!
//! 1. Compute masks of backslashes, quotes and control characters.
//! 2. Find the backslashes that start an escape: every other one of a run. An addition finds the
//!    runs, because it carries to the end of each.
//! 3. Replace each letter after such a backslash by its meaning.
//! 4. Remove these backslashes: in groups of eight bytes, by a table of 256 shuffles. Store each
//!    group, and advance the output by the number of bytes used.
//!
//! Processing stops at the closing quote, at an error, and at `\u`.

use crate::block::{Block, Block32};
use crate::cpu::Avx2;
use std::arch::x86_64::{
    __m128i, __m256i, _mm_loadl_epi64, _mm_loadu_si128, _mm_shuffle_epi8, _mm_storel_epi64,
    _mm_unpackhi_epi64, _mm256_and_si256, _mm256_blendv_epi8, _mm256_broadcastsi128_si256,
    _mm256_castsi256_si128, _mm256_cmpeq_epi8, _mm256_extracti128_si256, _mm256_movemask_epi8,
    _mm256_or_si256, _mm256_set1_epi8, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setr_epi64x,
    _mm256_shuffle_epi8, _mm256_srli_epi16, _mm256_storeu_si256,
};

/// Fewer bytes than this at the end are left to the loop over clean runs.
const LAST: usize = 16;

/// Unescapes `bytes` and appends the result, up to a byte where processing stops, or to fewer than
/// [`LAST`] bytes at the end. Returns the number of bytes read.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn append(token: Avx2, out: &mut Vec<u8>, bytes: &[u8]) -> usize {
    let (mut at, mut carry) = (0, 0);
    while let Some(chunk) = bytes[at..].first_chunk::<64>() {
        match push(token, out, chunk, carry) {
            Step::All(next) => carry = next,
            Step::Some(read) => return at + read - carry as usize,
        }
        at += 64;
    }
    // A backslash at the end of the last chunk has been read and not written: read it again.
    at -= carry as usize;
    if let Some(window) = window(&bytes[at..])
        && let Step::Some(read) = push(token, out, &window, 0)
    {
        at += read;
    }
    at
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn push(token: Avx2, out: &mut Vec<u8>, chunk: &[u8; 64], carry: u64) -> Step {
    if out.capacity() - out.len() >= 64 {
        // SAFETY: the vector has capacity for 64 more bytes.
        let (step, written) = unsafe { step(token, chunk, carry, out.as_mut_ptr().add(out.len())) };
        // SAFETY: `step` has initialised `written` bytes after the old length.
        unsafe { out.set_len(out.len() + written) };
        return step;
    }
    // Near the end of the capacity, which may suffice.
    let mut room = [0; 64];
    // SAFETY: the room has 64 bytes.
    let (step, written) = unsafe { step(token, chunk, carry, room.as_mut_ptr()) };
    out.extend_from_slice(&room[..written]);
    step
}

/// Pads `rest` to 64 bytes with zeros, at which a step stops. `None` if there are fewer than
/// [`LAST`] bytes, or 64 and more.
#[inline]
fn window(rest: &[u8]) -> Option<[u8; 64]> {
    let mut window = [0; 64];
    window.get_mut(..rest.len())?.copy_from_slice(rest);
    (LAST..64).contains(&rest.len()).then_some(window)
}

/// The number of bytes before the first unescaped quote or any control character, or before the
/// last few bytes. Does not split an escape.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn end(token: Avx2, bytes: &[u8]) -> usize {
    let (mut at, mut carry) = (0, 0);
    while let Some(chunk) = bytes[at..].first_chunk::<64>() {
        match end_of(token, chunk, carry) {
            Step::All(next) => carry = next,
            Step::Some(read) => return at + read - carry as usize,
        }
        at += 64;
    }
    at -= carry as usize;
    match window(&bytes[at..]).map(|window| end_of(token, &window, 0)) {
        Some(Step::Some(read)) => at + read,
        _ => at,
    }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn end_of(token: Avx2, chunk: &[u8; 64], carry: u64) -> Step {
    let (halves, _) = chunk.as_chunks::<32>();
    let blocks = [0, 1].map(|half| Block32::load(token, &halves[half]));
    let backslashes = mask(blocks, |block| block.equals(b'\\'));
    let begins = begins(backslashes & !carry);
    let escaped = begins << 1 | carry;
    let ends = mask(blocks, |block| block.equals(b'"')) & !escaped
        | mask(blocks, |block| block.at_most(0x1f));
    if ends == 0 {
        return Step::All(begins >> 63);
    }
    Step::Some(ends.trailing_zeros() as usize + carry as usize)
}

/// The result of processing 64 bytes.
enum Step {
    /// All were read. The value is 1 if the last one is a backslash that starts an escape, else 0.
    All(u64),
    /// This many were read, counted from the backslash before the chunk, if there was one. The next
    /// byte is a quote, a control character, or a backslash that starts no short escape.
    Some(usize),
}

/// Unescapes 64 bytes. `carry` is 1 if a backslash before them escapes the first, else 0. Returns
/// what was read, and the number of bytes written, which are initialised.
///
/// # Safety
///
/// 64 bytes at `to` must be writable.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn step(token: Avx2, chunk: &[u8; 64], carry: u64, to: *mut u8) -> (Step, usize) {
    let (halves, _) = chunk.as_chunks::<32>();
    let blocks = [0, 1].map(|half| Block32::load(token, &halves[half]));
    let backslashes = mask(blocks, |block| block.equals(b'\\'));
    // Quotes and control characters, as in `scan`.
    let ends = mask(blocks, |block| block.xor(0x02).at_most(0x20));
    let first = backslashes.trailing_zeros() as usize;
    // Nothing to unescape, or nothing before an escape that is not short.
    if carry == 0 && (backslashes == 0 || chunk.get(first + 1) == Some(&b'u')) {
        // SAFETY: 64 bytes are writable; the stores are unaligned.
        unsafe {
            _mm256_storeu_si256(to.cast(), blocks[0].register());
            _mm256_storeu_si256(to.add(32).cast(), blocks[1].register());
        }
        // A predicted branch, so that the next load does not depend on this block.
        if ends | backslashes == 0 {
            return (Step::All(0), 64);
        }
        let read = (ends | backslashes).trailing_zeros() as usize;
        return (Step::Some(read), read);
    }
    let begins = begins(backslashes & !carry);
    let escaped = begins << 1 | carry;
    let (low, low_known) = letters(blocks[0], escaped as u32);
    let (high, high_known) = letters(blocks[1], (escaped >> 32) as u32);
    let known = u64::from(low_known) | u64::from(high_known) << 32;
    // SAFETY: 64 bytes are writable.
    unsafe { compact([low, high], begins, to) };
    // Escaped quotes do not stop; unknown escapes do.
    let unknown = escaped & !known;
    let ends = ends & !escaped | unknown;
    if ends == 0 {
        return (Step::All(begins >> 63), 64 - begins.count_ones() as usize);
    }
    // The backslash of an unknown escape is not read either.
    let end = ends.trailing_zeros();
    let before = begins & !(u64::MAX << end);
    let written = end as usize - before.count_ones() as usize;
    let is_escaped = unknown >> end & 1;
    let read = end as usize + carry as usize - is_escaped as usize;
    (Step::Some(read), written)
}

/// A bit per byte of both blocks, set where `find` is true.
#[inline(always)]
fn mask(blocks: [Block32; 2], find: impl Fn(Block32) -> Block32) -> u64 {
    u64::from(find(blocks[0]).mask()) | u64::from(find(blocks[1]).mask()) << 32
}

/// The first, third, fifth... backslash of each run.
#[inline]
fn begins(backslashes: u64) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    let first = backslashes & !(backslashes << 1);
    // The addition carries through each run that starts at an even position and leaves zeros; other
    // runs are unchanged.
    let odd_runs = backslashes & backslashes.wrapping_add(first & EVEN);
    let even_runs = backslashes & !odd_runs;
    (even_runs & EVEN) | (odd_runs & !EVEN)
}

/// The letters of the short escapes, each at the index of its bits 1 to 4. Other entries are bytes
/// that have a different index.
const LETTERS: [u8; 16] = *b"\xffb\0f\0\0\0n\0rt\0\0\0\0\0";

/// Their meanings, at the same indices.
const MEANINGS: [u8; 16] = *b"\0\x08\0\x0c\0\0\0\n\0\r\t\0\0\0\0\0";

/// The bytes, with escaped letters replaced by their meanings; and a bit per byte that may follow a
/// backslash.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn letters(block: Block32, escaped: u32) -> (__m256i, u32) {
    let bytes = block.register();
    let index = _mm256_and_si256(_mm256_srli_epi16::<1>(bytes), _mm256_set1_epi8(0x0f));
    let row = |row: &[u8; 16]| {
        // SAFETY: the row has 16 bytes; the load is unaligned.
        let row = unsafe { _mm_loadu_si128(row.as_ptr().cast()) };
        _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(row), index)
    };
    let letter = _mm256_cmpeq_epi8(row(&LETTERS), bytes);
    let itself = block
        .equals(b'"')
        .or(block.equals(b'\\'))
        .or(block.equals(b'/'));
    let known = _mm256_movemask_epi8(_mm256_or_si256(letter, itself.register()));
    let changed = _mm256_and_si256(letter, wide(escaped));
    let bytes = _mm256_blendv_epi8(bytes, row(&MEANINGS), changed);
    (bytes, known.cast_unsigned())
}

/// 0xff in each byte whose bit is set.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn wide(bits: u32) -> __m256i {
    // Copies to each byte the eight bits that include its own, then tests that bit.
    const FIRST: i64 = 0x0000_0000_0000_0000;
    const SECOND: i64 = 0x0101_0101_0101_0101;
    const THIRD: i64 = 0x0202_0202_0202_0202;
    const FOURTH: i64 = 0x0303_0303_0303_0303;
    let place = _mm256_setr_epi64x(FIRST, SECOND, THIRD, FOURTH);
    let eights = _mm256_shuffle_epi8(_mm256_set1_epi32(bits.cast_signed()), place);
    let own = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64.cast_signed());
    _mm256_cmpeq_epi8(_mm256_and_si256(eights, own), own)
}

/// Stores all bytes except those in the mask `gone`, without gaps.
///
/// # Safety
///
/// 64 bytes at `to` must be writable.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn compact(halves: [__m256i; 2], gone: u64, to: *mut u8) {
    let mut written = 0;
    for (half_index, half) in halves.into_iter().enumerate() {
        let (low, high) = (
            _mm256_castsi256_si128(half),
            _mm256_extracti128_si256::<1>(half),
        );
        let eights: [__m128i; 4] = [
            low,
            _mm_unpackhi_epi64(low, low),
            high,
            _mm_unpackhi_epi64(high, high),
        ];
        for (eight_index, eight) in eights.into_iter().enumerate() {
            let pattern = gone >> (8 * (4 * half_index + eight_index)) & 0xff;
            let row = &GATHER[pattern as usize];
            // SAFETY: a row has 8 bytes. Each of at most seven earlier stores has advanced by at
            // most 8 bytes, so this one ends within 64 bytes.
            unsafe {
                let row = _mm_loadl_epi64(row.as_ptr().cast());
                _mm_storel_epi64(to.add(written).cast(), _mm_shuffle_epi8(eight, row));
            }
            written += 8 - pattern.count_ones() as usize;
        }
    }
}

/// Shuffles for each pattern of bytes to remove among eight, the first one lowest.
static GATHER: [[u8; 8]; 256] = {
    let mut rows = [[0; 8]; 256];
    let mut pattern = 0;
    while pattern < 256 {
        let (mut to, mut from) = (0, 0);
        while from < 8 {
            if pattern >> from & 1 == 0 {
                rows[pattern][to] = from as u8;
                to += 1;
            }
            from += 1;
        }
        pattern += 1;
    }
    rows
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_other_backslash_of_a_run_begins_an_escape() {
        let mut seed = 1_u64;
        for round in 0..10_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let backslashes = match round % 3 {
                0 => seed,
                1 => seed | seed.rotate_left(17),
                _ => seed | !(seed >> 40 << 20),
            };
            let mut expected = 0;
            let mut escaped = false;
            for place in 0..64 {
                let begins = backslashes >> place & 1 == 1 && !escaped;
                expected |= u64::from(begins) << place;
                escaped = begins;
            }
            assert_eq!(begins(backslashes), expected, "{backslashes:#066b}");
        }
    }
}
