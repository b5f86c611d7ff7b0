//! Rates per caller, by a key of the server's choice.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::num::NonZeroU32;

use polywire_frame::flow::Rate;
use polywire_protocol::Fault;

use super::table::CallerTable;
use crate::call::admission::{RateScope, Rejection};
use crate::call::{CallHead, catch_panic};

/// The number of callers that are remembered.
const MOST: usize = 65_536;

/// Keys may be of any length, so that a hash is stored, which callers cannot foresee.
type Key = Box<dyn Fn(&CallHead<'_>, &RandomState) -> Option<u64> + Send + Sync>;

/// A rate for each caller.
pub(crate) struct Callers {
    key: Key,
    hasher: RandomState,
    rate: Rate,
    table: CallerTable<u64>,
}

impl Callers {
    pub(crate) fn new<K: Hash>(
        per_second: NonZeroU32,
        burst: NonZeroU32,
        key: impl Fn(&CallHead<'_>) -> Option<K> + Send + Sync + 'static,
    ) -> Self {
        Self {
            key: Box::new(move |head, hasher| key(head).map(|key| hasher.hash_one(key))),
            hasher: RandomState::new(),
            rate: Rate::new(per_second.get().into(), burst.get()),
            table: CallerTable::new(),
        }
    }

    /// Admits a request or rejects it. A panic of the function that finds the key is an internal fault.
    pub(crate) fn request(&self, head: &CallHead<'_>) -> Result<(), Fault> {
        let Some(key) = catch_panic(|| Ok((self.key)(head, &self.hasher)))? else {
            return Ok(());
        };
        let admitted = self.table.request(key, &self.rate, MOST);
        admitted.map_err(|time| Rejection::RateLimited(RateScope::Caller, time).fault())
    }
}

impl_debug!(Callers { rate });

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::HeaderMap;

    use super::*;
    use crate::peer::Peer;

    #[tokio::test(start_paused = true)]
    async fn callers_are_counted_separately_and_bounded() {
        let number = |number| NonZeroU32::new(number).unwrap();
        let callers = Callers::new(number(10), number(2), |caller| {
            caller.headers().get("key").cloned()
        });
        let ask = |key: Option<u32>| {
            let mut headers = HeaderMap::new();
            headers.extend(key.map(|key| (http::HeaderName::from_static("key"), key.into())));
            let admitted = callers.request(&CallHead::new(&Peer::default(), &headers, ""));
            admitted.map_err(|fault| fault.retry_after().unwrap())
        };
        assert_eq!([ask(Some(1)), ask(Some(1))], [Ok(()); 2]);
        assert_eq!(ask(Some(1)), Err(Duration::from_millis(100)));
        assert_eq!([ask(Some(2)), ask(Some(2))], [Ok(()); 2]);
        // Calls without a key are not limited.
        assert!((0..100).all(|_| ask(None).is_ok()));
        tokio::time::advance(Duration::from_millis(100)).await;
        assert_eq!(ask(Some(1)), Ok(()));
        for key in 0..200_000 {
            let _ = ask(Some(key));
        }
        assert!(callers.table.len() <= MOST, "{}", callers.table.len());
    }

    #[tokio::test(start_paused = true)]
    async fn a_rate_limited_caller_is_not_evicted_by_invented_ones() {
        let number = |number| NonZeroU32::new(number).unwrap();
        let callers = Callers::new(number(10), number(2), |caller| {
            caller.headers().get("key").cloned()
        });
        let ask = |key: u32| {
            let mut headers = HeaderMap::new();
            headers.insert("key", key.into());
            let admitted = callers.request(&CallHead::new(&Peer::default(), &headers, ""));
            admitted.map_err(|fault| fault.retry_after().unwrap())
        };
        assert_eq!([ask(0), ask(0)], [Ok(()); 2]);
        for key in 1..200_000 {
            assert_eq!(ask(key), Ok(()));
        }
        assert_eq!(ask(0), Err(Duration::from_millis(100)));
        assert!(callers.table.len() <= MOST, "{}", callers.table.len());
    }
}
