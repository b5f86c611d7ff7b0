//! The 24 bytes behind `Text` and `Blob`.
//!
//! Three demands meet here. Most strings on a wire are short, so up to
//! [`INLINE_CAPACITY`] bytes live inside the value and cost neither an
//! allocation nor a `memcpy` call. Long ones usually stand verbatim in the
//! input, so they are a range of it, kept alive by one shared handle. And a
//! handle must not keep a large input alive for the sake of a small part, so
//! small parts of large inputs are copied out.
//!
//! Three words, of which the last byte tells the form:
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
//! `data` points at the first byte whatever owns it, so the bytes are found
//! with one comparison and without a branch: either they are the value itself,
//! or `data` and the length. A copied string is the `Arc<[u8]>` whose content
//! `data` and the length are. A string or vector that was handed over keeps
//! its buffer (`Vector`), and parts of it are `Part`. A `Body` is a range of
//! an input that others read as well.
//!
//! An ordinary enum of these five would do too, and did: its inline form is an
//! array beside a tag, which the compiler copies through the stack in pieces
//! that overlap, and a processor waits for each. It took twice the time to
//! make a short string. Whole words need a `union`, and that needs the proofs
//! below. They rest on one invariant, which every constructor establishes and
//! nothing changes afterwards:
//!
//! > The tag says which form it is. In the inline form all 24 bytes are
//! > initialised. In the others `data` points at `length` initialised bytes
//! > that nobody writes to, which live for ever (`Static`) or as long as a
//! > counted reference that the value owns: to the `Arc<[u8]>` of just these
//! > bytes (`Copied`), or to the `Arc` in the second word.

mod body;
#[cfg(test)]
mod tests;

use std::mem::ManuallyDrop;
use std::num::NonZero;
use std::ops::{Bound, Range, RangeBounds};
use std::ptr;
use std::sync::Arc;

use bytes::Bytes;

use crate::scan;

pub use body::Body;

/// The most bytes that a [`Text`](crate::Text) or [`Blob`](crate::Blob) holds
/// without an allocation.
pub const INLINE_CAPACITY: usize = 23;

/// Inputs up to this size are shared whole: a range of any length keeps the
/// input alive instead of being copied. 4 KiB.
pub const SHARE_WHOLE: usize = 4 * 1024;

/// In inputs above [`SHARE_WHOLE`], a range is shared if it is at least this
/// fraction (one part in 256) of the input, and copied otherwise. So a value
/// never keeps more than 256 times its own size alive, or 4 KiB.
pub const SHARE_FRACTION: usize = 256;

/// The size of the representation, and of the window that is copied whole.
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

/// The last word, which ends with the tag: in little-endian order, its low seven
/// bytes are the length, or the last inline bytes, and the highest is the tag.
///
/// It is one word that is never zero, and not a byte that leaves values unused, so
/// that an `Option` of it is copied as three words. A tag that is a byte of its own
/// is copied apart from the other seven, and those by a load across two stores that
/// have just been made, which makes a processor wait.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Last(NonZero<u64>);

/// The form. The inline ones are their length and this bit, which keeps the word
/// from being zero.
const INLINE: u8 = 0x40;
const LONGEST_INLINE: u8 = INLINE | INLINE_CAPACITY as u8;

/// The forms that are not inline, behind those that are.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[repr(u8)]
enum Tag {
    /// Lives for ever. All forms after it own a reference.
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

/// The reference that a value owns.
#[derive(Clone)]
enum Owner {
    Copied(Arc<[u8]>),
    Vector(Arc<Vec<u8>>),
    Body(Arc<Bytes>),
}

// SAFETY: what a value holds besides plain bytes is a `&'static [u8]`, an
// `Arc<[u8]>`, an `Arc<Vec<u8>>` or an `Arc<Bytes>`, and each of them is
// `Send` and `Sync`. Nothing is changed through a shared reference.
unsafe impl Send for Repr {}
// SAFETY: as above.
unsafe impl Sync for Repr {}

/// The seven bytes of the third word that are not the tag.
const LOW: u64 = u64::MAX >> 8;

impl Repr {
    pub(crate) const EMPTY: Self = Self {
        data: Word { bits: 0 },
        owner: Word { bits: 0 },
        last: Last::new(0, INLINE),
    };

