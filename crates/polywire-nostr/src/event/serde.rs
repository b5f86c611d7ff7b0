//! Serde support: an event is a struct with the seven members of NIP-01.

use std::borrow::Cow;
use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde::ser::{Error as _, SerializeSeq, SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};

use super::builder::{Head, TagWriter, assemble};
use super::{Event, EventRef, Tag, Tags};
use crate::{EventId, PublicKey, Signature};

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_ref().serialize(serializer)
    }
}

impl Serialize for EventRef<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.has_lone_surrogates() {
            // A `str` cannot hold them, and replacing them would change the id.
            return Err(S::Error::custom("event with escapes of lone surrogates"));
        }
        let mut event = serializer.serialize_struct("Event", 7)?;
        event.serialize_field("id", self.id())?;
        event.serialize_field("pubkey", self.pubkey())?;
        event.serialize_field("created_at", &self.created_at())?;
        event.serialize_field("kind", &self.kind())?;
        event.serialize_field("tags", &self.tags())?;
        event.serialize_field("content", &self.content())?;
        event.serialize_field("sig", self.sig())?;
        event.end()
    }
}

impl Serialize for Tags<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.clone())
    }
}

impl Serialize for Tag<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut items = serializer.serialize_seq(Some(self.items().count()))?;
        for item in self.items() {
            items.serialize_element(&item)?;
        }
        items.end()
    }
}

/// Unknown members are ignored. Only the limits of the data format apply.
impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const MEMBERS: [&str; 7] = [
            "id",
            "pubkey",
            "created_at",
            "kind",
            "tags",
            "content",
            "sig",
        ];
        deserializer.deserialize_struct("Event", &MEMBERS, EventVisitor)
    }
}

struct EventVisitor;

impl<'de> Visitor<'de> for EventVisitor {
    type Value = Event;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a Nostr event")
    }

    /// For formats without member names: the members in the order of NIP-01.
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Event, A::Error> {
        let short = |index| A::Error::invalid_length(index, &self);
        let head = Head {
            id: seq.next_element()?.ok_or_else(|| short(0))?,
            pubkey: seq.next_element()?.ok_or_else(|| short(1))?,
            created_at: seq.next_element()?.ok_or_else(|| short(2))?,
            kind: seq.next_element()?.ok_or_else(|| short(3))?,
        };
        let mut tags = TagWriter::default();
        seq.next_element_seed(TagsSeed(&mut tags))?
            .ok_or_else(|| short(4))?;
        let content: Cow<'de, str> = seq.next_element()?.ok_or_else(|| short(5))?;
        let sig = seq.next_element()?.ok_or_else(|| short(6))?;
        assemble_checked(&head, tags.finish(), &content, &sig)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Event, A::Error> {
        let (mut id, mut pubkey, mut sig) = (None, None, None);
        let (mut created_at, mut kind, mut tags, mut content) = (None, None, None, None);
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            match &*key {
                "id" => set(&mut id, map.next_value::<EventId>()?, "id")?,
                "pubkey" => set(&mut pubkey, map.next_value::<PublicKey>()?, "pubkey")?,
                "sig" => set(&mut sig, map.next_value::<Signature>()?, "sig")?,
                "created_at" => set(&mut created_at, map.next_value::<u64>()?, "created_at")?,
                "kind" => set(&mut kind, map.next_value::<u16>()?, "kind")?,
                "tags" => {
                    let mut writer = TagWriter::default();
                    map.next_value_seed(TagsSeed(&mut writer))?;
                    set(&mut tags, writer.finish(), "tags")?;
                }
                "content" => set(&mut content, map.next_value::<Cow<'de, str>>()?, "content")?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        let head = Head {
            id: id.ok_or_else(|| A::Error::missing_field("id"))?,
            pubkey: pubkey.ok_or_else(|| A::Error::missing_field("pubkey"))?,
            created_at: created_at.ok_or_else(|| A::Error::missing_field("created_at"))?,
            kind: kind.ok_or_else(|| A::Error::missing_field("kind"))?,
        };
        let tags = tags.ok_or_else(|| A::Error::missing_field("tags"))?;
        let content = content.ok_or_else(|| A::Error::missing_field("content"))?;
        let sig = sig.ok_or_else(|| A::Error::missing_field("sig"))?;
        assemble_checked(&head, tags, &content, &sig)
    }
}

fn assemble_checked<E: serde::de::Error>(
    head: &Head,
    (tags, count): (String, u32),
    content: &str,
    sig: &Signature,
) -> Result<Event, E> {
    if head.created_at > super::parse::MAX_CREATED_AT {
        return Err(E::custom("created_at is above 2^53 - 1"));
    }
    // Escaping expands a byte to at most six.
    if tags.len() as u64 + 6 * content.len() as u64 + 400 > u64::from(u32::MAX) {
        return Err(E::custom("event of 4 GiB"));
    }
    Ok(assemble(head, &tags, count, content, Some(sig)))
}

fn set<T, E: serde::de::Error>(to: &mut Option<T>, value: T, name: &'static str) -> Result<(), E> {
    match to.replace(value) {
        None => Ok(()),
        Some(_) => Err(E::duplicate_field(name)),
    }
}

/// Deserializes an array of tags into a writer.
struct TagsSeed<'a>(&'a mut TagWriter);

impl<'de> DeserializeSeed<'de> for TagsSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for TagsSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of tags")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(TagSeed(self.0))?.is_some() {}
        Ok(())
    }
}

struct TagSeed<'a>(&'a mut TagWriter);

impl<'de> DeserializeSeed<'de> for TagSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for TagSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a tag, which is an array of one or more strings")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        self.0.begin_tag();
        let mut empty = true;
        while let Some(item) = seq.next_element::<Cow<'de, str>>()? {
            self.0.push_item(&item);
            empty = false;
        }
        if empty {
            return Err(A::Error::invalid_length(0, &self));
        }
        self.0.end_tag();
        Ok(())
    }
}
