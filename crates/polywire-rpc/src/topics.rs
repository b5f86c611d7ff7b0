//! Topics: messages from who publishes to whoever has subscribed.

mod places;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use polywire_frame::HEADER;
use polywire_protocol::Fault;
use serde::Serialize;

use crate::Context;
use crate::call::catch_panic;
use crate::frames::payload;
use crate::server::{Held, Memory, Pipe};
use places::Places;

/// The topics of a server: what is published to a topic is sent to all who have subscribed to it at
/// that time. Nothing is kept for later.
///
/// Clients of frames subscribe and publish ([`frames::Client`](crate::frames::Client)), and so does
/// whoever has this on the server. Clones are the same topics, which may be those of several
/// servers. There is no list of topics: each name is one, for as long as somebody has subscribed.
///
/// A subscriber has a queue, of 1,024 messages and 1 MiB unless [`queue`](Self::queue) says
/// other. What happens when it is full is a [`SlowSubscriber`]; the others notice nothing. All queues together have
/// 64 MiB ([`memory`](Self::memory)), where a message counts once for all who have it. These settings are those of the
/// topics: set on any clone, they hold for all.
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
#[derive(Clone)]
pub struct Topics {
    shared: Arc<Shared>,
    guard: Option<Guard>,
}

type Guard = Arc<dyn Fn(&Context, Access<'_>) -> bool + Send + Sync>;

struct Shared(Mutex<State>);

struct State {
    policy: Policy,
    /// For messages that wait.
    memory: Arc<Memory>,
    /// Who has subscribed to what.
    topics: HashMap<Box<str>, Places<Arc<Pipe>>>,
}

/// What holds for a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    pub(crate) messages: usize,
    pub(crate) bytes: usize,
    pub(crate) slow: SlowSubscriber,
    /// There is no memory for one more message: as if all queues were full in which there is something.
    pub(crate) crowded: bool,
}

/// A message as queues have it.
struct Counted {
    message: Bytes,
    _held: Held,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.message
    }
}

/// Bytes of all messages that wait, where nothing else is said.
const MEMORY: usize = 64 << 20;

/// How many subscribers are looked up at once: for as long nobody else subscribes or leaves.
const AT_ONCE: usize = 256;

/// What becomes of a message for a subscriber whose queue is full.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum SlowSubscriber {
    /// The oldest messages make room for it. The next that is sent says how many there were.
    #[default]
    LeaveOutOldest,
    /// It is left out. The next that is sent says how many there were.
    LeaveOutNewest,
    /// The subscription ends, with a fault that says why.
    End,
}

