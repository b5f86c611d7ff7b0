//! Unescaping with AVX2, at a cost that hardly depends on how much is escaped: the
//! other way round of `expand`.
//!
//! Of 64 bytes at a time,
//!
//! 1. masks say where there is a backslash, a quote, a control character;
//! 2. every other backslash of a run begins an escape, the others are escaped: an
//!    addition finds the runs, as its carry goes through each to its end;
//! 3. each letter behind such a backslash becomes what it stands for;
//! 4. of each eight bytes those that are no such backslash are moved together, by a
//!    table of 256 rows, and stored; the end of the output moves by as many as count.
//!
//! A block ends where something needs another look: the closing quote, something
//! that is wrong, `\u`. Everything before counts. A block whose last byte begins an
//! escape ends before it, so nothing has to be known of the block before.

use crate::block::{Block, Block32};
use crate::cpu::Avx2;
use std::arch::x86_64::{
    __m128i, __m256i, _mm_loadl_epi64, _mm_loadu_si128, _mm_shuffle_epi8, _mm_storel_epi64,
    _mm_unpackhi_epi64, _mm256_and_si256, _mm256_blendv_epi8, _mm256_broadcastsi128_si256,
    _mm256_castsi256_si128, _mm256_cmpeq_epi8, _mm256_extracti128_si256, _mm256_movemask_epi8,
    _mm256_or_si256, _mm256_set1_epi8, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setr_epi64x,
    _mm256_shuffle_epi8, _mm256_srli_epi16, _mm256_storeu_si256,
};

/// Fewer bytes than this at the end are left to a loop over clean runs.
const LAST: usize = 16;

/// Appends what `bytes` stand for, up to something that needs another look, or up to
/// fewer than [`LAST`] bytes at the end; returns how many were read.
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
    // A backslash before this has been read, and has left no trace.
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
        // SAFETY: the vector has capacity for 64 bytes behind its length.
        let (step, written) = unsafe { step(token, chunk, carry, out.as_mut_ptr().add(out.len())) };
        // SAFETY: so many bytes behind the length have just been stored.
        unsafe { out.set_len(out.len() + written) };
        return step;
    }
    // The end of an exact capacity, or the vector has to grow.
    let mut room = [0; 64];
    // SAFETY: the room has 64 bytes.
    let (step, written) = unsafe { step(token, chunk, carry, room.as_mut_ptr()) };
    out.extend_from_slice(&room[..written]);
    step
}

/// As [`append`], from `from` of `bytes` to `to`, which is at most `from`. Returns
/// where both are then.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn in_place(
    token: Avx2,
    bytes: &mut [u8],
    mut from: usize,
    mut to: usize,
) -> (usize, usize) {
    // Not right there: a step stores more than counts, over what has not been read.
    let mut room = [0; 64];
    let mut carry = 0;
    while let Some(chunk) = bytes[from..].first_chunk::<64>() {
        // SAFETY: the room has 64 bytes.
        let (step, written) = unsafe { step(token, chunk, carry, room.as_mut_ptr()) };
        match step {
            Step::All(next) => {
                // What has been read is as long: a copy of fixed width. But the last one
                // may be a backslash, to be read again.
                let last = chunk[63];
                bytes[to..to + 64].copy_from_slice(&room);
                bytes[from + 63] = last;
                (from, to, carry) = (from + 64, to + written, next);
            }
            Step::Some(read) => {
                bytes[to..to + written].copy_from_slice(&room[..written]);
                return (from + read - carry as usize, to + written);
            }
        }
    }
    from -= carry as usize;
    if let Some(window) = window(&bytes[from..]) {
        // SAFETY: the room has 64 bytes.
        let (step, written) = unsafe { step(token, &window, 0, room.as_mut_ptr()) };
        if let Step::Some(read) = step {
            bytes[to..to + written].copy_from_slice(&room[..written]);
            (from, to) = (from + read, to + written);
        }
    }
    (from, to)
}

/// Fewer than 64 bytes with zeros behind them, at which a step stops; `None` if there
/// are fewer than [`LAST`].
#[inline]
fn window(rest: &[u8]) -> Option<[u8; 64]> {
    let mut window = [0; 64];
    window.get_mut(..rest.len())?.copy_from_slice(rest);
    (LAST..64).contains(&rest.len()).then_some(window)
}

/// How many bytes stand before the first quote that is not escaped, or the first
/// control character, escaped or not, or the last few bytes, before which no escape
/// is cut in two.
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

/// How much of 64 bytes was read.
enum Step {
    /// All. If the last one is a backslash that begins an escape it is 1, else 0.
    All(u64),
    /// So many, counted from the backslash before these bytes if there was one. The
    /// next is a quote or control character, or a backslash that begins no short
    /// escape.
    Some(usize),
}

