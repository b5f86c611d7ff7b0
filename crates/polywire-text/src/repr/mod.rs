//! The 24 bytes behind `Text` and `Blob`.
//!
//! - Most strings on a wire are short: up to [`INLINE_CAPACITY`] bytes are stored in the value,
//!   without an allocation or a call of `memcpy`.
//! - Long strings are usually contained verbatim in the input, so they are a range of it, kept
//!   alive by one shared handle.
//! - Small parts of large inputs are copied, because they would keep the whole input alive.
//!
//! Three words, the last byte of which is the tag of the form:
//!
//! ```text
//! byte     0       8                16                            23
//! inline | up to 23 bytes ........................ | length: 0 to 23 |
//! static | data  | -              | length, 7 bytes | Static         |
//! copied | data  | -              | length          | Copied         |
//! vector | data  | Arc<Vec<u8>>   | length          | Vector, Part   |
//! body   | data  | Arc<Bytes>     | length          | Body           |
//! ```
//!
//! `data` points to the first byte in all forms that are not inline, so `as_bytes` needs one
//! comparison and no branch. `Copied` is an `Arc<[u8]>` with exactly these bytes. `Vector` is a
//! string or vector that was taken over, and `Part` a range of one. `Body` is a range of an input.
//!
//! An enum of these forms takes twice the time to make a short string: the compiler copies its
//! inline form through the stack in overlapping pieces, which stalls. Copying whole words needs a
//! `union`, whose proofs rest on one invariant. Every constructor establishes it, and nothing
//! changes the value afterwards:
//!
//! > The tag is that of the form. In the inline form all 24 bytes are initialised. In the others,
//! > `data` points to `length` initialised bytes that nobody writes to. They are static (`Static`),
//! > or live as long as a reference that the value owns: to the `Arc<[u8]>` of exactly these bytes
//! > (`Copied`), or to the `Arc` in the second word.

mod body;
mod construct;
mod owner;
#[cfg(test)]
mod tests;

use std::num::NonZero;
use std::ops::{Bound, Range, RangeBounds};
use std::ptr;

pub use body::Body;

/// The number of bytes that a [`Text`](crate::Text) or [`Blob`](crate::Blob) stores without an
/// allocation.
pub const INLINE_CAPACITY: usize = 23;

/// Ranges of inputs up to this size are never copied, whatever their length.
pub(crate) const SHARE_WHOLE: usize = 4 * 1024;

/// A range of an input above 4 KiB is copied if it is less than one part in 256 of the input. So a
/// value keeps at most 256 times its own size alive, or 4 KiB.
pub const SHARE_FRACTION: usize = 256;

/// The size of the representation, which is copied as a whole.
pub(crate) const WINDOW: usize = 24;

#[repr(C)]
pub(crate) struct Repr {
    data: Word,
    owner: Word,
    last: Last,
}

const _: () = assert!(size_of::<Repr>() == WINDOW);
const _: () = assert!(size_of::<Option<Repr>>() == WINDOW);

/// Eight bytes of inline data, or a pointer.
#[derive(Clone, Copy)]
union Word {
    bits: u64,
    pointer: *const u8,
}

/// The last word in little-endian order: the low seven bytes are the length, or the last inline
/// bytes, and the highest is the tag.
///
/// It is never zero, so that an `Option` of it is copied as three words. A separate byte for the
/// tag would be copied separately from the other seven, which defeats store forwarding.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Last(NonZero<u64>);

/// The tag of inline forms is their length and this bit, which keeps the word from being zero.
const INLINE: u8 = 0x40;
const LONGEST_INLINE: u8 = INLINE | INLINE_CAPACITY as u8;

/// The tags of the other forms, above those of the inline ones.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[repr(u8)]
enum Tag {
    /// Static bytes. All forms after this one own a reference.
    Static = LONGEST_INLINE + 1,
    /// The whole of an `Arc<[u8]>`.
    Copied,
    /// The whole of an `Arc<Vec<u8>>`.
    Vector,
    /// A range of an `Arc<Vec<u8>>`.
    Part,
    /// A range of an `Arc<Bytes>`.
    Body,
}