/// What a client wants of a topic.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Access<'a> {
    /// To publish to the topic of this name.
    Publish(&'a str),
    /// To subscribe to it.
    Subscribe(&'a str),
}

/// A subscription; it ends when this is dropped.
pub(crate) struct Subscribed {
    shared: Arc<Shared>,
    topic: Box<str>,
    place: usize,
}

impl Topics {
    /// Topics to which all clients may subscribe and publish.
    #[must_use]
    pub fn new() -> Self {
        Self {
            shared: Arc::new(Shared(Mutex::new(State {
                policy: Policy {
                    messages: 1 << 10,
                    bytes: 1 << 20,
                    slow: SlowSubscriber::default(),
                    crowded: false,
                },
                memory: Arc::new(Memory::new(MEMORY)),
                topics: HashMap::new(),
            }))),
            guard: None,
        }
    }

    /// Sets how many messages, and how many bytes of them, may wait for a subscriber. One message
    /// always may.
    #[must_use]
    pub fn queue(self, messages: usize, bytes: usize) -> Self {
        let mut state = self.shared.lock();
        (state.policy.messages, state.policy.bytes) = (messages, bytes);
        drop(state);
        self
    }

    /// Sets how many bytes of messages may wait for all subscribers together; one that waits for several counts once.
    /// 64 MiB. Beyond it a subscriber for whom anything waits has no room.
    #[must_use]
    pub fn memory(self, bytes: usize) -> Self {
        self.shared.lock().memory = Arc::new(Memory::new(bytes));
        self
    }

    /// Sets what becomes of a message for which a subscriber has no room.
    #[must_use]
    pub fn slow(self, slow: SlowSubscriber) -> Self {
        self.shared.lock().policy.slow = slow;
        self
    }

    /// Sets who may do what at the server that is given this; those who may not get the fault `forbidden`.
    ///
    /// ```
    /// use polywire_rpc::topics::{Access, Topics};
    ///
    /// // Only the server itself publishes.
    /// let topics = Topics::new().guard(|_, access| matches!(access, Access::Subscribe(_)));
    /// # let _ = topics;
    /// ```
    #[must_use]
    pub fn guard(
        mut self,
        guard: impl Fn(&Context, Access<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.guard = Some(Arc::new(guard));
        self
    }

    /// Publishes a message, and says how many subscriptions it was handed to. Does not wait.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn publish(&self, topic: &str, message: impl Serialize) -> Result<u32, Fault> {
        let mut bytes = Vec::new();
        payload::write(&message, &mut bytes).map_err(Fault::internal)?;
        Ok(self.publish_bytes(topic, &bytes.into()))
    }

    /// The same for a message that is these bytes.
    pub fn publish_bytes(&self, topic: &str, message: &Bytes) -> u32 {
        let (mut from, mut handed) = (Some(0), 0);
        let mut pipes = Vec::new();
        let mut counted = None;
        while let Some(place) = from {
            let state = self.shared.lock();
            let Some(subscribers) = state.topics.get(topic) else {
                break;
            };
            let (some, next) = subscribers.some(place, AT_ONCE);
            pipes.extend(some.cloned());
            let mut policy = state.policy;
            let memory = Arc::clone(&state.memory);
            drop(state);
            let mut own = counted.take().or_else(|| count(message, &memory));
            for pipe in pipes.drain(..) {
                // What is left out of this queue may be what this message needs.
                while own.is_none()
                    && policy.slow == SlowSubscriber::LeaveOutOldest
                    && pipe.drop_oldest()
                {
                    own = count(message, &memory);
                }
                policy.crowded = own.is_none();
                handed += u32::from(pipe.offer(own.as_ref().unwrap_or(message), policy));
            }
            counted = own;
            from = next;
        }
        handed
    }

    /// How many subscriptions a topic has.
    #[must_use]
    pub fn subscribers(&self, topic: &str) -> usize {
        self.shared.lock().topics.get(topic).map_or(0, Places::len)
    }

    pub(crate) fn allows(&self, context: &Context, access: Access<'_>) -> bool {
        let guard = self.guard.as_ref();
        // A guard that panics does not allow it.
        guard.is_none_or(|guard| catch_panic(|| Ok(guard(context, access))).unwrap_or(false))
    }

    pub(crate) fn subscribe(&self, topic: &str, pipe: Arc<Pipe>) -> Subscribed {
        let mut state = self.shared.lock();
        let subscribers = state.topics.entry(topic.into()).or_default();
        Subscribed {
            place: subscribers.insert(pipe),
            shared: Arc::clone(&self.shared),
            topic: topic.into(),
        }
    }
}

impl Default for Topics {
    fn default() -> Self {
        Self::new()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A message that takes memory until nobody has it any more; none, if there is too little left for it.
fn count(message: &Bytes, memory: &Arc<Memory>) -> Option<Bytes> {
    let mut held = Held::nothing(Arc::clone(memory));
    let counted = held.resize(message.len() + HEADER).then(|| Counted {
        message: message.clone(),
        _held: held,
    });
    counted.map(Bytes::from_owner)
}

impl Drop for Subscribed {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        let Some(subscribers) = state.topics.get_mut(&self.topic) else {
            return;
        };
        let pipe = subscribers.remove(self.place);
        if subscribers.len() == 0 {
            state.topics.remove(&self.topic);
        }
        drop(state);
        drop(pipe);
    }
}

impl fmt::Debug for Topics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Topics")
            .field("policy", &self.shared.lock().policy)
            .finish_non_exhaustive()
    }
}
