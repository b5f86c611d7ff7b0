//! REQ, COUNT and CLOSE.

use std::collections::HashSet;
use std::sync::Arc;

use polywire_nostr::message::{Count, MachineReadablePrefix as Prefix, relay};
use polywire_nostr::{Filter, SubscriptionId};

use crate::connection::Connection;
use crate::live::Subscription;
use crate::outbox::{Id, event as event_message, text};
use crate::policy::{PRIVATE_KINDS, Result, rejection};
use crate::store::{LogEntry, Query};

impl Connection<'_> {
    /// Sends the stored events that match, then EOSE, then new events.
    pub(crate) async fn request(&mut self, id: &Id, filters: Vec<Filter>) -> Result<()> {
        self.close(id);
        self.check_request(&filters)?;
        let max = self.relay.options.max_subscriptions;
        if self.subscriptions.len() >= max {
            let reason = format!("no more than {max} subscriptions");
            return Err(rejection("subscriptions", Prefix::Restricted, reason));
        }
        let (outbox, keys) = (self.outbox.clone(), self.keys.subscribe());
        let subscription = Arc::new(Subscription::new(id.clone(), filters, outbox, keys));
        // Before the snapshot, so that no event is missed.
        self.relay.live.add(&subscription);
        self.subscriptions
            .insert(id.clone(), Arc::clone(&subscription));
        let last = self.relay.store.snapshot().last;
        if self.send_stored(&subscription, last).await? {
            let eose = text(|out| relay::push_eose(out, id));
            // If the connection is closed, so is the subscription.
            let _ = self.outbox.send(eose).await && subscription.open(last).await;
        }
        Ok(())
    }

    /// Sends the stored events that match. Returns whether the connection is open.
    async fn send_stored(&self, subscription: &Subscription, last: u64) -> Result<bool> {
        let mut sent = HashSet::new();
        let several = subscription.filters.len() > 1;
        for filter in &subscription.filters {
            let mut query = self.query(filter.clone(), self.relay.options.max_limit, last);
            while let Some(page) = self.page(&mut query).await? {
                for (number, event) in page {
                    if several && !sent.insert(number) {
                        continue;
                    }
                    let message = event_message(&subscription.id, event.as_ref().as_json());
                    if !self.outbox.send(message).await {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// Sends the number of stored events that match (NIP-45). It is exact: `limit` is ignored.
    pub(crate) async fn count(&self, id: &Id, filters: Vec<Filter>) -> Result<()> {
        self.check_request(&filters)?;
        let mut found = HashSet::new();
        let last = self.relay.store.snapshot().last;
        for filter in filters {
            let mut query = self.query(filter.without_limit(), u64::MAX, last);
            while let Some(page) = self.page(&mut query).await? {
                found.extend(page.iter().map(|(number, _)| *number));
            }
        }
        let count = Count::new(found.len() as u64);
        self.outbox
            .push(text(|out| relay::push_count(out, id, &count)));
        Ok(())
    }

    pub(crate) fn close(&mut self, id: &SubscriptionId<'_>) {
        if let Some(subscription) = self.subscriptions.remove(id.as_str()) {
            self.relay.live.remove(&subscription);
        }
    }

    /// Checks whether the client may use these filters.
    pub(crate) fn check_request(&self, filters: &[Filter]) -> Result<()> {
        self.admit_request()?;
        if filters.iter().any(|filter| filter.search().is_some()) {
            let reason = "this relay has no search";
            return Err(rejection("search", Prefix::Unsupported, reason));
        }
        let is_private = |filter: &Filter| {
            let kinds = filter.kinds().unwrap_or_default();
            !kinds.is_empty() && kinds.iter().all(|kind| PRIVATE_KINDS.contains(kind))
        };
        if filters.iter().any(is_private) && self.keys.borrow().is_empty() {
            let reason = "direct messages are served to their authors and recipients";
            return Err(rejection("auth-required", Prefix::AuthRequired, reason));
        }
        Ok(())
    }

    /// Begins a query for at most `max` events up to the number `last`. See [`Self::page`].
    pub(crate) fn query(&self, filter: Filter, max: u64, last: u64) -> Option<Query> {
        let (keys, work) = (self.keys.borrow().clone(), self.relay.options.max_work);
        Some(Query::new(filter, keys, max, last, work))
    }

    /// Returns the next events of a query, or `None` at its end. Runs on the thread pool for blocking tasks.
    pub(crate) async fn page(&self, query: &mut Option<Query>) -> Result<Option<Vec<LogEntry>>> {
        let Some(mut taken) = query.take().filter(|query| !query.is_done()) else {
            return Ok(None);
        };
        // The semaphore is never closed.
        let permit = Arc::clone(&self.relay.queries).acquire_owned().await;
        let snapshot = self.relay.store.snapshot();
        let read = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            (taken.page(&snapshot), taken)
        });
        let failed = |_| rejection("query", Prefix::Error, "the query panicked");
        let (page, rest) = read.await.map_err(failed)?;
        if rest.is_too_broad() {
            let reason = "the filter is too broad: add ids, authors, kinds or a time";
            return Err(rejection("too-broad", Prefix::Restricted, reason));
        }
        *query = Some(rest);
        Ok(Some(page?))
    }
}
