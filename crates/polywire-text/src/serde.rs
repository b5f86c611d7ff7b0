//! `Text`, `Blob` and `Timestamp` through serde.

use std::cell::Cell;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Unexpected, Visitor};
use serde::ser::{Error as _, Serialize, Serializer};

use crate::{Blob, Text, Timestamp, base64, utf8};

/// The names of the newtypes as which blobs and timestamps are given to a format
/// and asked of it. Most formats pass over such a name; ours know by it what they
/// would else see as a string.
#[doc(hidden)]
pub mod token {
    /// A [`Blob`](crate::Blob).
    pub const BLOB: &str = "$polywire::Blob";
    /// A [`Timestamp`](crate::Timestamp).
    pub const TIMESTAMP: &str = "$polywire::Timestamp";

    pub use super::lend;

    /// From so many bytes on a blob is [lent](lend) by a format whose input it can share.
    pub const LARGE: usize = 32 << 10;

    /// A timestamp as the number that our own formats give to the visitor of the newtype,
    /// where a text would have to be written and read again.
    #[must_use]
    pub fn number_of(timestamp: crate::Timestamp) -> i128 {
        let seconds = i128::from(timestamp.seconds()) << 32;
        let parts = i128::from(timestamp.nanoseconds()) << 1;
        seconds | parts | i128::from(timestamp.is_unzoned())
    }

    /// The timestamp of such a number.
    pub(super) fn timestamp_of(number: i128) -> Option<crate::Timestamp> {
        let seconds = i64::try_from(number >> 32).ok()?;
        let nanoseconds = (number as u32) >> 1;
        let timestamp = crate::Timestamp::new(seconds, nanoseconds);
        (nanoseconds < 1_000_000_000).then(|| timestamp.with_unzoned(number & 1 == 1))
    }
}

thread_local! {
    /// What the bytes that are looked at now are, if they are those of a blob that can be had without copying them.
    static LENT: Cell<Option<Blob>> = const { Cell::new(None) };
}

/// Has a visitor look at the bytes of `blob`, of which serde can only lend it a plain reference. One that makes a
/// [`Blob`] of them finds this one and takes it; all others copy what they want.
pub fn lend<R>(blob: Blob, look: impl FnOnce() -> R) -> R {
    /// Takes it back, however this ends.
    struct Back;

    impl Drop for Back {
        fn drop(&mut self) {
            LENT.take();
        }
    }

    LENT.set(Some(blob));
    let _back = Back;
    look()
}

/// The blob of these bytes: that which is lent, or a copy.
fn blob_of(bytes: &[u8]) -> Blob {
    if bytes.len() >= token::LARGE
        && let Some(lent) = LENT.take()
        && std::ptr::eq::<[u8]>(&*lent, bytes)
    {
        return lent;
    }
    Blob::from(bytes)
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Text {
    /// A string, or bytes that are UTF-8. What a format lends is copied: serde
    /// lends plain references, which a `Text` cannot keep alive. A `String`
    /// that a format hands over is taken over.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor)
    }
}

struct TextVisitor;

impl Visitor<'_> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Text, E> {
        Ok(Text::from(text))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Text, E> {
        Ok(Text::from(text))
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Text, E> {
        Text::from_utf8(bytes).map_err(E::custom)
    }

    fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Text, E> {
        Text::try_from(bytes).map_err(E::custom)
    }
}

impl Serialize for Blob {
    /// Base64 in formats for people, which have no bytes; else bytes. Polywire's
    /// own formats have them all.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(token::BLOB, &Bytes(self))
    }
}

/// What is in the newtype of a blob.
struct Bytes<'a>(&'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return serializer.serialize_bytes(self.0);
        }
        let mut text = Vec::with_capacity(base64::encoded_len(self.0.len()));
        base64::push(&mut text, self.0);
        // Base64 is ASCII, so nothing is lost.
        serializer.serialize_str(&String::from_utf8_lossy(&text))
    }
}

