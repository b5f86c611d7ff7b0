//! Which keys a query reads.
//!
//! The most selective condition of a filter chooses the index: ids, then authors with kinds or values of a tag,
//! whichever are fewer, then kinds, then time. Each value is a scan, and scans are merged by time. What the index does
//! not say is checked on each event.

use polywire_nostr::{Filter, PublicKey};

use super::database::StoreError;
use super::key::Key;
use super::snapshot::Snapshot;

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

/// The kinds of one author that are looked for if a filter names none.
const MOST_KINDS: usize = 50;

/// Chooses how events are found.
pub(crate) fn plan(filter: &Filter, snapshot: &Snapshot) -> Result<Plan, StoreError> {
    if filter.ids().is_some() {
        return Ok(Plan::Ids);
    }
    let tag = filter.tags().iter().min_by_key(|tag| tag.values().len());
    let tag_scans = tag.map_or(usize::MAX, |tag| tag.values().len());
    if let Some(authors) = filter.authors()
        && let scans = authors.len() * filter.kinds().map_or(1, <[u16]>::len)
        && scans <= tag_scans.min(MOST_SCANS)
        && let Some(scans) = author_scans(authors, filter.kinds(), snapshot)?
    {
        return Ok(Plan::Scans(distinct(scans)));
    }
    if let Some(tag) = tag
        && tag_scans <= MOST_SCANS
    {
        let scans = tag.values().map(|value| Key::tag(tag.letter(), value));
        return Ok(Plan::Scans(distinct(scans.collect())));
    }
    Ok(Plan::Scans(match filter.kinds() {
        Some(kinds) if kinds.len() <= MOST_SCANS => {
            distinct(kinds.iter().map(|kind| Key::kind(*kind)).collect())
        }
        _ => vec![Key::time()],
    }))
}

/// A scan for each author and kind. Without kinds, those are looked for that authors have; `None` if they are many.
fn author_scans(
    authors: &[PublicKey],
    kinds: Option<&[u16]>,
    snapshot: &Snapshot,
) -> Result<Option<Vec<Key>>, StoreError> {
    let mut scans = Vec::new();
    for author in authors {
        if let Some(kinds) = kinds {
            scans.extend(kinds.iter().map(|kind| Key::author_kind(author, *kind)));
            continue;
        }
        let low = Key::author(author);
        let prefix = low.as_bytes().len();
        let mut high = [low.as_bytes(), &[0xff; 3]].concat();
        let mut found = 0;
        while let Some(key) = snapshot.last_key(low.as_bytes(), &high)? {
            let Some(&[a, b]) = key.get(prefix..prefix + 2) else {
                break;
            };
            found += 1;
            if found > MOST_KINDS || scans.len() >= MOST_SCANS {
                return Ok(None);
            }
            let scan = Key::author_kind(author, u16::from_be_bytes([a, b]));
            high = scan.as_bytes().to_vec();
            scans.push(scan);
        }
    }
    Ok(Some(scans))
}

fn distinct(mut scans: Vec<Key>) -> Vec<Key> {
    scans.sort_unstable();
    scans.dedup();
    scans
}
