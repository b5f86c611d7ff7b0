//! Filters compiled for matching many events.

use super::Filter;
use super::compiled_tag::CompiledTag;
use super::matching::{letters, tags_match};
use super::set::Set;
use crate::{BinaryEvent, BinaryItem, EventId, EventRef, PublicKey};

/// A filter that is compiled for matching many events.
///
/// Lists are stored as hash sets: a lookup takes constant time on average, and logarithmic time if
/// an attacker chooses colliding values. Matching allocates only to decode an escaped tag value
/// whose length could match.
///
/// ```
/// use polywire_nostr::{EventRef, Filter, PublicKey};
///
/// let json = r#"{"id":"17063e85b0f65a38b0cf1b5084d7fcd157b05215295290d20594b4f9d4fc355f",
///     "pubkey":"9fdfbc827b46a6753f18e97bc3d525c5ad59f30fa3d12974184263e901dbfa4c",
///     "created_at":1709600104,"kind":1,"tags":[],"content":"",
///     "sig":"99c4b50194cd59315a5aec20214a283c21a8816b7844f7f9204498263c27608b7fc66546f5400564dd432d226787576951788f704368566773f39bd18016ff82"}"#;
/// let event = EventRef::parse(json)?;
/// let others = (0..2000_u32).map(|n| {
///     let mut key = [0; 32];
///     key[..4].copy_from_slice(&n.to_be_bytes());
///     PublicKey::from_bytes(key)
/// });
/// let filter = Filter::new().with_authors(others.chain([*event.pubkey()])).compile();
/// assert!(filter.matches(&event));
/// # Ok::<(), polywire_nostr::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CompiledFilter {
    since: u64,
    until: u64,
    /// Bit `kind % 64` is set for each kind in `kinds`: a fast test that rejects most other kinds.
    kind_bits: u64,
    /// Sorted, without duplicates.
    kinds: Option<Box<[u16]>>,
    authors: Option<Set<[u8; 32]>>,
    ids: Option<Set<[u8; 32]>>,
    /// The letters of `tags` as a bit set.
    letters: u64,
    tags: Box<[CompiledTag]>,
}

impl CompiledFilter {
    pub(super) fn new(filter: &Filter) -> Self {
        let mut compiled = Self {
            since: filter.since().unwrap_or(0),
            until: filter.until().unwrap_or(u64::MAX),
            kind_bits: filter.kinds().map_or(u64::MAX, |kinds| {
                kinds.iter().fold(0, |bits, kind| bits | kind_bit(*kind))
            }),
            kinds: filter.kinds().map(|kinds| {
                let mut kinds = kinds.to_vec();
                kinds.sort_unstable();
                kinds.dedup();
                kinds.into()
            }),
            authors: filter
                .authors()
                .map(|authors| Set::new(authors.iter().map(|author| *author.as_bytes()))),
            ids: filter
                .ids()
                .map(|ids| Set::new(ids.iter().map(|id| *id.as_bytes()))),
            letters: letters(filter.tags().iter().map(|tag| tag.letter)),
            tags: filter.tags().iter().map(CompiledTag::new).collect(),
        };
        if filter.matches_nothing() {
            // With this range, the first comparison fails for every event.
            (compiled.since, compiled.until) = (u64::MAX, 0);
        }
        compiled
    }

    /// Whether an event matches, like [`Filter::matches`].
    #[inline]
    #[must_use]
    pub fn matches(&self, event: &EventRef<'_>) -> bool {
        self.matches_fields(event.created_at(), event.kind(), event.pubkey(), event.id())
            && (self.letters == 0 || self.has_tags(event))
    }

