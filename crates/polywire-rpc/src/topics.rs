//! Topics: messages from who publishes to whoever has subscribed.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use polywire_protocol::Fault;
use serde::Serialize;

use crate::Context;
use crate::frames::payload;
use crate::server::Pipe;

/// The topics of a server: what is published to a topic is sent to all who have subscribed to it at
/// that time. Nothing is kept for later.
///
/// Clients of frames subscribe and publish ([`frames::Client`](crate::frames::Client)), and so does
/// whoever has this on the server. Clones are the same topics, which may be those of several
/// servers. There is no list of topics: each name is one, for as long as somebody has subscribed.
///
/// A subscriber has a queue, of 1,024 messages and 1 MiB unless [`queue`](Self::queue) says
/// other. What happens when it is full is a [`SlowSubscriber`]; the others notice nothing.
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
    messages: usize,
    bytes: usize,
    slow: SlowSubscriber,
    guard: Option<Guard>,
}

type Guard = Arc<dyn Fn(&Context, Access<'_>) -> bool + Send + Sync>;

#[derive(Default)]
struct Shared(Mutex<ByTopic>);

/// Who has subscribed to what.
type ByTopic = HashMap<Box<str>, Arc<Vec<Arc<Pipe>>>>;

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
    pipe: Arc<Pipe>,
}

impl Topics {
    /// Topics to which all clients may subscribe and publish.
    #[must_use]
    pub fn new() -> Self {
        Self {
            shared: Arc::default(),
            messages: 1 << 10,
            bytes: 1 << 20,
            slow: SlowSubscriber::default(),
            guard: None,
        }
    }

    /// Sets how many messages, and how many bytes of them, may wait for a subscriber. One message
    /// always may.
    #[must_use]
    pub const fn queue(mut self, messages: usize, bytes: usize) -> Self {
        self.messages = messages;
        self.bytes = bytes;
        self
    }

    /// Sets what becomes of a message for which a subscriber has no room.
    #[must_use]
    pub const fn slow(mut self, slow: SlowSubscriber) -> Self {
        self.slow = slow;
        self
    }

    /// Sets who may do what; those who may not get the fault `forbidden`.
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
        let Some(subscribers) = self.shared.lock().get(topic).cloned() else {
            return 0;
        };
        let room = (self.messages, self.bytes);
        let handed = |pipe: &&Arc<Pipe>| pipe.offer(message, room, self.slow);
        subscribers.iter().filter(handed).count() as u32
    }

    /// How many subscriptions a topic has.
    #[must_use]
    pub fn subscribers(&self, topic: &str) -> usize {
        self.shared.lock().get(topic).map_or(0, |pipes| pipes.len())
    }

    pub(crate) fn allows(&self, context: &Context, access: Access<'_>) -> bool {
        let guard = self.guard.as_ref();
        guard.is_none_or(|guard| guard(context, access))
    }

    pub(crate) fn subscribe(&self, topic: &str, pipe: Arc<Pipe>) -> Subscribed {
        let mut topics = self.shared.lock();
        let subscribers = topics.entry(topic.into()).or_default();
        Arc::make_mut(subscribers).push(Arc::clone(&pipe));
        Subscribed {
            shared: Arc::clone(&self.shared),
            topic: topic.into(),
            pipe,
        }
    }
}

impl Default for Topics {
    fn default() -> Self {
        Self::new()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, ByTopic> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Subscribed {
    fn drop(&mut self) {
        let mut topics = self.shared.lock();
        let Some(subscribers) = topics.get_mut(&self.topic) else {
            return;
        };
        Arc::make_mut(subscribers).retain(|pipe| !Arc::ptr_eq(pipe, &self.pipe));
        if subscribers.is_empty() {
            topics.remove(&self.topic);
        }
    }
}

impl fmt::Debug for Topics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Topics")
            .field("messages", &self.messages)
            .field("bytes", &self.bytes)
            .field("slow", &self.slow)
            .finish_non_exhaustive()
    }
}
