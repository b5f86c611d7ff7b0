//! The 24 bytes behind `Text` and `Blob`.
//!
//! Three demands meet here. Most strings on a wire are short, so up to
//! [`INLINE_CAPACITY`] bytes live inside the value and cost neither an
//! allocation nor a `memcpy` call. Long ones usually stand verbatim in the
//! input, so they are a range of it, kept alive by one shared handle. And a
//! handle must not keep a large input alive for the sake of a small part, so
//! small parts of large inputs are copied out.
//!
//! ```text
//! byte   0     1                        4        8         16      20   24
//! inline | tag | len | 22 bytes ............................................ |
//! static | tag |     .........................  | pointer | length          |
//! owned  | tag |     .........................  | Arc<[u8]> pointer, length |
//! shared | tag | own | .........  | length      | Arc     | start   | ....  |
//! ```
//!
//! A string or vector that was handed over is `shared` too, but its own: its
//! handle holds nothing besides it.
//!
//! The layout is an ordinary enum; the compiler finds it, and an assertion
//! below holds it. A 32-byte form around `Bytes` was measured too: see
//! BENCHMARKS.md.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

/// The most bytes that a [`Text`](crate::Text) or [`Blob`](crate::Blob) holds
/// without an allocation.
pub const INLINE_CAPACITY: usize = 22;

/// Inputs up to this size are shared whole: a range of any length keeps the
/// input alive instead of being copied. 64 KiB.
pub const SHARE_WHOLE: usize = 64 * 1024;

/// In inputs above [`SHARE_WHOLE`], a range is shared if it is at least this
/// fraction (one part in 256) of the input, and copied otherwise. So a value
/// never keeps more than 256 times its own size alive, or 64 KiB.
pub const SHARE_FRACTION: usize = 256;

#[derive(Clone)]
pub(crate) enum Repr {
    Inline {
        len: u8,
        bytes: [u8; INLINE_CAPACITY],
    },
    Static(&'static [u8]),
    Owned(Arc<[u8]>),
    Shared {
        /// Whether the body is this value and nothing else.
        own: bool,
        len: u32,
        body: Arc<Bytes>,
        start: u32,
    },
}

const _: () = assert!(size_of::<Repr>() == 24);
const _: () = assert!(size_of::<Option<Repr>>() == 24);

impl Repr {
    pub(crate) const EMPTY: Self = Self::Inline {
        len: 0,
        bytes: [0; INLINE_CAPACITY],
    };

