//! The two loops below XML escapes and percent-encoding: most bytes are copied, and a few are
//! replaced.
//!
//! - [`class`] classifies 32 bytes by two table lookups, one by the low half of each byte and one
//!   by the high half. A byte is special if both results have a bit in common.
//! - [`grow`] writes. Each special byte becomes up to six bytes, which a [`Table`] has as one word,
//!   so that it is written by one store. Blocks with many special bytes are written byte by byte
//!   from the table, without branches.
//! - [`shrink`] reads. Each special piece becomes a shorter one or one of equal length, so reading
//!   in place opens a gap; once it has the width of a register, whole registers are moved over it.
//!   Reading into another buffer starts with such a gap.
//!
//! Neither can replace a byte by nothing, or match sequences in the fast path.

mod class;
mod grow;
mod shrink;

pub(crate) use class::Class;
pub(crate) use grow::{Table, Word, push};
pub(crate) use shrink::{Piece, Reader, push_shrunk};
