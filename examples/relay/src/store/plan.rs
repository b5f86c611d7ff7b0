//! Which keys a query reads.
//!
//! The most selective condition of a filter chooses the index: ids, then authors with kinds or values of a tag,
//! whichever are fewer, then kinds, then time. Each value is a scan, and scans are merged by time. What the index does
//! not say is checked on each event.

use polywire_nostr::Filter;

use super::key::Key;

/// How a query finds its events.
#[derive(Debug)]
pub(crate) enum Plan {
    /// By their own keys.
    Ids,
    /// By all keys that begin so, of which each ends in a position.
    Scans(Vec<Key>),
}

/// The scans that are merged at most. Each begins with a search in each segment.
const MOST_SCANS: usize = 5_000;

/// Chooses how events are found.
pub(crate) fn plan(filter: &Filter) -> Plan {
    if filter.ids().is_some() {
        return Plan::Ids;
    }
    let kinds = filter.kinds().filter(|kinds| kinds.len() <= MOST_SCANS);
    let authors = filter.authors().unwrap_or_default();
    let author_scans = authors.len() * kinds.map_or(1, <[u16]>::len);
    let tag = filter.tags().iter().min_by_key(|tag| tag.values().len());
    let tag_scans = tag.map_or(0, |tag| tag.values().len());
    let usable = |scans: usize| (1..=MOST_SCANS).contains(&scans);
    let mut scans = match (tag, kinds) {
        (Some(tag), _) if usable(tag_scans) && !(1..=tag_scans).contains(&author_scans) => tag
            .values()
            .map(|value| Key::tag(tag.letter(), value))
            .collect(),
        (_, Some(kinds)) if usable(author_scans) => {
            let of = |author| {
                kinds
                    .iter()
                    .map(move |kind| Key::author_kind(author, *kind))
            };
            authors.iter().flat_map(of).collect()
        }
        (_, None) if usable(author_scans) => authors.iter().map(Key::author).collect(),
        (_, Some(kinds)) => kinds.iter().map(|kind| Key::kind(*kind)).collect(),
        (_, None) => vec![Key::time()],
    };
    scans.sort_unstable();
    scans.dedup();
    Plan::Scans(scans)
}
