//! The reference that a value owns: parts, conversions, clones and drops.

use std::mem::ManuallyDrop;
use std::ops::Range;
use std::ptr;
use std::sync::Arc;

use bytes::Bytes;

use super::{Repr, SHARE_FRACTION, SHARE_WHOLE, Tag};

/// The reference that a value owns.
#[derive(Clone)]
enum Owner {
    Copied(Arc<[u8]>),
    Vector(Arc<Vec<u8>>),
    Body(Arc<Bytes>),
}

impl Repr {
    /// Copies the bytes if the value is shared.
    pub(crate) fn into_unshared(self) -> Self {
        match self.is_shared() {
            true => Self::copy(self.as_bytes()),
            false => self,
        }
    }

    /// The number of bytes on the heap that the value keeps alive. A `Bytes` does not tell the size
    /// of its allocation, so only its own length counts.
    pub(crate) fn heap_size(&self) -> usize {
        match self.owner().as_deref() {
            None => 0,
            Some(Owner::Copied(bytes)) => bytes.len(),
            Some(Owner::Vector(bytes)) => bytes.capacity(),
            Some(Owner::Body(bytes)) => bytes.len(),
        }
    }

    /// `part` as a range of the same allocation, if it is a part of this value and large enough;
    /// else a copy.
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
        // The same bytes, borrowed from this value, which keeps them alive.
        let start = range.start;
        let part = &self.as_bytes()[range];
        let (data, len) = (part.as_ptr(), part.len());
        let Some(owner) = self.owner() else {
            // Static, as the part is too long to be one of an inline value.
            return Self::external(Tag::Static, data, len, ptr::null());
        };
        if !is_worth_sharing(len, self.heap_size()) {
            return Self::copy(part);
        }
        match Owner::clone(&owner) {
            Owner::Copied(bytes) => {
                let body = Bytes::from_owner(bytes);
                Self::range_of(Arc::new(body), start..start + len)
            }
            Owner::Vector(vector) => {
                Self::external(Tag::Part, data, len, Arc::into_raw(vector).cast())
            }
            Owner::Body(body) => Self::external(Tag::Body, data, len, Arc::into_raw(body).cast()),
        }
    }

    /// Converts to `Bytes`. Only inline bytes are copied.
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

    /// Converts to a vector, without a copy if the value is a whole vector or `Bytes` that nobody
    /// else holds.
    pub(crate) fn into_vec(self) -> Vec<u8> {
        match self.into_parts() {
            Ok((Owner::Vector(vector), range)) if range == (0..vector.len()) => {
                Arc::unwrap_or_clone(vector)
            }
            Ok((Owner::Body(body), range)) if range == (0..body.len()) => {
                // Copies if others hold the allocation of the `Bytes`.
                Vec::from(Arc::unwrap_or_clone(body))
            }
            Ok((owner, range)) => owner.bytes()[range].to_vec(),
            Err(this) => this.as_bytes().to_vec(),
        }
    }

    /// Converts to an `Arc`, without a copy if the value is one.
    pub(crate) fn into_arc(self) -> Arc<[u8]> {
        match self.into_parts() {
            Ok((Owner::Copied(bytes), _)) => bytes,
            Ok((owner, range)) => Arc::from(&owner.bytes()[range]),
            Err(this) => Arc::from(this.as_bytes()),
        }
    }

    /// The bytes, if they are static.
    fn static_bytes(&self) -> Option<&'static [u8]> {
        if self.last.tag() != Tag::Static as u8 {
            return None;
        }
        // SAFETY: the form is not inline, so the constructor was `external`, and the word is a
        // pointer.
        let data = unsafe { self.data.pointer };
        // SAFETY: the invariant: `len` initialised bytes that nobody writes to and that are static.
        Some(unsafe { std::slice::from_raw_parts(data, self.last.len()) })
    }

    /// The owned reference, which still belongs to the value: the caller must clone it, or not drop
    /// the value.
    #[inline]
    fn owner(&self) -> Option<ManuallyDrop<Owner>> {
        if self.last.tag() <= Tag::Static as u8 {
            return None;
        }
        // SAFETY: the form is not inline, so the constructor was `external`, and both words are
        // pointers.
        let (data, owner) = unsafe { (self.data.pointer, self.owner.pointer) };
        Some(ManuallyDrop::new(match self.last.tag() {
            tag if tag == Tag::Copied as u8 => {
                let bytes = ptr::slice_from_raw_parts(data, self.last.len());
                // SAFETY: the invariant: the pointer is from `Arc::into_raw` of an `Arc<[u8]>` of
                // this length. The value owns a count, which is not released, as the result is not
                // dropped.
                Owner::Copied(unsafe { Arc::from_raw(bytes) })
            }
            tag if tag == Tag::Body as u8 => {
                // SAFETY: likewise, of an `Arc<Bytes>`.
                Owner::Body(unsafe { Arc::from_raw(owner.cast::<Bytes>()) })
            }
            _ => {
                // SAFETY: likewise, of an `Arc<Vec<u8>>`: the remaining tags are `Vector` and
                // `Part`.
                Owner::Vector(unsafe { Arc::from_raw(owner.cast::<Vec<u8>>()) })
            }
        }))
    }

    /// The owned reference and the range of its bytes, or the value if it owns none.
    fn into_parts(self) -> Result<(Owner, Range<usize>), Self> {
        // Not dropped: its count now belongs to the result.
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

impl Owner {
    /// All bytes of the owner.
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
            // Adds the count of the new value.
            std::mem::forget(Owner::clone(&owner));
        }
        // SAFETY: `self` is initialised. Everything in it may be copied, including the owned
        // reference, whose count was incremented above.
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
    /// Releases the count that the value owns. The value must not be used afterwards.
    #[inline(never)]
    fn release(&mut self) {
        if let Some(owner) = self.owner() {
            drop(ManuallyDrop::into_inner(owner));
        }
    }
}

/// A shared vector as an owner of `Bytes`.
struct SharedVector(Arc<Vec<u8>>);

impl AsRef<[u8]> for SharedVector {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// The range of `part` in `whole`, if it is a part of it.
pub(super) fn range_within(whole: &[u8], part: &[u8]) -> Option<Range<usize>> {
    // Compares addresses. `Text` relies on the result for the validity of UTF-8: both slices are
    // borrowed, so their allocations are alive and do not overlap. So addresses within `whole` are
    // its own bytes, which are those of `part`.
    let start = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    let end = start.checked_add(part.len())?;
    (end <= whole.len()).then_some(start..end)
}

/// Whether a part of `part` bytes may keep `whole` bytes alive.
pub(super) fn is_worth_sharing(part: usize, whole: usize) -> bool {
    whole <= SHARE_WHOLE || part >= whole / SHARE_FRACTION
}