    /// Bytes that live for ever.
    #[inline]
    pub(crate) const fn from_static(bytes: &'static [u8]) -> Self {
        Self::outside(Tag::Static, bytes.as_ptr(), bytes.len(), ptr::null())
    }

    /// A form that is not inline. The caller hands over the reference that the
    /// form owns, as the invariant has it.
    #[inline]
    const fn outside(tag: Tag, data: *const u8, len: usize, owner: *const u8) -> Self {
        Self {
            data: Word { pointer: data },
            owner: Word { pointer: owner },
            last: Last::new(len, tag as u8),
        }
    }

    /// The inline form of the first `len` bytes of three words, which are in
    /// little-endian order: the first byte of the string is the lowest byte of
    /// the first word. What stands behind `len` is never looked at.
    #[inline]
    const fn inside(words: [u64; 3], len: usize) -> Self {
        // Callers have looked, so that this costs nothing.
        let len = if len < INLINE_CAPACITY {
            len
        } else {
            INLINE_CAPACITY
        };
        let [first, second, third] = words;
        let third = third & LOW | (len as u64 | INLINE as u64) << 56;
        let words = [first.to_le(), second.to_le(), third.to_le()];
        // SAFETY: both types have 24 bytes. Any bytes are a `Word`; the last word
        // is not zero, since its tag has a bit that is always set. It says inline,
        // and all 24 bytes are initialised.
        unsafe { std::mem::transmute::<[u64; 3], Self>(words) }
    }

    #[inline]
    pub(crate) const fn is_inline(&self) -> bool {
        self.last.tag() <= LONGEST_INLINE
    }

