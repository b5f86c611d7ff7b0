//! Writing: bytes that stay, and bytes that become several.

use std::mem::MaybeUninit;

use super::Class;
use crate::block::{Block as _, Block16 as Block};
use crate::{cpu, scan};

/// What each byte becomes.
#[derive(Clone)]
pub(crate) struct Table {
    /// The bytes to write, the first one lowest, at most six; [`WRITABLE`]; and
    /// in the top byte how many. All zeros for a byte that cannot be written.
    words: [Word; 256],
    /// The bytes that change.
    class: Class,
}

/// In each word but those of bytes that cannot be written.
const WRITABLE: u64 = 1 << 55;

/// The most bytes that one becomes.
const MOST: usize = 6;

impl Table {
    /// `words[byte]` in the place of each byte.
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

    /// What was given.
    pub(crate) const fn words(&self) -> [Word; 256] {
        self.words
    }

    #[inline(always)]
    fn word(&self, byte: u8) -> u64 {
        self.words[usize::from(byte)].0
    }
}

/// What a byte becomes, see [`Table::words`].
#[derive(Clone, Copy)]
pub(crate) struct Word(u64);

impl Word {
    /// Nothing: the byte cannot be written.
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

    /// Whether it is this one byte.
    pub(crate) const fn is(self, byte: u8) -> bool {
        self.0 == Self::new(&[byte]).0
    }

    /// Each byte as it is.
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

/// From this length on registers of 32 bytes are worth a call.
const WIDE_FROM: usize = 96;

/// Appends `bytes` as the table says. `special` says the same of sixteen bytes
/// as the table, or is nothing if there is no quick way. Stops at a byte that
/// cannot be written and returns its offset; what came before it has been
/// appended.
///
/// Reserves the length of the input, then at most 300 bytes beyond what is
/// there, or what `Vec` makes of that.
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

/// The room that a block of sixteen bytes is given.
const ROOM: usize = 15 * MOST + 8;

/// Appends every byte of a block, at most sixteen, by the table.
#[inline]
fn push_each(out: &mut Vec<u8>, block: &[u8], table: &Table) -> Result<(), usize> {
    let block = &block[..block.len().min(16)];
    let old = out.len();
    let room = room::<ROOM>(out);
    let mut to = 0;
    let mut all = WRITABLE;
    let mut step = |byte| {
        let word = table.word(byte);
        // SAFETY: each of at most fifteen steps before has moved `to` on by at
        // most six, which is what `Word::new` lets a word have, so that eight
        // bytes are left.
        unsafe { put(room, to, word) };
        to += len(word);
        all &= word;
    };
    // Four at a time, which saves a third.
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
    // SAFETY: each step has written eight bytes at `to` and moved it on by no
    // more, so that all bytes before `to` are written, within the room.
    unsafe { out.set_len(old + to) };
    if all == 0 {
        return Err(stop(out, old, block, table));
    }
    Ok(())
}

/// The offset of the first byte of the block that cannot be written; what came
/// before it stays in `out`.
#[cold]
fn stop(out: &mut Vec<u8>, old: usize, block: &[u8], table: &Table) -> usize {
    let writable = block.iter().take_while(|byte| table.word(**byte) != 0);
    let written: usize = writable.clone().map(|byte| len(table.word(*byte))).sum();
    out.truncate(old + written);
    writable.count()
}

/// Room behind the end of `out`.
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
    // SAFETY: the eight bytes are within the room, see above.
    unsafe { start.add(at).cast::<[u8; 8]>().write(word.to_le_bytes()) }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use std::mem::MaybeUninit;

    use super::super::class::wide::Halves;
    use super::{MOST, Table, len, push_each, put, room};
    use crate::cpu::Avx2;

    /// From so many special bytes of 32 on, each goes through the table.
    const DENSE_FROM: u32 = 7;

    /// The room that a block of 32 bytes is given, of which fewer than
    /// `DENSE_FROM` are special, and one more register.
    const ROOM: usize = 32 + (DENSE_FROM as usize - 1) * MOST + 32;

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
                // SAFETY: `from` is at most 32, and `to` at most that and six
                // for each special byte before, which leaves a register.
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
            // SAFETY: each step has written at `to` at least as many bytes as
            // it has then moved it on by, so that all before `to` are written,
            // and lie within the room.
            unsafe { out.set_len(old + to) };
            at += 32;
        }
        Ok(at)
    }

    /// Moves 32 bytes at `from` to the room at `to`.
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
        // SAFETY: both ranges lie within their arrays, see above, and the
        // arrays are apart, since one of them is borrowed for writing.
        unsafe {
            let block = blocks.as_ptr().add(from).cast::<[u8; 32]>().read();
            slot.add(to).cast::<[u8; 32]>().write(block);
        }
    }
}
