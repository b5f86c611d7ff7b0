//! Building events.

use std::borrow::Cow;
use std::fmt;

use polywire_text::Text;

#[cfg(doc)]
use super::EventRef;
use super::canonical;
use super::{Event, Fields, Sink, Tags};
#[cfg(feature = "os-rng")]
use crate::KeyPair;
use crate::{Error, EventId, Limits, Profile, PublicKey, Signature};

/// Builds an event from its parts.
///
/// ```
/// use polywire_nostr::{EventBuilder, PublicKey, Signature};
///
/// let pubkey = PublicKey::from_hex("9fdfbc827b46a6753f18e97bc3d525c5ad59f30fa3d12974184263e901dbfa4c")?;
/// let event = EventBuilder::new(1, "when ship bitcoin sats morning", 1_709_600_104)
///     .tag(["t", "people"])
///     .tag(["t", "coffee"])
///     .build(&pubkey);
/// assert_eq!(event.id().to_string(), "17063e85b0f65a38b0cf1b5084d7fcd157b05215295290d20594b4f9d4fc355f");
/// # Ok::<(), polywire_nostr::InvalidHex>(())
/// ```
#[derive(Clone, Debug)]
pub struct EventBuilder {
    kind: u16,
    created_at: u64,
    content: String,
    tags: TagWriter,
}

impl EventBuilder {
    /// Starts an event without tags. `created_at` is in seconds since 1970-01-01 UTC, and is
    /// limited to 2^53 - 1, the maximum of [`EventRef::parse`]. The JSON text must be shorter than
    /// 4 GiB.
    #[must_use]
    pub fn new(kind: u16, content: impl Into<String>, created_at: u64) -> Self {
        Self {
            kind,
            created_at: created_at.min(super::parse::MAX_CREATED_AT),
            content: content.into(),
            tags: TagWriter::default(),
        }
    }

    /// Adds a tag: its name, its value and further items. A tag without items is ignored, because
    /// NIP-01 does not allow it.
    #[must_use]
    pub fn tag<I>(mut self, items: I) -> Self
    where
        I: IntoIterator<Item: AsRef<str>>,
    {
        let mut items = items.into_iter().peekable();
        if items.peek().is_some() {
            self.tags.begin_tag();
            items.for_each(|item| self.tags.push_item(item.as_ref()));
            self.tags.end_tag();
        }
        self
    }

    /// Adds several tags.
    #[must_use]
    pub fn tags<T>(self, tags: T) -> Self
    where
        T: IntoIterator<Item: IntoIterator<Item: AsRef<str>>>,
    {
        tags.into_iter().fold(self, Self::tag)
    }

    /// Computes the id, and returns the event of this author without a signature.
    ///
    /// # Panics
    ///
    /// The JSON text would have 4 GiB or more.
    #[must_use]
    pub fn build(self, pubkey: &PublicKey) -> UnsignedEvent {
        let (tags, count) = self.tags.finish();
        let id = canonical::id_of_tags(pubkey, self.created_at, self.kind, &tags, &self.content);
        let head = Head {
            id,
            pubkey: *pubkey,
            created_at: self.created_at,
            kind: self.kind,
        };
        UnsignedEvent(assemble(&head, &tags, count, &self.content, None))
    }
}

#[cfg(feature = "os-rng")]
impl EventBuilder {
    /// Computes the id and signs it. The author is the public key of `keys`.
    ///
    /// ```
    /// use polywire_nostr::{EventBuilder, KeyPair};
    ///
    /// let keys = KeyPair::generate().unwrap();
    /// let event = EventBuilder::new(1, "hello", 1_709_600_104).sign(&keys);
    /// assert_eq!(event.as_ref().verify(), Ok(()));
    /// ```
    ///
    /// # Panics
    ///
    /// The JSON text would have 4 GiB or more.
    #[must_use]
    pub fn sign(self, keys: &KeyPair) -> Event {
        let event = self.build(&keys.public_key());
        let sig = keys.sign(event.id());
        event.with_signature(&sig)
    }
}

/// The members of an event that have a fixed size.
pub(super) struct Head {
    pub(super) id: EventId,
    pub(super) pubkey: PublicKey,
    pub(super) created_at: u64,
    pub(super) kind: u16,
}