    /// Whether the value is a range of something larger, or of something that
    /// others hold.
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
            // SAFETY: the form is not inline, so the constructor was `outside`
            // and the word is a pointer.
            (unsafe { self.data.pointer }, self.last.len())
        };
        // SAFETY: the invariant. Inline, `len` is at most 23 of the value's own
        // 24 initialised bytes, which `self` borrows. Else `data` points at
        // `len` initialised bytes that nobody writes to and that live at least
        // as long as the value, which `self` borrows.
        unsafe { std::slice::from_raw_parts(data, len) }
    }

    /// The bytes, unless they are inline: `as_bytes` for who has to ask anyway.
    #[inline]
    pub(crate) const fn outside_bytes(&self) -> Option<&[u8]> {
        if self.is_inline() {
            return None;
        }
        // SAFETY: as in `as_bytes`.
        let data = unsafe { self.data.pointer };
        // SAFETY: as in `as_bytes`.
        Some(unsafe { std::slice::from_raw_parts(data, self.last.len()) })
    }

    /// All bytes of the inline form and how many of them count, which is at most
    /// [`INLINE_CAPACITY`]: a window of fixed width.
    #[inline]
    pub(crate) fn window(&self) -> Option<(&[u8; WINDOW], usize)> {
        if !self.is_inline() {
            return None;
        }
        // SAFETY: the value has 24 bytes, all of them initialised in this form (the
        // invariant), and any bytes are bytes, which need no alignment. The
        // reference lives as long as that to the value.
        let window = unsafe { &*ptr::from_ref(self).cast::<[u8; WINDOW]>() };
        Some((window, self.last.inline_len()))
    }

    /// Copies `bytes`: inline if they fit, else into one allocation.
    #[inline]
    pub(crate) fn copy(bytes: &[u8]) -> Self {
        match Self::inline(bytes) {
            Some(inline) => inline,
            None => Self::from_arc(Arc::from(bytes)),
        }
    }

    /// The first `len` bytes of a window, inline, if they fit.
    #[inline]
    pub(crate) fn inline_window(window: &[u8; WINDOW], len: usize) -> Option<Self> {
        (len <= INLINE_CAPACITY).then(|| Self::inside(words(window), len))
    }

    /// Short bytes, inline, without a call to `memcpy`: moves that overlap.
    #[inline]
    pub(crate) fn inline(from: &[u8]) -> Option<Self> {
        let len = from.len();
        if len > INLINE_CAPACITY {
            return None;
        }
        let words = if let (Some(head), Some(tail)) = (from.first_chunk(), from.last_chunk()) {
            let (head, tail) = (u64::from_le_bytes(*head), u64::from_le_bytes(*tail));
            // The tail moved down by the bytes that it shares with the words
            // before it; by 8 where it shares all.
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
            // Two or three bytes, of which the middle may be the last.
            let middle = u64::from(from[len / 2]) << (8 * (len / 2));
            let last = u64::from(*last) << (8 * (len - 1));
            [u64::from(*first) | middle | last, 0, 0]
        } else {
            [from.first().copied().map_or(0, u64::from), 0, 0]
        };
        Some(Self::inside(words, len))
    }

    /// The first `len` bytes of `window`, inline, if they fit and are ASCII.
    // Always: a result that goes through memory is written in other pieces than
    // it is read, and waits.
    #[inline(always)]
    pub(crate) fn inline_ascii_prefix(window: &[u8], len: usize) -> Option<Self> {
        let Some(chunk) = window.first_chunk::<WINDOW>() else {
            return Self::inline_short_ascii(window, len);
        };
        if len > INLINE_CAPACITY {
            return None;
        }
        // Whatever stands at `len` and behind is not looked at.
        let wide = scan::wide_mask(chunk) & !(u32::MAX << len);
        (wide == 0).then(|| Self::inside(words(chunk), len))
    }

    /// As [`Self::inline_ascii_prefix`], at the end of the input.
    #[cold]
    #[inline(never)]
    fn inline_short_ascii(window: &[u8], len: usize) -> Option<Self> {
        let bytes = window.get(..len).filter(|bytes| bytes.is_ascii())?;
        Self::inline(bytes)
    }

    /// Shares an allocation that is just these bytes; copies short ones.
    #[inline]
    pub(crate) fn from_arc(bytes: Arc<[u8]>) -> Self {
        if let Some(inline) = Self::inline(&bytes) {
            return inline;
        }
        let len = bytes.len();
        let data = Arc::into_raw(bytes).cast();
        Self::outside(Tag::Copied, data, len, ptr::null())
    }

    /// Takes over a vector; copies it if it is short, or would keep more than
    /// twice its length alive.
    pub(crate) fn from_vec(bytes: Vec<u8>) -> Self {
        if bytes.len() <= INLINE_CAPACITY || bytes.capacity() / 2 > bytes.len() {
            return Self::copy(&bytes);
        }
        let (data, len) = (bytes.as_ptr(), bytes.len());
        // The buffer stays where it is when the vector moves.
        Self::outside(
            Tag::Vector,
            data,
            len,
            Arc::into_raw(Arc::new(bytes)).cast(),
        )
    }

    /// Takes over `bytes` without copying them, if they are too long for the
    /// inline form. Whoever made them may hold more than these bytes.
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
    fn range_of(body: Arc<Bytes>, range: Range<usize>) -> Self {
        let part = &body[range];
        // Where the bytes of a `Bytes` are never changes, and neither do they.
        let (data, len) = (part.as_ptr(), part.len());
        Self::outside(Tag::Body, data, len, Arc::into_raw(body).cast())
    }

    /// A value that keeps nothing alive but itself.
    pub(crate) fn detached(self) -> Self {
        match self.is_shared() {
            true => Self::copy(self.as_bytes()),
            false => self,
        }
    }

    /// How many bytes the value keeps alive outside of itself, as far as is
    /// known: a `Bytes` does not tell how much more stands around it.
    pub(crate) fn kept(&self) -> usize {
        match self.owner().as_deref() {
            None => 0,
            Some(Owner::Copied(bytes)) => bytes.len(),
            Some(Owner::Vector(bytes)) => bytes.capacity(),
            Some(Owner::Body(bytes)) => bytes.len(),
        }
    }

    /// `part`, which may be anything: if it lies within this value and is
    /// worth it, as a range of the same allocation, else as a copy.
    pub(crate) fn part(&self, part: &[u8]) -> Self {
        if let Some(inline) = Self::inline(part) {
            return inline;
        }
        let Some(range) = range_within(self.as_bytes(), part) else {
            return Self::copy(part);
        };
        if range.len() == self.len() {
            return self.clone();
        }
        // The same bytes, but found by way of this value, which keeps them.
        let start = range.start;
        let part = &self.as_bytes()[range];
        let (data, len) = (part.as_ptr(), part.len());
        let Some(owner) = self.owner() else {
            // It is too long to lie within an inline value, so it is static.
            return Self::outside(Tag::Static, data, len, ptr::null());
        };
        if !is_worth_sharing(len, self.kept()) {
            return Self::copy(part);
        }
        match Owner::clone(&owner) {
            Owner::Copied(bytes) => {
                let body = Bytes::from_owner(bytes);
                Self::range_of(Arc::new(body), start..start + len)
            }
            Owner::Vector(vector) => {
                Self::outside(Tag::Part, data, len, Arc::into_raw(vector).cast())
            }
            Owner::Body(body) => Self::outside(Tag::Body, data, len, Arc::into_raw(body).cast()),
        }
    }

    /// As `Bytes`; only inline bytes are copied.
    pub(crate) fn into_bytes(self) -> Bytes {
        match self.into_parts() {
            Ok((Owner::Copied(bytes), _)) => Bytes::from_owner(bytes),
            Ok((Owner::Vector(vector), range)) => match Arc::try_unwrap(vector) {
                Ok(vector) => Bytes::from(vector).slice(range),
                Err(vector) => Bytes::from_owner(SharedVector(vector)).slice(range),
            },
            Ok((Owner::Body(body), range)) => Arc::unwrap_or_clone(body).slice(range),
            Err(this) => match this.static_bytes() {
                Some(bytes) => Bytes::from_static(bytes),
                None => Bytes::copy_from_slice(this.as_bytes()),
            },
        }
    }

    /// As a vector, without a copy if the value is the whole of one, or of a
    /// `Bytes`, that nobody else holds.
    pub(crate) fn into_vec(self) -> Vec<u8> {
        match self.into_parts() {
            Ok((Owner::Vector(vector), range)) if range == (0..vector.len()) => {
                Arc::unwrap_or_clone(vector)
            }
            Ok((Owner::Body(body), range)) if range == (0..body.len()) => {
                // Copies if others hold what the `Bytes` is made of.
                Vec::from(Arc::unwrap_or_clone(body))
            }
            Ok((owner, range)) => owner.bytes()[range].to_vec(),
            Err(this) => this.as_bytes().to_vec(),
        }
    }

    /// As one counted allocation, without a copy if it is one.
    pub(crate) fn into_arc(self) -> Arc<[u8]> {
        match self.into_parts() {
            Ok((Owner::Copied(bytes), _)) => bytes,
            Ok((owner, range)) => Arc::from(&owner.bytes()[range]),
            Err(this) => Arc::from(this.as_bytes()),
        }
    }

    /// The bytes, if they live for ever.
    fn static_bytes(&self) -> Option<&'static [u8]> {
        if self.last.tag() != Tag::Static as u8 {
            return None;
        }
        // SAFETY: the form is not inline, so the constructor was `outside` and
        // the word is a pointer.
        let data = unsafe { self.data.pointer };
        // SAFETY: the invariant: as many initialised bytes, which nobody writes
        // to and which live for ever.
        Some(unsafe { std::slice::from_raw_parts(data, self.last.len()) })
    }

    /// The owned reference, without taking it from the value: whoever asks
    /// counts it up, or sees to it that the value is never dropped.
    #[inline]
    fn owner(&self) -> Option<ManuallyDrop<Owner>> {
        if self.last.tag() <= Tag::Static as u8 {
            return None;
        }
        // SAFETY: the form is not inline, so the constructor was `outside` and
        // both words are pointers.
        let (data, owner) = unsafe { (self.data.pointer, self.owner.pointer) };
        Some(ManuallyDrop::new(match self.last.tag() {
            tag if tag == Tag::Copied as u8 => {
                let bytes = ptr::slice_from_raw_parts(data, self.last.len());
                // SAFETY: the invariant: the pointer is that of `Arc::into_raw`
                // of an `Arc<[u8]>` of this length, and the value owns a count,
                // which is not given back while the result is not dropped.
                Owner::Copied(unsafe { Arc::from_raw(bytes) })
            }
            tag if tag == Tag::Body as u8 => {
                // SAFETY: likewise, of an `Arc<Bytes>`.
                Owner::Body(unsafe { Arc::from_raw(owner.cast::<Bytes>()) })
            }
            _ => {
                // SAFETY: likewise, of an `Arc<Vec<u8>>`: `Vector` and `Part`
                // are the tags that are left.
                Owner::Vector(unsafe { Arc::from_raw(owner.cast::<Vec<u8>>()) })
            }
        }))
    }

    /// The owned reference and which of its bytes the value is, if it owns one.
    fn into_parts(self) -> Result<(Owner, Range<usize>), Self> {
        // Not dropped, so the count that the value owned is that of the result.
        let this = ManuallyDrop::new(self);
        let Some(owner) = this.owner() else {
            return Err(ManuallyDrop::into_inner(this));
        };
        let owner = ManuallyDrop::into_inner(owner);
        let start = this.as_bytes().as_ptr() as usize - owner.bytes().as_ptr() as usize;
        let range = start..start + this.len();
        Ok((owner, range))
    }
}

