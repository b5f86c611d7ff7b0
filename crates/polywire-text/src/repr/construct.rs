//! Constructors.

use std::ops::Range;
use std::ptr;
use std::sync::Arc;

use bytes::Bytes;

use super::{INLINE, INLINE_CAPACITY, LOW, Last, Repr, Tag, WINDOW, Word};
use crate::scan;

impl Repr {
    /// Static bytes.
    #[inline]
    pub(crate) const fn from_static(bytes: &'static [u8]) -> Self {
        Self::external(Tag::Static, bytes.as_ptr(), bytes.len(), ptr::null())
    }

    /// A form that is not inline. The caller passes the reference that the form owns, by the
    /// invariant.
    #[inline]
    pub(super) const fn external(tag: Tag, data: *const u8, len: usize, owner: *const u8) -> Self {
        Self {
            data: Word { pointer: data },
            owner: Word { pointer: owner },
            last: Last::new(len, tag as u8),
        }
    }

    /// The inline form of the first `len` bytes of three words in little-endian order. The other
    /// bytes are never read as part of the string.
    #[inline]
    const fn from_words(words: [u64; 3], len: usize) -> Self {
        // Callers have checked, so the compiler removes this.
        let len = if len < INLINE_CAPACITY {
            len
        } else {
            INLINE_CAPACITY
        };
        let [first, second, third] = words;
        let third = third & LOW | (len as u64 | INLINE as u64) << 56;
        let words = [first.to_le(), second.to_le(), third.to_le()];
        // SAFETY: both types have 24 bytes. A `Word` can have any bytes, and the last word is not
        // zero, as its tag has the bit `INLINE`. The tag is inline, and all 24 bytes are
        // initialised.
        unsafe { std::mem::transmute::<[u64; 3], Self>(words) }
    }

    /// A copy of `bytes`: inline, or in one allocation.
    #[inline]
    pub(crate) fn copy(bytes: &[u8]) -> Self {
        match Self::inline(bytes) {
            Some(inline) => inline,
            None => Self::from_arc(Arc::from(bytes)),
        }
    }

    /// The first `len` bytes of a window, if they fit inline.
    #[inline]
    pub(crate) fn inline_window(window: &[u8; WINDOW], len: usize) -> Option<Self> {
        (len <= INLINE_CAPACITY).then(|| Self::from_words(words(window), len))
    }

    /// The bytes, if they fit inline, by overlapping moves instead of a call of `memcpy`.
    #[inline]
    pub(crate) fn inline(from: &[u8]) -> Option<Self> {
        let len = from.len();
        if len > INLINE_CAPACITY {
            return None;
        }
        let words = if let (Some(head), Some(tail)) = (from.first_chunk(), from.last_chunk()) {
            let (head, tail) = (u64::from_le_bytes(*head), u64::from_le_bytes(*tail));
            // Shifts out the bytes of the tail that are in the words before it. Two shifts, as
            // there may be eight.
            match from.get(8..).and_then(<[u8]>::first_chunk) {
                Some(middle) => {
                    let rest = (tail >> 8) >> (8 * (INLINE_CAPACITY - len));
                    [head, u64::from_le_bytes(*middle), rest]
                }
                None => [head, (tail >> 8) >> (8 * (15 - len)), 0],
            }
        } else if let (Some(head), Some(tail)) = (from.first_chunk(), from.last_chunk()) {
            let (head, tail) = (u32::from_le_bytes(*head), u32::from_le_bytes(*tail));
            [u64::from(head) | u64::from(tail) << (8 * (len - 4)), 0, 0]
        } else if let [first, .., last] = from {
            // Two or three bytes. The middle one may be the last.
            let middle = u64::from(from[len / 2]) << (8 * (len / 2));
            let last = u64::from(*last) << (8 * (len - 1));
            [u64::from(*first) | middle | last, 0, 0]
        } else {
            [from.first().copied().map_or(0, u64::from), 0, 0]
        };
        Some(Self::from_words(words, len))
    }

    /// The first `len` bytes of `window`, if they fit inline and are ASCII.
    // Always inline: a result in memory would be written and read in different pieces, which
    // defeats store forwarding.
    #[inline(always)]
    pub(crate) fn inline_ascii_prefix(window: &[u8], len: usize) -> Option<Self> {
        let Some(chunk) = window.first_chunk::<WINDOW>() else {
            return Self::inline_short_ascii(window, len);
        };
        if len > INLINE_CAPACITY {
            return None;
        }
        // Bytes from `len` on need not be ASCII.
        let wide = scan::non_ascii_mask(chunk) & !(u32::MAX << len);
        (wide == 0).then(|| Self::from_words(words(chunk), len))
    }

    /// [`Self::inline_ascii_prefix`] near the end of the input.
    #[cold]
    #[inline(never)]
    fn inline_short_ascii(window: &[u8], len: usize) -> Option<Self> {
        let bytes = window.get(..len).filter(|bytes| bytes.is_ascii())?;
        Self::inline(bytes)
    }

    /// Takes over an allocation with exactly these bytes; copies short ones inline.
    #[inline]
    pub(crate) fn from_arc(bytes: Arc<[u8]>) -> Self {
        if let Some(inline) = Self::inline(&bytes) {
            return inline;
        }
        let len = bytes.len();
        let data = Arc::into_raw(bytes).cast();
        Self::external(Tag::Copied, data, len, ptr::null())
    }

    /// Takes over a vector; copies it if it is short, or if more than half of its capacity is
    /// unused.
    pub(crate) fn from_vec(bytes: Vec<u8>) -> Self {
        if bytes.len() <= INLINE_CAPACITY || bytes.capacity() / 2 > bytes.len() {
            return Self::copy(&bytes);
        }
        let (data, len) = (bytes.as_ptr(), bytes.len());
        // The buffer does not move with the vector.
        Self::external(
            Tag::Vector,
            data,
            len,
            Arc::into_raw(Arc::new(bytes)).cast(),
        )
    }

    /// Takes over `bytes`; copies short ones inline. They may be a part of a larger allocation.
    pub(crate) fn from_bytes(bytes: Bytes) -> Self {
        match Self::inline(&bytes) {
            Some(inline) => inline,
            None => {
                let all = 0..bytes.len();
                Self::range_of(Arc::new(bytes), all)
            }
        }
    }

    /// A range of a body.
    #[inline]
    pub(super) fn range_of(body: Arc<Bytes>, range: Range<usize>) -> Self {
        let part = &body[range];
        // The bytes of a `Bytes` neither move nor change.
        let (data, len) = (part.as_ptr(), part.len());
        Self::external(Tag::Body, data, len, Arc::into_raw(body).cast())
    }
}

/// The bytes of a window as three words, the first byte lowest.
#[inline]
fn words(window: &[u8; WINDOW]) -> [u64; 3] {
    let (words, _) = window.as_chunks::<8>();
    [0, 1, 2].map(|at| words.get(at).map_or(0, |word| u64::from_le_bytes(*word)))
}
