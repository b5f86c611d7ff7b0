//! Index keys.
//!
//! All indexes share one table. The first byte of a key selects the index. Keys that are scanned in time order end in
//! a [`Position`]. Public keys are truncated to 16 bytes and tag values are hashed to 16 bytes. Collisions are
//! harmless: queries compare each event with the filter.

use polywire_nostr::{EventId, EventRef, KindClass, PublicKey, TagLetter};
use sha2::{Digest, Sha256};

/// The length of the longest keys: author and kind with a position, and addresses.
const MAX_LEN: usize = 35;

/// A key, stored inline. Unused bytes are zero, so the derived order is the order of the bytes.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Key {
    bytes: [u8; MAX_LEN],
    len: u8,
}

/// The sort key within an index: `created_at`, then the complement of the first 8 bytes of the id. Descending
/// positions are in the order of NIP-01: newest first; for equal times, lowest id first.
pub(crate) type Position = [u8; 16];

impl Key {
    fn new(index: u8) -> Self {
        let empty = Self {
            bytes: [0; MAX_LEN],
            len: 0,
        };
        empty.with(&[index])
    }

    /// Appends a part, such as a position.
    pub(crate) fn with(mut self, part: &[u8]) -> Self {
        let start = usize::from(self.len);
        self.bytes[start..start + part.len()].copy_from_slice(part);
        self.len += part.len() as u8;
        self
    }

    fn with_author(self, author: &PublicKey) -> Self {
        self.with(&author.as_bytes()[..16])
    }

    fn with_hash(self, text: &str) -> Self {
        self.with(&Sha256::digest(text)[..16])
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// An event by its id.
    pub(crate) fn id(id: &EventId) -> Self {
        Self::new(b'i').with(id.as_bytes())
    }

    /// The prefix of all events by time.
    pub(crate) fn time() -> Self {
        Self::new(b't')
    }

    /// The prefix of the events of a kind.
    pub(crate) fn kind(kind: u16) -> Self {
        Self::new(b'k').with(&kind.to_be_bytes())
    }

    /// The prefix of the events of an author.
    pub(crate) fn author(author: &PublicKey) -> Self {
        Self::new(b'p').with_author(author)
    }

    /// The prefix of the events of an author and kind.
    pub(crate) fn author_kind(author: &PublicKey, kind: u16) -> Self {
        let key = Self::new(b'a').with_author(author);
        key.with(&kind.to_be_bytes())
    }

    /// The prefix of the events with a tag value.
    pub(crate) fn tag(letter: TagLetter, value: &str) -> Self {
        // Tag letters are ASCII.
        let key = Self::new(b'g').with(&[letter.as_char() as u8]);
        key.with_hash(value)
    }

    /// The current version of a replaceable or addressable event.
    pub(crate) fn version(author: &PublicKey, kind: u16, identifier: &str) -> Self {
        Self::address(b'r', author, kind, identifier)
    }

    /// The time up to which all versions of an event are deleted.
    pub(crate) fn deleted_version(author: &PublicKey, kind: u16, identifier: &str) -> Self {
        Self::address(b'y', author, kind, identifier)
    }

    fn address(index: u8, author: &PublicKey, kind: u16, identifier: &str) -> Self {
        let key = Self::new(index).with_author(author);
        key.with(&kind.to_be_bytes()).with_hash(identifier)
    }

    /// A deletion request by a public key for an event id.
    pub(crate) fn deleted(id: &EventId, by: &PublicKey) -> Self {
        let key = Self::new(b'x').with(&id.as_bytes()[..16]);
        key.with_author(by)
    }

    /// The prefix of the events with an expiration time, by that time.
    pub(crate) fn expiration() -> Self {
        Self::new(b'z')
    }

    /// The number of the last event that is in the index.
    pub(crate) fn indexed() -> Self {
        Self::new(b'm')
    }
}

/// Returns the position of an event.
pub(crate) fn position(event: &EventRef<'_>) -> Position {
    position_at(event.created_at(), event.id())
}

/// Returns the position before all events of a time.
pub(crate) fn first_of(time: u64) -> Position {
    position_at(time, &EventId::from_bytes([0xff; 32]))
}

fn position_at(time: u64, id: &EventId) -> Position {
    let mut position = [0; 16];
    position[..8].copy_from_slice(&time.to_be_bytes());
    for (byte, id) in position[8..].iter_mut().zip(id.as_bytes()) {
        *byte = !id;
    }
    position
}

/// Returns the position at the end of a key.
pub(crate) fn position_of(key: &[u8]) -> Position {
    key.last_chunk().copied().unwrap_or_default()
}

/// Returns all index keys of an event.
pub(crate) fn of_event(event: &EventRef<'_>) -> Vec<Key> {
    let (author, kind) = (event.pubkey(), event.kind());
    let at = position(event);
    let mut keys = vec![
        Key::id(event.id()),
        Key::time().with(&at),
        Key::kind(kind).with(&at),
        Key::author(author).with(&at),
        Key::author_kind(author, kind).with(&at),
    ];
    keys.extend(version(event));
    if let Some(time) = event.expiration() {
        keys.push(Key::expiration().with(&position_at(time, event.id())));
    }
    let tags = event.letter_tags();
    keys.extend(tags.map(|(letter, value)| Key::tag(letter, &value).with(&at)));
    keys
}

/// Returns the version key of a replaceable or addressable event.
pub(crate) fn version(event: &EventRef<'_>) -> Option<Key> {
    let (author, kind) = (event.pubkey(), event.kind());
    Some(Key::version(author, kind, &identifier(event)?))
}

/// Returns the identifier of a replaceable (empty) or addressable event. `None` for other kinds.
pub(crate) fn identifier(event: &EventRef<'_>) -> Option<String> {
    match KindClass::of(event.kind()) {
        KindClass::Replaceable => Some(String::new()),
        KindClass::Addressable => Some(event.identifier().into_owned()),
        KindClass::Regular | KindClass::Ephemeral => None,
    }
}
