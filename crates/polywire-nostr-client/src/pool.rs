//! Sets of relays.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use polywire_nostr::{Event, Filter, RelayUrl};
use tokio::task::JoinSet;

use crate::PublishError;
use crate::options::{RelayOptions, SubscribeOptions};
use crate::relay::{PublishOutcome, Relay};
use crate::stats::RelayStats;
use crate::subscription::{FetchOutcome, Subscription};
use crate::verifier::Verifier;

/// A set of relays with distinct URLs.
///
/// This is a handle: clones share the relays. The relays share a cache of the latest
/// [`RelayOptions::verified_ids`] valid events, which are verified only once.
///
/// ```no_run
/// use polywire_nostr::{Filter, RelayUrl};
/// use polywire_nostr_client::{Pool, RelayOptions, SubscribeOptions, SubscriptionItem};
///
/// # async fn read() -> Result<(), Box<dyn std::error::Error>> {
/// let pool = Pool::new(RelayOptions::new());
/// pool.add(&RelayUrl::parse("wss://relay.example.com")?);
/// pool.add(&RelayUrl::parse("wss://relay.example.org")?);
/// let notes = Filter::new().with_kinds([1]).with_limit(20);
/// let mut subscription = pool.subscribe([notes], SubscribeOptions::new());
/// while let Some(item) = subscription.recv().await {
///     if let SubscriptionItem::Event(event) = item {
///         println!("{}", event.as_ref().content());
///     }
/// }
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Pool(Arc<Inner>);

struct Inner {
    options: RelayOptions,
    verifier: Arc<Verifier>,
    relays: Mutex<BTreeMap<RelayUrl, Relay>>,
}

impl Pool {
    /// Creates an empty pool. `options` are the default options of its relays.
    #[must_use]
    pub fn new(options: RelayOptions) -> Self {
        Self(Arc::new(Inner {
            verifier: Arc::new(Verifier::new(options.verified_ids)),
            options,
            relays: Mutex::default(),
        }))
    }

    /// Adds a relay and starts to connect to it. Returns the existing relay if the pool has this
    /// URL. Open subscriptions do not include the new relay.
    ///
    /// # Panics
    ///
    /// If called outside of a tokio runtime.
    pub fn add(&self, url: &RelayUrl) -> Relay {
        self.add_with(url, self.0.options.clone())
    }

    /// As [`Self::add`], with options for this relay. [`RelayOptions::verified_ids`] is ignored:
    /// the cache of the pool is used.
    ///
    /// # Panics
    ///
    /// If called outside of a tokio runtime.
    pub fn add_with(&self, url: &RelayUrl, options: RelayOptions) -> Relay {
        let mut relays = self.lock();
        let verifier = || Arc::clone(&self.0.verifier);
        let relay = relays
            .entry(url.clone())
            .or_insert_with(|| Relay::spawn(url.clone(), options, verifier()));
        relay.clone()
    }

    /// Removes a relay and shuts it down for all handles. Returns `false` if the pool has no relay
    /// with this URL. Subscriptions continue with their other relays.
    pub fn remove(&self, url: &RelayUrl) -> bool {
        let relay = self.lock().remove(url);
        relay.inspect(Relay::shutdown).is_some()
    }

    /// Returns the relays, ordered by URL.
    #[must_use]
    pub fn relays(&self) -> Vec<Relay> {
        self.lock().values().cloned().collect()
    }

    /// Returns the relay with this URL, if any.
    #[must_use]
    pub fn relay(&self, url: &RelayUrl) -> Option<Relay> {
        self.lock().get(url).cloned()
    }

    /// Publishes an event to all relays concurrently: see [`Relay::publish`]. Returns when all
    /// relays have answered or timed out, with the results ordered by URL.
    pub async fn publish(
        &self,
        event: &Event,
    ) -> Vec<(RelayUrl, Result<PublishOutcome, PublishError>)> {
        let mut answers = JoinSet::new();
        for relay in self.relays() {
            let event = event.clone();
            answers.spawn(async move {
                let answer = relay.publish(&event).await;
                (relay.url().clone(), answer)
            });
        }
        let mut answers = answers.join_all().await;
        answers.sort_by(|(a, _), (b, _)| a.cmp(b));
        answers
    }

    /// Subscribes on all current relays of the pool. An event that several relays send is delivered
    /// once: duplicates among the latest [`SubscribeOptions::seen_ids`] are dropped before
    /// verification.
    ///
    /// Without relays or filters, the subscription ends immediately.
    #[must_use]
    pub fn subscribe(
        &self,
        filters: impl IntoIterator<Item = Filter>,
        options: SubscribeOptions,
    ) -> Subscription {
        Subscription::begin(self.relays(), &filters.into_iter().collect(), &options)
    }

    /// Fetches the stored events that match any of the filters from all relays, for up to `time`.
    /// Returns the events of the other relays even if some relays do not answer or reject the
    /// subscription.
    pub async fn fetch(
        &self,
        filters: impl IntoIterator<Item = Filter>,
        time: Duration,
    ) -> FetchOutcome {
        FetchOutcome::collect(self.relays(), &filters.into_iter().collect(), time).await
    }

    /// Returns the sums of the counters of all current relays.
    #[must_use]
    pub fn stats(&self) -> RelayStats {
        let relays = self.relays();
        let stats = relays.iter().map(Relay::stats);
        stats.fold(RelayStats::default(), |sum, stats| sum.plus(&stats))
    }

    /// Shuts all relays down and removes them.
    pub fn shutdown(&self) {
        let relays = std::mem::take(&mut *self.lock());
        relays.values().for_each(Relay::shutdown);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<RelayUrl, Relay>> {
        self.0.relays.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pool").field(&self.relays()).finish()
    }
}
