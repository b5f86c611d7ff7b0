//! Conversion from and to other strings. For the costs see [`Text`].

use std::borrow::Cow;
use std::rc::Rc;
use std::str::FromStr;
use std::sync::Arc;

use bytes::Bytes;

use super::Text;
use crate::repr::Repr;
use crate::{Blob, Malformed, utf8};

impl From<&str> for Text {
    #[inline]
    fn from(text: &str) -> Self {
        Self(Repr::copy(text.as_bytes()))
    }
}

impl From<&mut str> for Text {
    fn from(text: &mut str) -> Self {
        Self::from(&*text)
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<&Self> for Text {
    fn from(text: &Self) -> Self {
        text.clone()
    }
}

impl From<String> for Text {
    /// Takes over a long string without a copy, unless more than half of its capacity is unused.
    fn from(text: String) -> Self {
        Self(Repr::from_vec(text.into_bytes()))
    }
}

impl From<Box<str>> for Text {
    fn from(text: Box<str>) -> Self {
        Self::from(String::from(text))
    }
}

impl From<Cow<'_, str>> for Text {
    fn from(text: Cow<'_, str>) -> Self {
        match text {
            Cow::Borrowed(text) => Self::from(text),
            Cow::Owned(text) => Self::from(text),
        }
    }
}

impl From<Arc<str>> for Text {
    /// Shares the allocation of a long string.
    fn from(text: Arc<str>) -> Self {
        Self(Repr::from_arc(Arc::from(text)))
    }
}

impl From<Rc<str>> for Text {
    fn from(text: Rc<str>) -> Self {
        Self::from(&*text)
    }
}

impl From<char> for Text {
    fn from(character: char) -> Self {
        Self::from(&*character.encode_utf8(&mut [0; 4]))
    }
}

impl FromStr for Text {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self::from(text))
    }
}

impl TryFrom<Blob> for Text {
    type Error = Malformed;

    /// Validates, without a copy.
    fn try_from(blob: Blob) -> Result<Self, Malformed> {
        utf8::validate(blob.as_bytes())?;
        Ok(Self(blob.into_repr()))
    }
}

impl TryFrom<Bytes> for Text {
    type Error = Malformed;

    /// Validates. Takes over long bytes without a copy.
    fn try_from(bytes: Bytes) -> Result<Self, Malformed> {
        utf8::validate(&bytes)?;
        Ok(Self(Repr::from_bytes(bytes)))
    }
}

impl TryFrom<Vec<u8>> for Text {
    type Error = Malformed;

    /// Validates, and converts as from a `String`.
    fn try_from(bytes: Vec<u8>) -> Result<Self, Malformed> {
        utf8::validate(&bytes)?;
        Ok(Self(Repr::from_vec(bytes)))
    }
}

impl TryFrom<&[u8]> for Text {
    type Error = Malformed;

    /// As [`Text::from_utf8`].
    fn try_from(bytes: &[u8]) -> Result<Self, Malformed> {
        Self::from_utf8(bytes)
    }
}

impl From<Text> for String {
    /// Returns the `String` that the text was made from, if there are no clones.
    fn from(text: Text) -> Self {
        let bytes = text.0.into_vec();
        // SAFETY: the invariant of `Text`: these bytes are valid UTF-8.
        unsafe { Self::from_utf8_unchecked(bytes) }
    }
}

impl From<&Text> for String {
    fn from(text: &Text) -> Self {
        text.as_str().to_owned()
    }
}

impl From<Text> for Box<str> {
    fn from(text: Text) -> Self {
        Self::from(text.as_str())
    }
}

impl From<Text> for Arc<str> {
    /// Returns the `Arc<str>` that the text was made from.
    fn from(text: Text) -> Self {
        let bytes = Arc::into_raw(text.0.into_arc());
        // SAFETY: the pointer comes from `Arc::into_raw` of an `Arc<[u8]>`, and `str` has the size
        // and alignment of its bytes, as `Arc::from_raw` requires. The bytes are valid UTF-8 by the
        // invariant of `Text`.
        unsafe { Self::from_raw(bytes as *const str) }
    }
}

impl From<Text> for Rc<str> {
    fn from(text: Text) -> Self {
        Self::from(text.as_str())
    }
}

impl From<Text> for Cow<'_, str> {
    fn from(text: Text) -> Self {
        Cow::Owned(text.into())
    }
}

impl<'a> From<&'a Text> for Cow<'a, str> {
    fn from(text: &'a Text) -> Self {
        Cow::Borrowed(text)
    }
}

impl From<Text> for Blob {
    fn from(text: Text) -> Self {
        text.into_blob()
    }
}

impl From<Text> for Bytes {
    fn from(text: Text) -> Self {
        text.into_bytes()
    }
}

impl From<Text> for Vec<u8> {
    fn from(text: Text) -> Self {
        text.0.into_vec()
    }
}