// SAFETY: besides plain bytes, a value has a `&'static [u8]`, an `Arc<[u8]>`, an `Arc<Vec<u8>>` or
// an `Arc<Bytes>`, all of which are `Send` and `Sync`. Nothing is changed through a shared
// reference.
unsafe impl Send for Repr {}
// SAFETY: as above.
unsafe impl Sync for Repr {}

/// The seven bytes of the last word that are not the tag.
const LOW: u64 = u64::MAX >> 8;

impl Repr {
    pub(crate) const EMPTY: Self = Self {
        data: Word { bits: 0 },
        owner: Word { bits: 0 },
        last: Last::new(0, INLINE),
    };

    #[inline]
    pub(crate) const fn is_inline(&self) -> bool {
        self.last.tag() <= LONGEST_INLINE
    }

    /// Whether the value keeps alive an allocation that is larger, or that others hold.
    #[inline]
    pub(crate) const fn is_shared(&self) -> bool {
        self.last.tag() >= Tag::Part as u8
    }

    #[inline]
    pub(crate) const fn len(&self) -> usize {
        if self.is_inline() {
            self.last.inline_len()
        } else {
            self.last.len()
        }
    }

    #[inline]
    pub(crate) const fn as_bytes(&self) -> &[u8] {
        let (data, len) = if self.is_inline() {
            (ptr::from_ref(self).cast::<u8>(), self.last.inline_len())
        } else {
            // SAFETY: the form is not inline, so the constructor was `external`, and the word is a
            // pointer.
            (unsafe { self.data.pointer }, self.last.len())
        };
        // SAFETY: the invariant. If inline, these are at most 23 of the 24 initialised bytes of the
        // value. Otherwise, `data` points to `len` initialised bytes that nobody writes to and that
        // live at least as long as the value. `self` borrows the value.
        unsafe { std::slice::from_raw_parts(data, len) }
    }

    /// The bytes, unless they are inline.
    #[inline]
    pub(crate) const fn external_bytes(&self) -> Option<&[u8]> {
        if self.is_inline() {
            return None;
        }
        // SAFETY: as in `as_bytes`.
        let data = unsafe { self.data.pointer };
        // SAFETY: as in `as_bytes`.
        Some(unsafe { std::slice::from_raw_parts(data, self.last.len()) })
    }

    /// All bytes of the inline form, and the length, which is at most [`INLINE_CAPACITY`].
    #[inline]
    pub(crate) fn window(&self) -> Option<(&[u8; WINDOW], usize)> {
        if !self.is_inline() {
            return None;
        }
        // SAFETY: the value has 24 bytes, which are initialised in this form (the invariant). Bytes
        // need no alignment. The result borrows `self`.
        let window = unsafe { &*ptr::from_ref(self).cast::<[u8; WINDOW]>() };
        Some((window, self.last.inline_len()))
    }
}

impl Last {
    /// Sets the bit [`INLINE`] of the tag, which all tags have.
    #[inline]
    const fn new(len: usize, tag: u8) -> Self {
        // No address space has 2^56 bytes.
        let word = len as u64 & LOW | (tag as u64 | INLINE as u64) << 56;
        match NonZero::new(word.to_le()) {
            Some(word) => Self(word),
            // A bit was set above, as the compiler sees.
            None => unreachable!(),
        }
    }

    #[inline]
    const fn tag(self) -> u8 {
        (u64::from_le(self.0.get()) >> 56) as u8
    }

    /// The length of an inline form.
    #[inline]
    const fn inline_len(self) -> usize {
        (self.tag() & !INLINE) as usize
    }

    /// The length of another form.
    #[inline]
    const fn len(self) -> usize {
        (u64::from_le(self.0.get()) & LOW) as usize
    }
}

/// The range as numbers, if it is within a sequence of `len` items.
pub(crate) fn bounds(range: &impl RangeBounds<usize>, len: usize) -> Option<Range<usize>> {
    let start = match range.start_bound() {
        Bound::Included(start) => *start,
        Bound::Excluded(before) => before.checked_add(1)?,
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(last) => last.checked_add(1)?,
        Bound::Excluded(end) => *end,
        Bound::Unbounded => len,
    };
    (start <= end && end <= len).then_some(start..end)
}
