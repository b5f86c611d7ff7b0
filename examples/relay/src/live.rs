//! New events to open subscriptions.
//!
//! Each filter stands under its most selective condition: ids, then authors, tags, kinds, or none. A new event is
//! compared with the subscriptions that stand under something it has, not with all of them.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

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
        let mut reader = self
            .reader
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        reader.now = now;
        self.compiled.matches(event) && reader.may_read(event)
    }

    fn deliver(&self, number: u64, message: Message) {
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *stage {
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
            let waited = {
                let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
                match &mut *stage {
                    Stage::Waiting(waiting) if !waiting.is_empty() => std::mem::take(waiting),
                    _ => {
                        *stage = Stage::Open(behind);
                        return true;
                    }
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

/// All open subscriptions, by what they ask for.
#[derive(Default)]
struct Places {
    ids: Place<[u8; 32]>,
    authors: Place<[u8; 32]>,
    tags: Place<(TagLetter, Box<str>)>,
    kinds: Place<u16>,
    all: Place<()>,
}

type Place<K> = HashMap<K, Vec<Arc<Subscription>>>;

impl Places {
    /// Calls the function for each place of a subscription.
    fn each(&mut self, subscription: &Arc<Subscription>, change: Change) {
        for filter in &subscription.filters {
            let tag = filter.tags().iter().min_by_key(|tag| tag.values().len());
            if filter.matches_nothing() {
                continue;
            }
            if let Some(ids) = filter.ids() {
                let ids = ids.iter().map(|id| *id.as_bytes());
                self.ids.change(ids, subscription, change);
            } else if let Some(authors) = filter.authors() {
                let authors = authors.iter().map(|author| *author.as_bytes());
                self.authors.change(authors, subscription, change);
            } else if let Some(tag) = tag {
                let values = tag.values().map(|value| (tag.letter(), value.into()));
                self.tags.change(values, subscription, change);
            } else if let Some(kinds) = filter.kinds() {
                self.kinds
                    .change(kinds.iter().copied(), subscription, change);
            } else {
                self.all.change([()], subscription, change);
            }
        }
    }

    /// The subscriptions that an event may match, each once.
    fn candidates<'p>(&'p self, event: &EventRef<'_>, found: &mut Vec<&'p Arc<Subscription>>) {
        found.extend(self.ids.get(event.id().as_bytes()).into_iter().flatten());
        found.extend(
            self.authors
                .get(event.pubkey().as_bytes())
                .into_iter()
                .flatten(),
        );
        found.extend(self.kinds.get(&event.kind()).into_iter().flatten());
        found.extend(self.all.get(&()).into_iter().flatten());
        if !self.tags.is_empty() {
            for tag in event.tags() {
                let mut items = tag.items();
                let mut name = items.next().unwrap_or_default().into_owned();
                if let (Some(letter), true) = (name.pop().and_then(TagLetter::new), name.is_empty())
                    && let Some(value) = items.next()
                {
                    let place = (letter, value.into());
                    found.extend(self.tags.get(&place).into_iter().flatten());
                }
            }
        }
        found.sort_unstable_by_key(|subscription| Arc::as_ptr(subscription));
        found.dedup_by_key(|subscription| Arc::as_ptr(subscription));
    }
}

#[derive(Clone, Copy)]
enum Change {
    Add,
    Remove,
}

trait Changes<K> {
    fn change(&mut self, keys: impl IntoIterator<Item = K>, of: &Arc<Subscription>, change: Change);
}

impl<K: Eq + Hash> Changes<K> for Place<K> {
    fn change(
        &mut self,
        keys: impl IntoIterator<Item = K>,
        of: &Arc<Subscription>,
        change: Change,
    ) {
        for key in keys {
            match change {
                Change::Add => self.entry(key).or_default().push(Arc::clone(of)),
                Change::Remove => {
                    let Some(place) = self.get_mut(&key) else {
                        continue;
                    };
                    if let Some(at) = place.iter().position(|other| Arc::ptr_eq(other, of)) {
                        place.swap_remove(at);
                    }
                    if place.is_empty() {
                        self.remove(&key);
                    }
                }
            }
        }
    }
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
        places.each(subscription, Change::Add);
    }

    pub(crate) fn remove(&self, subscription: &Arc<Subscription>) {
        let mut places = self.places.write().unwrap_or_else(PoisonError::into_inner);
        places.each(subscription, Change::Remove);
    }
}

fn run(places: &RwLock<Places>, waiting: &Receiver<Vec<(u64, Event)>>, metrics: &Metrics) {
    for group in waiting {
        let now = now();
        let places = places.read().unwrap_or_else(PoisonError::into_inner);
        let mut found = Vec::new();
        // One message for each id, which many clients have in common.
        let mut messages: HashMap<&str, Message> = HashMap::new();
        for (number, event) in &group {
            let event = event.as_ref();
            found.clear();
            messages.clear();
            places.candidates(&event, &mut found);
            let mut delivered = 0;
            for subscription in &found {
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
