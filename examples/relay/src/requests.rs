//! Questions: REQ, COUNT and CLOSE.

use std::collections::HashSet;
use std::sync::Arc;

use polywire_nostr::message::{Count, Prefix, relay};
use polywire_nostr::{Event, Filter, SubscriptionId};

use crate::connection::Connection;
use crate::live::Subscription;
use crate::outbox::{Name, event as event_message, text};
use crate::policy::{Rejection, rejection};
use crate::store::{Query, RESTRICTED, Reader, now};

impl Connection<'_> {
    /// Sends the stored events that match, then EOSE, then new ones as they come.
    pub(crate) async fn request(
        &mut self,
        id: &Name,
        filters: Vec<Filter>,
    ) -> Result<(), Rejection> {
        self.close(id);
        self.check_request(&filters)?;
        let most = self.relay.options.max_subscriptions;
        if self.subscriptions.len() >= most {
            let reason = format!("no more than {most} subscriptions");
            return Err(rejection("subscriptions", Prefix::Restricted, reason));
        }
        let reader = Arc::clone(&self.reader);
        let subscription = Subscription::new(id.clone(), filters, self.outbox.clone(), reader);
        let subscription = Arc::new(subscription);
        // First, so that no event is missed between the two.
        self.relay.live.add(&subscription);
        self.relay.metrics.subscriptions(1);
        self.subscriptions
            .insert(id.clone(), Arc::clone(&subscription));
        let last = self.relay.store.snapshot().last;
        if self.send_stored(&subscription, last).await? {
            let eose = text(|out| relay::push_eose(out, id));
            // The client may be gone.
            let _ = self.outbox.send(eose).await && subscription.open(last).await;
        }
        Ok(())
    }

    /// Sends the stored events that match, in pages. Answers whether the client is still there.
    async fn send_stored(&self, subscription: &Subscription, last: u64) -> Result<bool, Rejection> {
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

    /// Answers how many stored events match (NIP-45).
    pub(crate) async fn count(&self, id: &Name, filters: Vec<Filter>) -> Result<(), Rejection> {
        self.check_request(&filters)?;
        let mut found = HashSet::new();
        let last = self.relay.store.snapshot().last;
        for filter in filters {
            let mut query = self.query(filter, u64::MAX, last);
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
            self.relay.metrics.subscriptions(-1);
        }
    }

    /// Checks what a client asks for.
    pub(crate) fn check_request(&self, filters: &[Filter]) -> Result<(), Rejection> {
        self.admit(false)?;
        if filters.iter().any(|filter| filter.search().is_some()) {
            let reason = "this relay has no search";
            return Err(rejection("search", Prefix::Unsupported, reason));
        }
        let private = |filter: &Filter| {
            let kinds = filter.kinds().unwrap_or_default();
            !kinds.is_empty() && kinds.iter().all(|kind| RESTRICTED.contains(kind))
        };
        if filters.iter().any(private) && self.keys().is_empty() {
            let reason = "direct messages are served to their authors and recipients";
            return Err(rejection("auth-required", Prefix::AuthRequired, reason));
        }
        Ok(())
    }

    /// A query of this client for events up to a number.
    pub(crate) fn query(&self, filter: Filter, most: u64, last: u64) -> Option<Query> {
        let (keys, now) = (self.keys(), now());
        let reader = Reader { keys, now };
        Some(Query::new(
            filter,
            reader,
            most,
            last,
            self.relay.options.max_work,
        ))
    }

    /// The next events of a query, which is done on a thread of its own; `None` at the end.
    pub(crate) async fn page(
        &self,
        query: &mut Option<Query>,
    ) -> Result<Option<Vec<(u64, Event)>>, Rejection> {
        let Some(mut taken) = query.take().filter(|query| !query.is_done()) else {
            return Ok(None);
        };
        // The semaphore is never closed.
        let _turn = self.relay.queries.acquire().await;
        let snapshot = self.relay.store.snapshot();
        let read = tokio::task::spawn_blocking(move || (taken.page(&snapshot), taken));
        let (page, rest) = read.await.map_err(|error| {
            tracing::error!(%error, "a query failed");
            rejection("query", Prefix::Error, "the query failed")
        })?;
        if rest.is_too_broad() {
            let reason = "the filter is too broad: add ids, authors, kinds or a time";
            return Err(rejection("too-broad", Prefix::Restricted, reason));
        }
        *query = Some(rest);
        Ok(Some(page?))
    }
}
