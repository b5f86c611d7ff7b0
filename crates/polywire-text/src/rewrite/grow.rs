//! Writing: bytes that stay, and bytes that become several.

use std::mem::MaybeUninit;

use crate::{cpu, scan};

/// What each byte becomes.
pub(crate) struct Table {
    /// The bytes to write, the first one lowest, and in the top byte how many:
    /// at most seven. All zeros for a byte that cannot be written.
    words: [u64; 256],
    /// The ASCII bytes that change, for the look-up by halves: bit `h` of
    /// `low[l]` is set if the byte `h << 4 | l` does.
    low: [u8; 16],
    /// All ones if the bytes from 0x80 on change, zero if they stay.
    high: u32,
}

impl Table {
    /// Every byte stays.
    pub(crate) const fn identity() -> Self {
        let mut table = Self {
            words: [0; 256],
            low: [0; 16],
            high: 0,
        };
        let mut byte = 0;
        while byte < 256 {
            table.words[byte] = word(&[byte as u8]);
            byte += 1;
        }
        table
    }

    /// `byte`, which is ASCII, becomes `bytes`, up to seven; the empty slice
    /// says that it cannot be written.
    pub(crate) const fn with(mut self, byte: u8, bytes: &[u8]) -> Self {
        let bit = 1 << (byte >> 4 & 7);
        self.words[byte as usize] = word(bytes);
        self.low[(byte & 15) as usize] |= bit;
        if bytes.len() == 1 && bytes[0] == byte {
            self.low[(byte & 15) as usize] &= !bit;
        }
        self
    }

    /// The bytes from 0x80 on become what `words` says of the first of them.
    pub(crate) const fn with_high(mut self, words: &[[u8; 3]; 128]) -> Self {
        self.high = u32::MAX;
        let mut at = 0;
        while at < 128 {
            self.words[128 + at] = word(&words[at]);
            at += 1;
        }
        self
    }

    /// Whether the byte stays as it is.
    #[inline]
    pub(crate) const fn keeps(&self, byte: u8) -> bool {
        self.words[byte as usize] == 1 << 56 | byte as u64
    }
}

const fn word(bytes: &[u8]) -> u64 {
    let mut word = (bytes.len() as u64) << 56;
    let mut at = 0;
    while at < bytes.len() {
        word |= (bytes[at] as u64) << (8 * at);
        at += 1;
    }
    word
}

/// From this length on registers of 32 bytes are worth a call.
const WIDE_FROM: usize = 96;

/// A run shorter than this says that more bytes change nearby.
const DENSE_BELOW: usize = 4;

/// Appends `bytes` as the table says. `clean` says how many of the first bytes
/// stay. Stops at a byte that cannot be written and returns its offset; what
/// came before it has been appended.
///
/// Reserves the length of the input, then at most 300 bytes beyond what is
/// there, or what `Vec` makes of that.
#[inline]
pub(crate) fn push(
    out: &mut Vec<u8>,
    bytes: &[u8],
    table: &Table,
    clean: impl Fn(&[u8]) -> usize,
) -> Result<(), usize> {
    let mut at = 0;
    #[cfg(target_arch = "x86_64")]
    if bytes.len() >= WIDE_FROM
        && let Some(avx2) = cpu::avx2()
    {
        out.reserve(bytes.len());
        at = wide::push_avx2(avx2, out, bytes, table)?;
    }
    loop {
        let rest = &bytes[at..];
        let run = clean(rest);
        scan::Run::new(rest, run).push_to(out);
        at += run;
        let rest = &rest[run..];
        if run < DENSE_BELOW
            && let Some(block) = rest.first_chunk::<16>()
        {
            push_each(out, block, table).map_err(|offset| at + offset)?;
            at += 16;
            continue;
        }
        let Some(special) = rest.first() else {
            return Ok(());
        };
        push_each(out, &[*special], table).map_err(|_| at)?;
        at += 1;
    }
}

/// The room that a block of sixteen bytes is given: where the last of them
/// begins, rounded up to a power of two, and a word.
const ROOM: usize = 128 + 8;
const _: () = assert!(15 * 7 < 128);

/// Appends every byte of a block, at most sixteen, by the table.
#[inline]
fn push_each<const N: usize>(
    out: &mut Vec<u8>,
    block: &[u8; N],
    table: &Table,
) -> Result<(), usize> {
    const { assert!(N <= 16) };
    let len = out.len();
    let room = room::<ROOM>(out);
    let mut to = 0;
    let mut shortest = u64::MAX;
    for byte in block {
        let word = table.words[usize::from(*byte)];
        shortest = shortest.min(word);
        put(room, to & 127, word);
        to += (word >> 56) as usize;
    }
    // SAFETY: each step has written eight bytes at `to`, which is then at most
    // 15 * 7 and not changed by the mask, and has moved `to` on by at most
    // seven. So all bytes before `to` are written, and lie within the room.
    unsafe { out.set_len(len + to) };
    if shortest >> 56 == 0 {
        return Err(stop(out, len, block, table));
    }
    Ok(())
}

/// The offset of the first byte of the block that cannot be written; what came
/// before it stays in `out`.
#[cold]
fn stop(out: &mut Vec<u8>, len: usize, block: &[u8], table: &Table) -> usize {
    let word = |byte: &u8| table.words[usize::from(*byte)];
    let before = block.iter().take_while(|byte| word(byte) != 0);
    let written = before.clone().map(|byte| word(byte) >> 56).sum::<u64>();
    out.truncate(len + written as usize);
    before.count()
}

