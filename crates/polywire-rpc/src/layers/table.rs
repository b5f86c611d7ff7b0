//! Rates and connection counts of callers by key, in bounded memory.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use polywire_frame::Time;
use polywire_frame::flow::{Rate, RateState};

use crate::frames::Clock;

const SHARDS: usize = 16;

/// Entries of a shard that are always kept.
const LEAST: usize = 16;

/// Callers by key. If there are too many, entries equal to a new one are removed. If more than half remain, at least
/// half of those without a connection are removed, those with the lowest recent use first. So no caller is locked out,
/// and a caller that invents keys must use each of them as much as its own key to reset the limit of its own.
pub(super) struct CallerTable<K> {
    clock: Clock,
    hasher: RandomState,
    shards: [Mutex<Shard<K>>; SHARDS],
}

struct Shard<K> {
    entries: HashMap<K, Entry>,
    /// The number of entries at which the next removal is due.
    limit: usize,
}

/// The state of a caller.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    /// Open connections.
    pub(super) connections: u32,
    rate: RateState,
}

impl Entry {
    fn is_idle(&self, now: Time) -> bool {
        self.connections == 0 && self.rate.is_idle(now)
    }
}

impl<K: Copy + Eq + Hash> CallerTable<K> {
    pub(super) fn new() -> Self {
        let shard = || {
            Mutex::new(Shard {
                entries: HashMap::new(),
                limit: LEAST,
            })
        };
        Self {
            clock: Clock::new(),
            hasher: RandomState::new(),
            shards: std::array::from_fn(|_| shard()),
        }
    }

    /// Admits a request, or returns the time after which it can be repeated. `most` is the number of callers to remember.
    pub(super) fn request(&self, key: K, rate: &Rate, most: usize) -> Result<(), Duration> {
        self.request_at(key, rate, most, self.clock.now())
    }

    pub(super) fn request_at(
        &self,
        key: K,
        rate: &Rate,
        most: usize,
        now: Time,
    ) -> Result<(), Duration> {
        self.with(key, most, now, |entry| {
            let reserved = rate.reserve(&mut entry.rate, now, Duration::ZERO);
            reserved.map(|_| ())
        })
    }

    /// Calls a function with the entry of a caller, which is created if there is none.
    pub(super) fn update<R>(&self, key: K, most: usize, change: impl FnOnce(&mut Entry) -> R) -> R {
        self.with(key, most, self.clock.now(), change)
    }

    fn with<R>(&self, key: K, most: usize, now: Time, change: impl FnOnce(&mut Entry) -> R) -> R {
        let mut shard = self.shard(key);
        if shard.entries.len() >= shard.limit && !shard.entries.contains_key(&key) {
            shard.remove_some(now, most / SHARDS);
        }
        change(shard.entries.entry(key).or_default())
    }

    /// A connection of a caller has ended.
    pub(super) fn disconnect(&self, key: K) {
        let now = self.clock.now();
        let mut shard = self.shard(key);
        if let Some(entry) = shard.entries.get_mut(&key) {
            entry.connections = entry.connections.saturating_sub(1);
            if entry.is_idle(now) {
                shard.entries.remove(&key);
            }
        }
    }

    fn shard(&self, key: K) -> MutexGuard<'_, Shard<K>> {
        let index = self.hasher.hash_one(key) as usize % SHARDS;
        // A panic of another thread leaves no entry half changed.
        self.shards[index]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        let shards = self.shards.iter();
        shards
            .map(|shard| shard.lock().unwrap().entries.len())
            .sum()
    }
}

impl<K: Copy + Eq + Hash> Shard<K> {
    /// Removes entries, and sets the next limit. It visits each entry, but is called only after as many new entries were
    /// added, so its amortized cost is constant.
    #[cold]
    fn remove_some(&mut self, now: Time, most: usize) {
        let most = most.max(LEAST);
        self.entries.retain(|_, entry| !entry.is_idle(now));
        if self.entries.len() > most / 2 {
            let others = self.entries.values().filter(|entry| entry.connections == 0);
            let mut states: Vec<RateState> = others.map(|entry| entry.rate).collect();
            let middle = states.len() / 2;
            if middle < states.len() {
                let order = |one: &RateState, other: &RateState| one.total_cmp(*other);
                let median = *states.select_nth_unstable_by(middle, order).1;
                self.entries
                    .retain(|_, entry| entry.connections > 0 || entry.rate > median);
            }
        }
        let len = self.entries.len();
        self.entries.shrink_to(2 * len);
        // Connections are limited elsewhere, and so are callers that have some.
        self.limit = (2 * len).clamp(LEAST, most.max(2 * len));
    }
}
