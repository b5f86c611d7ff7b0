//! Topics: publish and subscribe.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use polywire_frame::HEADER;
use polywire_protocol::Fault;
use serde::Serialize;

use crate::Context;
use crate::call::catch_panic;
use crate::call::memory::{Memory, MemoryReservation};
use crate::call::pipe::Pipe;
use crate::frames::payload;

/// The topics of a server. A published message is sent to the current subscribers of its topic and is not stored.
///
/// Clients subscribe and publish over frames ([`frames::Client`](crate::frames::Client)); the server publishes with this
/// type. Clones share the topics, also among several servers. Topics are not declared: a topic exists while it has
/// subscribers.
///
/// Each subscriber has a queue of 1,024 messages and 1 MiB by default ([`queue`](Self::queue)). [`SlowSubscriber`]
/// defines what happens when it is full; other subscribers are not affected. All queues together take up to 64 MiB
/// ([`memory`](Self::memory)); a message in several queues counts once. Clones share these settings.
///
/// ```
/// use polywire_rpc::frames::{Client, Message};
/// use polywire_rpc::{Methods, Server, Topics};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let topics = Topics::new();
/// let server = Server::methods(Methods::new()).frames(true).topics(topics.clone()).build()?;
/// let running = server.listen("127.0.0.1:0".parse()?).await?;
///
/// let client = Client::connect(&format!("tcp://{}", running.address())).await?;
/// let mut news = client.subscribe("news").await?;
/// assert_eq!(topics.publish("news", "rain")?, 1);
/// assert_eq!(client.publish("news", "sun").await?, 1);
/// let rain = news.next::<String>().await?.unwrap();
/// assert_eq!((rain.missed, rain.value.as_str()), (0, "rain"));
/// assert_eq!(news.next::<String>().await?.unwrap().value, "sun");
/// # Ok(()) }
/// ```
#[must_use]
#[derive(Clone)]
pub struct Topics {
    shared: Arc<SharedTopics>,
    guard: Option<Guard>,
}

type Guard = Arc<dyn Fn(&Context, Access<'_>) -> bool + Send + Sync>;

struct SharedTopics(Mutex<State>);

struct State {
    policy: QueuePolicy,
    /// Counts the bytes of queued messages.
    memory: Arc<Memory>,
    /// The subscribers of each topic, in the order of their subscriptions.
    topics: HashMap<Box<str>, BTreeMap<u64, Arc<Pipe>>>,
    /// The key of the next subscriber.
    next_key: u64,
}

/// The limits of a subscriber's queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuePolicy {
    pub(crate) max_messages: usize,
    pub(crate) max_bytes: usize,
    pub(crate) slow: SlowSubscriber,
    /// The memory of all queues is exhausted: each queue that is not empty counts as full.
    pub(crate) is_memory_exhausted: bool,
}

/// A queued message, and the memory that it takes until the last queue drops it.
struct CountedMessage {
    message: Bytes,
    _memory: MemoryReservation,
}

impl AsRef<[u8]> for CountedMessage {
    fn as_ref(&self) -> &[u8] {
        &self.message
    }
}

/// The default maximum of bytes in all queues.
const DEFAULT_MEMORY: usize = 64 << 20;

/// The number of subscribers that are copied while the lock is held.
const CHUNK_LEN: usize = 256;

/// What happens if a message is published while the queue of a subscriber is full.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum SlowSubscriber {
    /// The oldest messages are dropped. The next sent message has their number.
    #[default]
    DropOldest,
    /// The new message is dropped. The next sent message has the number of dropped messages.
    DropNewest,
    /// The subscription ends with the fault `overloaded`.
    End,
}