/// Unescapes 64 bytes, the first of them escaped if `carry` is 1, else it is 0.
/// Returns what was read, and how many bytes count of those that were stored.
///
/// # Safety
///
/// 64 bytes from `to` on can be written. Those that count are stored without a gap,
/// each eight where the ones before ended, so that they are initialised.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn step(token: Avx2, chunk: &[u8; 64], carry: u64, to: *mut u8) -> (Step, usize) {
    let (halves, _) = chunk.as_chunks::<32>();
    let blocks = [0, 1].map(|half| Block32::load(token, &halves[half]));
    let backslashes = mask(blocks, |block| block.equals(b'\\'));
    // Quotes and controls, see `scan`.
    let ends = mask(blocks, |block| block.xor(0x02).at_most(0x20));
    let first = backslashes.trailing_zeros() as usize;
    // Before an escape that is left there is nothing to do either.
    if carry == 0 && (backslashes == 0 || chunk.get(first + 1) == Some(&b'u')) {
        // SAFETY: 64 bytes can be written; no alignment is asked for.
        unsafe {
            _mm256_storeu_si256(to.cast(), blocks[0].register());
            _mm256_storeu_si256(to.add(32).cast(), blocks[1].register());
        }
        // The next load is not to wait for this one: a branch that is guessed instead
        // of a sum.
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
    // SAFETY: 64 bytes can be written.
    unsafe { compact([low, high], begins, to) };
    // Escaped quotes do not end anything, but what is escaped and not known does.
    let unknown = escaped & !known;
    let ends = ends & !escaped | unknown;
    if ends == 0 {
        return (Step::All(begins >> 63), 64 - begins.count_ones() as usize);
    }
    // What is unknown is left, and its backslash too.
    let end = ends.trailing_zeros();
    let before = begins & !(u64::MAX << end);
    let written = end as usize - before.count_ones() as usize;
    let is_escaped = unknown >> end & 1;
    let read = end as usize + carry as usize - is_escaped as usize;
    (Step::Some(read), written)
}

/// A bit for each byte where the answer is yes.
#[inline(always)]
fn mask(blocks: [Block32; 2], find: impl Fn(Block32) -> Block32) -> u64 {
    u64::from(find(blocks[0]).mask()) | u64::from(find(blocks[1]).mask()) << 32
}

/// Of runs of backslashes, the first, third, fifth... of each.
#[inline]
fn begins(backslashes: u64) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    let first = backslashes & !(backslashes << 1);
    // The sum carries through each run that begins at an even place and leaves zeros
    // there; all other runs stay.
    let odd_runs = backslashes & backslashes.wrapping_add(first & EVEN);
    let even_runs = backslashes & !odd_runs;
    (even_runs & EVEN) | (odd_runs & !EVEN)
}

/// The letters of the short escapes, each at half its last five bits. Elsewhere
/// stands a byte that would not be looked for there.
const LETTERS: [u8; 16] = *b"\xffb\0f\0\0\0n\0rt\0\0\0\0\0";

/// What they stand for, at the same places.
const MEANINGS: [u8; 16] = *b"\0\x08\0\x0c\0\0\0\n\0\r\t\0\0\0\0\0";

/// The bytes, those that are escaped as what they stand for; and a bit for each byte
/// that may be escaped.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn letters(block: Block32, escaped: u32) -> (__m256i, u32) {
    let bytes = block.register();
    let index = _mm256_and_si256(_mm256_srli_epi16::<1>(bytes), _mm256_set1_epi8(0x0f));
    let row = |row: &[u8; 16]| {
        // SAFETY: there are sixteen bytes to read; no alignment is asked for.
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

/// A byte of 0xff for each bit that is set.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn wide(bits: u32) -> __m256i {
    // To each byte the eight bits that its own is among, and of those its own.
    const FIRST: i64 = 0x0000_0000_0000_0000;
    const SECOND: i64 = 0x0101_0101_0101_0101;
    const THIRD: i64 = 0x0202_0202_0202_0202;
    const FOURTH: i64 = 0x0303_0303_0303_0303;
    let place = _mm256_setr_epi64x(FIRST, SECOND, THIRD, FOURTH);
    let eights = _mm256_shuffle_epi8(_mm256_set1_epi32(bits.cast_signed()), place);
    let own = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64.cast_signed());
    _mm256_cmpeq_epi8(_mm256_and_si256(eights, own), own)
}

/// Stores all bytes but those of `gone`, without gaps.
///
/// # Safety
///
/// 64 bytes from `to` on can be written.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn compact(halves: [__m256i; 2], gone: u64, to: *mut u8) {
    let mut written = 0;
    for (place, half) in halves.into_iter().enumerate() {
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
        for (eighth, eight) in eights.into_iter().enumerate() {
            let pattern = gone >> (8 * (4 * place + eighth)) & 0xff;
            let row = &GATHER[pattern as usize];
            // SAFETY: a row has eight bytes. Each store before this one counted for at
            // most eight bytes, and there are eight stores, so all end within the 64
            // bytes that can be written.
            unsafe {
                let row = _mm_loadl_epi64(row.as_ptr().cast());
                _mm_storel_epi64(to.add(written).cast(), _mm_shuffle_epi8(eight, row));
            }
            written += 8 - pattern.count_ones() as usize;
        }
    }
}

/// For each pattern of bytes to drop among eight, the first one lowest: which of
/// them stands at each place.
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
