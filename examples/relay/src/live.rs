//! New events to open subscriptions.
//!
//! Each filter stands under its most selective condition: ids, then authors, tags, kinds, or none. A new event is
//! compared with the subscriptions that stand under something it has, not with all of them.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use polywire_nostr::{CompiledFilters, Event, EventRef, Filter, SubscriptionId, TagLetter};
use polywire_rpc::websocket::Message;

use crate::metrics::Metrics;
use crate::outbox::{Outbox, event as event_message};
use crate::store::{Reader, now};

/// The new events that may wait for a subscription whose stored events are being sent.
const MOST_WAITING: usize = 10_000;

/// A subscription of a connection.
pub(crate) struct Subscription {
    pub(crate) id: SubscriptionId<'static>,
    pub(crate) filters: Vec<Filter>,
    compiled: CompiledFilters,
    outbox: Outbox,
    /// Who is at the other end.
    reader: Arc<RwLock<Reader>>,
    stage: Mutex<Stage>,
}

/// What becomes of new events.
enum Stage {
    /// They wait until the stored events have been sent.
    Waiting(Vec<(u64, Message)>),
    /// Those behind this number are sent.
    Open(u64),
}

impl Subscription {
    pub(crate) fn new(
        id: SubscriptionId<'static>,
        filters: Vec<Filter>,
        outbox: Outbox,
        reader: Arc<RwLock<Reader>>,
    ) -> Self {
        Self {
            id,
            compiled: CompiledFilters::new(&filters),
            filters,
            outbox,
            reader,
            stage: Mutex::new(Stage::Waiting(Vec::new())),
        }
    }

    fn matches(&self, event: &EventRef<'_>, now: u64) -> bool {
        if !self.compiled.matches(event) {
            return false;
        }
        let reader = self.reader.read().unwrap_or_else(PoisonError::into_inner);
        let keys = reader.keys.clone();
        Reader { keys, now }.may_read(event)
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn deliver(&self, number: u64, message: Message) {
        match &mut *self.stage() {
            Stage::Open(behind) if number > *behind => self.outbox.push(message),
            Stage::Open(_) => {}
            Stage::Waiting(waiting) if waiting.len() < MOST_WAITING => {
                waiting.push((number, message));
            }
            Stage::Waiting(_) => self.outbox.overflow(),
        }
    }

    /// The stored events up to a number have been sent: sends what has come since, and lets new events through.
    /// Answers whether the client is still there.
    pub(crate) async fn open(&self, behind: u64) -> bool {
        loop {
            let waited = match &mut *self.stage() {
                Stage::Waiting(waiting) if !waiting.is_empty() => std::mem::take(waiting),
                stage => {
                    *stage = Stage::Open(behind);
                    return true;
                }
            };
            for (number, message) in waited {
                if number > behind && !self.outbox.send(message).await {
                    return false;
                }
            }
        }
    }
}

/// What subscriptions stand under.
#[derive(Eq, Hash, PartialEq)]
enum Condition {
    Id([u8; 32]),
    Author([u8; 32]),
    Tag(TagLetter, Box<str>),
    Kind(u16),
    None,
}

/// All open subscriptions.
type Places = HashMap<Condition, Vec<Arc<Subscription>>>;

/// The conditions of which an event that matches the filter has one.
fn most_selective(filter: &Filter) -> Vec<Condition> {
    let tag = filter.tags().iter().min_by_key(|tag| tag.values().len());
    if filter.matches_nothing() {
        return Vec::new();
    }
    if let Some(ids) = filter.ids() {
        ids.iter().map(|id| Condition::Id(*id.as_bytes())).collect()
    } else if let Some(authors) = filter.authors() {
        authors
            .iter()
            .map(|author| Condition::Author(*author.as_bytes()))
            .collect()
    } else if let Some(tag) = tag {
        tag.values()
            .map(|value| Condition::Tag(tag.letter(), value.into()))
            .collect()
    } else if let Some(kinds) = filter.kinds() {
        kinds.iter().map(|kind| Condition::Kind(*kind)).collect()
    } else {
        vec![Condition::None]
    }
}

/// The subscriptions that an event may match, each once.
fn candidates<'p>(places: &'p Places, event: &EventRef<'_>) -> Vec<&'p Arc<Subscription>> {
    let fixed = [
        Condition::Id(*event.id().as_bytes()),
        Condition::Author(*event.pubkey().as_bytes()),
        Condition::Kind(event.kind()),
        Condition::None,
    ];
    let tags = event
        .letter_tags()
        .map(|(letter, value)| Condition::Tag(letter, value.into()));
    let conditions = fixed.into_iter().chain(tags);
    let found = conditions.filter_map(|condition| places.get(&condition));
    let mut found: Vec<_> = found.flatten().collect();
    found.sort_unstable_by_key(|subscription| Arc::as_ptr(subscription));
    found.dedup_by_key(|subscription| Arc::as_ptr(subscription));
    found
}

/// Hands new events to open subscriptions, on a thread of its own.
#[derive(Clone)]
pub(crate) struct Live {
    places: Arc<RwLock<Places>>,
    events: SyncSender<Vec<(u64, Event)>>,
}

/// The groups of events that may wait.
const GROUPS: usize = 64;

impl Live {
    /// Starts the thread, which ends when all who can send to it are gone.
    pub(crate) fn start(metrics: Arc<Metrics>) -> std::io::Result<Self> {
        let (events, waiting) = sync_channel(GROUPS);
        let places = Arc::new(RwLock::new(Places::default()));
        let own = Arc::clone(&places);
        let thread = std::thread::Builder::new().name("live".into());
        thread.spawn(move || run(&own, &waiting, &metrics))?;
        Ok(Self { places, events })
    }

    /// Where new events go, with their numbers.
    pub(crate) const fn events(&self) -> &SyncSender<Vec<(u64, Event)>> {
        &self.events
    }

    pub(crate) fn add(&self, subscription: &Arc<Subscription>) {
        let mut places = self.places.write().unwrap_or_else(PoisonError::into_inner);
        for condition in subscription.filters.iter().flat_map(most_selective) {
            places
                .entry(condition)
                .or_default()
                .push(Arc::clone(subscription));
        }
    }

    pub(crate) fn remove(&self, subscription: &Arc<Subscription>) {
        let mut places = self.places.write().unwrap_or_else(PoisonError::into_inner);
        for condition in subscription.filters.iter().flat_map(most_selective) {
            let Some(place) = places.get_mut(&condition) else {
                continue;
            };
            place.retain(|other| !Arc::ptr_eq(other, subscription));
            if place.is_empty() {
                places.remove(&condition);
            }
        }
    }
}

fn run(places: &RwLock<Places>, waiting: &Receiver<Vec<(u64, Event)>>, metrics: &Metrics) {
    for group in waiting {
        let now = now();
        for (number, event) in &group {
            let event = event.as_ref();
            let places = places.read().unwrap_or_else(PoisonError::into_inner);
            if places.is_empty() {
                continue;
            }
            // One message for each id, which many clients have in common.
            let mut messages: HashMap<&str, Message> = HashMap::new();
            let mut delivered = 0;
            for subscription in candidates(&places, &event) {
                if subscription.matches(&event, now) {
                    let id = &subscription.id;
                    let message = messages.entry(id.as_str());
                    let message = message.or_insert_with(|| event_message(id, event.as_json()));
                    subscription.deliver(*number, message.clone());
                    delivered += 1;
                }
            }
            metrics.delivered(delivered);
        }
    }
}