impl Last {
    /// `tag` is not zero.
    #[inline]
    const fn new(len: usize, tag: u8) -> Self {
        // No address space of today has room for a slice of 2^56 bytes.
        let word = len as u64 & LOW | (tag as u64 | INLINE as u64) << 56;
        match NonZero::new(word.to_le()) {
            Some(word) => Self(word),
            // A bit was set just now; the compiler sees that.
            None => unreachable!(),
        }
    }

    #[inline]
    const fn tag(self) -> u8 {
        (u64::from_le(self.0.get()) >> 56) as u8
    }

    /// The length, in the inline forms.
    #[inline]
    const fn inline_len(self) -> usize {
        (self.tag() & !INLINE) as usize
    }

    /// The length, in the forms that are not inline.
    #[inline]
    const fn len(self) -> usize {
        (u64::from_le(self.0.get()) & LOW) as usize
    }
}

impl Owner {
    /// All that it holds.
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Copied(bytes) => bytes,
            Self::Vector(bytes) => bytes,
            Self::Body(bytes) => bytes,
        }
    }
}

impl Clone for Repr {
    #[inline]
    fn clone(&self) -> Self {
        if let Some(owner) = self.owner() {
            // The count of the new value.
            std::mem::forget(Owner::clone(&owner));
        }
        // SAFETY: the reference is to an initialised value. Its bits are a value
        // of their own: but for the owned reference, which was counted up just
        // now, everything in it may be copied.
        unsafe { ptr::read(self) }
    }
}

