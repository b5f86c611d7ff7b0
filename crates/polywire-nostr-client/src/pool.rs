//! Several relays.

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
use crate::subscription::{Fetched, Subscription};
use crate::verifier::Verifier;

/// Several relays, of which each URL counts once.
///
/// This is a handle: clones share the relays. Each event is verified once for all of them, as long as
/// it is among the latest [`RelayOptions::verified_ids`] valid events.
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
    /// Returns a pool without relays. Relays that are added have these options.
    #[must_use]
    pub fn new(options: RelayOptions) -> Self {
        Self(Arc::new(Inner {
            verifier: Arc::new(Verifier::new(options.verified_ids)),
            options,
            relays: Mutex::default(),
        }))
    }

    /// Adds a relay and begins to connect to it. Returns the one that is there already if there is one.
    /// Subscriptions that exist do not extend to it.
    ///
    /// # Panics
    ///
    /// Outside of a runtime of tokio.
    pub fn add(&self, url: &RelayUrl) -> Relay {
        self.add_with(url, self.0.options.clone())
    }

    /// Adds a relay with options of its own: see [`Self::add`]. Its
    /// [`RelayOptions::verified_ids`] do not count; those of the pool do.
    ///
    /// # Panics
    ///
    /// Outside of a runtime of tokio.
    pub fn add_with(&self, url: &RelayUrl, options: RelayOptions) -> Relay {
        let mut relays = self.lock();
        let verifier = || Arc::clone(&self.0.verifier);
        let relay = relays
            .entry(url.clone())
            .or_insert_with(|| Relay::spawn(url.clone(), options, verifier()));
        relay.clone()
    }

    /// Removes a relay and shuts it down for all handles. False if there is none of this URL.
    /// Subscriptions go on with their other relays.
    pub fn remove(&self, url: &RelayUrl) -> bool {
        let relay = self.lock().remove(url);
        relay.inspect(Relay::shutdown).is_some()
    }

    /// Returns the relays, ordered by URL.
    #[must_use]
    pub fn relays(&self) -> Vec<Relay> {
        self.lock().values().cloned().collect()
    }

    /// Returns the relay of this URL, if there is one.
    #[must_use]
    pub fn relay(&self, url: &RelayUrl) -> Option<Relay> {
        self.lock().get(url).cloned()
    }

    /// Publishes an event to all relays at once: see [`Relay::publish`]. Returns what each answered, in
    /// the order of URLs, when the last has answered or its time is up.
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

    /// Subscribes to all relays that are in the pool now. An event that several relays send comes once.
    /// Duplicates are dropped before they are verified, as long as they are among the latest
    /// [`SubscribeOptions::seen_ids`].
    ///
    /// Without relays or without filters the subscription has ended.
    #[must_use]
    pub fn subscribe(
        &self,
        filters: impl IntoIterator<Item = Filter>,
        options: SubscribeOptions,
    ) -> Subscription {
        Subscription::begin(self.relays(), &filters.into_iter().collect(), &options)
    }

    /// Fetches the stored events that match one of the filters at least from all relays, for `time` at
    /// most. Relays that do not answer, and those that refuse, do not prevent the events of others.
    pub async fn fetch(
        &self,
        filters: impl IntoIterator<Item = Filter>,
        time: Duration,
    ) -> Fetched {
        Fetched::collect(self.relays(), &filters.into_iter().collect(), time).await
    }

    /// Returns what has been counted for all relays together that are in the pool now.
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