    #[inline]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            // `len` is at most INLINE_CAPACITY by construction; the minimum
            // tells the compiler so and costs less than a check that panics.
            Self::Inline { len, bytes } => &bytes[..usize::from(*len).min(INLINE_CAPACITY)],
            Self::Static(bytes) => bytes,
            Self::Owned(bytes) => bytes,
            Self::Shared {
                len, body, start, ..
            } => {
                let start = *start as usize;
                &body[start..start + *len as usize]
            }
        }
    }

    /// Copies `bytes`: inline if they fit, else into one allocation.
    #[inline]
    pub(crate) fn copy(bytes: &[u8]) -> Self {
        match Self::inline(bytes) {
            Some(inline) => inline,
            None => Self::Owned(Arc::from(bytes)),
        }
    }

    /// The first `len` bytes of `window`, inline. Copies at a fixed width
    /// where the window allows it. The bytes behind `len` are never looked at.
    #[inline]
    pub(crate) fn inline_prefix(window: &[u8], len: usize) -> Option<Self> {
        if len > INLINE_CAPACITY {
            return None;
        }
        match window.first_chunk::<INLINE_CAPACITY>() {
            Some(chunk) => Some(Self::Inline {
                len: len as u8,
                bytes: *chunk,
            }),
            None => Self::inline(window.get(..len)?),
        }
    }

    /// Short bytes, inline, without a call to `memcpy`: two overlapping moves.
    #[inline]
    pub(crate) fn inline(from: &[u8]) -> Option<Self> {
        let len = from.len();
        if len > INLINE_CAPACITY {
            return None;
        }
        let mut bytes = [0; INLINE_CAPACITY];
        if let (Some(head), Some(tail)) = (from.first_chunk::<16>(), from.last_chunk::<8>()) {
            bytes[..16].copy_from_slice(head);
            bytes[len - 8..len].copy_from_slice(tail);
        } else if let (Some(head), Some(tail)) = (from.first_chunk::<8>(), from.last_chunk::<8>()) {
            bytes[..8].copy_from_slice(head);
            bytes[len - 8..len].copy_from_slice(tail);
        } else if let (Some(head), Some(tail)) = (from.first_chunk::<4>(), from.last_chunk::<4>()) {
            bytes[..4].copy_from_slice(head);
            bytes[len - 4..len].copy_from_slice(tail);
        } else {
            for (to, from) in bytes.iter_mut().zip(from) {
                *to = *from;
            }
        }
        Some(Self::Inline {
            len: len as u8,
            bytes,
        })
    }

    /// As [`Repr::inline_prefix`], if the bytes are all ASCII.
    #[inline]
    pub(crate) fn inline_ascii_prefix(window: &[u8], len: usize) -> Option<Self> {
        const HIGH: u64 = 0x8080_8080_8080_8080;
        let Some(chunk) = window.first_chunk::<INLINE_CAPACITY>() else {
            let bytes = window.get(..len).filter(|bytes| bytes.is_ascii())?;
            return Self::inline(bytes);
        };
        if len > INLINE_CAPACITY {
            return None;
        }
        // All 22 bytes as three words, the last of six bytes; the high bits of
        // those at `len` and behind are not looked at.
        let [
            a,
            b,
            c,
            d,
            e,
            f,
            g,
            h,
            i,
            j,
            k,
            l,
            m,
            n,
            o,
            p,
            q,
            r,
            s,
            t,
            u,
            v,
        ] = *chunk;
        let first = u64::from_le_bytes([a, b, c, d, e, f, g, h]) & HIGH;
        let second = u64::from_le_bytes([i, j, k, l, m, n, o, p]) & HIGH;
        let third = u64::from_le_bytes([q, r, s, t, u, v, 0, 0]) & HIGH;
        let ascii = match len {
            0 => true,
            1..=8 => first << (64 - 8 * len) == 0,
            9..=16 => first | second << (128 - 8 * len) == 0,
            _ => first | second | third << (192 - 8 * len) == 0,
        };
        ascii.then_some(Self::Inline {
            len: len as u8,
            bytes: *chunk,
        })
    }

    /// Takes over `bytes` without copying them, if they are too long for the
    /// inline form. Whoever made them may hold more than these bytes.
    pub(crate) fn from_bytes(bytes: Bytes) -> Self {
        Self::take(bytes, false)
    }

    /// Takes over a vector; copies it if it would keep more than twice its
    /// length alive.
    pub(crate) fn from_vec(bytes: Vec<u8>) -> Self {
        if bytes.capacity() / 2 > bytes.len() {
            return Self::copy(&bytes);
        }
        Self::take(Bytes::from(bytes), true)
    }

    fn take(bytes: Bytes, own: bool) -> Self {
        if let Some(inline) = Self::inline(&bytes) {
            return inline;
        }
        match u32::try_from(bytes.len()) {
            Ok(len) => Self::Shared {
                own,
                len,
                body: Arc::new(bytes),
                start: 0,
            },
            // Past 4 GiB a range does not fit the layout; such a value is copied.
            Err(_) => Self::Owned(Arc::from(&bytes[..])),
        }
    }

    /// A value that keeps nothing alive but itself.
    pub(crate) fn detached(self) -> Self {
        match self {
            Self::Shared { own: false, .. } => Self::copy(self.as_bytes()),
            other => other,
        }
    }

    pub(crate) const fn is_shared(&self) -> bool {
        matches!(self, Self::Shared { own: false, .. })
    }
}

/// An input that decoded values may share: the whole body of a message.
///
/// Decoders that read from a `Body` make [`Text`](crate::Text) and
/// [`Blob`](crate::Blob) values that are ranges of it instead of copies. The
/// first such value makes one handle (a small allocation); all later ones
/// count it up.
///
/// ```
/// use polywire_text::Body;
///
/// let body = Body::from("a sentence that is longer than twenty-two bytes");
/// let part = &body.as_bytes()[2..40];
/// let text = body.text(std::str::from_utf8(part)?);
/// assert!(text.is_shared());
/// assert_eq!(text, "sentence that is longer than twenty-tw");
/// # Ok::<(), std::str::Utf8Error>(())
/// ```
#[derive(Default)]
pub struct Body {
    bytes: Bytes,
    handle: OnceLock<Arc<Bytes>>,
}

impl Body {
    /// A body of these bytes. Costs nothing but the move.
    #[must_use]
    pub const fn new(bytes: Bytes) -> Self {
        Self {
            bytes,
            handle: OnceLock::new(),
        }
    }

    /// The bytes of the body.
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether the body has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The body as `Bytes`, for handing it on.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// `part` as a [`Text`](crate::Text): inline if short; a range of this
    /// body if it lies within it and is not too small a part of it
    /// ([`SHARE_WHOLE`], [`SHARE_FRACTION`]); a copy otherwise.
    #[inline]
    #[must_use]
    pub fn text(&self, part: &str) -> crate::Text {
        crate::Text::from_valid(self.repr(part.as_bytes()))
    }

    /// `part` as a [`Blob`](crate::Blob), by the same rules as [`Body::text`].
    #[inline]
    #[must_use]
    pub fn blob(&self, part: &[u8]) -> crate::Blob {
        crate::Blob::from_repr(self.repr(part))
    }