impl Drop for Repr {
    #[inline]
    fn drop(&mut self) {
        if self.last.tag() > Tag::Static as u8 {
            self.release();
        }
    }
}

impl Repr {
    /// Gives back the count that the value owns, which is its end.
    #[inline(never)]
    fn release(&mut self) {
        if let Some(owner) = self.owner() {
            drop(ManuallyDrop::into_inner(owner));
        }
    }
}

/// A vector that several values hold, as an owner of `Bytes`.
struct SharedVector(Arc<Vec<u8>>);

impl AsRef<[u8]> for SharedVector {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// The bytes of a window as three words, the first byte lowest.
#[inline]
fn words(window: &[u8; WINDOW]) -> [u64; 3] {
    let (words, _) = window.as_chunks::<8>();
    [0, 1, 2].map(|at| words.get(at).map_or(0, |word| u64::from_le_bytes(*word)))
}

/// Where `part` lies within `whole`, if it does.
fn range_within(whole: &[u8], part: &[u8]) -> Option<Range<usize>> {
    // Only addresses are compared, and `Text` relies on the answer for bytes
    // of a body being UTF-8. It may: both are borrowed, so both are live, and
    // two live allocations never overlap. Addresses within `whole` are
    // therefore its own bytes, the very ones that `part` shows.
    let start = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    let end = start.checked_add(part.len())?;
    (end <= whole.len()).then_some(start..end)
}

/// Whether a part may keep the whole alive.
fn is_worth_sharing(part: usize, whole: usize) -> bool {
    whole <= SHARE_WHOLE || part >= whole / SHARE_FRACTION
}

/// A range of something of this length as numbers, if it lies within.
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
