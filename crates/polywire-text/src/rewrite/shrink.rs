//! Reading, in place: bytes that stay, and bytes that stand for fewer.

use super::Class;
use crate::block::{Block as _, Block16 as Block};
use crate::{Malformed, cpu};

/// What stands for something else, and what for.
#[derive(Clone, Copy)]
pub(crate) struct Piece {
    /// What to write.
    pub(crate) bytes: [u8; 4],
    /// How much of it: `written <= read`, and `written <= 4`.
    pub(crate) written: usize,
    /// How many bytes of the input it takes the place of: at least one.
    pub(crate) read: usize,
}

impl Piece {
    /// One byte for `read` others.
    #[inline(always)]
    pub(crate) const fn byte(byte: u8, read: usize) -> Self {
        Self {
            bytes: [byte, 0, 0, 0],
            written: 1,
            read,
        }
    }
}

/// What to look for and what to make of it.
///
/// # Safety
///
/// A [`Piece`] that `read` returns has `1 <= written <= read <= bytes.len()`:
/// what is written never reaches what has not been read, and nothing is read
/// that is not there. What `usual` returns has at most seven bytes behind the first, none of
/// them special.
pub(crate) unsafe trait Reader: Copy {
    /// The bytes that do not stand for themselves.
    fn class(self) -> &'static Class;

    /// The same of sixteen bytes.
    fn special(self, block: Block) -> Block;

    /// What stands at the beginning, which is such a byte. Errors count from
    /// there.
    fn read(self, bytes: &[u8]) -> Result<Piece, Malformed>;

    /// The byte for which stands what these eight begin with, and how many of them
    /// follow the first; for what is usual, in as few steps as there can be. `None`
    /// says nothing.
    #[inline(always)]
    fn usual(self, _: u64) -> Option<(u8, usize)> {
        None
    }
}

/// The gap that everything can be moved over.
pub(crate) const GAP: usize = 32;

/// From this length on registers of 32 bytes are worth a call.
const WIDE_FROM: usize = 96;

/// So many bytes are looked at without a call.
const NEAR: usize = 64;

/// What is not longer than this is read on the stack.
const SHORT: usize = 64;

/// Appends what `bytes` stand for, of which the first `clean` stand for
/// themselves. On an error `out` is as it was. Reserves the length of `bytes`,
/// and [`GAP`] if they are long.
#[inline]
pub(crate) fn push_shrunk(
    out: &mut Vec<u8>,
    bytes: &[u8],
    clean: usize,
    reader: impl Reader,
) -> Result<(), Malformed> {
    let old = out.len();
    if clean == bytes.len() {
        out.extend_from_slice(bytes);
        return Ok(());
    }
    let read = push_rest(out, bytes, clean, reader);
    if read.is_err() {
        out.truncate(old);
    }
    read
}

fn push_rest(
    out: &mut Vec<u8>,
    bytes: &[u8],
    mut clean: usize,
    reader: impl Reader,
) -> Result<(), Malformed> {
    // What is short is read on the stack and needs no gap.
    let gap = match bytes.len() - clean {
        0..=SHORT => 0,
        _ => GAP,
    };
    out.reserve(bytes.len() + gap);
    out.extend_from_slice(&bytes[..clean]);
    #[cfg(target_arch = "x86_64")]
    if bytes.len() - clean >= WIDE_FROM
        && let Some(avx2) = cpu::avx2()
    {
        // Out of the input into its place, without a copy before.
        clean += wide::append_avx2(avx2, out, &bytes[clean..], reader)
            .map_err(|error| error.behind(clean))?;
    }
    let rest = &bytes[clean..];
    let to = out.len();
    let read = if rest.len() <= SHORT {
        // Behind the end stand sixteen bytes more, so that the last ones need no
        // loop of their own.
        let mut buffer = [0; GAP + SHORT + 16];
        let end = GAP + rest.len();
        buffer[GAP..end].copy_from_slice(rest);
        shrink_over(&mut buffer, end, GAP, 0, reader).map(|len| {
            out.extend_from_slice(&buffer[..len]);
        })
    } else {
        out.extend_from_slice(&[0; GAP]);
        out.extend_from_slice(rest);
        let end = out.len();
        shrink_over(out, end, to + GAP, to, reader)
            .map(|len| out.truncate(len))
            .map_err(|error| Malformed::new(error.offset - to, error.expected))
    };
    read.map_err(|error| Malformed::new(clean + error.offset - GAP, error.expected))
}

/// Reads `bytes` in place, of which the first `clean` stand for themselves, and
/// returns how many bytes are left. On an error the bytes are a mixture of read
/// and unread.
#[inline]
pub(crate) fn shrink(
    bytes: &mut [u8],
    clean: usize,
    reader: impl Reader,
) -> Result<usize, Malformed> {
    let end = bytes.len();
    shrink_over(bytes, end, clean, clean, reader)
}