/// Room behind the end of `out`.
#[inline(always)]
fn room<const N: usize>(out: &mut Vec<u8>) -> &mut [MaybeUninit<u8>; N] {
    if out.capacity() - out.len() < N {
        grow(out, N);
    }
    #[expect(clippy::unwrap_used, reason = "as much has just been reserved")]
    out.spare_capacity_mut().first_chunk_mut().unwrap()
}

#[cold]
#[inline(never)]
fn grow(out: &mut Vec<u8>, more: usize) {
    out.reserve(more);
}

/// Writes a word at `at`, which the caller knows to be within the room.
#[inline(always)]
fn put<const N: usize>(room: &mut [MaybeUninit<u8>; N], at: usize, word: u64) {
    if let Some(slot) = room[at..].first_chunk_mut() {
        *slot = word.to_le_bytes().map(MaybeUninit::new);
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::{
        __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8,
        _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_set1_epi8, _mm256_setr_epi8,
        _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16,
    };
    use std::mem::MaybeUninit;

    use super::{Table, push_each, put, room};
    use crate::cpu::Avx2;

    /// Where the last byte of a block begins, rounded up to a power of two,
    /// and a register.
    const ROOM: usize = 256 + 32;
    const _: () = assert!(32 * 7 < 256);

    /// From so many bytes of 32 on, each goes through the table.
    const DENSE_FROM: u32 = 7;

    /// As [`super::push`], for blocks of 32 bytes behind which 32 more stand.
    /// Returns how many bytes have been dealt with.
    #[inline]
    pub(super) fn push_avx2(
        _: Avx2,
        out: &mut Vec<u8>,
        bytes: &[u8],
        table: &Table,
    ) -> Result<usize, usize> {
        // SAFETY: an `Avx2` is made only where the processor has these.
        unsafe { push_blocks(out, bytes, table) }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn push_blocks(out: &mut Vec<u8>, bytes: &[u8], table: &Table) -> Result<usize, usize> {
        let halves = Halves::new(table);
        let mut at = 0;
        while let Some(blocks) = bytes.get(at..).and_then(<[u8]>::first_chunk::<64>) {
            let mut special = halves.special(blocks);
            if special.count_ones() >= DENSE_FROM {
                let (sixteens, _) = blocks.as_chunks::<16>();
                push_each(out, &sixteens[0], table).map_err(|offset| at + offset)?;
                push_each(out, &sixteens[1], table).map_err(|offset| at + 16 + offset)?;
                at += 32;
                continue;
            }
            let len = out.len();
            let room = room::<ROOM>(out);
            let (mut from, mut to) = (0, 0);
            let mut failed = None;
            while special != 0 {
                let next = special.trailing_zeros() as usize & 31;
                special &= special - 1;
                move_block(room, to, blocks, from);
                to += next - from;
                let word = table.words[usize::from(blocks[next])];
                put(room, to & 255, word);
                to += (word >> 56) as usize;
                from = next + 1;
                if word == 0 {
                    failed = Some(at + next);
                    break;
                }
            }
            if failed.is_none() {
                move_block(room, to, blocks, from);
                to += 32 - from;
            }
            // SAFETY: `to` counts the bytes written. Each step has written 32
            // bytes at `to`, moved on by at most 31, written eight, moved on by
            // at most seven; 32 bytes of input become at most 32 * 7, so that
            // no mask has changed `to`, and all lies within the room.
            unsafe { out.set_len(len + to) };
            if let Some(failed) = failed {
                return Err(failed);
            }
            at += 32;
        }
        Ok(at)
    }

    /// Moves 32 bytes at `from`, at most 32, to the room at `to`.
    #[inline(always)]
    fn move_block(room: &mut [MaybeUninit<u8>; ROOM], to: usize, blocks: &[u8; 64], from: usize) {
        if let Some(block) = blocks.get(from..).and_then(<[u8]>::first_chunk::<32>)
            && let Some(slot) = room[to & 255..].first_chunk_mut::<32>()
        {
            *slot = block.map(MaybeUninit::new);
        }
    }

    /// The set of bytes that change, by halves: a byte is one if the bit that
    /// its upper half names is set in the byte that its lower half names.
    struct Halves {
        low: __m256i,
        bits: __m256i,
        high: u32,
    }

    impl Halves {
        #[target_feature(enable = "avx2")]
        #[inline]
        fn new(table: &Table) -> Self {
            // SAFETY: the array is sixteen readable bytes.
            let low = unsafe { _mm_loadu_si128(table.low.as_ptr().cast()) };
            // Upper halves from 8 on have no bit: they are no ASCII.
            let bits = _mm256_setr_epi8(
                1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, -128,
                0, 0, 0, 0, 0, 0, 0, 0,
            );
            Self {
                low: _mm256_broadcastsi128_si256(low),
                bits,
                high: table.high,
            }
        }

        /// A bit for each of the first 32 bytes, the first lowest.
        #[target_feature(enable = "avx2")]
        #[inline]
        fn special(&self, blocks: &[u8; 64]) -> u32 {
            // SAFETY: 32 readable bytes are there; no alignment is asked for.
            let block = unsafe { _mm256_loadu_si256(blocks.as_ptr().cast()) };
            let upper = _mm256_and_si256(_mm256_srli_epi16::<4>(block), _mm256_set1_epi8(15));
            // A shuffle takes the lower half of an index, or gives zero if the
            // index has its top bit.
            let low = _mm256_shuffle_epi8(self.low, block);
            let bit = _mm256_shuffle_epi8(self.bits, upper);
            let stays = _mm256_cmpeq_epi8(_mm256_and_si256(low, bit), _mm256_setzero_si256());
            let high = _mm256_movemask_epi8(block).cast_unsigned();
            !_mm256_movemask_epi8(stays).cast_unsigned() | high & self.high
        }
    }
}
