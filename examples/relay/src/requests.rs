//! Questions: REQ, COUNT and CLOSE.

use std::collections::HashSet;
use std::sync::Arc;

use polywire_nostr::message::{Count, Prefix, relay};
use polywire_nostr::{Event, Filter, SubscriptionId};

use crate::connection::Connection;
use crate::live::Subscription;
use crate::outbox::{event as event_message, text};
use crate::policy::Rejection;
use crate::store::{Query, QueryError, RESTRICTED, Reader, now};

impl Connection<'_> {
    /// Sends the stored events that match, then EOSE, then new ones as they come.
    pub(crate) async fn request(&mut self, id: SubscriptionId<'static>, filters: Vec<Filter>) {
        self.close(&id);
        let most = self.relay.options.max_subscriptions;
        if let Err(rejection) = self.check_request(&filters) {
            return self.refuse(&id, &rejection);
        }
        if self.subscriptions.len() >= most {
            let reason = format!("no more than {most} subscriptions");
            return self.refuse(
                &id,
                &Rejection::new("subscriptions", Prefix::Restricted, &reason),
            );
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
        match self.send_stored(&subscription, last).await {
            Ok(true) => {
                let eose = text(|out| relay::push_eose(out, &id));
                let _ = self.outbox.send(eose).await && subscription.open(last).await;
            }
            // The client is gone.
            Ok(false) => {}
            Err(rejection) => {
                self.close(&id);
                self.refuse(&id, &rejection);
            }
        }
    }

    /// Sends the stored events that match, in pages. Answers whether the client is still there.
    async fn send_stored(&self, subscription: &Subscription, last: u64) -> Result<bool, Rejection> {
        let mut sent = HashSet::new();
        let several = subscription.filters.len() > 1;
        for filter in &subscription.filters {
            let mut query = self.query(filter.clone(), self.relay.options.max_limit, last);
            while !query.is_done() {
                let page;
                (query, page) = self.page(query).await?;
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
    pub(crate) async fn count(&self, id: &SubscriptionId<'_>, filters: Vec<Filter>) {
        let counted = match self.check_request(&filters) {
            Ok(()) => self.count_stored(filters).await,
            Err(rejection) => Err(rejection),
        };
        match counted {
            Ok(count) => {
                let count = Count::new(count);
                self.outbox
                    .push(text(|out| relay::push_count(out, id, &count)));
            }
            Err(rejection) => self.refuse(id, &rejection),
        }
    }

    async fn count_stored(&self, filters: Vec<Filter>) -> Result<u64, Rejection> {
        let mut found = HashSet::new();
        let last = self.relay.store.snapshot().last;
        for filter in filters {
            let mut query = self.query(filter, u64::MAX, last);
            while !query.is_done() {
                let page;
                (query, page) = self.page(query).await?;
                found.extend(page.iter().map(|(number, _)| *number));
            }
        }
        Ok(found.len() as u64)
    }

    pub(crate) fn close(&mut self, id: &SubscriptionId<'_>) {
        if let Some(subscription) = self.subscriptions.remove(id.as_str()) {
            self.relay.live.remove(&subscription);
            self.relay.metrics.subscriptions(-1);
        }
    }

    pub(crate) fn refuse(&self, id: &SubscriptionId<'_>, rejection: &Rejection) {
        self.relay.metrics.rejected(rejection.code);
        self.outbox.closed(id, &rejection.reason);
    }

    /// Checks what a client asks for.
    pub(crate) fn check_request(&self, filters: &[Filter]) -> Result<(), Rejection> {
        self.admit_request()?;
        if filters.iter().any(|filter| filter.search().is_some()) {
            let reason = "this relay has no search";
            return Err(Rejection::new("search", Prefix::Unsupported, reason));
        }
        let restricted = |kind: &u16| RESTRICTED.contains(kind);
        let mut kinds = filters
            .iter()
            .map(|filter| filter.kinds().unwrap_or_default());
        if kinds.any(|kinds| !kinds.is_empty() && kinds.iter().all(restricted))
            && self.keys().is_empty()
        {
            let reason = "direct messages are served to their authors and recipients";
            return Err(Rejection::new(
                "auth-required",
                Prefix::AuthRequired,
                reason,
            ));
        }
        Ok(())
    }

    /// A query of this client for events up to a number.
    pub(crate) fn query(&self, filter: Filter, most: u64, last: u64) -> Query {
        let reader = Reader {
            keys: self.keys(),
            now: now(),
        };
        Query::new(filter, reader, most, last, self.relay.options.max_work)
    }

    /// The next events of a query, which is done on a thread of its own.
    pub(crate) async fn page(
        &self,
        mut query: Query,
    ) -> Result<(Query, Vec<(u64, Event)>), Rejection> {
        let failed = |error: &dyn std::fmt::Display| {
            tracing::error!(%error, "a query failed");
            Rejection::new("storage", Prefix::Error, &error.to_string())
        };
        // The semaphore is never closed.
        let _turn = self.relay.queries.acquire().await;
        let snapshot = self.relay.store.snapshot();
        let read = tokio::task::spawn_blocking(move || {
            let page = query.page(&snapshot);
            page.map(|page| (query, page))
        });
        match read.await {
            Ok(Ok(read)) => Ok(read),
            Ok(Err(QueryError::TooBroad)) => {
                let reason = "the filter is too broad: add ids, authors, kinds or a time";
                Err(Rejection::new("too-broad", Prefix::Restricted, reason))
            }
            Ok(Err(QueryError::Store(error))) => Err(failed(&error)),
            Err(error) => Err(failed(&error)),
        }
    }
}
