//! How a client is made.

use std::future::Future;
use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use polywire_frame::flow::{AdaptiveLimit, Backoff, RetryBudget, Throttle};
use polywire_frame::{Features, Settings};
use polywire_schema::Limits;
use tokio::io::{AsyncRead, AsyncWrite};

use super::endpoint::{ConnectError, Endpoint};
use super::flow::{Flow, Means};
use super::rate::Rate;
use super::reconnect::maintain;
use super::state::{ClientState, Plan};
use super::{Client, Inner};
use crate::connect::{ConnectOptions, Proxy};
use crate::frames::Clock;
use crate::frames::room::{Bounds, Room};
use crate::random::Random;

/// Makes a [`Client`]. All limits have defaults that hold for most; `docs/tuning.md` tells when to
/// touch them, and what to watch.
///
/// ```
/// use std::time::Duration;
/// use polywire_rpc::frames::Client;
/// use polywire_rpc::{Methods, Server};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let methods = Methods::new().method("Add", |(a, b): (i32, i32)| async move { a + b });
/// # let server = Server::methods(methods).frames(true).build()?;
/// # let running = server.listen("127.0.0.1:0".parse()?).await?;
/// # let url = format!("tcp://{}", running.address());
/// let client = Client::builder()
///     .endpoint(&url)
///     .deadline(Duration::from_secs(5))
///     .in_flight(10..=200)
///     .connect()
///     .await?;
/// // `Add` is idempotent: it may be retried, whatever happens to the first attempt.
/// let sum: i32 = client.idempotent().call("Add", (2, 3)).await?;
/// assert_eq!(sum, 5);
/// # Ok(()) }
/// ```
#[derive(Debug)]
#[must_use]
pub struct ClientBuilder {
    endpoints: Vec<Given>,
    connection: ConnectOptions,
    connections: usize,
    pending: usize,
    in_flight: RangeInclusive<u32>,
    burst: Option<u32>,
    queue: Bounds,
    deadline: Duration,
    retries: u32,
    backoff: Backoff,
    budget: RetryBudget,
    throttle: Option<f64>,
    rate: Option<Rate>,
    reconnect: Backoff,
    waits: bool,
    #[cfg(feature = "udp")]
    datagram: usize,
    compress: Option<usize>,
    limits: Limits,
    seed: Option<u64>,
}

/// A server, as it was given.
#[derive(Debug)]
enum Given {
    Endpoint(Endpoint),
    Url(Box<str>),
}

/// A client whose server was away for long is back within less than a second of its return.
const RECONNECT: Backoff = Backoff::new(Duration::from_millis(10), Duration::from_millis(500));

impl Default for ClientBuilder {
    fn default() -> Self {
        Self {
            endpoints: Vec::new(),
            connection: ConnectOptions::new(),
            connections: 1,
            pending: 1 << 16,
            in_flight: 10..=1_000,
            burst: None,
            queue: Bounds::DEFAULT,
            deadline: Duration::from_secs(60),
            retries: 3,
            backoff: Backoff::DEFAULT,
            budget: RetryBudget::default(),
            throttle: Some(2.0),
            rate: None,
            reconnect: RECONNECT,
            waits: true,
            #[cfg(feature = "udp")]
            datagram: polywire_frame_udp::DEFAULT_DATAGRAM,
            compress: None,
            limits: Limits::DEFAULT,
            seed: None,
        }
    }
}

impl ClientBuilder {
    /// Adds a server: `tcp://HOST:PORT`, `tcp+tls://HOST:PORT`, `udp://HOST:PORT`, `unix:///PATH` or `inproc://NAME`;
    /// with the feature `websocket` also `ws://HOST:PORT/PATH`, `wss://HOST:PORT/PATH` or `ws+unix://SOCKET`.
    /// Calls go to the better of two that chance names, by what they have in flight and how fast they
    /// answered of late; one whose calls keep failing is left out for a while.
    pub fn endpoint(mut self, url: &str) -> Self {
        self.endpoints.push(Given::Url(url.into()));
        self
    }

