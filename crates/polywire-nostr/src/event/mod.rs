//! Events (NIP-01): parsing, hashing, writing and storage.

mod binary;
mod builder;
mod canonical;
mod owned;
mod parse;
#[cfg(feature = "serde")]
mod serde;
mod tags;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

pub use binary::{BinaryEvent, BinaryItem, BinaryTag, BinaryTags};
pub use builder::{EventBuilder, UnsignedEvent};
pub use canonical::{event_id, push_canonical};
pub use owned::Event;
pub(crate) use parse::read;
pub use tags::{Tag, Tags};

use crate::json::{self, Sink};
use crate::key::SignatureError;
use crate::{Error, EventId, Limits, Profile, PublicKey, Reason, Signature, TagLetter};

/// An event that borrows its JSON text.
///
/// Parsing validates the whole text and allocates nothing. Tags and content are decoded on access.
/// The original text is available for forwarding.
///
/// ```
/// use polywire_nostr::EventRef;
///
/// let json = r#"{"id":"7b56bcf6c6a4c7cc8cf24ea76a9e25ad7d9bf7e2ae0ba44b7c4f2a8f0b6d1c4e",
///     "pubkey":"9fdfbc827b46a6753f18e97bc3d525c5ad59f30fa3d12974184263e901dbfa4c",
///     "created_at":1709600104,"kind":1,"tags":[["t","coffee"]],"content":"good\nmorning",
///     "sig":"99c4b50194cd59315a5aec20214a283c21a8816b7844f7f9204498263c27608b7fc66546f5400564dd432d226787576951788f704368566773f39bd18016ff82"}"#;
/// let event = EventRef::parse(json)?;
/// assert_eq!(event.kind(), 1);
/// assert_eq!(event.content(), "good\nmorning");
/// assert_eq!(event.tags().next().and_then(|tag| tag.value()).as_deref(), Some("coffee"));
/// // The stated id is not the digest of the event.
/// assert!(event.check_id().is_err());
/// # Ok::<(), polywire_nostr::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct EventRef<'a> {
    json: &'a str,
    fields: Fields,
}

/// The parsed members of an event. Ranges are byte offsets; limits keep them below 2^32.
#[derive(Clone, Copy, Debug)]
struct Fields {
    id: EventId,
    pubkey: PublicKey,
    sig: Signature,
    created_at: u64,
    tags: (u32, u32),
    content: (u32, u32),
    tag_count: u32,
    kind: u16,
    /// Whether the text of tags and content is in canonical form.
    canonical: bool,
    /// Whether tags or content have escapes of lone surrogates.
    lone_surrogates: bool,
}

impl<'a> EventRef<'a> {
    /// Parses an event with the strict profile and the default limits.
    ///
    /// Validates the form of the event, but neither its id nor its signature: see
    /// [`verify`](Self::verify).
    ///
    /// # Errors
    ///
    /// The first error, with its byte offset. [`Reason::NotUtf8`] takes precedence over errors in
    /// the text before it.
    pub fn parse(json: &'a (impl AsRef<[u8]> + ?Sized)) -> Result<Self, Error> {
        Self::parse_with(json, Profile::STRICT, &Limits::DEFAULT)
    }

    /// Parses an event with a profile and limits.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse).
    pub fn parse_with(
        json: &'a (impl AsRef<[u8]> + ?Sized),
        profile: Profile,
        limits: &Limits,
    ) -> Result<Self, Error> {
        parse::event(json.as_ref(), profile, limits)
    }

    /// Reads only the id, to look up duplicates before full parsing.
    ///
    /// Members before the id must be valid JSON. The text after the id may be invalid. Parsing is
    /// strict: do not combine this with a [`Profile`] with `duplicate_keys`, which takes the last
    /// id instead of the first.
    ///
    /// # Errors
    ///
    /// The id is missing, or there is an error in the text before its end.
    ///
    /// ```
    /// use polywire_nostr::EventRef;
    ///
    /// let json = br#"{"kind":1,"id":"0000000000000000000000000000000000000000000000000000000000000001","tags"#;
    /// assert_eq!(EventRef::parse_id(json)?.as_bytes()[31], 1);
    /// # Ok::<(), polywire_nostr::Error>(())
    /// ```
    pub fn parse_id(json: &(impl AsRef<[u8]> + ?Sized)) -> Result<EventId, Error> {
        parse::id(json.as_ref())
    }