/// Moves what stands from `from` on to `to`, which is not behind it, and reads
/// it on the way. Returns the new end. What stands behind `end` may be read, and
/// not written.
fn shrink_over(
    bytes: &mut [u8],
    end: usize,
    mut from: usize,
    mut to: usize,
    reader: impl Reader,
) -> Result<usize, Malformed> {
    let class = reader.class();
    // `to <= from <= end <= bytes.len()`; everything before `to` is read,
    // everything from `from` on is as it came.
    #[cfg(target_arch = "x86_64")]
    if end - from >= WIDE_FROM
        && let Some(avx2) = cpu::avx2()
    {
        while from - to < GAP && from < end {
            (from, to) = match class.has(bytes[from]) {
                true => step(&mut bytes[..end], from, to, reader)?,
                false => narrow_step(&mut bytes[..end], from, to, reader)?,
            };
        }
        (from, to) = wide::shrink_avx2(avx2, &mut bytes[..end], from, to, reader)?;
    }
    while from < end {
        if class.has(bytes[from]) {
            (from, to) = step(&mut bytes[..end], from, to, reader)?;
        } else if from - to < 16 {
            (from, to) = narrow_step(&mut bytes[..end], from, to, reader)?;
        } else if let Some(block) = bytes.get(from..).and_then(<[u8]>::first_chunk::<16>) {
            let block = *block;
            if let Some(slot) = bytes.get_mut(to..).and_then(<[u8]>::first_chunk_mut) {
                *slot = block;
            }
            let mask = reader.special(Block::load(&block)).mask() | 1 << 16;
            let run = (mask.trailing_zeros() as usize).min(end - from);
            from += run;
            to += run;
        } else {
            bytes[to] = bytes[from];
            from += 1;
            to += 1;
        }
    }
    Ok(to)
}

/// Moves all up to a special byte, where whole registers would write over what
/// is not yet read, and reads that.
fn narrow_step(
    bytes: &mut [u8],
    mut from: usize,
    mut to: usize,
    reader: impl Reader,
) -> Result<(usize, usize), Malformed> {
    let run = clean(&bytes[from..], reader);
    // Where what is read is as long as it was, `+` and line ends, no gap opens.
    if to < from {
        bytes.copy_within(from..from + run, to);
    }
    from += run;
    to += run;
    if from == bytes.len() {
        return Ok((from, to));
    }
    step(bytes, from, to, reader)
}

/// How many of the first bytes stand for themselves. Words are short and lines
/// not long, so a few blocks are looked at before it is worth a call.
#[inline]
fn clean(bytes: &[u8], reader: impl Reader) -> usize {
    let mut at = 0;
    while at < NEAR
        && let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk::<16>)
    {
        let mask = reader.special(Block::load(block)).mask();
        if mask != 0 {
            return at + mask.trailing_zeros() as usize;
        }
        at += 16;
    }
    at + reader
        .class()
        .clean(&bytes[at..], |block| reader.special(block))
}

