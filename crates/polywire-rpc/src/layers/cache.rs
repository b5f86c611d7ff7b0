//! A cache of replies of methods.

use std::collections::HashSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{self, Poll};
use std::time::Duration;

use polywire_protocol::Fault;
use quick_cache::sync::Cache as Store;
use quick_cache::{Equivalent, Weighter};
use tokio::time::Instant;
use tower::{Layer, Service};

use crate::methods::{MethodCall, MethodReply};

/// A layer around [`Methods`](crate::Methods) that stores the replies of some methods and returns them to calls with the
/// same parameters.
///
/// Add only methods whose result depends on nothing but their parameters: not on the caller, and not on earlier calls. The
/// key is the name of the method and the encoded parameters, so another encoding of the same values is another key.
///
/// The size of the cache is limited in bytes, including parameters, and the age of replies in time. Faults, and replies
/// larger than an eighth of the cache, are not stored. Replies are evicted by frequency and recency of use. Clones share
/// one cache: several [`Methods`](crate::Methods) can share its bytes, but not their replies.
///
/// ```
/// use std::time::Duration;
///
/// use polywire_rpc::Methods;
/// use polywire_rpc::layers::cache::Cache;
///
/// let cache = Cache::new(16 << 20, Duration::from_secs(60)).method("report");
/// let methods = Methods::new()
///     .method("report", |(year,): (u16,)| async move { format!("all of {year}") })
///     .layer(cache.clone());
/// assert_eq!(cache.counts().hits, 0);
/// # let _ = methods;
/// ```
#[derive(Clone)]
pub struct Cache {
    store: Arc<ReplyStore>,
    methods: Arc<HashSet<String>>,
}

/// The counters of a cache.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Counts {
    /// Calls with a stored reply.
    pub hits: u64,
    /// Calls of cached methods without a stored reply.
    pub misses: u64,
    /// Stored replies, including those that have expired and were not requested again.
    pub replies: usize,
    /// The size of the stored replies in bytes.
    pub bytes: u64,
}

struct ReplyStore {
    replies: Store<Key, CachedReply, Weight>,
    age: Duration,
    /// Maximum size of one reply and its parameters, in bytes.
    most: u64,
    hits: AtomicU64,
    misses: AtomicU64,
    /// The number of routers that use the cache.
    routers: AtomicU64,
}

/// The key of a reply.
#[derive(Debug, Eq, Hash, PartialEq)]
struct Key {
    /// The router of the method.
    router: u64,
    method: Box<str>,
    /// The encoding of the reply.
    form: u8,
    parameters: Box<[u8]>,
}

/// A borrowed key. It has the fields of [`Key`] in the same order, so that both have the same hash.
#[derive(Hash)]
struct KeyRef<'a> {
    router: u64,
    method: &'a str,
    form: u8,
    parameters: &'a [u8],
}

#[derive(Clone)]
struct CachedReply {
    reply: MethodReply,
    since: Instant,
}

#[derive(Clone)]
struct Weight;

/// Approximate size of an entry without its bytes.
const ENTRY: u64 = 192;

impl Weighter<Key, CachedReply> for Weight {
    fn weight(&self, key: &Key, value: &CachedReply) -> u64 {
        let bytes = key.method.len() + key.parameters.len() + value.reply.len();
        bytes as u64 + ENTRY
    }
}

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.router == key.router
            && self.form == key.form
            && *self.method == *key.method
            && *self.parameters == *key.parameters
    }
}

impl KeyRef<'_> {
    fn of(call: &MethodCall, router: u64) -> KeyRef<'_> {
        KeyRef {
            router,
            method: call.name(),
            form: call.reply_format(),
            parameters: call.parameters.bytes(),
        }
    }

    fn to_key(&self) -> Key {
        Key {
            router: self.router,
            method: self.method.into(),
            form: self.form,
            parameters: self.parameters.into(),
        }
    }
}