/// Writes the JSON text of an event. `tags` is in canonical form.
pub(super) fn assemble(
    head: &Head,
    tags: &str,
    tag_count: u32,
    content: &str,
    sig: Option<&Signature>,
) -> Event {
    let mut json = Vec::with_capacity(400 + tags.len() + content.len() + content.len() / 16);
    canonical::push_head(
        &mut json,
        &head.id,
        &head.pubkey,
        head.created_at,
        head.kind,
    );
    let tags_start = json.len() as u32;
    json.put(tags.as_bytes());
    let tags_end = json.len() as u32;
    json.put(b",\"content\":\"");
    let content_start = json.len() as u32;
    json.put_escaped(content);
    let content_end = json.len() as u32;
    match sig {
        Some(sig) => canonical::push_tail(&mut json, sig),
        None => json.put(b"\"}"),
    }
    assert!(
        u32::try_from(json.len()).is_ok(),
        "the JSON text of an event has less than 4 GiB"
    );
    Event {
        // All parts are UTF-8.
        json: Text::from(String::from_utf8(json).unwrap_or_default()),
        fields: Fields {
            id: head.id,
            pubkey: head.pubkey,
            sig: sig.copied().unwrap_or(Signature::from_bytes([0; 64])),
            created_at: head.created_at,
            kind: head.kind,
            tags: (tags_start, tags_end),
            content: (content_start, content_end),
            tag_count,
            canonical: true,
            lone_surrogates: false,
        },
    }
}

/// Writes an array of tags in canonical form.
#[derive(Clone, Debug, Default)]
pub(super) struct TagWriter {
    json: Vec<u8>,
    count: u32,
    /// Whether the current tag has an item.
    item: bool,
}

impl TagWriter {
    pub(super) fn begin_tag(&mut self) {
        self.json.put(if self.count == 0 { b"[[" } else { b",[" });
        self.count += 1;
        self.item = false;
    }

    pub(super) fn push_item(&mut self, item: &str) {
        if self.item {
            self.json.put(b",");
        }
        self.json.put(b"\"");
        self.item = true;
        self.json.put_escaped(item);
        self.json.put(b"\"");
    }

    pub(super) fn end_tag(&mut self) {
        self.json.put(b"]");
    }

    /// Returns the array and the number of tags.
    pub(super) fn finish(mut self) -> (String, u32) {
        self.json.put(if self.count == 0 { b"[]" } else { b"]" });
        // Only UTF-8 was written.
        (String::from_utf8(self.json).unwrap_or_default(), self.count)
    }
}

/// An event without a signature: an event to sign, or a rumor (NIP-59).
#[derive(Clone, Eq, PartialEq)]
pub struct UnsignedEvent(Event);

impl UnsignedEvent {
    /// Parses an event without `sig`, with the strict profile and the default limits, and checks
    /// the id. A `sig` member is ignored.
    ///
    /// # Errors
    ///
    /// As [`EventRef::parse`] and [`EventRef::check_id`].
    pub fn parse(json: &(impl AsRef<[u8]> + ?Sized)) -> Result<Self, Error> {
        let event = super::parse::unsigned(json.as_ref(), Profile::STRICT, &Limits::DEFAULT)?;
        event.check_id()?;
        let (tags, content) = (event.tags(), event.content());
        let builder = EventBuilder::new(event.kind(), content, event.created_at());
        let builder = builder.tags(tags.map(|tag| tag.items()));
        Ok(builder.build(event.pubkey()))
    }

    /// Returns the id, which is the digest of the other members.
    #[must_use]
    pub fn id(&self) -> &EventId {
        &self.0.fields.id
    }

    /// Returns the JSON text, without `sig`.
    #[must_use]
    pub fn as_json(&self) -> &str {
        self.0.json.as_str()
    }

    /// Returns the author's public key.
    #[must_use]
    pub fn pubkey(&self) -> &PublicKey {
        &self.0.fields.pubkey
    }

    /// Returns the time of creation, in seconds since 1970-01-01 UTC.
    #[must_use]
    pub fn created_at(&self) -> u64 {
        self.0.fields.created_at
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> u16 {
        self.0.fields.kind
    }

    /// Returns the tags in order.
    #[must_use]
    pub fn tags(&self) -> Tags<'_> {
        self.0.as_ref().tags()
    }

    /// Returns the content. Borrows it unless it has escapes.
    #[must_use]
    pub fn content(&self) -> Cow<'_, str> {
        self.0.as_ref().content()
    }

    /// Adds a signature of the id. The signature is not verified.
    ///
    /// # Panics
    ///
    /// The JSON text would have 4 GiB or more.
    #[must_use]
    pub fn with_signature(self, sig: &Signature) -> Event {
        let event = self.0.as_ref();
        let head = Head {
            id: *event.id(),
            pubkey: *event.pubkey(),
            created_at: event.created_at(),
            kind: event.kind(),
        };
        assemble(
            &head,
            event.raw_tags(),
            event.fields.tag_count,
            &event.content(),
            Some(sig),
        )
    }
}

impl fmt::Debug for UnsignedEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("UnsignedEvent")
            .field(&self.as_json())
            .finish()
    }
}
