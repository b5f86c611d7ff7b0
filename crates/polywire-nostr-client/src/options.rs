//! How a relay is connected to.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use polywire_frame::flow::Backoff;
use polywire_nostr::MessageLimits;
use polywire_rpc::connect::Proxy;
#[cfg(feature = "tls")]
use polywire_rpc::connect::Tls;
use polywire_rpc::websocket::{WebSocket, WebSocketBuilder, WebSocketLimits};

use crate::signer::Signer;
use crate::stats::Rejection;

/// How a client connects to a relay, and what the connection may cost.
///
/// ```
/// use std::time::Duration;
/// use polywire_nostr::KeyPair;
/// use polywire_nostr_client::RelayOptions;
///
/// let options = RelayOptions::new()
///     .signer(KeyPair::generate()?)
///     .backoff(Duration::from_secs(1), Duration::from_secs(120))
///     .request_timeout(Duration::from_secs(5));
/// # Ok::<(), polywire_nostr::key::NoRandomness>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct RelayOptions {
    pub(crate) headers: HeaderMap,
    websocket: WebSocketLimits,
    pub(crate) messages: MessageLimits,
    connect_timeout: Duration,
    pub(crate) proxy: Option<Proxy>,
    #[cfg(feature = "tls")]
    pub(crate) tls: Tls,
    pub(crate) backoff: Backoff,
    pub(crate) request_timeout: Duration,
    pub(crate) signer: Option<Arc<dyn Signer>>,
    pub(crate) verified_ids: usize,
    pub(crate) on_rejection: Option<Arc<RejectionCallback>>,
}

pub(crate) type RejectionCallback = dyn Fn(&Rejection<'_>) + Send + Sync;

impl RelayOptions {
    /// The defaults that the methods name.
    pub fn new() -> Self {
        Self {
            headers: HeaderMap::new(),
            websocket: WebSocketLimits::DEFAULT,
            messages: MessageLimits::DEFAULT,
            connect_timeout: Duration::from_secs(5),
            proxy: None,
            #[cfg(feature = "tls")]
            tls: Tls::default(),
            backoff: Backoff::new(Duration::from_millis(500), Duration::from_secs(60)),
            request_timeout: Duration::from_secs(10),
            signer: None,
            verified_ids: 32_768,
            on_rejection: None,
        }
    }

    /// Adds a header to the request of the WebSocket handshake.
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Sets the limits of the WebSocket. [`WebSocketLimits::DEFAULT`]: messages up to 1 MiB, a ping
    /// after 30 seconds without data.
    pub const fn websocket_limits(mut self, limits: WebSocketLimits) -> Self {
        self.websocket = limits;
        self
    }

    /// Sets what a message of the relay may cost. [`MessageLimits::DEFAULT`]. Messages are also within
    /// [`WebSocketLimits::max_message_bytes`].
    pub const fn message_limits(mut self, limits: MessageLimits) -> Self {
        self.messages = limits;
        self
    }

    /// Sets how long a connection may take to be made, and how long the relay may then take to answer
    /// the handshake. 5 seconds each.
    pub const fn connect_timeout(mut self, time: Duration) -> Self {
        self.connect_timeout = time;
        self
    }

    /// Connects through a proxy. None by default.
    pub fn proxy(mut self, proxy: impl Into<Option<Proxy>>) -> Self {
        self.proxy = proxy.into();
        self
    }

    /// Sets who is trusted, for `wss://`. The roots of the system by default.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = tls;
        self
    }

    /// Sets how long the client waits before it connects again: `first` at the beginning, doubled
    /// with each failure up to `most`, of which a random part, half at least, counts. From 500 ms to
    /// 60 seconds by default. After a connection that lasted for `most` the waits begin anew.
    pub const fn backoff(mut self, first: Duration, most: Duration) -> Self {
        self.backoff = Backoff::new(first, most);
        self
    }

    /// Sets how long the client waits for the answer to an event, a count or one message of a
    /// reconciliation. 10 seconds. Time without a connection counts.
    pub const fn request_timeout(mut self, time: Duration) -> Self {
        self.request_timeout = time;
        self
    }

    /// Answers challenges of relays with events that this signer signs (NIP-42), up to 16 on a
    /// connection, and sends again what a relay refused with `auth-required`. Each relay that sends a challenge learns the public key.
    /// None by default: challenges are ignored.
    pub fn signer(mut self, signer: impl Signer + 'static) -> Self {
        self.signer = Some(Arc::new(signer));
        self
    }

    /// Sets how many valid events are remembered by id and signature, so that they are not verified
    /// again for another subscription. 32,768, of about 200 bytes each. The relays of a
    /// [`Pool`](crate::Pool) share them.
    pub const fn verified_ids(mut self, count: usize) -> Self {
        self.verified_ids = count;
        self
    }

    /// Calls a function for each message and event that is dropped since it is malformed, invalid or
    /// not requested. It runs on the task of the connection and should be short.
    pub fn on_rejection(
        mut self,
        callback: impl Fn(&Rejection<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.on_rejection = Some(Arc::new(callback));
        self
    }

    pub(crate) fn websocket(&self, url: &str) -> WebSocketBuilder {
        let mut builder = WebSocket::builder(url)
            .limits(self.websocket)
            .connect_timeout(self.connect_timeout)
            .proxy(self.proxy.clone());
        for (name, value) in &self.headers {
            builder = builder.header(name.clone(), value.clone());
        }
        #[cfg(feature = "tls")]
        {
            builder = builder.tls(self.tls.clone());
        }
        builder
    }
}

impl Default for RelayOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for RelayOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RelayOptions")
            .field("websocket_limits", &self.websocket)
            .field("message_limits", &self.messages)
            .field("connect_timeout", &self.connect_timeout)
            .field("backoff", &self.backoff)
            .field("request_timeout", &self.request_timeout)
            .field(
                "signer",
                &self.signer.as_ref().map(|signer| signer.public_key()),
            )
            .field("verified_ids", &self.verified_ids)
            .finish_non_exhaustive()
    }
}

