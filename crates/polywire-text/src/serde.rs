//! `Text`, `Blob` and `Timestamp` through serde.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, Serializer};

use crate::{Blob, Text, Timestamp, base64};

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
    /// Base64 in formats for people, which have no bytes; else bytes.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return serializer.serialize_bytes(self);
        }
        let mut text = Vec::with_capacity(base64::encoded_len(self.len()));
        base64::push(&mut text, self);
        // Base64 is ASCII, so nothing is lost.
        serializer.serialize_str(&String::from_utf8_lossy(&text))
    }
}

impl<'de> Deserialize<'de> for Blob {
    /// Base64 in formats for people; else bytes.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.is_human_readable() {
            true => deserializer.deserialize_str(Base64Visitor),
            false => deserializer.deserialize_byte_buf(BytesVisitor),
        }
    }
}

struct Base64Visitor;

impl Visitor<'_> for Base64Visitor {
    type Value = Blob;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string in base64")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Blob, E> {
        base64::decode(text.as_bytes()).map_err(E::custom)
    }
}

struct BytesVisitor;

impl<'de> Visitor<'de> for BytesVisitor {
    type Value = Blob;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
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
        // A date is ASCII, so nothing is lost.
        serializer.serialize_str(&String::from_utf8_lossy(&text))
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    /// RFC 3339; without a zone the instant is
    /// [unzoned](Timestamp::is_unzoned).
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TimestampVisitor)
    }
}

struct TimestampVisitor;

impl Visitor<'_> for TimestampVisitor {
    type Value = Timestamp;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a timestamp by RFC 3339, such as 2026-11-21T20:30:00Z")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Timestamp, E> {
        Timestamp::parse_date_time(text).or_else(|malformed| {
            // XML-RPC's form with hyphens and without a zone is RFC 3339's
            // without a zone.
            let hyphens = text.as_bytes().get(4) == Some(&b'-');
            match Timestamp::parse_xmlrpc(text) {
                Ok(instant) if instant.is_unzoned() && hyphens => Ok(instant),
                _ => Err(E::custom(malformed)),
            }
        })
    }
}
