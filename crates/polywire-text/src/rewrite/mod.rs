//! Rewriting bytes: the two loops under XML escapes and percent-encoding.
//!
//! Both questions have one shape. Most bytes stay as they are; a few become
//! something else. What makes it fast is to treat the many as blocks and to
//! spend little on each of the few:
//!
//! - [`class`] tells 32 bytes apart by two look-ups, one by the lower half of
//!   each byte and one by the upper: a byte is special if both answers share a
//!   bit. Any class that formats have fits.
//! - [`grow`] writes. Each byte that may not stay becomes up to six others,
//!   which a [`Table`] holds as one word, so that writing them is one store of
//!   fixed width. Where many bytes of a block change, every byte goes through
//!   the table, since guessing where the next one stands costs more than
//!   moving those that stay.
//! - [`shrink`] reads, in place. What it reads is never shorter than what it
//!   writes, so that a gap opens between the two, and once the gap is as wide
//!   as a register whole registers are moved over it. Reading into another
//!   buffer is the same, with a gap to begin with.
//!
//! What neither can do: replace a byte by nothing, or look at two at a time.

mod class;
mod grow;
mod shrink;

pub(crate) use class::Class;
pub(crate) use grow::{Table, Word, push};
pub(crate) use shrink::{Piece, Reader, push_shrunk, shrink};