    /// Returns the original JSON text of the event, without surrounding white space.
    #[must_use]
    pub fn as_json(&self) -> &'a str {
        self.json
    }

    /// Returns the identifier that the event states.
    #[must_use]
    pub fn id(&self) -> &EventId {
        &self.fields.id
    }

    /// Returns the author's public key.
    #[must_use]
    pub fn pubkey(&self) -> &PublicKey {
        &self.fields.pubkey
    }

    /// Returns the time of creation, in seconds since 1970-01-01 UTC; at most 2^53 - 1.
    #[must_use]
    pub fn created_at(&self) -> u64 {
        self.fields.created_at
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> u16 {
        self.fields.kind
    }

    /// Returns the signature that the event states.
    #[must_use]
    pub fn sig(&self) -> &Signature {
        &self.fields.sig
    }

    /// Returns the tags in order.
    #[must_use]
    pub fn tags(&self) -> Tags<'a> {
        Tags::new(self.raw_tags(), self.fields.tag_count)
    }

    /// Returns the letters and values of the tags that filters can match, in order: tags with a
    /// value whose name is one letter (NIP-01).
    ///
    /// ```
    /// use polywire_nostr::{EventBuilder, PublicKey, Signature, TagLetter};
    ///
    /// let event = EventBuilder::new(1, "", 1_709_600_104)
    ///     .tag(["t", "coffee", "hot"])
    ///     .tag(["title", "not one letter"])
    ///     .build(&PublicKey::from_bytes([1; 32]))
    ///     .with_signature(&Signature::from_bytes([2; 64]));
    /// let tags: Vec<_> = event.as_ref().letter_tags().collect();
    /// assert_eq!(tags, [(TagLetter::T, "coffee".into())]);
    /// ```
    pub fn letter_tags(&self) -> impl Iterator<Item = (TagLetter, Cow<'a, str>)> + use<'a> {
        self.tags().filter_map(|tag| {
            let mut items = tag.items();
            let name = items.next()?;
            let mut characters = name.chars();
            let letter = TagLetter::new(characters.next()?)?;
            let value = items.next()?;
            characters.next().is_none().then_some((letter, value))
        })
    }

    /// Returns the content. Borrows it unless it has escapes.
    #[must_use]
    pub fn content(&self) -> Cow<'a, str> {
        json::decode(self.raw_content())
    }

    /// Returns the original JSON text of the content, with escapes and without quotes.
    #[must_use]
    pub fn raw_content(&self) -> &'a str {
        self.slice(self.fields.content)
    }

    /// Returns the value of the first `d` tag, or an empty string if there is none. Kind, author
    /// and this value identify an addressable event (NIP-01).
    #[must_use]
    pub fn identifier(&self) -> Cow<'a, str> {
        let tag = self.tags().find(|tag| tag.name() == "d");
        tag.and_then(|tag| tag.value()).unwrap_or_default()
    }

    /// Whether the text of tags and content is in canonical form, which is the output of
    /// `JSON.stringify`. If so, computing the id hashes this text directly.
    #[must_use]
    pub fn is_canonical(&self) -> bool {
        self.fields.canonical
    }

    pub(crate) fn raw_tags(&self) -> &'a str {
        self.slice(self.fields.tags)
    }

    fn slice(&self, (start, end): (u32, u32)) -> &'a str {
        let range: Range<usize> = start as usize..end as usize;
        &self.json[range]
    }

    /// Computes the id: the SHA-256 digest of the canonical form. Allocates nothing.
    #[must_use]
    pub fn compute_id(&self) -> EventId {
        canonical::id_of(self)
    }

    /// Checks that the stated id is the computed one.
    ///
    /// # Errors
    ///
    /// [`Reason::IdMismatch`].
    pub fn check_id(&self) -> Result<(), Error> {
        if self.compute_id() == self.fields.id {
            return Ok(());
        }
        Err(Error::new(Reason::IdMismatch, 0).in_member(crate::Member::Id))
    }

    /// Checks the id, then the signature. Checking the id takes about 1% of the time.
    ///
    /// A relay should look up duplicates before it calls this.
    ///
    /// # Errors
    ///
    /// [`Reason::IdMismatch`], [`Reason::InvalidPublicKey`] or [`Reason::InvalidSignature`].
    pub fn verify(&self) -> Result<(), Error> {
        self.check_id()?;
        let result = self.pubkey().verify(self.id(), self.sig());
        result.map_err(|error| match error {
            SignatureError::PublicKey => {
                Error::new(Reason::InvalidPublicKey, 0).in_member(crate::Member::Pubkey)
            }
            SignatureError::Mismatch => {
                Error::new(Reason::InvalidSignature, 0).in_member(crate::Member::Sig)
            }
        })
    }

    /// Appends the canonical form, whose SHA-256 digest is the id:
    /// `[0,"pubkey",created_at,kind,tags,"content"]`.
    pub fn push_canonical(&self, out: &mut Vec<u8>) {
        canonical::write(self, out);
    }

    /// Appends the event as compact JSON, with members in the order of NIP-01 and strings in
    /// canonical form.
    pub fn push_json(&self, out: &mut Vec<u8>) {
        canonical::push_json(self, out);
    }

    /// Appends the binary storage form, which [`BinaryEvent`] reads.
    ///
    /// Returns `false` and appends nothing if the event has escapes of lone surrogates, because the
    /// binary form stores UTF-8. [`Profile::STRICT`] rejects such events.
    #[must_use]
    pub fn push_binary(&self, out: &mut Vec<u8>) -> bool {
        binary::push(self, out)
    }

    fn has_lone_surrogates(&self) -> bool {
        self.fields.lone_surrogates
    }

    /// Returns an event with the text of [`push_json`](Self::push_json).
    ///
    /// Each filter that is matched against a non-canonical event decodes its tags again. A relay
    /// with many subscriptions calls this once unless [`is_canonical`](Self::is_canonical) is true,
    /// and matches the result.
    #[must_use]
    pub fn to_canonical(&self) -> Event {
        let mut json = Vec::new();
        self.push_json(&mut json);
        let limits = Limits::DEFAULT.with_bytes(usize::MAX).with_tags(usize::MAX);
        match EventRef::parse_with(&json, Profile::COMPATIBLE, &limits) {
            Ok(event) => event.to_owned(),
            // Unreachable: `push_json` writes a valid event.
            Err(_) => self.to_owned(),
        }
    }

    /// Returns an event that owns a copy of the text.
    #[must_use]
    pub fn to_owned(&self) -> Event {
        Event::from_ref(self)
    }
}

impl fmt::Debug for EventRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventRef")
            .field("id", &self.fields.id)
            .field("pubkey", &self.fields.pubkey)
            .field("created_at", &self.fields.created_at)
            .field("kind", &self.fields.kind)
            .field("tags", &self.raw_tags())
            .field("content", &self.raw_content())
            .finish_non_exhaustive()
    }
}

impl PartialEq for EventRef<'_> {
    /// Compares the values of all members, not the JSON text.
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (&self.fields, &other.fields);
        let same_fields = a.id == b.id
            && a.pubkey == b.pubkey
            && a.sig == b.sig
            && a.created_at == b.created_at
            && a.kind == b.kind
            && a.tag_count == b.tag_count;
        // Decoding replaces each lone surrogate by U+FFFD. The canonical form distinguishes them.
        if a.lone_surrogates || b.lone_surrogates {
            let canonical = |event: &Self| {
                let mut out = Vec::new();
                event.push_canonical(&mut out);
                out
            };
            return same_fields && canonical(self) == canonical(other);
        }
        same_fields
            && self.content() == other.content()
            && self
                .tags()
                .zip(other.tags())
                .all(|(a, b)| a.items().eq(b.items()))
    }
}

impl Eq for EventRef<'_> {}
