//! Caches of received ids and of verified events.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use polywire_nostr::{Error, EventId, EventRef, Signature};

/// A map of the latest ids. At the limit, the oldest entry is removed.
#[derive(Debug)]
pub(crate) struct RecentIds<T> {
    entries: HashMap<EventId, T>,
    order: VecDeque<EventId>,
    limit: usize,
}

impl<T> RecentIds<T> {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            entries: HashMap::new(),
            order: VecDeque::new(),
            limit: limit.max(1),
        }
    }

    pub(crate) fn get(&self, id: &EventId) -> Option<&T> {
        self.entries.get(id)
    }

    /// Inserts or replaces an entry. Returns `false` if it was replaced.
    pub(crate) fn insert(&mut self, id: EventId, entry: T) -> bool {
        if self.entries.insert(id, entry).is_some() {
            return false;
        }
        self.order.push_back(id);
        if self.order.len() > self.limit
            && let Some(oldest) = self.order.pop_front()
        {
            self.entries.remove(&oldest);
        }
        true
    }
}

/// The ids that one subscription has delivered, from all its relays.
#[derive(Debug)]
pub(crate) struct SeenIds(Mutex<RecentIds<()>>);

impl SeenIds {
    pub(crate) fn new(limit: usize) -> Self {
        Self(Mutex::new(RecentIds::new(limit)))
    }

    pub(crate) fn contains(&self, id: &EventId) -> bool {
        lock(&self.0).get(id).is_some()
    }

    /// Inserts an id. Returns `false` if it was present.
    pub(crate) fn insert(&self, id: EventId) -> bool {
        lock(&self.0).insert(id, ())
    }
}

/// The number of locks. A lock is held while a signature is verified, so that no two relays verify
/// the same event. With several locks, other events rarely wait.
const SHARDS: usize = 16;

/// Verifies events, with a cache of valid ones.
#[derive(Debug)]
pub(crate) struct Verifier {
    shards: [Mutex<RecentIds<Signature>>; SHARDS],
}

/// How a valid event was verified.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Validity {
    /// The signature was verified.
    Verified,
    /// The id and signature were in the cache.
    Cached,
}

impl Verifier {
    pub(crate) fn new(limit: usize) -> Self {
        let shard = |_| Mutex::new(RecentIds::new(limit.div_ceil(SHARDS)));
        Self {
            shards: std::array::from_fn(shard),
        }
    }

    /// Checks the id, and the signature unless the cache has this id and signature.
    ///
    /// Only valid events are cached, so a forged event with the id of another event cannot suppress
    /// it.
    pub(crate) fn verify(&self, event: &EventRef<'_>) -> Result<Validity, Error> {
        let shard = usize::from(event.id().as_bytes()[31]) % SHARDS;
        let mut cache = lock(&self.shards[shard]);
        if cache.get(event.id()) == Some(event.sig()) {
            // A forged event can state the id and signature of a valid one.
            event.check_id()?;
            return Ok(Validity::Cached);
        }
        event.verify()?;
        cache.insert(*event.id(), *event.sig());
        Ok(Validity::Verified)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use polywire_nostr::{Event, EventBuilder, KeyPair};

    use super::*;

    #[test]
    fn forgets_the_oldest() {
        let id = |byte| EventId::from_bytes([byte; 32]);
        let mut ids = RecentIds::new(2);
        assert!(ids.insert(id(1), 'a') && ids.insert(id(2), 'b'));
        assert!(!ids.insert(id(1), 'c'));
        assert!(ids.insert(id(3), 'd'));
        assert_eq!((ids.get(&id(1)), ids.get(&id(3))), (None, Some(&'d')));
    }

    #[test]
    fn a_cached_id_does_not_validate_another_text() {
        let event = EventBuilder::new(1, "true", 7).sign(&KeyPair::generate().unwrap());
        let verifier = Verifier::new(8);
        assert_eq!(verifier.verify(&event.as_ref()), Ok(Validity::Verified));
        assert_eq!(verifier.verify(&event.as_ref()), Ok(Validity::Cached));
        let forged = event.as_ref().as_json().replace("true", "false");
        let forged = Event::parse(&forged).unwrap();
        assert!(verifier.verify(&forged.as_ref()).is_err());
        let sig = Signature::from_bytes([1; 64]).to_string();
        let forged = event
            .as_ref()
            .as_json()
            .replace(&event.as_ref().sig().to_string(), &sig);
        let forged = Event::parse(&forged).unwrap();
        assert!(verifier.verify(&forged.as_ref()).is_err());
    }
}