impl<'de> Deserialize<'de> for Blob {
    /// Base64 in formats for people; else bytes.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.is_human_readable() {
            true => deserializer.deserialize_newtype_struct(token::BLOB, Base64Visitor),
            false => deserializer.deserialize_newtype_struct(token::BLOB, BytesVisitor),
        }
    }
}

struct Base64Visitor;

impl<'de> Visitor<'de> for Base64Visitor {
    type Value = Blob;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string in base64")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Blob, D::Error> {
        deserializer.deserialize_str(self)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Blob, E> {
        base64::decode(text.as_bytes()).map_err(E::custom)
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Blob, E> {
        Ok(Blob::from(bytes))
    }

    fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Blob, E> {
        Ok(Blob::from(bytes))
    }
}

struct BytesVisitor;

impl<'de> Visitor<'de> for BytesVisitor {
    type Value = Blob;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Blob, D::Error> {
        deserializer.deserialize_byte_buf(self)
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Blob, E> {
        Ok(blob_of(bytes))
    }

    fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Blob, E> {
        Ok(Blob::from(bytes))
    }

    /// Some binary formats have lists of small numbers only.
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Blob, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = items.next_element::<u8>()? {
            bytes.push(byte);
        }
        Ok(Blob::from(bytes))
    }
}

impl Serialize for Timestamp {
    /// RFC 3339 in every format; without a zone if the instant has none.
    ///
    /// # Errors
    ///
    /// The year is not within 0001 to 9999.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let len = "YYYY-MM-DDTHH:MM:SSZ".len() - usize::from(self.is_unzoned());
        if self.nanoseconds() == 0
            && let Some(words) = self.whole_seconds()
            && let words = words.map(u64::to_le_bytes)
            && let Some(text) = words.as_flattened().get(..len)
            && let Ok(text) = std::str::from_utf8(text)
        {
            // Most need no vector.
            return serializer.serialize_newtype_struct(token::TIMESTAMP, text);
        }
        let mut text = Vec::with_capacity(32);
        self.push_date_time(&mut text).map_err(S::Error::custom)?;
        if self.is_unzoned() {
            // The `Z`.
            text.pop();
        }
        // A date is ASCII.
        let text = utf8::validate(&text).map_err(S::Error::custom)?;
        serializer.serialize_newtype_struct(token::TIMESTAMP, text)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    /// RFC 3339; without a zone the instant is
    /// [unzoned](Timestamp::is_unzoned).
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(token::TIMESTAMP, TimestampVisitor)
    }
}

/// Of the newtype, by which our own formats know what is wanted.
struct TimestampVisitor;

impl<'de> Visitor<'de> for TimestampVisitor {
    type Value = Timestamp;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        DateTimeVisitor.expecting(f)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Timestamp, D::Error> {
        deserializer.deserialize_str(DateTimeVisitor)
    }

    fn visit_i128<E: Error>(self, number: i128) -> Result<Timestamp, E> {
        let timestamp = token::timestamp_of(number);
        timestamp.ok_or_else(|| E::invalid_type(Unexpected::Other("a number"), &self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Timestamp, E> {
        DateTimeVisitor.visit_str(text)
    }
}

/// Of what is in the newtype.
struct DateTimeVisitor;

impl Visitor<'_> for DateTimeVisitor {
    type Value = Timestamp;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a timestamp by RFC 3339, such as 2026-11-21T20:30:00Z")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Timestamp, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_number_is_its_timestamp(
            seconds in any::<i64>(),
            nanoseconds in 0..1_000_000_000_u32,
            unzoned in any::<bool>(),
        ) {
            let timestamp = Timestamp::new(seconds, nanoseconds).with_unzoned(unzoned);
            let number = token::number_of(timestamp);
            prop_assert_eq!(token::timestamp_of(number), Some(timestamp));
        }

        #[test]
        fn other_numbers_are_none(number in any::<i128>()) {
            if let Some(timestamp) = token::timestamp_of(number) {
                prop_assert_eq!(token::number_of(timestamp), number);
            }
        }
    }
}
