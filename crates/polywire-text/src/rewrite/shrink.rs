//! Reads bytes, some of which become fewer.

use super::Class;
use crate::block::{Block as _, Block16 as Block};
use crate::{Malformed, cpu};

/// A replacement.
#[derive(Clone, Copy)]
pub(crate) struct Piece {
    /// The bytes to write.
    pub(crate) bytes: [u8; 4],
    /// Their number: `written <= read`, and `written <= 4`.
    pub(crate) written: usize,
    /// The number of bytes of the input that it replaces: at least one.
    pub(crate) read: usize,
}

impl Piece {
    /// Replaces `read` bytes by one.
    #[inline(always)]
    pub(crate) const fn byte(byte: u8, read: usize) -> Self {
        Self {
            bytes: [byte, 0, 0, 0],
            written: 1,
            read,
        }
    }
}

/// Finds and replaces special bytes.
///
/// # Safety
///
/// A [`Piece`] that `read` returns must have `1 <= written <= read <= bytes.len()`, so that the
/// output never overtakes the input. The number that `common` returns must be at most seven, and
/// none of these bytes may be special.
pub(crate) unsafe trait Reader: Copy {
    /// The special bytes.
    fn class(self) -> &'static Class;

    /// The special bytes among 16, equal to `class`.
    fn special(self, block: Block) -> Block;

    /// Reads at the beginning of `bytes`, which is a special byte.
    fn read(self, bytes: &[u8]) -> Result<Piece, Malformed>;

    /// Fast path of `read`: the replacement of what these eight bytes start with, if it is one
    /// byte, and the number of bytes read after the first. `None` for anything else.
    #[inline(always)]
    fn common(self, _: u64) -> Option<(u8, usize)> {
        None
    }
}

/// The gap that is needed to move whole registers.
pub(crate) const GAP: usize = 32;

/// From this length on, the call of an AVX2 function pays.
const WIDE_FROM: usize = 96;

/// This many bytes are tested without a call.
const NEAR: usize = 64;

/// Up to this length, input is read in a buffer on the stack.
const SHORT: usize = 64;