    /// Whether an event in the binary storage form matches, like [`Filter::matches`]. Reads the
    /// stored form without conversion to JSON. Allocates only to compare a tag value of more than
    /// 64 hexadecimal digits.
    ///
    /// ```
    /// use polywire_nostr::{BinaryEvent, EventRef, Filter};
    ///
    /// # let json = r#"{"id":"17063e85b0f65a38b0cf1b5084d7fcd157b05215295290d20594b4f9d4fc355f","pubkey":"9fdfbc827b46a6753f18e97bc3d525c5ad59f30fa3d12974184263e901dbfa4c","created_at":1709600104,"kind":1,"tags":[["t","people"],["t","coffee"]],"content":"when ship bitcoin sats morning","sig":"99c4b50194cd59315a5aec20214a283c21a8816b7844f7f9204498263c27608b7fc66546f5400564dd432d226787576951788f704368566773f39bd18016ff82"}"#;
    /// let mut stored = Vec::new();
    /// EventRef::parse(json)?.push_binary(&mut stored);
    /// let filter = Filter::parse(r##"{"kinds":[1],"#t":["coffee"]}"##)?.compile();
    /// assert!(filter.matches_binary(&BinaryEvent::parse(&stored)?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn matches_binary(&self, event: &BinaryEvent<'_>) -> bool {
        self.matches_fields(event.created_at(), event.kind(), event.pubkey(), event.id())
            && (self.letters == 0 || self.has_binary_tags(event))
    }

    /// Whether all conditions except tag conditions are met.
    #[inline(always)]
    fn matches_fields(&self, created_at: u64, kind: u16, pubkey: &PublicKey, id: &EventId) -> bool {
        // Cheap and selective conditions first.
        self.since <= created_at
            && created_at <= self.until
            && self.has_kind(kind)
            && has(self.authors.as_ref(), pubkey.as_bytes())
            && has(self.ids.as_ref(), id.as_bytes())
    }

    #[inline]
    fn has_kind(&self, kind: u16) -> bool {
        if self.kind_bits & kind_bit(kind) == 0 {
            return false;
        }
        match &self.kinds {
            None => true,
            Some(kinds) if kinds.len() <= 16 => kinds.contains(&kind),
            Some(kinds) => kinds.binary_search(&kind).is_ok(),
        }
    }

    #[inline(never)]
    fn has_tags(&self, event: &EventRef<'_>) -> bool {
        // With few conditions, a substring search for each is faster than parsing the tags.
        if event.is_canonical() && self.tags.len() <= 4 {
            let raw = event.raw_tags();
            return self.tags.iter().all(|tag| tag.is_in_canonical(raw));
        }
        tags_match(event, self.letters, |letter, value| {
            // A linear search, because filters have few tag conditions, mostly one.
            let tag = self.tags.iter().find(|tag| tag.letter() == letter);
            tag.is_some_and(|tag| tag.contains(value))
        })
    }

    #[inline(never)]
    fn has_binary_tags(&self, event: &BinaryEvent<'_>) -> bool {
        let mut missing = self.letters;
        for mut tag in event.tags() {
            let (Some(BinaryItem::Text(name)), Some(value)) = (tag.next(), tag.next()) else {
                continue;
            };
            let condition = self.tags.iter().find(|tag| tag.letter().is_name(name));
            if let Some(condition) = condition
                && condition.contains_binary(value)
            {
                missing &= !condition.letter().bit();
                if missing == 0 {
                    return true;
                }
            }
        }
        false
    }
}

fn kind_bit(kind: u16) -> u64 {
    1 << (kind % 64)
}

/// Whether a value meets an optional list condition: without a set, every value does.
#[inline]
fn has(set: Option<&Set<[u8; 32]>>, value: &[u8; 32]) -> bool {
    set.is_none_or(|set| set.contains(value))
}

/// The filters of a subscription. An event matches if it matches one of them.
///
/// ```
/// use polywire_nostr::{CompiledFilters, Filter};
///
/// let filters = [Filter::new().with_kinds([0]), Filter::new().with_kinds([1])];
/// let compiled = CompiledFilters::new(&filters);
/// assert_eq!(compiled.as_slice().len(), 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct CompiledFilters(Box<[CompiledFilter]>);

impl CompiledFilters {
    /// Compiles filters for matching many events.
    pub fn new<'f>(filters: impl IntoIterator<Item = &'f Filter>) -> Self {
        Self(filters.into_iter().map(Filter::compile).collect())
    }

    /// Returns the filters in order.
    #[must_use]
    pub fn as_slice(&self) -> &[CompiledFilter] {
        &self.0
    }

    /// Whether an event matches one of the filters. Without filters, no event matches.
    #[must_use]
    pub fn matches(&self, event: &EventRef<'_>) -> bool {
        self.0.iter().any(|filter| filter.matches(event))
    }

    /// Whether an event in the binary storage form matches one of the filters. Without filters, no
    /// event matches.
    #[must_use]
    pub fn matches_binary(&self, event: &BinaryEvent<'_>) -> bool {
        self.0.iter().any(|filter| filter.matches_binary(event))
    }
}
