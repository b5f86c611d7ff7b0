//! Writes bytes, some of which become several.

use std::mem::MaybeUninit;

use super::Class;
use crate::block::{Block as _, Block16 as Block};
use crate::{cpu, scan};

/// The replacement of each byte.
#[derive(Clone)]
pub(crate) struct Table {
    /// At most six bytes to write, the first one lowest; [`WRITABLE`]; and their number in the top
    /// byte. Zero for a byte that cannot be written.
    words: [Word; 256],
    /// The bytes that change.
    class: Class,
}

/// Set in each word except those of bytes that cannot be written.
const WRITABLE: u64 = 1 << 55;

/// The maximum length of a replacement.
const MOST: usize = 6;

impl Table {
    /// Replaces each byte by `words[byte]`.
    pub(crate) const fn new(words: [Word; 256]) -> Self {
        let mut special = [false; 256];
        let mut byte = 0;
        while byte < 256 {
            special[byte] = !words[byte].is(byte as u8);
            byte += 1;
        }
        Self {
            words,
            class: Class::new(special),
        }
    }

    /// The replacements.
    pub(crate) const fn words(&self) -> [Word; 256] {
        self.words
    }

    #[inline(always)]
    fn word(&self, byte: u8) -> u64 {
        self.words[usize::from(byte)].0
    }
}

/// The replacement of a byte: see the field of [`Table`].
#[derive(Clone, Copy)]
pub(crate) struct Word(u64);

impl Word {
    /// The byte cannot be written.
    pub(crate) const NONE: Self = Self(0);

    /// One to six bytes.
    pub(crate) const fn new(bytes: &[u8]) -> Self {
        assert!(!bytes.is_empty() && bytes.len() <= MOST);
        let mut word = (bytes.len() as u64) << 56 | WRITABLE;
        let mut at = 0;
        while at < bytes.len() {
            word |= (bytes[at] as u64) << (8 * at);
            at += 1;
        }
        Self(word)
    }

    /// Whether the replacement is this one byte.
    pub(crate) const fn is(self, byte: u8) -> bool {
        self.0 == Self::new(&[byte]).0
    }

    /// Replaces each byte by itself.
    pub(crate) const fn identity() -> [Self; 256] {
        let mut words = [Self::NONE; 256];
        let mut byte = 0;
        while byte < 256 {
            words[byte] = Self::new(&[byte as u8]);
            byte += 1;
        }
        words
    }
}

#[inline(always)]
const fn len(word: u64) -> usize {
    (word >> 56) as usize
}

/// From this length on, the call of an AVX2 function pays.
const WIDE_FROM: usize = 96;

/// Appends the replacements of `bytes`. `special`, if given, must classify 16 bytes as the table
/// does.
///
/// Reserves the length of the input, then at most 300 bytes at a time. Stops at a byte that cannot
/// be written and returns its offset; the bytes before it have been appended.
#[inline]
pub(crate) fn push(
    out: &mut Vec<u8>,
    bytes: &[u8],
    table: &Table,
    special: Option<impl Fn(Block) -> Block>,
) -> Result<(), usize> {
    let mut at = 0;
    #[cfg(target_arch = "x86_64")]
    if bytes.len() >= WIDE_FROM
        && let Some(avx2) = cpu::avx2()
    {
        out.reserve(bytes.len());
        at = wide::push_avx2(avx2, out, bytes, table)?;
    }
    while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk::<16>) {
        let mask = match &special {
            Some(special) => special(Block::load(block)).mask(),
            None => u32::MAX,
        };
        if mask == 0 {
            out.extend_from_slice(block);
        } else {
            push_each(out, block, table).map_err(|offset| at + offset)?;
        }
        at += 16;
    }
    let rest = &bytes[at..];
    if let Some(special) = special
        && let Some(last) = bytes.last_chunk::<16>()
        && special(Block::load(last)).mask() >> (16 - rest.len()) == 0
    {
        scan::push_bytes(out, rest);
        return Ok(());
    }
    push_each(out, rest, table).map_err(|offset| at + offset)
}

/// Space for the replacements of 16 bytes: the last store writes eight.
const ROOM: usize = 15 * MOST + 8;

/// Appends the replacements of at most 16 bytes, without branches.
#[inline]
fn push_each(out: &mut Vec<u8>, block: &[u8], table: &Table) -> Result<(), usize> {
    let block = &block[..block.len().min(16)];
    let old = out.len();
    let room = room::<ROOM>(out);
    let mut to = 0;
    let mut all = WRITABLE;
    let mut step = |byte| {
        let word = table.word(byte);
        // SAFETY: each of at most 15 earlier steps has advanced `to` by at most six, the maximum of
        // `Word::new`, so eight bytes are left.
        unsafe { put(room, to, word) };
        to += len(word);
        all &= word;
    };
    // Unrolled by four, which saves a third.
    let (fours, rest) = block.as_chunks();
    for [first, second, third, fourth] in fours {
        step(*first);
        step(*second);
        step(*third);
        step(*fourth);
    }
    for byte in rest {
        step(*byte);
    }
    // SAFETY: each step has written eight bytes at `to` and advanced it by no more, so all bytes
    // before `to` are initialised, within the reserved space.
    unsafe { out.set_len(old + to) };
    if all == 0 {
        return Err(stop(out, old, block, table));
    }
    Ok(())
}

