//! Limits per caller, by a key of the server's choice.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::HeaderMap;
use tokio::time::Instant;

use crate::server::Peer;

/// Who calls, as far as it is known before anything of the call is read.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'a> {
    peer: &'a Peer,
    headers: &'a HeaderMap,
}

impl<'a> Caller<'a> {
    pub(crate) const fn new(peer: &'a Peer, headers: &'a HeaderMap) -> Self {
        Self { peer, headers }
    }

    /// The other end of the connection: its address, its certificate, the process at a Unix socket.
    #[must_use]
    pub const fn peer(&self) -> &'a Peer {
        self.peer
    }

    /// The headers of a request over HTTP; the metadata of a call over frames.
    #[must_use]
    pub const fn headers(&self) -> &'a HeaderMap {
        self.headers
    }
}

/// How many callers are remembered at most.
const MOST: usize = 65_536;
const SHARDS: usize = 16;

/// What is known of a caller is a hash that nobody can foresee: keys may be of any length.
type Key = Box<dyn Fn(&Caller<'_>, &RandomState) -> Option<u64> + Send + Sync>;

/// How often each caller may ask.
pub(crate) struct Callers {
    key: Key,
    hasher: RandomState,
    /// A bucket of tokens, told as times. Nanoseconds between two requests.
    between: u64,
    /// How far ahead of the rate a caller may be, in nanoseconds.
    ahead: u64,
    start: Instant,
    /// When the next request of each would come if all came at the rate, in nanoseconds from the start.
    due: [Mutex<HashMap<u64, u64>>; SHARDS],
}

impl Callers {
    pub(crate) fn new<K: Hash>(
        per_second: NonZeroU32,
        burst: NonZeroU32,
        key: impl Fn(&Caller<'_>) -> Option<K> + Send + Sync + 'static,
    ) -> Self {
        let between = 1_000_000_000 / u64::from(per_second.get());
        Self {
            key: Box::new(move |caller, hasher| key(caller).map(|key| hasher.hash_one(key))),
            hasher: RandomState::new(),
            between,
            ahead: between * u64::from(burst.get()),
            start: Instant::now(),
            due: Default::default(),
        }
    }

    /// Counts a request, or tells after which time it may come again.
    pub(crate) fn request(&self, caller: &Caller<'_>) -> Result<(), Duration> {
        let Some(key) = (self.key)(caller, &self.hasher) else {
            return Ok(());
        };
        // 584 years.
        let now = u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX / 2);
        // Times are whole whatever happened to who held them.
        let mut shard = self.due[key as usize % SHARDS]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let known = shard.get(&key).copied();
        let due = known.unwrap_or(now).max(now) + self.between;
        let over = (due - now).saturating_sub(self.ahead);
        if over > 0 {
            return Err(Duration::from_nanos(over));
        }
        if known.is_none() && shard.len() >= MOST / SHARDS {
            make_room(&mut shard, now);
        }
        shard.insert(key, due);
        Ok(())
    }

    #[cfg(test)]
    fn known(&self) -> usize {
        self.due
            .iter()
            .map(|shard| shard.lock().unwrap().len())
            .sum()
    }
}

/// Removes entries to make room: first callers that are at their full allowance; if more than half remain, those with
/// the lowest recent use, at least half of them. A removed caller starts with a full allowance, so that no caller is
/// locked out.
///
/// A caller can invent keys. To have its own entry removed, it must use each of them as much as its own.
#[cold]
fn make_room(shard: &mut HashMap<u64, u64>, now: u64) {
    shard.retain(|_, due| *due > now);
    if shard.len() > MOST / SHARDS / 2 {
        let least = super::median(shard.values().copied());
        shard.retain(|_, due| *due > least);
    }
}

impl fmt::Debug for Callers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Callers")
            .field("between", &self.between)
            .field("ahead", &self.ahead)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn callers_are_counted_apart_and_not_without_end() {
        let number = |number| NonZeroU32::new(number).unwrap();
        let callers = Callers::new(number(10), number(2), |caller| {
            caller.headers().get("key").cloned()
        });
        let ask = |key: Option<u32>| {
            let mut headers = HeaderMap::new();
            headers.extend(key.map(|key| (http::HeaderName::from_static("key"), key.into())));
            callers.request(&Caller::new(&Peer::default(), &headers))
        };
        assert_eq!([ask(Some(1)), ask(Some(1))], [Ok(()); 2]);
        assert_eq!(ask(Some(1)), Err(Duration::from_millis(100)));
        assert_eq!([ask(Some(2)), ask(Some(2))], [Ok(()); 2]);
        // Who has no key is not counted.
        assert!((0..100).all(|_| ask(None).is_ok()));
        tokio::time::advance(Duration::from_millis(100)).await;
        assert_eq!(ask(Some(1)), Ok(()));
        for key in 0..200_000 {
            let _ = ask(Some(key));
        }
        assert!(callers.known() <= MOST, "{}", callers.known());
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_that_invents_others_is_not_forgotten() {
        let number = |number| NonZeroU32::new(number).unwrap();
        let callers = Callers::new(number(10), number(2), |caller| {
            caller.headers().get("key").cloned()
        });
        let ask = |key: u32| {
            let mut headers = HeaderMap::new();
            headers.insert("key", key.into());
            callers.request(&Caller::new(&Peer::default(), &headers))
        };
        assert_eq!([ask(0), ask(0)], [Ok(()); 2]);
        for key in 1..200_000 {
            assert_eq!(ask(key), Ok(()));
        }
        assert_eq!(ask(0), Err(Duration::from_millis(100)));
        assert!(callers.known() <= MOST, "{}", callers.known());
    }
}