/// Reads the special byte at `from`. Returns where both go on.
#[inline(always)]
fn step(
    bytes: &mut [u8],
    from: usize,
    to: usize,
    reader: impl Reader,
) -> Result<(usize, usize), Malformed> {
    let piece = match reader.read(&bytes[from..]) {
        Ok(piece) => piece,
        Err(error) => return Err(error.behind(from)),
    };
    if piece.written == 1 {
        bytes[to] = piece.bytes[0];
    } else {
        let end = to + piece.written;
        bytes[to..end].copy_from_slice(&piece.bytes[..piece.written]);
    }
    Ok((from + piece.read, to + piece.written))
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::super::class::wide::Halves;
    use super::Reader;
    use crate::Malformed;
    use crate::cpu::Avx2;

    /// As [`super::shrink_over`], over a gap of 32 bytes or more, as long as 64
    /// bytes are left. Returns where both go on.
    #[inline]
    pub(super) fn shrink_avx2(
        _: Avx2,
        bytes: &mut [u8],
        from: usize,
        to: usize,
        reader: impl Reader,
    ) -> Result<(usize, usize), Malformed> {
        // SAFETY: an `Avx2` is made only where the processor has these.
        unsafe { shrink_blocks(bytes, from, to, reader) }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn shrink_blocks(
        bytes: &mut [u8],
        mut from: usize,
        mut to: usize,
        reader: impl Reader,
    ) -> Result<(usize, usize), Malformed> {
        let halves = Halves::new(reader.class());
        while let Some(blocks) = bytes.get(from..).and_then(<[u8]>::first_chunk::<64>)
            && let Some(block) = blocks.first_chunk::<32>()
        {
            let start = from;
            let mut special = halves.special(block);
            while special != 0 {
                let next = start + special.trailing_zeros() as usize;
                special &= special - 1;
                // What has been read with the one before: CR LF. That is asked
                // so that the mask need not wait for how much was read.
                if next < from {
                    continue;
                }
                // SAFETY: `from <= next < start + 32`, behind which 32 bytes are
                // left; the gap is as wide as it was, or wider.
                unsafe { move_block(bytes, from, to) };
                to += next - from;
                let piece = match reader.read(&bytes[next..]) {
                    Ok(piece) => piece,
                    Err(error) => return Err(error.behind(next)),
                };
                // SAFETY: `to + 32 <= next < bytes.len()`.
                unsafe { put(bytes, to, piece.bytes) };
                from = next + piece.read;
                to += piece.written;
            }
            if let Some(left @ 1..) = (start + 32).checked_sub(from) {
                // SAFETY: as above.
                unsafe { move_block(bytes, from, to) };
                from += left;
                to += left;
            }
        }
        Ok((from, to))
    }

    /// Appends what `bytes` stand for, as long as 64 bytes are left of them, and
    /// returns how many have been read. On an error something may have been
    /// appended.
    #[inline]
    pub(super) fn append_avx2(
        _: Avx2,
        out: &mut Vec<u8>,
        bytes: &[u8],
        reader: impl Reader,
    ) -> Result<usize, Malformed> {
        // SAFETY: an `Avx2` is made only where the processor has these.
        unsafe { append_blocks(out, bytes, reader) }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn append_blocks(
        out: &mut Vec<u8>,
        bytes: &[u8],
        reader: impl Reader,
    ) -> Result<usize, Malformed> {
        out.reserve(bytes.len() + 32);
        let mut from = 0;
        loop {
            // SAFETY: `from` never is behind the end. No more has been written than was
            // read, so there is room for 32 bytes more than are left.
            from += unsafe { append_usual(out, &bytes[from..], reader) };
            if from + 64 > bytes.len() {
                return Ok(from);
            }
            let piece = match reader.read(&bytes[from..]) {
                Ok(piece) => piece,
                Err(error) => return Err(error.behind(from)),
            };
            out.extend_from_slice(&piece.bytes[..piece.written]);
            from += piece.read;
        }
    }

    /// Appends what `bytes` stand for up to a special byte that is not usual, or until
    /// fewer than 64 bytes are left, and returns how many have been read. Calls
    /// nothing, so that all it needs stays in registers.
    ///
    /// # Safety
    ///
    /// The vector has capacity for `bytes.len() + 32` bytes more.
    #[inline(never)]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn append_usual(out: &mut Vec<u8>, bytes: &[u8], reader: impl Reader) -> usize {
        let halves = Halves::new(reader.class());
        let old = out.len();
        let input = bytes.as_ptr();
        // Where the byte at `from` of the input goes is `shifted + from`: it moves back
        // by what each piece is shorter. Within the output at every use: no more is
        // written than is read, and behind that there is room for 32 bytes.
        let output = out.as_mut_ptr().wrapping_add(old);
        let (mut from, mut shifted) = (0, output);
        'blocks: while from + 64 <= bytes.len() {
            let (start, end) = (from, from + 32);
            // SAFETY: 64 bytes of the input are left.
            let mut special = halves.special(unsafe { &*input.add(from).cast::<[u8; 32]>() });
            loop {
                // SAFETY: here `from < end`, behind which 32 bytes of the input are
                // left; of the output see above.
                unsafe {
                    let block = input.add(from).cast::<[u8; 32]>().read();
                    shifted.wrapping_add(from).cast::<[u8; 32]>().write(block);
                }
                if special == 0 {
                    from = end;
                    break;
                }
                let next = start + special.trailing_zeros() as usize;
                special &= special - 1;
                // SAFETY: `next < end`, and 32 bytes of the input are behind that.
                let word = unsafe { input.add(next).cast::<[u8; 8]>().read() };
                let Some((byte, more)) = reader.usual(u64::from_le_bytes(word)) else {
                    from = next;
                    break 'blocks;
                };
                // SAFETY: of the output see above.
                unsafe { shifted.wrapping_add(next).write(byte) };
                from = next + more + 1;
                shifted = shifted.wrapping_sub(more);
                if from >= end {
                    break;
                }
            }
        }
        let written = shifted as usize + from - output as usize;
        // SAFETY: so many bytes have been written behind the old length: each step
        // wrote those that it went on by.
        unsafe { out.set_len(old + written) };
        from
    }

    /// Moves 32 bytes.
    ///
    /// # Safety
    ///
    /// `to + 32 <= from`, and `from + 32 <= bytes.len()`.
    #[inline(always)]
    unsafe fn move_block(bytes: &mut [u8], from: usize, to: usize) {
        debug_assert!(to + 32 <= from && from + 32 <= bytes.len());
        let start = bytes.as_mut_ptr();
        // SAFETY: both ranges lie within the slice, see above, from whose
        // pointer both are made.
        unsafe {
            let block = start.add(from).cast::<[u8; 32]>().read();
            start.add(to).cast::<[u8; 32]>().write(block);
        }
    }

    /// Writes four bytes.
    ///
    /// # Safety
    ///
    /// `to + 4 <= bytes.len()`.
    #[inline(always)]
    unsafe fn put(bytes: &mut [u8], to: usize, piece: [u8; 4]) {
        debug_assert!(to + 4 <= bytes.len());
        // SAFETY: the four bytes lie within the slice, see above.
        unsafe { bytes.as_mut_ptr().add(to).cast::<[u8; 4]>().write(piece) }
    }
}