impl Cache {
    /// Creates a cache with a size in bytes and a maximum age of replies. It stores nothing before
    /// [`Self::method`].
    #[must_use]
    pub fn new(bytes: u64, age: Duration) -> Self {
        // An estimate, for the size of tables.
        let replies = (bytes / 1024).clamp(64, 1 << 20) as usize;
        let store = ReplyStore {
            replies: Store::with_weighter(replies, bytes, Weight),
            age,
            most: bytes / 8,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            routers: AtomicU64::new(0),
        };
        Self {
            store: Arc::new(store),
            methods: Arc::default(),
        }
    }

    /// Stores the replies of a method, for this handle.
    #[must_use]
    pub fn method(mut self, name: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.methods).insert(name.into());
        self
    }

    /// Returns the counters.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            hits: self.store.hits.load(Ordering::Relaxed),
            misses: self.store.misses.load(Ordering::Relaxed),
            replies: self.store.replies.len(),
            bytes: self.store.replies.weight(),
        }
    }

    /// Removes all replies.
    pub fn clear(&self) {
        self.store.replies.clear();
    }
}

impl ReplyStore {
    /// Returns the reply of a call, if there is one that has not expired.
    fn get(&self, key: &KeyRef<'_>) -> Option<MethodReply> {
        let reply = self.replies.get(key).and_then(|stored| {
            if stored.since.elapsed() < self.age {
                return Some(stored.reply);
            }
            // Another call may have renewed it.
            let is_same = |now: &CachedReply| now.since == stored.since;
            self.replies.remove_if(key, is_same);
            None
        });
        let count = match reply {
            Some(_) => &self.hits,
            None => &self.misses,
        };
        count.fetch_add(1, Ordering::Relaxed);
        reply
    }

    fn insert(&self, key: Key, reply: &MethodReply) {
        let reply = CachedReply {
            reply: reply.clone(),
            since: Instant::now(),
        };
        if Weight.weight(&key, &reply) <= self.most {
            self.replies.insert(key, reply);
        }
    }
}

impl_debug!(|this| Cache {
    methods: this.methods,
    counts: this.counts()
});

impl<S> Layer<S> for Cache {
    type Service = CacheService<S>;

    fn layer(&self, inner: S) -> CacheService<S> {
        CacheService {
            cache: self.clone(),
            router: self.store.routers.fetch_add(1, Ordering::Relaxed),
            inner,
        }
    }
}

/// The service of a [`Cache`].
#[derive(Clone, Debug)]
pub struct CacheService<S> {
    cache: Cache,
    /// Distinguishes its replies from those of other routers.
    router: u64,
    inner: S,
}

impl<S> Service<MethodCall> for CacheService<S>
where
    S: Service<MethodCall, Response = MethodReply, Error = Fault>,
    S::Future: Send + 'static,
{
    type Response = MethodReply;
    type Error = Fault;
    type Future = Pin<Box<dyn Future<Output = Result<MethodReply, Fault>> + Send>>;

    fn poll_ready(&mut self, context: &mut task::Context<'_>) -> Poll<Result<(), Fault>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, call: MethodCall) -> Self::Future {
        if !self.cache.methods.contains(call.name()) {
            return Box::pin(self.inner.call(call));
        }
        let key = KeyRef::of(&call, self.router);
        if let Some(reply) = self.cache.store.get(&key) {
            return Box::pin(std::future::ready(Ok(reply)));
        }
        let key = key.to_key();
        let store = Arc::clone(&self.cache.store);
        let reply = self.inner.call(call);
        Box::pin(async move {
            let reply = reply.await?.share();
            store.insert(key, &reply);
            Ok(reply)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasher, RandomState};

    use super::*;

    #[test]
    fn a_borrowed_key_has_the_hash_of_its_key() {
        let borrowed = KeyRef {
            router: 1,
            method: "report",
            form: 2,
            parameters: b"\x81\x01",
        };
        let (key, hasher) = (borrowed.to_key(), RandomState::new());
        assert_eq!(hasher.hash_one(&borrowed), hasher.hash_one(&key));
        assert!(borrowed.equivalent(&key));
    }
}
