//! Keys of the index.
//!
//! All keys are in one table, and the first byte says which index a key belongs to. Keys that are read in order end
//! in a [`Position`]. Public keys are cut to 16 bytes and values of tags are hashed to 16 bytes: a query compares
//! each event with its filter anyway.

use std::cmp::Ordering;
use std::fmt;

use polywire_nostr::{EventId, EventRef, KindClass, PublicKey, TagLetter};
use sha2::{Digest, Sha256};

/// The bytes of the longest key: of an author and kind, or of a replaceable event.
const MOST: usize = 35;

/// A key, without an allocation of its own.
#[derive(Clone, Copy, Eq, PartialEq)]
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

    /// The events of an author, by kind.
    pub(crate) fn author(author: &PublicKey) -> Self {
        Self::new(b'a').with(&author.as_bytes()[..16])
    }

    pub(crate) fn author_kind(author: &PublicKey, kind: u16) -> Self {
        Self::author(author).with(&kind.to_be_bytes())
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

    /// Its last bytes.
    pub(crate) fn position(bytes: &[u8]) -> Option<Position> {
        bytes.last_chunk().copied()
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

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().escape_ascii().fmt(f)
    }
}

/// The position with this time and the first bytes of this id.
pub(crate) fn position(created_at: u64, id: &[u8; 32]) -> Position {
    let mut position = [0; 16];
    position[..8].copy_from_slice(&created_at.to_be_bytes());
    for (byte, id) in position[8..].iter_mut().zip(id) {
        *byte = !id;
    }
    position
}

/// The keys of an event.
pub(crate) fn of_event(event: &EventRef<'_>) -> Vec<Key> {
    let (author, kind) = (event.pubkey(), event.kind());
    let at = position(event.created_at(), event.id().as_bytes());
    let mut keys = vec![
        Key::id(event.id()),
        Key::time().at(&at),
        Key::kind(kind).at(&at),
        Key::author_kind(author, kind).at(&at),
    ];
    keys.extend(version(event));
    if let Some(time) = event.expiration() {
        let id = event.id().as_bytes();
        keys.push(Key::expiration().at(&position(time, id)));
    }
    for tag in event.tags() {
        let mut items = tag.items();
        let mut name = items.next().unwrap_or_default().into_owned();
        if let (Some(letter), true) = (name.pop().and_then(TagLetter::new), name.is_empty())
            && let Some(value) = items.next()
        {
            keys.push(Key::tag(letter, &value).at(&at));
        }
    }
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