/// The offset of the first byte that cannot be written. Truncates `out` to the replacements before
/// it.
#[cold]
fn stop(out: &mut Vec<u8>, old: usize, block: &[u8], table: &Table) -> usize {
    let writable = block.iter().take_while(|byte| table.word(**byte) != 0);
    let written: usize = writable.clone().map(|byte| len(table.word(*byte))).sum();
    out.truncate(old + written);
    writable.count()
}

/// `N` bytes of spare capacity of `out`.
#[inline(always)]
fn room<const N: usize>(out: &mut Vec<u8>) -> &mut [MaybeUninit<u8>; N] {
    if out.capacity() - out.len() < N {
        make_room(out, N);
    }
    #[expect(clippy::unwrap_used, reason = "as much has just been reserved")]
    out.spare_capacity_mut().first_chunk_mut().unwrap()
}

#[cold]
#[inline(never)]
fn make_room(out: &mut Vec<u8>, more: usize) {
    out.reserve(more);
}

/// Writes a word at `at`.
///
/// # Safety
///
/// `at + 8 <= N`.
#[inline(always)]
unsafe fn put<const N: usize>(room: &mut [MaybeUninit<u8>; N], at: usize, word: u64) {
    debug_assert!(at + 8 <= N);
    let start = room.as_mut_ptr().cast::<u8>();
    // SAFETY: the eight bytes are within the array, by the contract.
    unsafe { start.add(at).cast::<[u8; 8]>().write(word.to_le_bytes()) }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use std::mem::MaybeUninit;

    use super::super::class::wide::Halves;
    use super::{MOST, Table, len, push_each, put, room};
    use crate::cpu::Avx2;

    /// With this many special bytes in a block of 32, all bytes go through the table.
    const DENSE_FROM: u32 = 7;

    /// Space for a block of 32 bytes with fewer than `DENSE_FROM` special ones, and one more
    /// register.
    const ROOM: usize = 32 + (DENSE_FROM as usize - 1) * MOST + 32;

    /// As [`super::push`], for blocks of 32 bytes that are followed by 32 more. Returns the number
    /// of bytes read.
    #[inline]
    pub(super) fn push_avx2(
        _: Avx2,
        out: &mut Vec<u8>,
        bytes: &[u8],
        table: &Table,
    ) -> Result<usize, usize> {
        // SAFETY: an `Avx2` proves that the processor has the features of the function.
        unsafe { push_blocks(out, bytes, table) }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn push_blocks(out: &mut Vec<u8>, bytes: &[u8], table: &Table) -> Result<usize, usize> {
        let halves = Halves::new(&table.class);
        let mut at = 0;
        while let Some(blocks) = bytes.get(at..).and_then(<[u8]>::first_chunk::<64>) {
            #[expect(clippy::unwrap_used, reason = "64 bytes begin with 32")]
            let block = blocks.first_chunk::<32>().unwrap();
            let mut special = halves.special(block);
            if special.count_ones() >= DENSE_FROM {
                let (sixteens, _) = block.as_chunks::<16>();
                push_each(out, &sixteens[0], table).map_err(|offset| at + offset)?;
                push_each(out, &sixteens[1], table).map_err(|offset| at + 16 + offset)?;
                at += 32;
                continue;
            }
            let old = out.len();
            let room = room::<ROOM>(out);
            let (mut from, mut to) = (0, 0);
            while special != 0 {
                let next = special.trailing_zeros() as usize;
                special &= special - 1;
                // SAFETY: `from` is at most 32, and `to` at most that plus six per earlier special
                // byte, so 32 bytes are left.
                unsafe { move_block(room, to, blocks, from) };
                to += next - from;
                let word = table.word(block[next]);
                if word == 0 {
                    // SAFETY: as below.
                    unsafe { out.set_len(old + to) };
                    return Err(at + next);
                }
                // SAFETY: as above.
                unsafe { put(room, to, word) };
                to += len(word);
                from = next + 1;
            }
            // SAFETY: as above.
            unsafe { move_block(room, to, blocks, from) };
            to += 32 - from;
            // SAFETY: each step has written at `to` at least as many bytes as it has advanced it
            // by, so all bytes before `to` are initialised, within the reserved space.
            unsafe { out.set_len(old + to) };
            at += 32;
        }
        Ok(at)
    }

    /// Copies 32 bytes from `blocks[from..]` to `room[to..]`.
    ///
    /// # Safety
    ///
    /// `from <= 32` and `to + 32 <= ROOM`.
    #[inline(always)]
    unsafe fn move_block(
        room: &mut [MaybeUninit<u8>; ROOM],
        to: usize,
        blocks: &[u8; 64],
        from: usize,
    ) {
        debug_assert!(from <= 32 && to + 32 <= ROOM);
        let slot = room.as_mut_ptr().cast::<u8>();
        // SAFETY: both ranges are within their arrays, by the contract. The arrays do not overlap,
        // as one is borrowed exclusively.
        unsafe {
            let block = blocks.as_ptr().add(from).cast::<[u8; 32]>().read();
            slot.add(to).cast::<[u8; 32]>().write(block);
        }
    }
}