    /// Sets the trusted certificates and the own certificate for `tcp+tls://` and `wss://`.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: crate::tls::ClientTls) -> Self {
        self.connection.tls = tls;
        self
    }

    /// Sets the proxy for servers with a host. The default is no proxy, whatever the environment says. A proxy does not
    /// forward `udp://`: [`Self::build`] rejects such a URL, unless [`Proxy::except`] excludes its host.
    pub fn proxy(mut self, proxy: impl Into<Option<Proxy>>) -> Self {
        self.connection.proxy = proxy.into();
        self
    }

    /// Adds a server to which `connect` makes streams, whatever they are. The name is for messages.
    pub fn connector<C, F, S>(mut self, name: &str, connect: C) -> Self
    where
        C: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<S>> + Send + 'static,
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let endpoint = Endpoint::connector(name, connect);
        self.endpoints.push(Given::Endpoint(endpoint));
        self
    }

    /// Sets how many connections there are to each server; 1 unless this says other. One carries
    /// more than a million small calls a second and has at most 65,535 open; more are for
    /// servers with a thread a connection, and for lossy networks.
    pub const fn connections(mut self, connections: usize) -> Self {
        self.connections = if connections == 0 { 1 } else { connections };
        self
    }

    /// Sets the size of the table of pending calls: how many have begun and not ended, whether they
    /// are in flight or wait; 65,536 unless this says other. Further ones fail at once with
    /// [`CallErrorKind::QueueFull`](crate::CallErrorKind::QueueFull).
    pub const fn pending(mut self, calls: usize) -> Self {
        self.pending = calls;
        self
    }

    /// Sets how many calls are in flight on each connection. Between the two numbers the limit looks
    /// for itself, by how long answers take and what the server turns away; if both are the same it
    /// is fixed. 10 to 1,000 unless this says other. The server's own limits hold too.
    pub const fn in_flight(mut self, calls: RangeInclusive<u32>) -> Self {
        self.in_flight = calls;
        self
    }

    /// Sets how many calls may go beyond the limit for a moment, for traffic that comes in spikes:
    /// 10 for a limit that looks for itself, and none for a fixed one, unless this says other.
    pub const fn burst(mut self, calls: u32) -> Self {
        self.burst = Some(calls);
        self
    }

    /// Sets how much may wait: for room on a connection, or for a connection. 65,536 calls and 64 MiB
    /// unless this says other; one call alone may have any size. Further ones fail at once with
    /// [`CallErrorKind::QueueFull`](crate::CallErrorKind::QueueFull).
    pub const fn queue(mut self, calls: usize, bytes: usize) -> Self {
        self.queue = Bounds { calls, bytes };
        self
    }

    /// Sets the time of a call, from its beginning to its end, waiting and further tries included; 60
    /// seconds unless this says other. The server is told what is left of it.
    pub const fn deadline(mut self, within: Duration) -> Self {
        self.deadline = within;
        self
    }

    /// Lets calls take for ever.
    pub const fn no_deadline(self) -> Self {
        self.deadline(Duration::MAX)
    }

    /// Sets how often a call is tried again, where that is safe: 3 times unless this says other, and 10 at
    /// most, which more is taken for. What the server has certainly not begun may be repeated whatever it is;
    /// all else only if it is [idempotent](Client::idempotent). A call that was never sent, because
    /// its connection ended before, goes to another one without being counted.
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries.min(10);
        self
    }

    /// Sets the waits before further tries: from `first`, twice as long each time, up to `most`, and
    /// a random part of that, at least half. What the server asks for is added. 10 ms to 1 s
    /// unless this says other.
    pub const fn backoff(mut self, first: Duration, most: Duration) -> Self {
        self.backoff = Backoff::new(first, most);
        self
    }

    /// Sets how many further tries all calls together may have: a share of the calls of the last ten
    /// seconds, and so many a second besides. 0.2 and 10 unless this says other.
    pub const fn retry_budget(mut self, share: f64, per_second: f64) -> Self {
        self.budget = RetryBudget::new(share, per_second);
        self
    }

    /// Sets when calls are turned away here, since the server turns away most of them: what it is
    /// sent is at most so many times what it accepts. 2 unless this says other; `None` for never.
    /// Such calls fail with [`CallErrorKind::Throttled`](crate::CallErrorKind::Throttled).
    pub const fn throttle(mut self, times: Option<f64>) -> Self {
        self.throttle = times;
        self
    }

    /// Sets how many calls begin a second; as many as want to unless this says other.
    pub fn rate(mut self, rate: Rate) -> Self {
        self.rate = Some(rate);
        self
    }

    /// Sets the waits between tries to connect; 10 ms to 500 ms unless this says other.
    pub const fn reconnect(mut self, first: Duration, most: Duration) -> Self {
        self.reconnect = Backoff::new(first, most);
        self
    }

    /// Sets the time limit of one attempt to connect: lookup, proxy, TLS, and the hello of the server. The default is 5
    /// seconds.
    pub const fn connect_timeout(mut self, within: Duration) -> Self {
        self.connection.timeout = within;
        self
    }

    /// Has calls fail at once while there is no connection, instead of waiting for one.
    pub const fn fail_fast(mut self, fail: bool) -> Self {
        self.waits = !fail;
        self
    }

    /// Sets the limit of a call over UDP in bytes, with the 24 in front of its extension and payload: 256 to 65,000,
    /// 1,400 by default. A datagram that is longer than the network carries may not arrive, and its call ends with its
    /// deadline. The server sets the limit of answers.
    #[cfg(feature = "udp")]
    pub const fn datagram(mut self, bytes: usize) -> Self {
        self.datagram = bytes;
        self
    }

    /// Sets from how many bytes on inputs and items are compressed, where that makes them shorter and the server reads
    /// it, and that answers may come compressed; what is undone counts in all limits. Neither, unless this says other: it
    /// takes time of the processor, some 300 KiB a connection while it is used, and the length of what is compressed
    /// tells about secrets in it. Not over UDP.
    pub const fn compress(mut self, least: usize) -> Self {
        self.compress = Some(least);
        self
    }

    /// Sets what answers may be; [`Limits::DEFAULT`] unless this says other.
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Has chance be the same each time, for tests.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Makes the client, and waits until it has a connection.
    ///
    /// # Errors
    ///
    /// There is no endpoint, or a URL that is none; or no server could be reached: why the first
    /// could not.
    pub async fn connect(self) -> Result<Client, ConnectError> {
        let client = self.build()?;
        client.connected().await?;
        Ok(client)
    }

    /// Makes the client at once, within tokio's runtime; its connections are made in the background.
    ///
    /// # Errors
    ///
    /// There is no endpoint, or a URL that is none.
    pub fn build(mut self) -> Result<Client, ConnectError> {
        let given = std::mem::take(&mut self.endpoints);
        let mut endpoints = Vec::new();
        for given in given {
            endpoints.push(Arc::new(match given {
                Given::Endpoint(endpoint) => endpoint,
                Given::Url(url) => Endpoint::parse(&url, &self.connection)?,
            }));
        }
        if endpoints.is_empty() {
            return Err(ConnectError::new("nothing", "there is no endpoint"));
        }
        let state = Arc::new(self.state(endpoints.len() * self.connections));
        let mut tasks = Vec::new();
        for (lane, endpoint) in endpoints
            .iter()
            // One of each first.
            .cycle()
            .take(endpoints.len() * self.connections)
            .enumerate()
        {
            let task = maintain(Arc::clone(&state), lane, Arc::clone(endpoint));
            tasks.push(tokio::spawn(task).abort_handle());
        }
        Ok(self.client(state, tasks, endpoints))
    }

    /// A client of one connection that is there and is not made again.
    pub(super) fn over<S>(mut self, stream: S) -> Client
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        self.waits = false;
        let state = Arc::new(self.state(1));
        let link = crate::frames::link::Link::over(stream, state.link_options());
        state.connected(0, &Arc::new(link));
        self.client(state, Vec::new(), Vec::new())
    }

    fn state(&self, lanes: usize) -> ClientState {
        let frame = u32::try_from(self.limits.bytes()).unwrap_or(u32::MAX);
        let features = match self.compress {
            Some(_) => Settings::DEFAULT.features().union(Features::DEFLATE),
            None => Settings::DEFAULT.features(),
        };
        let limit = AdaptiveLimit::new(*self.in_flight.start(), *self.in_flight.end());
        let fixed = self.in_flight.start() >= self.in_flight.end();
        let burst = self.burst.unwrap_or(if fixed { 0 } else { 10 });
        let plan = Plan {
            settings: Settings::DEFAULT.with_frame(frame).with_features(features),
            #[cfg(feature = "udp")]
            datagram: self.datagram,
            compress: self.compress,
            limit: limit.with_burst(burst),
            connect_timeout: self.connection.timeout,
            reconnect: self.reconnect,
            retries: self.retries,
            backoff: self.backoff,
            waits: self.waits,
            paced: self.rate.is_some(),
        };
        let flow = Flow::new(Means {
            lanes,
            budget: self.budget.clone(),
            throttle: self.throttle.map(Throttle::new),
            rate: self.rate.clone(),
            most_pending: self.pending,
            random: Random::new(self.seed),
        });
        ClientState::new(Clock::new(), flow, Room::new(self.queue), plan)
    }

    fn client(
        self,
        state: Arc<ClientState>,
        tasks: Vec<tokio::task::AbortHandle>,
        endpoints: Vec<Arc<Endpoint>>,
    ) -> Client {
        Client {
            inner: Arc::new(Inner {
                state,
                tasks,
                endpoints,
                limits: self.limits,
            }),
            within: self.deadline,
            lasts: Duration::MAX,
            idempotent: false,
            metadata: None,
        }
    }
}
