//! `Text`, `Blob` and `Timestamp` through serde.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
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
        Ok(Blob::from(bytes))
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

struct TimestampVisitor;

impl<'de> Visitor<'de> for TimestampVisitor {
    type Value = Timestamp;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a timestamp by RFC 3339, such as 2026-11-21T20:30:00Z")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Timestamp, D::Error> {
        deserializer.deserialize_str(self)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Timestamp, E> {
        text.parse().map_err(E::custom)
    }
}
