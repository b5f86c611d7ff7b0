//! Reading, in place: bytes that stay, and bytes that stand for fewer.

use crate::Malformed;
use crate::scan::block::Block;

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
    #[inline]
    pub(crate) const fn byte(byte: u8, read: usize) -> Self {
        Self {
            bytes: [byte, 0, 0, 0],
            written: 1,
            read,
        }
    }
}

/// Reads `bytes` in place from `first` on, before which everything stays, and
/// returns how many bytes are left.
///
/// `special` and `is_special` both say which bytes do not stay. `read` gets
/// the bytes from one of them on; its errors count from there.
///
/// On an error the bytes are a mixture of read and unread.
#[inline]
pub(crate) fn shrink(
    bytes: &mut [u8],
    first: usize,
    special: impl Fn(Block) -> Block,
    is_special: impl Fn(u8) -> bool,
    read: impl Fn(&[u8]) -> Result<Piece, Malformed>,
) -> Result<usize, Malformed> {
    // `to <= from <= bytes.len()`; everything before `to` is read, everything
    // from `from` on is as it came.
    let (mut from, mut to) = (first, first);
    loop {
        while let Some(byte) = bytes.get(from)
            && is_special(*byte)
        {
            let piece = read(&bytes[from..])
                .map_err(|error| Malformed::new(from + error.offset, error.expected))?;
            if piece.written == 1 {
                bytes[to] = piece.bytes[0];
            } else {
                let end = to + piece.written;
                bytes[to..end].copy_from_slice(&piece.bytes[..piece.written]);
            }
            to += piece.written;
            from += piece.read;
        }
        // Whole registers, once the gap is as wide as one: then what is written
        // beyond the run is not yet read, or has been read.
        while from - to >= 16
            && let Some(block) = bytes.get(from..).and_then(<[u8]>::first_chunk::<16>)
        {
            let block = *block;
            let mask = special(Block::load(&block)).mask();
            if let Some(slot) = bytes.get_mut(to..).and_then(<[u8]>::first_chunk_mut) {
                *slot = block;
            }
            let run = if mask == 0 {
                16
            } else {
                mask.trailing_zeros() as usize
            };
            from += run;
            to += run;
            if mask != 0 {
                break;
            }
        }
        // The gap is narrow, or the end is near.
        let mut run = 0;
        if from - to < 16 {
            while let Some(block) = bytes.get(from + run..).and_then(<[u8]>::first_chunk::<16>) {
                let mask = special(Block::load(block)).mask();
                run += (mask | 1 << 16).trailing_zeros() as usize;
                if mask != 0 {
                    break;
                }
            }
            bytes.copy_within(from..from + run, to);
            from += run;
            to += run;
        }
        if bytes.len() - from < 16 {
            while let Some(byte) = bytes.get(from)
                && !is_special(*byte)
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
