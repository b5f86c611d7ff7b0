//! Chooses the index of a query.
//!
//! The most selective condition of a filter chooses the index: the fewer of authors (with kinds) and tag values, else
//! kinds, else time. Each value is one scan. Conditions that the index does not cover are checked on each event.

use polywire_nostr::Filter;

use super::key::Key;

/// The maximum number of scans to merge. Each scan starts with a search in each segment.
const MAX_SCANS: usize = 5_000;

/// Returns the key prefixes to scan. Each key ends in a position.
pub(crate) fn plan(filter: &Filter) -> Vec<Key> {
    let kinds = filter.kinds().filter(|kinds| kinds.len() <= MAX_SCANS);
    let authors = filter.authors().unwrap_or_default();
    let author_scans = authors.len() * kinds.map_or(1, <[u16]>::len);
    let tag = filter.tags().iter().min_by_key(|tag| tag.values().len());
    let tag_scans = tag.map_or(0, |tag| tag.values().len());
    let usable = |scans: usize| (1..=MAX_SCANS).contains(&scans);
    let mut scans: Vec<_> = match (tag, kinds) {
        (Some(tag), _) if usable(tag_scans) && !(1..=tag_scans).contains(&author_scans) => {
            let values = tag.values();
            values.map(|value| Key::tag(tag.letter(), value)).collect()
        }
        (_, Some(kinds)) if usable(author_scans) => {
            let of = |author| {
                let kinds = kinds.iter();
                kinds.map(move |kind| Key::author_kind(author, *kind))
            };
            authors.iter().flat_map(of).collect()
        }
        (_, None) if usable(author_scans) => authors.iter().map(Key::author).collect(),
        (_, Some(kinds)) => kinds.iter().map(|kind| Key::kind(*kind)).collect(),
        (_, None) => vec![Key::time()],
    };
    scans.sort_unstable();
    scans.dedup();
    scans
}