/// How a subscription behaves.
///
/// ```
/// use std::time::Duration;
/// use polywire_nostr_client::SubscribeOptions;
///
/// let options = SubscribeOptions::new().with_buffer(32).with_eose_timeout(Some(Duration::from_secs(3)));
/// assert_eq!(options.buffer, 32);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SubscribeOptions {
    /// Items that wait to be received. When the buffer is full, the client stops reading from the
    /// relays of the subscription until an item is received. 256; 1 at least.
    pub buffer: usize,
    /// How many ids of received events are remembered to find duplicates. An event that comes again
    /// after as many others is received again. 32,768, of about 100 bytes each.
    pub seen_ids: usize,
    /// How far before the newest received event a subscription begins again after a reconnect, for
    /// events that reach the relay late. 60 seconds.
    pub resume_overlap: Duration,
    /// How long after the beginning [`SubscriptionItem::EndOfStored`](crate::SubscriptionItem::EndOfStored) comes
    /// at the latest, whether or not all relays have sent EOSE. `None`: no limit. 10 seconds.
    pub eose_timeout: Option<Duration>,
}

impl SubscribeOptions {
    /// The defaults that the fields name.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            buffer: 256,
            seen_ids: 32_768,
            resume_overlap: Duration::from_secs(60),
            eose_timeout: Some(Duration::from_secs(10)),
        }
    }

    /// The same with another buffer.
    #[must_use]
    pub const fn with_buffer(mut self, items: usize) -> Self {
        self.buffer = items;
        self
    }

    /// The same with another number of ids.
    #[must_use]
    pub const fn with_seen_ids(mut self, count: usize) -> Self {
        self.seen_ids = count;
        self
    }

    /// The same with another overlap.
    #[must_use]
    pub const fn with_resume_overlap(mut self, overlap: Duration) -> Self {
        self.resume_overlap = overlap;
        self
    }

    /// The same with another time for EOSE.
    #[must_use]
    pub const fn with_eose_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.eose_timeout = timeout;
        self
    }
}

impl Default for SubscribeOptions {
    fn default() -> Self {
        Self::new()
    }
}
