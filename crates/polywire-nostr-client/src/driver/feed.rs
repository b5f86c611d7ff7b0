//! A subscription, as the task of a relay sees it.

use std::sync::Arc;
use std::time::Duration;

use polywire_nostr::{CompiledFilters, Event, Filter};
use tokio::sync::mpsc;

use crate::Refusal;
use crate::verifier::SeenIds;

/// An item of a subscription, with the relay that it came from.
#[derive(Debug)]
pub(crate) struct Tagged {
    /// The position of the relay in the subscription.
    pub(crate) source: usize,
    pub(crate) delivery: Delivery,
}

#[derive(Debug)]
pub(crate) enum Delivery {
    Event(Event),
    Eose,
    Closed(Refusal),
    /// The relay was shut down on this side.
    Gone,
}

/// Where the items of one relay go.
#[derive(Clone)]
pub(crate) struct Sink {
    pub(crate) source: usize,
    pub(crate) sender: mpsc::Sender<Tagged>,
    /// Shared by all relays of the subscription.
    pub(crate) seen: Arc<SeenIds>,
}

pub(crate) struct Feed {
    pub(crate) sink: Sink,
    /// Shared by all relays of the subscription.
    filters: Arc<[Filter]>,
    pub(super) matcher: Arc<CompiledFilters>,
    overlap: Duration,
    /// The latest `created_at` of an event that came, no later than when it came.
    newest: Option<u64>,
    /// Whether all stored events have come.
    complete: bool,
    /// Whether it was sent after the relay knew who the client is.
    pub(super) after_auth: bool,
    /// Whether it is sent again once the relay knows who the client is.
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

    /// An event came. `now` bounds its time: a clock that is wrong somewhere must not make the
    /// subscription begin in the future.
    pub(super) fn came(&mut self, created_at: u64, now: u64) {
        self.newest = self.newest.max(Some(created_at.min(now)));
    }

    /// All stored events have come. False if that was so before.
    pub(super) fn complete(&mut self) -> bool {
        !std::mem::replace(&mut self.complete, true)
    }

    /// The filters to ask for now. Once all stored events have come, only those that may have been
    /// missed: from the newest one on, less the overlap, without a limit.
    ///
    /// Before that nothing is left out, since stored events come newest first.
    pub(super) fn filters(&self) -> Vec<Filter> {
        let Some(newest) = self.newest.filter(|_| self.complete) else {
            return self.filters.to_vec();
        };
        let since = newest.saturating_sub(self.overlap.as_secs());
        let resumed = self.filters.iter().map(|filter| {
            let since = since.max(filter.since().unwrap_or(0));
            filter.clone().with_since(since).without_limit()
        });
        // Those that asked for the past only have nothing left to ask for.
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
    fn resumes_behind_the_newest_event() {
        let asked = Filter::new().with_kinds([1]).with_limit(5);
        let past = Filter::new().with_until(500);
        let mut feed = feed(&[asked.clone(), past.clone()]);
        feed.came(1000, 2000);
        assert_eq!(
            feed.filters(),
            [asked, past],
            "the stored events have not all come"
        );
        assert!(feed.complete());
        assert_eq!(
            feed.filters(),
            [Filter::new().with_kinds([1]).with_since(940)]
        );
        feed.came(9000, 2000);
        feed.came(1500, 2000);
        assert_eq!(
            feed.filters(),
            [Filter::new().with_kinds([1]).with_since(1940)]
        );
        assert!(!feed.complete());
    }

    #[test]
    fn keeps_a_later_since() {
        let asked = Filter::new().with_since(5000);
        let mut feed = feed(slice::from_ref(&asked));
        feed.complete();
        assert_eq!(feed.filters(), slice::from_ref(&asked), "nothing has come");
        feed.came(1000, 2000);
        assert_eq!(feed.filters(), [asked]);
    }
}
