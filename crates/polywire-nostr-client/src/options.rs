//! Options of relays and subscriptions.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use polywire_frame::flow::Backoff;
use polywire_nostr::MessageLimits;
use polywire_rpc::connect::Proxy;
#[cfg(feature = "tls")]
use polywire_rpc::tls::ClientTls;
use polywire_rpc::websocket::{WebSocket, WebSocketBuilder, WebSocketLimits};

use crate::signer::Signer;
use crate::stats::Rejection;

/// Options for connecting to a relay.
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
    pub(crate) tls: ClientTls,
    pub(crate) backoff: Backoff,
    pub(crate) request_timeout: Duration,
    pub(crate) signer: Option<Arc<dyn Signer>>,
    pub(crate) verified_ids: usize,
    pub(crate) on_rejection: Option<Arc<RejectionCallback>>,
}

pub(crate) type RejectionCallback = dyn Fn(&Rejection<'_>) + Send + Sync;

impl RelayOptions {
    /// Returns the defaults, which the methods document.
    pub fn new() -> Self {
        Self {
            headers: HeaderMap::new(),
            websocket: WebSocketLimits::DEFAULT,
            messages: MessageLimits::DEFAULT,
            connect_timeout: Duration::from_secs(5),
            proxy: None,
            #[cfg(feature = "tls")]
            tls: ClientTls::default(),
            backoff: Backoff::new(Duration::from_millis(500), Duration::from_secs(60)),
            request_timeout: Duration::from_secs(10),
            signer: None,
            verified_ids: 32_768,
            on_rejection: None,
        }
    }

    /// Adds a header to the WebSocket handshake request, or replaces it.
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Sets the limits of the WebSocket connection. Default: [`WebSocketLimits::DEFAULT`], which is
    /// messages of up to 1 MiB and a ping after 30 seconds without data.
    pub const fn websocket_limits(mut self, limits: WebSocketLimits) -> Self {
        self.websocket = limits;
        self
    }

    /// Sets the limits on messages of the relay. Default: [`MessageLimits::DEFAULT`].
    /// [`WebSocketLimits::max_message_bytes`] also applies.
    pub const fn message_limits(mut self, limits: MessageLimits) -> Self {
        self.messages = limits;
        self
    }

    /// Sets the timeout for establishing a connection, and separately for the WebSocket handshake.
    /// Default: 5 seconds each.
    pub const fn connect_timeout(mut self, time: Duration) -> Self {
        self.connect_timeout = time;
        self
    }

    /// Connects through a proxy. Default: none.
    pub fn proxy(mut self, proxy: impl Into<Option<Proxy>>) -> Self {
        self.proxy = proxy.into();
        self
    }

    /// Sets the TLS configuration for `wss://`. Default: the trusted roots of the system.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: ClientTls) -> Self {
        self.tls = tls;
        self
    }

    /// Sets the back-off between connection attempts: `first`, doubled with each failure up to
    /// `max`, multiplied by a random factor between 0.5 and 1. A connection that lasted for `max`
    /// resets it. Default: from 500 ms to 60 seconds.
    pub const fn backoff(mut self, first: Duration, max: Duration) -> Self {
        self.backoff = Backoff::new(first, max);
        self
    }

    /// Sets the timeout for the answer to an event, a count or one message of a reconciliation. It
    /// includes time without a connection. Default: 10 seconds.
    pub const fn request_timeout(mut self, time: Duration) -> Self {
        self.request_timeout = time;
        self
    }

    /// Sets the signer for authentication (NIP-42). The client answers up to 16 challenges per
    /// connection, and retries requests that the relay rejected with `auth-required`. Each relay
    /// that sends a challenge learns the public key. Default: none, challenges are ignored.
    pub fn signer(mut self, signer: impl Signer + 'static) -> Self {
        self.signer = Some(Arc::new(signer));
        self
    }

    /// Sets how many ids and signatures of valid events are cached, so that these events are not
    /// verified again for another subscription. An entry takes about 200 bytes. The relays of a
    /// [`Pool`](crate::Pool) share one cache. Default: 32,768.
    pub const fn verified_ids(mut self, count: usize) -> Self {
        self.verified_ids = count;
        self
    }

    /// Sets a callback for messages and events that are dropped because they are malformed, invalid
    /// or not requested. It runs on the task of the connection and must not block.
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

/// Options for a subscription.
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
    /// The number of buffered items, at least 1. When the buffer is full, the client stops reading
    /// from the relays of the subscription until an item is received. Default: 256.
    pub buffer: usize,
    /// The number of remembered event ids for finding duplicates. An event that is sent again after
    /// this many other events is delivered again. An entry takes about 100 bytes. Default: 32,768.
    pub seen_ids: usize,
    /// After a reconnect, `since` is the time of the newest received event minus this duration, so
    /// that events that reach the relay late are not missed. Default: 60 seconds.
    pub resume_overlap: Duration,
    /// After this time, [`SubscriptionItem::EndOfStored`](crate::SubscriptionItem::EndOfStored) is
    /// delivered even if not all relays have sent EOSE. `None`: no timeout. Default: 10 seconds.
    pub eose_timeout: Option<Duration>,
}

impl SubscribeOptions {
    /// Returns the defaults, which the fields document.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            buffer: 256,
            seen_ids: 32_768,
            resume_overlap: Duration::from_secs(60),
            eose_timeout: Some(Duration::from_secs(10)),
        }
    }

    /// Sets [`Self::buffer`].
    #[must_use]
    pub const fn with_buffer(mut self, items: usize) -> Self {
        self.buffer = items;
        self
    }

    /// Sets [`Self::seen_ids`].
    #[must_use]
    pub const fn with_seen_ids(mut self, count: usize) -> Self {
        self.seen_ids = count;
        self
    }

    /// Sets [`Self::resume_overlap`].
    #[must_use]
    pub const fn with_resume_overlap(mut self, overlap: Duration) -> Self {
        self.resume_overlap = overlap;
        self
    }

    /// Sets [`Self::eose_timeout`].
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
