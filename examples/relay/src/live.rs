//! Delivery of new events to open subscriptions.
//!
//! Subscriptions are indexed by the most selective condition of each filter: ids, else authors, else tags, else kinds.
//! A new event is compared with the subscriptions that share a condition with it, not with all.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use polywire_nostr::{CompiledFilters, Event, EventId, EventRef, Filter, PublicKey, TagLetter};
use polywire_rpc::websocket::Message;
use tokio::sync::watch;

use crate::metrics::Metrics;
use crate::outbox::{Id, Outbox, event as event_message};
use crate::policy::may_read;
use crate::store::{LogEntry, now};

/// The maximum number of bytes of new events to buffer for a subscription while its stored events are sent.
const MAX_BUFFERED: usize = 4 << 20;

/// The maximum number of groups of events in the queue of the thread.
const QUEUE: usize = 64;

/// A subscription of a connection.
pub(crate) struct Subscription {
    pub(crate) id: Id,
    pub(crate) filters: Vec<Filter>,
    compiled: CompiledFilters,
    outbox: Outbox,
    /// The public keys of the client.
    keys: watch::Receiver<Vec<PublicKey>>,
    delivery: Mutex<Delivery>,
}

/// What to do with new events.
enum Delivery {
    /// Buffer them until the stored events are sent. With the number of bytes.
    Buffered(Vec<(u64, Message)>, usize),
    /// Send those after this number.
    After(u64),
}

impl Subscription {
    pub(crate) fn new(
        id: Id,
        filters: Vec<Filter>,
        outbox: Outbox,
        keys: watch::Receiver<Vec<PublicKey>>,
    ) -> Self {
        Self {
            id,
            compiled: CompiledFilters::new(&filters),
            filters,
            outbox,
            keys,
            delivery: Mutex::new(Delivery::Buffered(Vec::new(), 0)),
        }
    }

    fn matches(&self, event: &EventRef<'_>, now: u64) -> bool {
        self.compiled.matches(event) && may_read(event, &self.keys.borrow(), now)
    }

    fn delivery(&self) -> MutexGuard<'_, Delivery> {
        self.delivery.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn deliver(&self, number: u64, message: Message) {
        match &mut *self.delivery() {
            Delivery::After(last) if number > *last => self.outbox.push(message),
            Delivery::After(_) => {}
            Delivery::Buffered(buffer, bytes) if *bytes < MAX_BUFFERED => {
                *bytes += message.len();
                buffer.push((number, message));
            }
            Delivery::Buffered(..) => self.outbox.overflow(),
        }
    }

    /// Sends the buffered events after the number `last`, and new events from now on. Returns whether the connection
    /// is open.
    pub(crate) async fn open(&self, last: u64) -> bool {
        loop {
            let buffered = match &mut *self.delivery() {
                Delivery::Buffered(buffer, bytes) if !buffer.is_empty() => {
                    *bytes = 0;
                    std::mem::take(buffer)
                }
                delivery => {
                    *delivery = Delivery::After(last);
                    return true;
                }
            };
            for (number, message) in buffered {
                if number > last && !self.outbox.send(message).await {
                    return false;
                }
            }
        }
    }
}

/// A key of the subscription index.
#[derive(Eq, Hash, PartialEq)]
enum Condition {
    Id(EventId),
    Author(PublicKey),
    Tag(TagLetter, Box<str>),
    Kind(u16),
    None,
}

/// The subscriptions by condition.
type Index = HashMap<Condition, Vec<Arc<Subscription>>>;

/// Returns the index keys of a filter. Each event that matches has one of them.
fn most_selective(filter: &Filter) -> Vec<Condition> {
    let tag = filter.tags().iter().min_by_key(|tag| tag.values().len());
    if filter.matches_nothing() {
        Vec::new()
    } else if let Some(ids) = filter.ids() {
        ids.iter().copied().map(Condition::Id).collect()
    } else if let Some(authors) = filter.authors() {
        authors.iter().copied().map(Condition::Author).collect()
    } else if let Some(tag) = tag {
        let condition = |value: &str| Condition::Tag(tag.letter(), value.into());
        tag.values().map(condition).collect()
    } else if let Some(kinds) = filter.kinds() {
        kinds.iter().copied().map(Condition::Kind).collect()
    } else {
        vec![Condition::None]
    }
}

/// Returns the subscriptions that an event can match, each once.
fn candidates<'i>(index: &'i Index, event: &EventRef<'_>) -> Vec<&'i Arc<Subscription>> {
    let fixed = [
        Condition::Id(*event.id()),
        Condition::Author(*event.pubkey()),
        Condition::Kind(event.kind()),
        Condition::None,
    ];
    let tags = event.letter_tags();
    let tags = tags.map(|(letter, value)| Condition::Tag(letter, value.into()));
    let conditions = fixed.into_iter().chain(tags);
    let found = conditions.filter_map(|condition| index.get(&condition));
    let mut found: Vec<_> = found.flatten().collect();
    found.sort_unstable_by_key(|subscription| Arc::as_ptr(subscription));
    found.dedup_by_key(|subscription| Arc::as_ptr(subscription));
    found
}

/// The open subscriptions.
pub(crate) struct Live {
    index: RwLock<Index>,
    metrics: Arc<Metrics>,
}

impl Live {
    /// Starts a thread that delivers new events. It ends when all senders are dropped.
    pub(crate) fn start(
        metrics: Arc<Metrics>,
    ) -> io::Result<(Arc<Self>, SyncSender<Vec<LogEntry>>)> {
        let index = RwLock::default();
        let live = Arc::new(Self { index, metrics });
        let (events, queue) = sync_channel::<Vec<LogEntry>>(QUEUE);
        let worker = Arc::clone(&live);
        let thread = std::thread::Builder::new().name("live".into());
        thread.spawn(move || queue.iter().for_each(|group| worker.deliver(&group)))?;
        Ok((live, events))
    }

    pub(crate) fn add(&self, subscription: &Arc<Subscription>) {
        self.metrics.subscriptions(1);
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        for condition in subscription.filters.iter().flat_map(most_selective) {
            let entry = index.entry(condition).or_default();
            entry.push(Arc::clone(subscription));
        }
    }

    pub(crate) fn remove(&self, subscription: &Arc<Subscription>) {
        self.metrics.subscriptions(-1);
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        for condition in subscription.filters.iter().flat_map(most_selective) {
            if let Entry::Occupied(mut entry) = index.entry(condition) {
                let others = entry.get_mut();
                others.retain(|other| !Arc::ptr_eq(other, subscription));
                if others.is_empty() {
                    entry.remove();
                }
            }
        }
    }

    fn deliver(&self, group: &[LogEntry]) {
        let now = now();
        for (number, event) in group {
            let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
            if index.is_empty() {
                continue;
            }
            let event = event.as_ref();
            // Decodes escapes once, not once per subscription.
            let canonical = (!event.is_canonical()).then(|| event.to_canonical());
            let matched = canonical.as_ref().map_or(event, Event::as_ref);
            // Many clients use the same subscription id. They share a message.
            let mut messages: HashMap<&str, Message> = HashMap::new();
            let mut delivered = 0;
            for subscription in candidates(&index, &matched) {
                if subscription.matches(&matched, now) {
                    let id = &subscription.id;
                    let message = messages.entry(id.as_str());
                    let message = message.or_insert_with(|| event_message(id, event.as_json()));
                    subscription.deliver(*number, message.clone());
                    delivered += 1;
                }
            }
            self.metrics.delivered(delivered);
        }
    }
}
