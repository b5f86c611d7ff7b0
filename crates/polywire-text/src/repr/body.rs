//! `Body`: an input that values may share.

use std::fmt;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use super::Repr;
use super::owner::{is_worth_sharing, range_within};

/// The body of a message, which decoded values may share.
///
/// [`Text`](crate::Text) and [`Blob`](crate::Blob) values of a `Body` are ranges of it instead of
/// copies. The first one allocates a handle; later ones increment its count.
///
/// ```
/// use polywire_text::Body;
///
/// let body = Body::from("a sentence that is longer than twenty-three bytes");
/// let part = &body.as_bytes()[2..40];
/// let text = body.text(std::str::from_utf8(part)?);
/// assert!(text.is_shared());
/// assert_eq!(text, "sentence that is longer than twenty-th");
/// # Ok::<(), std::str::Utf8Error>(())
/// ```
#[derive(Default)]
pub struct Body {
    bytes: Bytes,
    handle: OnceLock<Arc<Bytes>>,
}

impl Body {
    /// A body of these bytes.
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

    /// The body as `Bytes`.
    #[must_use]
    pub fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// `part` as a [`Text`](crate::Text): inline if it is short; a range of this body if it is a
    /// part of it and not too small ([`SHARE_FRACTION`](crate::SHARE_FRACTION)); otherwise a copy.
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
        match range_within(&self.bytes, part) {
            Some(range) if is_worth_sharing(part.len(), self.len()) => {
                let handle = self.handle.get_or_init(|| Arc::new(self.bytes.clone()));
                Repr::range_of(Arc::clone(handle), range)
            }
            _ => Repr::copy(part),
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