    fn repr(&self, part: &[u8]) -> Repr {
        if let Some(inline) = Repr::inline(part) {
            return inline;
        }
        match self.range_of(part) {
            Some(range) => self.share(range),
            None => Repr::copy(part),
        }
    }

    /// Where `part` lies within the body, if it does and may be shared.
    fn range_of(&self, part: &[u8]) -> Option<Range<usize>> {
        // Only addresses are compared, and `Body::text` relies on the answer
        // for its bytes being UTF-8. It may: `part` and the body are both
        // borrowed here, so both are live, and two live allocations never
        // overlap. Addresses within the body are therefore the body's own
        // bytes, the very ones that `part` shows. `Bytes` never changes them.
        let start = (part.as_ptr() as usize).checked_sub(self.bytes.as_ptr() as usize)?;
        let end = start.checked_add(part.len())?;
        let size = self.bytes.len();
        let worth = size <= SHARE_WHOLE || part.len() >= size / SHARE_FRACTION;
        (end <= size && worth && u32::try_from(size).is_ok()).then_some(start..end)
    }

    fn share(&self, range: Range<usize>) -> Repr {
        let handle = self.handle.get_or_init(|| Arc::new(self.bytes.clone()));
        // `range_of` has seen that the whole body fits 32 bits.
        Repr::Shared {
            own: false,
            len: range.len() as u32,
            body: Arc::clone(handle),
            start: range.start as u32,
        }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self::new(bytes)
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(Bytes::from(bytes))
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Self::new(Bytes::from(text))
    }
}

impl From<&'static str> for Body {
    fn from(text: &'static str) -> Self {
        Self::new(Bytes::from_static(text.as_bytes()))
    }
}

impl From<&'static [u8]> for Body {
    fn from(bytes: &'static [u8]) -> Self {
        Self::new(Bytes::from_static(bytes))
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_round_trips() {
        let source: Vec<u8> = (0..100).collect();
        for len in 0..=source.len() {
            assert_eq!(Repr::copy(&source[..len]).as_bytes(), &source[..len]);
            let prefix = Repr::inline_prefix(&source, len);
            assert_eq!(prefix.is_some(), len <= INLINE_CAPACITY);
            if let Some(prefix) = prefix {
                assert_eq!(prefix.as_bytes(), &source[..len]);
            }
            assert!(Repr::inline_prefix(&source[..len], len + 1).is_none());
        }
    }

    #[test]
    fn ascii_is_seen_at_every_place() {
        let mut window = vec![b'a'; 40];
        for len in 0..=INLINE_CAPACITY {
            for at in 0..window.len() {
                window[at] = 0xc3;
                let found = Repr::inline_ascii_prefix(&window, len);
                assert_eq!(found.is_some(), at >= len, "{len} {at}");
                let short = Repr::inline_ascii_prefix(&window[..len], len);
                assert_eq!(short.is_some(), at >= len, "{len} {at}");
                window[at] = b'a';
            }
        }
    }

    #[test]
    fn a_small_part_of_a_large_body_is_copied() {
        let body = Body::from(vec![b'x'; SHARE_WHOLE + 1]);
        assert!(!body.blob(&body.as_bytes()[10..60]).is_shared());
        assert!(body.blob(&body.as_bytes()[10..10 + 300]).is_shared());
        let small = Body::from(vec![b'x'; SHARE_WHOLE]);
        assert!(small.blob(&small.as_bytes()[10..60]).is_shared());
        assert!(!small.blob(&small.as_bytes()[10..20]).is_shared());
    }

    #[test]
    fn what_was_handed_over_keeps_little_more_than_itself() {
        for capacity in [38, 76, 77, 78, 1 << 20] {
            let mut bytes = Vec::with_capacity(capacity);
            bytes.resize(38, b'x');
            let start = bytes.as_ptr();
            assert_eq!(bytes.capacity(), capacity);
            let repr = Repr::from_vec(bytes);
            assert_eq!(repr.as_bytes(), [b'x'; 38]);
            assert!(!repr.is_shared());
            let kept = repr.as_bytes().as_ptr() == start;
            assert_eq!(kept, capacity <= 77, "{capacity}");
            // It is not copied again.
            let before = repr.as_bytes().as_ptr();
            assert_eq!(repr.detached().as_bytes().as_ptr(), before);
        }
    }

    #[test]
    fn bytes_may_be_part_of_something_larger() {
        let whole = Bytes::from(vec![b'x'; 1000]);
        let repr = Repr::from_bytes(whole.slice(100..138));
        assert!(repr.is_shared());
        assert!(!repr.detached().is_shared());
    }

    #[test]
    fn bytes_from_elsewhere_are_copied() {
        let body = Body::from(vec![b'x'; 100]);
        let other = vec![b'y'; 100];
        assert!(!body.blob(&other).is_shared());
        assert_eq!(body.blob(&other).as_bytes(), &other[..]);
    }
}
