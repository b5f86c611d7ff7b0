//! What is stored at some time.

use std::sync::Arc;

use polywire_nostr::{Event, EventId};

use super::database::{StoreError, View};
use super::key::Key;
use super::segment::Segment;

/// What is stored at some time: the index on disk, and over it the segments that are not in it yet.
///
/// It keeps pages of the database from being used again. Whoever waits for a client lets go of it before.
pub(crate) struct Snapshot {
    pub(crate) view: Arc<View>,
    /// The oldest first.
    pub(crate) segments: Vec<Arc<Segment>>,
    /// The number of the last event.
    pub(crate) last: u64,
}

impl Snapshot {
    /// What is on disk.
    pub(crate) fn new(view: View, last: u64) -> Self {
        let (view, segments) = (Arc::new(view), Vec::new());
        Self {
            view,
            segments,
            last,
        }
    }

    pub(crate) fn get(&self, key: &Key) -> Result<Option<u64>, StoreError> {
        let key = key.as_bytes();
        let mut newest_first = self.segments.iter().rev();
        match newest_first.find_map(|segment| segment.get(key)) {
            Some(value) => Ok(value),
            None => self.view.get(key),
        }
    }

    pub(crate) fn has(&self, id: &EventId) -> Result<bool, StoreError> {
        Ok(self.get(&Key::id(id))?.is_some())
    }

    pub(crate) fn event(&self, number: u64) -> Result<Option<Event>, StoreError> {
        let mut segments = self.segments.iter();
        match segments.find_map(|segment| segment.event(number)) {
            Some(event) => Ok(Some(event.clone())),
            None => self.view.event(number),
        }
    }

    /// The same with another segment on top. Segments of similar size are merged, so that they remain few.
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
