//! Ids that were seen, and events that were verified.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use polywire_nostr::{Error, EventId, EventRef, Signature};

/// The latest ids, with something about each. At the limit, the oldest is forgotten.
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

    /// False if it is there already; then its entry is replaced.
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

/// The ids that one subscription has delivered, from whatever relay.
#[derive(Debug)]
pub(crate) struct SeenIds(Mutex<RecentIds<()>>);

impl SeenIds {
    pub(crate) fn new(limit: usize) -> Self {
        Self(Mutex::new(RecentIds::new(limit)))
    }

    pub(crate) fn contains(&self, id: &EventId) -> bool {
        lock(&self.0).get(id).is_some()
    }

    /// False if it is there already.
    pub(crate) fn insert(&self, id: EventId) -> bool {
        lock(&self.0).insert(id, ())
    }
}

/// The locks between which ids are divided. A lock is held while a signature is verified, so that no
/// two relays verify one event; other events rarely wait for it.
const SHARDS: usize = 16;

/// Verifies events, and remembers which.
#[derive(Debug)]
pub(crate) struct Verifier {
    shards: [Mutex<RecentIds<Signature>>; SHARDS],
}

/// How an event turned out to be valid.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Validity {
    /// Its signature was verified.
    Verified,
    /// The same id and signature had been verified before.
    Known,
}

impl Verifier {
    pub(crate) fn new(limit: usize) -> Self {
        let shard = |_| Mutex::new(RecentIds::new(limit.div_ceil(SHARDS)));
        Self {
            shards: std::array::from_fn(shard),
        }
    }

    /// Checks the id, and the signature unless this one is known to be valid for this id.
    ///
    /// Only valid events are remembered: a forgery with the id of another event keeps out nothing.
    pub(crate) fn verify(&self, event: &EventRef<'_>) -> Result<Validity, Error> {
        let shard = usize::from(event.id().as_bytes()[31]) % SHARDS;
        let mut known = lock(&self.shards[shard]);
        if known.get(event.id()) == Some(event.sig()) {
            // The same id may have been stated for another text.
            event.check_id()?;
            return Ok(Validity::Known);
        }
        event.verify()?;
        known.insert(*event.id(), *event.sig());
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
    fn a_known_id_does_not_validate_another_text() {
        let event = EventBuilder::new(1, "true", 7).sign(&KeyPair::generate().unwrap());
        let verifier = Verifier::new(8);
        assert_eq!(verifier.verify(&event.as_ref()), Ok(Validity::Verified));
        assert_eq!(verifier.verify(&event.as_ref()), Ok(Validity::Known));
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
