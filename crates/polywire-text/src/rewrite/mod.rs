//! Rewriting bytes: the two loops under XML escapes and percent-encoding.
//!
//! Both questions have one shape. Most bytes stay as they are; a few become
//! something else. What makes it fast is to treat the many as blocks and to
//! spend little on each of the few:
//!
//! - [`grow`] writes. Each byte that may not stay becomes up to seven others,
//!   which a [`Table`] holds as one word, so that writing them is one store of
//!   fixed width. Where many bytes of a block change, every byte goes through
//!   the table, since guessing where the next one stands costs more than
//!   moving those that stay.
//! - [`shrink`] reads, in place. What it reads is never shorter than what it
//!   writes, so that a gap opens between the two, and once the gap is as wide
//!   as a register whole registers are moved over it. Reading into another
//!   buffer is a copy and then the same.
//!
//! What neither can do: replace a byte by nothing, or look at two at a time.

mod grow;
mod shrink;

pub(crate) use grow::{Table, push};
pub(crate) use shrink::{Piece, shrink};
