//! `Serialize` and `Deserialize` for `Text`, `Blob` and `Timestamp`.

use std::cell::Cell;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Unexpected, Visitor};
use serde::ser::{Error as _, Serialize, Serializer};

use crate::{Blob, Text, Timestamp, base64, utf8};

/// The interface to the formats of Polywire. Blobs and timestamps are newtypes with these names, by
/// which our formats recognize them; other formats ignore the names.
#[doc(hidden)]
pub mod token {
    /// A [`Blob`](crate::Blob).
    pub const BLOB: &str = "$polywire::Blob";
    /// A [`Timestamp`](crate::Timestamp).
    pub const TIMESTAMP: &str = "$polywire::Timestamp";

    pub use super::lend;

    /// Blobs of this size or more are [lent](lend) by formats whose input they can share.
    pub const LARGE: usize = 32 << 10;

    /// A timestamp as the number that our formats pass to the visitor of the newtype, instead of a
    /// string.
    #[must_use]
    pub fn number_of(timestamp: crate::Timestamp) -> i128 {
        let seconds = i128::from(timestamp.seconds()) << 32;
        let parts = i128::from(timestamp.nanoseconds()) << 1;
        seconds | parts | i128::from(timestamp.is_unzoned())
    }

    /// The inverse of [`number_of`].
    pub(super) fn timestamp_of(number: i128) -> Option<crate::Timestamp> {
        let seconds = i64::try_from(number >> 32).ok()?;
        let nanoseconds = (number as u32) >> 1;
        let timestamp = crate::Timestamp::new(seconds, nanoseconds);
        (nanoseconds < 1_000_000_000).then(|| timestamp.with_unzoned(number & 1 == 1))
    }
}

thread_local! {
    /// The blob whose bytes are being visited, if a visitor may take it.
    static LENT: Cell<Option<Blob>> = const { Cell::new(None) };
}

/// Calls `visit`, which passes the bytes of `blob` to a visitor. A visitor for a [`Blob`] takes
/// this one instead of copying the bytes, which serde cannot express.
pub fn lend<R>(blob: Blob, visit: impl FnOnce() -> R) -> R {
    /// Removes the blob, also after a panic.
    struct Reset;

    impl Drop for Reset {
        fn drop(&mut self) {
            LENT.take();
        }
    }

    LENT.set(Some(blob));
    let _reset = Reset;
    visit()
}

/// The lent blob, if it has these bytes, or a copy.
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
    /// A string, or bytes that are UTF-8. Takes over a `String`; copies anything borrowed.
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
    /// Base64 in human-readable formats, else bytes. The formats of Polywire have their own form.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(token::BLOB, &Bytes(self))
    }
}

/// The contents of the newtype of a blob.
struct Bytes<'a>(&'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return serializer.serialize_bytes(self.0);
        }
        let mut text = Vec::with_capacity(base64::encoded_len(self.0.len()));
        base64::push(&mut text, self.0);
        // Lossless, as base64 is ASCII.
        serializer.serialize_str(&String::from_utf8_lossy(&text))
    }
}

impl<'de> Deserialize<'de> for Blob {
    /// Base64 in human-readable formats, else bytes.
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

    /// For binary formats that only have sequences of numbers.
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Blob, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = items.next_element::<u8>()? {
            bytes.push(byte);
        }
        Ok(Blob::from(bytes))
    }
}

impl Serialize for Timestamp {
    /// RFC 3339, without a zone if the instant is unzoned.
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
            // Whole seconds need no allocation.
            return serializer.serialize_newtype_struct(token::TIMESTAMP, text);
        }
        let mut text = Vec::with_capacity(32);
        self.push_date_time(&mut text).map_err(S::Error::custom)?;
        if self.is_unzoned() {
            // Removes the `Z`.
            text.pop();
        }
        // Cannot fail: a date is ASCII.
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

/// The visitor of the newtype.
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

/// The visitor of its contents.
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
        fn numbers_of_timestamps_round_trip(
            seconds in any::<i64>(),
            nanoseconds in 0..1_000_000_000_u32,
            unzoned in any::<bool>(),
        ) {
            let timestamp = Timestamp::new(seconds, nanoseconds).with_unzoned(unzoned);
            let number = token::number_of(timestamp);
            prop_assert_eq!(token::timestamp_of(number), Some(timestamp));
        }

        #[test]
        fn other_numbers_are_rejected(number in any::<i128>()) {
            if let Some(timestamp) = token::timestamp_of(number) {
                prop_assert_eq!(token::number_of(timestamp), number);
            }
        }
    }
}
