//! Reading, in place: bytes that stay, and bytes that stand for fewer.

use super::Class;
use crate::scan::block::Block;
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
pub(crate) trait Reader: Copy {
    /// The bytes that do not stand for themselves.
    fn class(self) -> &'static Class;

    /// The same of sixteen bytes.
    fn special(self, block: Block) -> Block;

    /// What stands at the beginning, which is such a byte. Errors count from
    /// there.
    fn read(self, bytes: &[u8]) -> Result<Piece, Malformed>;
}

/// The gap that everything can be moved over.
pub(crate) const GAP: usize = 32;

/// From this length on registers of 32 bytes are worth a call.
const WIDE_FROM: usize = 96;

/// Appends what `bytes` stand for, of which the first `clean` stand for
/// themselves. On an error `out` is as it was. Reserves the length of `bytes`
/// and [`GAP`].
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
    out.reserve(bytes.len() + GAP);
    out.extend_from_slice(&bytes[..clean]);
    out.extend_from_slice(&[0; GAP]);
    out.extend_from_slice(&bytes[clean..]);
    match shrink_over(&mut out[old..], clean + GAP, clean, reader) {
        Ok(len) => {
            out.truncate(old + len);
            Ok(())
        }
        Err(error) => {
            out.truncate(old);
            Err(Malformed::new(error.offset - GAP, error.expected))
        }
    }
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
    shrink_over(bytes, clean, clean, reader)
}

/// Moves what stands from `from` on to `to`, which is not behind it, and reads
/// it on the way. Returns the new end.
fn shrink_over(
    bytes: &mut [u8],
    mut from: usize,
    mut to: usize,
    reader: impl Reader,
) -> Result<usize, Malformed> {
    let class = reader.class();
    // `to <= from <= bytes.len()`; everything before `to` is read, everything
    // from `from` on is as it came.
    loop {
        #[cfg(target_arch = "x86_64")]
        if from - to >= GAP
            && bytes.len() - from >= WIDE_FROM
            && let Some(avx2) = cpu::avx2()
        {
            (from, to) = wide::shrink_avx2(avx2, bytes, from, to, reader)?;
        }
        while let Some(byte) = bytes.get(from)
            && class.has(*byte)
        {
            (from, to) = step(bytes, from, to, reader)?;
        }
        if from - to < 16 {
            // Whole registers would write over what is not yet read.
            let run = class.clean(&bytes[from..], |block| reader.special(block));
            bytes.copy_within(from..from + run, to);
            from += run;
            to += run;
        } else {
            while let Some(block) = bytes.get(from..).and_then(<[u8]>::first_chunk::<16>) {
                let block = *block;
                if let Some(slot) = bytes.get_mut(to..).and_then(<[u8]>::first_chunk_mut) {
                    *slot = block;
                }
                let mask = reader.special(Block::load(&block)).mask() | 1 << 16;
                let run = mask.trailing_zeros() as usize;
                from += run;
                to += run;
                if run < 16 {
                    break;
                }
            }
        }
        if bytes.len() - from < 16 {
            while let Some(byte) = bytes.get(from)
                && !class.has(*byte)
            {
                bytes[to] = *byte;
                from += 1;
                to += 1;
            }
            if from == bytes.len() {
                return Ok(to);
            }
        }
    }
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
        Err(error) => return Err(at(from, error)),
    };
    if piece.written == 1 {
        bytes[to] = piece.bytes[0];
    } else {
        let end = to + piece.written;
        bytes[to..end].copy_from_slice(&piece.bytes[..piece.written]);
    }
    Ok((from + piece.read, to + piece.written))
}

#[cold]
fn at(offset: usize, error: Malformed) -> Malformed {
    Malformed::new(offset + error.offset, error.expected)
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::super::class::wide::Halves;
    use super::{Reader, step};
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
        let class = reader.class();
        let halves = Halves::new(class);
        while let Some(blocks) = bytes.get(from..).and_then(<[u8]>::first_chunk::<64>)
            && let Some(block) = blocks.first_chunk::<32>()
        {
            let start = from;
            let mut special = u64::from(halves.special(block));
            while special != 0 {
                let next = start + special.trailing_zeros() as usize;
                // SAFETY: `from <= next < start + 32`, behind which 32 bytes are
                // left; the gap is as wide as it was, or wider.
                unsafe { move_block(bytes, from, to) };
                to += next - from;
                (from, to) = step(bytes, next, to, reader)?;
                // Where there is one, there are often more.
                while let Some(byte) = bytes.get(from)
                    && class.has(*byte)
                {
                    (from, to) = step(bytes, from, to, reader)?;
                }
                if from >= start + 32 {
                    break;
                }
                special &= u64::MAX << (from - start);
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
}
