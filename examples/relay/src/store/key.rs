//! Keys of the index.
//!
//! All keys are in one table, and the first byte says which index a key belongs to. Keys that are read in order end
//! in a [`Position`]. Public keys are cut to 16 bytes and values of tags are hashed to 16 bytes: a query compares
//! each event with its filter anyway.

use std::cmp::Ordering;

use polywire_nostr::{EventId, EventRef, KindClass, PublicKey, TagLetter};
use sha2::{Digest, Sha256};

/// The bytes of the longest key: of an author and kind, or of a replaceable event.
const MOST: usize = 35;

/// A key, without an allocation of its own.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Key {
    bytes: [u8; MOST],
    len: u8,
}

/// Where an event stands among those of one index: time, then the complement of the first half of its id's half.
/// Read backwards, this is the order of NIP-01: newest first, of two as new the lower id first.
pub(crate) type Position = [u8; 16];

impl Key {
    fn new(index: u8) -> Self {
        let mut key = Self {
            bytes: [0; MOST],
            len: 0,
        };
        key.push(&[index]);
        key
    }

    fn push(&mut self, part: &[u8]) {
        let start = usize::from(self.len);
        self.bytes[start..start + part.len()].copy_from_slice(part);
        self.len += part.len() as u8;
    }

    fn with(mut self, part: &[u8]) -> Self {
        self.push(part);
        self
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// The key of an event by its id.
    pub(crate) fn id(id: &EventId) -> Self {
        Self::new(b'i').with(id.as_bytes())
    }

    /// All events.
    pub(crate) fn time() -> Self {
        Self::new(b't')
    }

    pub(crate) fn kind(kind: u16) -> Self {
        Self::new(b'k').with(&kind.to_be_bytes())
    }

    pub(crate) fn author(author: &PublicKey) -> Self {
        Self::new(b'p').with(&author.as_bytes()[..16])
    }

    pub(crate) fn author_kind(author: &PublicKey, kind: u16) -> Self {
        Self::new(b'a')
            .with(&author.as_bytes()[..16])
            .with(&kind.to_be_bytes())
    }

    pub(crate) fn tag(letter: TagLetter, value: &str) -> Self {
        // A letter is ASCII.
        Self::new(b'g')
            .with(&[letter.as_char() as u8])
            .with(&hash(value))
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
        Self::new(index)
            .with(&author.as_bytes()[..16])
            .with(&kind.to_be_bytes())
            .with(&hash(identifier))
    }

    /// Somebody has asked to delete an event.
    pub(crate) fn deleted(id: &EventId, by: &PublicKey) -> Self {
        Self::new(b'x')
            .with(&id.as_bytes()[..16])
            .with(&by.as_bytes()[..16])
    }

    /// Events by the time at which they expire.
    pub(crate) fn expiration() -> Self {
        Self::new(b'z')
    }

    /// The number of the last event whose keys are in the table.
    pub(crate) fn indexed() -> Self {
        Self::new(b'm')
    }

    pub(crate) fn at(self, position: &Position) -> Self {
        self.with(position)
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The position of an event.
pub(crate) fn position(event: &EventRef<'_>) -> Position {
    position_at(event.created_at(), event.id())
}

/// The position before all events of a time.
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

/// The position at the end of a key.
pub(crate) fn position_of(key: &[u8]) -> Position {
    key.last_chunk().copied().unwrap_or_default()
}

/// The keys of an event.
pub(crate) fn of_event(event: &EventRef<'_>) -> Vec<Key> {
    let (author, kind) = (event.pubkey(), event.kind());
    let at = position(event);
    let mut keys = vec![
        Key::id(event.id()),
        Key::time().at(&at),
        Key::kind(kind).at(&at),
        Key::author(author).at(&at),
        Key::author_kind(author, kind).at(&at),
    ];
    keys.extend(version(event));
    if let Some(time) = event.expiration() {
        keys.push(Key::expiration().at(&position_at(time, event.id())));
    }
    keys.extend(
        event
            .letter_tags()
            .map(|(letter, value)| Key::tag(letter, &value).at(&at)),
    );
    keys
}

/// The key of the current version, if an event is a version of something.
pub(crate) fn version(event: &EventRef<'_>) -> Option<Key> {
    let (author, kind) = (event.pubkey(), event.kind());
    Some(Key::version(author, kind, &identifier(event)?))
}

/// What tells the events of an author and kind apart that do not replace each other; `None` if none do.
pub(crate) fn identifier(event: &EventRef<'_>) -> Option<String> {
    match KindClass::of(event.kind()) {
        KindClass::Replaceable => Some(String::new()),
        KindClass::Addressable => Some(event.identifier().into_owned()),
        KindClass::Regular | KindClass::Ephemeral => None,
    }
}

fn hash(value: &str) -> [u8; 16] {
    let digest: [u8; 32] = Sha256::digest(value.as_bytes()).into();
    let mut half = [0; 16];
    half.copy_from_slice(&digest[..16]);
    half
}
