//! The part of a subscription on one relay.

use std::sync::Arc;
use std::time::Duration;

use polywire_nostr::{CompiledFilters, Event, Filter};
use tokio::sync::mpsc;

use crate::Refusal;
use crate::verifier::SeenIds;

/// An item of a subscription, with the relay that sent it.
#[derive(Debug)]
pub(crate) struct SourceDelivery {
    /// The index of the relay in the subscription.
    pub(crate) source: usize,
    pub(crate) delivery: Delivery,
}

#[derive(Debug)]
pub(crate) enum Delivery {
    Event(Event),
    Eose,
    Closed(Refusal),
    /// The client was shut down.
    Shutdown,
}

/// The destination of the items of one relay.
#[derive(Clone)]
pub(crate) struct Sink {
    pub(crate) source: usize,
    pub(crate) sender: mpsc::Sender<SourceDelivery>,
    /// Shared by all relays of the subscription.
    pub(crate) seen: Arc<SeenIds>,
}

pub(crate) struct Feed {
    pub(crate) sink: Sink,
    /// Shared by all relays of the subscription.
    filters: Arc<[Filter]>,
    pub(super) matcher: Arc<CompiledFilters>,
    overlap: Duration,
    /// The latest `created_at` of a received event, limited to the time of receipt.
    newest: Option<u64>,
    /// Whether EOSE was received.
    complete: bool,
    /// Whether REQ was sent after authentication.
    pub(super) after_auth: bool,
    /// Whether REQ is sent again after authentication.
    pub(super) waits_for_auth: bool,
}

impl Feed {
    pub(crate) fn new(
        sink: Sink,
        filters: Arc<[Filter]>,
        matcher: Arc<CompiledFilters>,
        overlap: Duration,
    ) -> Self {
        Self {
            sink,
            filters,
            matcher,
            overlap,
            newest: None,
            complete: false,
            after_auth: false,
            waits_for_auth: false,
        }
    }

    /// Records a received event. `now` limits its time, so that a `created_at` in the future does
    /// not set `since` to a time in the future.
    pub(super) fn received(&mut self, created_at: u64, now: u64) {
        self.newest = self.newest.max(Some(created_at.min(now)));
    }

    /// Records EOSE. Returns `false` if it was received before.
    pub(super) fn complete(&mut self) -> bool {
        !std::mem::replace(&mut self.complete, true)
    }

    /// Returns the filters for the next REQ. After EOSE, they match only events that may have been
    /// missed: `since` is the time of the newest event minus the overlap, without a limit.
    ///
    /// Before EOSE, they are the original filters: relays send the newest stored events first, so
    /// older ones may be missing.
    pub(super) fn filters(&self) -> Vec<Filter> {
        let Some(newest) = self.newest.filter(|_| self.complete) else {
            return self.filters.to_vec();
        };
        let since = newest.saturating_sub(self.overlap.as_secs());
        let resumed = self.filters.iter().map(|filter| {
            let since = since.max(filter.since().unwrap_or(0));
            filter.clone().with_since(since).without_limit()
        });
        // Filters with an `until` before `since` match no new events.
        resumed.filter(|filter| !filter.matches_nothing()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::slice;

    use super::*;

    fn feed(filters: &[Filter]) -> Feed {
        let sink = Sink {
            source: 0,
            sender: mpsc::channel(1).0,
            seen: Arc::new(SeenIds::new(1)),
        };
        let matcher = Arc::new(CompiledFilters::new(filters));
        Feed::new(sink, filters.into(), matcher, Duration::from_secs(60))
    }

    #[test]
    fn resumes_after_the_newest_event() {
        let notes = Filter::new().with_kinds([1]).with_limit(5);
        let past = Filter::new().with_until(500);
        let mut feed = feed(&[notes.clone(), past.clone()]);
        feed.received(1000, 2000);
        assert_eq!(feed.filters(), [notes, past], "before EOSE");
        assert!(feed.complete());
        assert_eq!(
            feed.filters(),
            [Filter::new().with_kinds([1]).with_since(940)]
        );
        feed.received(9000, 2000);
        feed.received(1500, 2000);
        assert_eq!(
            feed.filters(),
            [Filter::new().with_kinds([1]).with_since(1940)]
        );
        assert!(!feed.complete());
    }

    #[test]
    fn keeps_a_later_since() {
        let filter = Filter::new().with_since(5000);
        let mut feed = feed(slice::from_ref(&filter));
        feed.complete();
        assert_eq!(feed.filters(), slice::from_ref(&filter), "no events");
        feed.received(1000, 2000);
        assert_eq!(feed.filters(), [filter]);
    }
}