/// Reads `bytes`, the first `clean` of which are not special, and appends the result. Reserves the
/// length of `bytes`, plus [`GAP`] if they are long. In case of an error, `out` is unchanged.
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
    // Short input is read on the stack and needs no gap.
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
        // Reads from the input directly, without a copy.
        clean += wide::append_avx2(avx2, out, &bytes[clean..], reader)
            .map_err(|error| error.shifted(clean))?;
    }
    let rest = &bytes[clean..];
    let to = out.len();
    let read = if rest.len() <= SHORT {
        // 16 bytes more, so that the last block needs no separate loop.
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

/// Reads `bytes[from..end]` and writes the result to `bytes[to..]`, where `to <= from`. Returns the
/// end of the result. Bytes after `end` may be loaded, but are not changed.
fn shrink_over(
    bytes: &mut [u8],
    end: usize,
    mut from: usize,
    mut to: usize,
    reader: impl Reader,
) -> Result<usize, Malformed> {
    let class = reader.class();
    // Invariant: to <= from <= end <= bytes.len(). The result is before `to`, the rest of the input
    // at `from`.
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

/// Moves bytes up to a special one, and reads that. For gaps narrower than a register.
fn narrow_step(
    bytes: &mut [u8],
    mut from: usize,
    mut to: usize,
    reader: impl Reader,
) -> Result<(usize, usize), Malformed> {
    let run = clean(&bytes[from..], reader);
    // There is no gap after pieces of equal length, such as `+` and line ends.
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

/// The number of bytes before the first special one. Tests a few blocks before a call, as words and
/// lines are short.
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

/// Reads at the special byte at `from`. Returns the new `from` and `to`.
#[inline(always)]
fn step(
    bytes: &mut [u8],
    from: usize,
    to: usize,
    reader: impl Reader,
) -> Result<(usize, usize), Malformed> {
    let piece = match reader.read(&bytes[from..]) {
        Ok(piece) => piece,
        Err(error) => return Err(error.shifted(from)),
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

    /// As [`super::shrink_over`], for a gap of at least 32 bytes, until fewer than 64 bytes are
    /// left. Returns the new `from` and `to`.
    #[inline]
    pub(super) fn shrink_avx2(
        _: Avx2,
        bytes: &mut [u8],
        from: usize,
        to: usize,
        reader: impl Reader,
    ) -> Result<(usize, usize), Malformed> {
        // SAFETY: an `Avx2` proves that the processor has the features of the function.
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
                // Part of the piece before, such as LF after CR. Tested here so that the mask does
                // not depend on the length of pieces.
                if next < from {
                    continue;
                }
                // SAFETY: `from <= next < start + 32`, after which 32 bytes are left; the gap never
                // shrinks.
                unsafe { move_block(bytes, from, to) };
                to += next - from;
                let piece = match reader.read(&bytes[next..]) {
                    Ok(piece) => piece,
                    Err(error) => return Err(error.shifted(next)),
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

    /// Reads `bytes` and appends the result, until fewer than 64 bytes are left. Returns the number
    /// of bytes read. In case of an error, part of the result may have been appended.
    #[inline]
    pub(super) fn append_avx2(
        _: Avx2,
        out: &mut Vec<u8>,
        bytes: &[u8],
        reader: impl Reader,
    ) -> Result<usize, Malformed> {
        // SAFETY: an `Avx2` proves that the processor has the features of the function.
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
            // SAFETY: no more has been written than was read, so there is capacity for the rest of
            // the input plus 32 bytes.
            from += unsafe { append_common(out, &bytes[from..], reader) };
            if from + 64 > bytes.len() {
                return Ok(from);
            }
            let piece = match reader.read(&bytes[from..]) {
                Ok(piece) => piece,
                Err(error) => return Err(error.shifted(from)),
            };
            out.extend_from_slice(&piece.bytes[..piece.written]);
            from += piece.read;
        }
    }

    /// As `append_blocks`, up to a special byte that [`Reader::common`] does not read. Calls no
    /// functions, so that all state stays in registers.
    ///
    /// # Safety
    ///
    /// The vector must have capacity for `bytes.len() + 32` more bytes.
    #[inline(never)]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn append_common(out: &mut Vec<u8>, bytes: &[u8], reader: impl Reader) -> usize {
        let halves = Halves::new(reader.class());
        let old = out.len();
        let input = bytes.as_ptr();
        // The byte at `from` goes to `shifted + from`: each shorter piece moves `shifted` back.
        // Always within the capacity: no more is written than read, and 32 bytes follow.
        let output = out.as_mut_ptr().wrapping_add(old);
        let (mut from, mut shifted) = (0, output);
        'blocks: while from + 64 <= bytes.len() {
            let (start, end) = (from, from + 32);
            // SAFETY: 64 bytes of the input are left.
            let mut special = halves.special(unsafe { &*input.add(from).cast::<[u8; 32]>() });
            loop {
                // SAFETY: `from < end`, after which 32 bytes of the input are left. For the output
                // see above.
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
                // SAFETY: `next < end`, after which 32 bytes of the input are left.
                let word = unsafe { input.add(next).cast::<[u8; 8]>().read() };
                let Some((byte, more)) = reader.common(u64::from_le_bytes(word)) else {
                    from = next;
                    break 'blocks;
                };
                // SAFETY: for the output see above.
                unsafe { shifted.wrapping_add(next).write(byte) };
                from = next + more + 1;
                shifted = shifted.wrapping_sub(more);
                if from >= end {
                    break;
                }
            }
        }
        let written = shifted as usize + from - output as usize;
        // SAFETY: each step has written the bytes by which it advanced, so this many bytes after
        // the old length are initialised.
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
        // SAFETY: both ranges are within the slice, by the contract, and come from one pointer.
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
        // SAFETY: the four bytes are within the slice, by the contract.
        unsafe { bytes.as_mut_ptr().add(to).cast::<[u8; 4]>().write(piece) }
    }
}