/// The access to a topic that a client requests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Access<'a> {
    /// Publish to the topic with this name.
    Publish(&'a str),
    /// Subscribe to the topic with this name.
    Subscribe(&'a str),
}

/// A subscription. Dropping it removes the subscriber from the topic.
pub(crate) struct SubscriptionGuard {
    shared: Arc<SharedTopics>,
    topic: Box<str>,
    key: u64,
}

impl Topics {
    /// Creates topics to which all clients may subscribe and publish.
    pub fn new() -> Self {
        Self {
            shared: Arc::new(SharedTopics(Mutex::new(State {
                policy: QueuePolicy {
                    max_messages: 1 << 10,
                    max_bytes: 1 << 20,
                    slow: SlowSubscriber::default(),
                    is_memory_exhausted: false,
                },
                memory: Arc::new(Memory::new(DEFAULT_MEMORY)),
                topics: HashMap::new(),
                next_key: 0,
            }))),
            guard: None,
        }
    }

    /// Sets the maximum of messages and of bytes in the queue of a subscriber. Default: 1,024 and 1 MiB. An empty queue
    /// accepts a message of any size.
    pub fn queue(self, messages: usize, bytes: usize) -> Self {
        let mut state = self.shared.lock();
        (state.policy.max_messages, state.policy.max_bytes) = (messages, bytes);
        drop(state);
        self
    }

    /// Sets the maximum of bytes in all queues; a message in several queues counts once. Default: 64 MiB. Above it, each
    /// queue that is not empty counts as full.
    pub fn memory(self, bytes: usize) -> Self {
        self.shared.lock().memory = Arc::new(Memory::new(bytes));
        self
    }

    /// Sets what happens if the queue of a subscriber is full.
    pub fn slow(self, slow: SlowSubscriber) -> Self {
        self.shared.lock().policy.slow = slow;
        self
    }

    /// Sets a function that decides whether a client may access a topic. If it returns false, the client gets the fault
    /// `forbidden`. Applies to servers that are built with this clone.
    ///
    /// ```
    /// use polywire_rpc::topics::{Access, Topics};
    ///
    /// // Only the server itself publishes.
    /// let topics = Topics::new().guard(|_, access| matches!(access, Access::Subscribe(_)));
    /// # let _ = topics;
    /// ```
    pub fn guard(
        mut self,
        guard: impl Fn(&Context, Access<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.guard = Some(Arc::new(guard));
        self
    }

    /// Publishes a message. Does not wait. Returns the number of subscribers whose queue has accepted it.
    ///
    /// # Errors
    ///
    /// The message cannot be encoded.
    pub fn publish(&self, topic: &str, message: impl Serialize) -> Result<u32, Fault> {
        let mut bytes = Vec::new();
        payload::write(&message, &mut bytes).map_err(Fault::internal)?;
        Ok(self.publish_bytes(topic, &bytes.into()))
    }

    /// Like [`publish`](Self::publish), for a message of raw bytes.
    pub(crate) fn publish_bytes(&self, topic: &str, message: &Bytes) -> u32 {
        let (mut from, mut accepted) = (0, 0);
        let mut pipes = Vec::new();
        let mut counted = None;
        // Later subscribers, whose keys are higher, do not get the message.
        let mut end = u64::MAX;
        while from < end {
            let state = self.shared.lock();
            end = end.min(state.next_key);
            let Some(subscribers) = state.topics.get(topic) else {
                break;
            };
            let mut rest = subscribers.range(from..end);
            let chunk = rest.by_ref().take(CHUNK_LEN);
            pipes.extend(chunk.map(|(_, pipe)| Arc::clone(pipe)));
            from = rest.next().map_or(end, |(key, _)| *key);
            let mut policy = state.policy;
            let memory = Arc::clone(&state.memory);
            drop(state);
            let mut own = counted.take().or_else(|| count(message, &memory));
            for pipe in pipes.drain(..) {
                // Messages dropped from this queue may free enough memory.
                while own.is_none()
                    && policy.slow == SlowSubscriber::DropOldest
                    && pipe.drop_oldest()
                {
                    own = count(message, &memory);
                }
                policy.is_memory_exhausted = own.is_none();
                accepted += u32::from(pipe.push_message(own.as_ref().unwrap_or(message), policy));
            }
            counted = own;
        }
        accepted
    }

    /// The number of subscribers of a topic.
    #[must_use]
    pub fn subscribers(&self, topic: &str) -> usize {
        self.shared
            .lock()
            .topics
            .get(topic)
            .map_or(0, BTreeMap::len)
    }

    pub(crate) fn allows(&self, context: &Context, access: Access<'_>) -> bool {
        let guard = self.guard.as_ref();
        // A guard that panics does not allow it.
        guard.is_none_or(|guard| catch_panic(|| Ok(guard(context, access))).unwrap_or(false))
    }

    pub(crate) fn subscribe(&self, topic: &str, pipe: Arc<Pipe>) -> SubscriptionGuard {
        let mut state = self.shared.lock();
        let key = state.next_key;
        state.next_key += 1;
        let subscribers = state.topics.entry(topic.into()).or_default();
        subscribers.insert(key, pipe);
        SubscriptionGuard {
            shared: Arc::clone(&self.shared),
            topic: topic.into(),
            key,
        }
    }
}

impl Default for Topics {
    fn default() -> Self {
        Self::new()
    }
}

impl SharedTopics {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts the memory of a message until its last clone is dropped. `None` if the memory is exhausted.
fn count(message: &Bytes, memory: &Arc<Memory>) -> Option<Bytes> {
    let mut held = MemoryReservation::nothing(Arc::clone(memory));
    let counted = held.resize(message.len() + HEADER).then(|| CountedMessage {
        message: message.clone(),
        _memory: held,
    });
    counted.map(Bytes::from_owner)
}

impl Drop for SubscriptionGuard {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        let Some(subscribers) = state.topics.get_mut(&self.topic) else {
            return;
        };
        let pipe = subscribers.remove(&self.key);
        if subscribers.is_empty() {
            state.topics.remove(&self.topic);
        }
        drop(state);
        drop(pipe);
    }
}

impl_debug!(|this| Topics {
    policy: this.shared.lock().policy
});
