//! A consistent view of the store.

use std::sync::Arc;

use polywire_nostr::{Event, EventId};

use super::database::{Result, View};
use super::key::Key;
use super::segment::{Segment, find};

/// The store at a point in time: the index on disk, and the newer segments in memory.
///
/// A snapshot prevents redb from reusing pages. Drop it before waiting for a client.
pub(crate) struct Snapshot {
    pub(crate) view: Arc<View>,
    /// Oldest first.
    pub(crate) segments: Vec<Arc<Segment>>,
    /// The number of the last event.
    pub(crate) last: u64,
}

impl Snapshot {
    /// A snapshot of the database alone.
    pub(crate) fn new(view: View, last: u64) -> Self {
        Self {
            view: Arc::new(view),
            segments: Vec::new(),
            last,
        }
    }

    pub(crate) fn get(&self, key: &Key) -> Result<Option<u64>> {
        let mut newest_first = self.segments.iter().rev();
        match newest_first.find_map(|segment| segment.get(key)) {
            Some(value) => Ok(value),
            None => self.view.get(key),
        }
    }

    pub(crate) fn contains(&self, id: &EventId) -> Result<bool> {
        Ok(self.get(&Key::id(id))?.is_some())
    }

    pub(crate) fn event(&self, number: u64) -> Result<Option<Event>> {
        let mut segments = self.segments.iter();
        match segments.find_map(|segment| find(&segment.events, number)) {
            Some(event) => Ok(Some(event.clone())),
            None => self.view.event(number),
        }
    }

    /// Returns a snapshot with one more segment. Segments of similar size are merged, so their number stays
    /// logarithmic.
    pub(crate) fn with(&self, segment: Segment, last: u64) -> Self {
        let mut segments = self.segments.clone();
        let mut top = Arc::new(segment);
        while let Some(below) = segments.pop_if(|below| below.keys.len() < 2 * top.keys.len()) {
            top = Arc::new(Segment::merge(&below, &top));
        }
        segments.push(top);
        Self {
            view: Arc::clone(&self.view),
            segments,
            last,
        }
    }
}
