//! The builder of clients.

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
use super::flow::{Flow, FlowOptions};
use super::rate::Rate;
use super::reconnect::maintain;
use super::state::{ClientConfig, ClientState};
use super::{Client, Inner};
use crate::connect::{ConnectOptions, Proxy};
use crate::frames::Clock;
use crate::frames::quota::{QueueLimits, QueueQuota};
use crate::random::Random;

/// Builds a [`Client`]. The defaults suit most programs. `docs/tuning.md` describes when to change them, and what to
/// measure.
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
    endpoints: Vec<EndpointSpec>,
    connection: ConnectOptions,
    connections: usize,
    pending: usize,
    in_flight: RangeInclusive<u32>,
    burst: Option<u32>,
    queue: QueueLimits,
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

/// A server that was added to the builder.
#[derive(Debug)]
enum EndpointSpec {
    Endpoint(Endpoint),
    Url(Box<str>),
}

/// A client reconnects within less than a second after its server is available again.
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
            queue: QueueLimits::DEFAULT,
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
    /// A call goes to the better of two random connections, by the calls in flight and the recent latency. A connection
    /// whose calls keep failing is not used for a while.
    pub fn endpoint(mut self, url: &str) -> Self {
        self.endpoints.push(EndpointSpec::Url(url.into()));
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

    /// Adds a server, and a function that connects to it with any kind of stream. The name is for error messages.
    pub fn connector<C, F, S>(mut self, name: &str, connect: C) -> Self
    where
        C: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<S>> + Send + 'static,
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let endpoint = Endpoint::connector(name, connect);
        self.endpoints.push(EndpointSpec::Endpoint(endpoint));
        self
    }

    /// Sets the number of connections to each server. The default is 1. One connection carries more than a million small
    /// calls per second, and 65,535 open calls. More are useful for servers with one thread per connection, and on lossy
    /// networks.
    pub const fn connections(mut self, connections: usize) -> Self {
        self.connections = if connections == 0 { 1 } else { connections };
        self
    }

    /// Sets the maximum of pending calls, in flight or waiting. The default is 65,536. Further calls fail at once with
    /// [`CallErrorKind::QueueFull`](crate::CallErrorKind::QueueFull).
    pub const fn pending(mut self, calls: usize) -> Self {
        self.pending = calls;
        self
    }

    /// Sets the limit of calls in flight on each connection. Between the two numbers the limit adapts to the latency and to
    /// rejections. It is fixed if both are equal. The default is 10 to 1,000. The limits of the server apply too.
    pub const fn in_flight(mut self, calls: RangeInclusive<u32>) -> Self {
        self.in_flight = calls;
        self
    }

    /// Sets how many calls may exceed the limit for a moment, for traffic with spikes. The default is 10 for an adaptive
    /// limit, and 0 for a fixed one.
    pub const fn burst(mut self, calls: u32) -> Self {
        self.burst = Some(calls);
        self
    }

    /// Sets the maximum of calls and input bytes that wait for a connection, or for capacity on one. The default is 65,536
    /// calls and 64 MiB. A single call may have any size. Further calls fail at once with
    /// [`CallErrorKind::QueueFull`](crate::CallErrorKind::QueueFull).
    pub const fn queue(mut self, calls: usize, bytes: usize) -> Self {
        self.queue = QueueLimits { calls, bytes };
        self
    }

    /// Sets the time limit of a call, from start to end, including waiting and retries. The default is 60 seconds. The
    /// server receives the time that is left.
    pub const fn deadline(mut self, timeout: Duration) -> Self {
        self.deadline = timeout;
        self
    }

    /// Removes the time limit of calls.
    pub const fn no_deadline(self) -> Self {
        self.deadline(Duration::MAX)
    }

    /// Sets how often a call is retried where that is safe. The default is 3, and the maximum 10. Any call may be retried
    /// if the server has certainly not started it, and an [idempotent](Client::idempotent) call also otherwise. A call
    /// that fails with an error of the model is retried only if the model marks the error as retryable, and then also if
    /// the call is not idempotent. A call that was not sent, because its connection has ended, goes to another connection
    /// without being counted.
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries.min(10);
        self
    }

    /// Sets the waits before retries: `first`, doubled each time, up to `most`, and a random part of that, at least half.
    /// The wait that the server asks for is added. The default is 10 ms to 1 s.
    pub const fn backoff(mut self, first: Duration, most: Duration) -> Self {
        self.backoff = Backoff::new(first, most);
        self
    }

    /// Sets the budget for the retries of all calls: a share of the calls of the last ten seconds, and an additional number
    /// per second. The default is 0.2 and 10.
    pub const fn retry_budget(mut self, share: f64, per_second: f64) -> Self {
        self.budget = RetryBudget::new(share, per_second);
        self
    }

    /// Sets the throttling of calls while the server rejects most of them: at most `times` as many calls are sent as the
    /// server accepts. Others fail with [`CallErrorKind::Throttled`](crate::CallErrorKind::Throttled). The default is 2;
    /// `None` turns throttling off.
    pub const fn throttle(mut self, times: Option<f64>) -> Self {
        self.throttle = times;
        self
    }

    /// Sets the rate at which calls begin. The default is no limit.
    pub fn rate(mut self, rate: Rate) -> Self {
        self.rate = Some(rate);
        self
    }

    /// Sets the waits between attempts to connect. The default is 10 ms to 500 ms.
    pub const fn reconnect(mut self, first: Duration, most: Duration) -> Self {
        self.reconnect = Backoff::new(first, most);
        self
    }

    /// Sets the time limit of one attempt to connect: lookup, proxy, TLS, and the hello of the server. The default is 5
    /// seconds.
    pub const fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connection.timeout = timeout;
        self
    }

    /// Sets whether calls fail at once while there is no connection, instead of waiting for one.
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

    /// Compresses inputs and items of at least this many bytes, if that makes them shorter and the server supports it, and
    /// allows compressed replies. All limits apply to the decompressed length. Off by default: compression costs CPU time
    /// and about 300 KiB per connection while it is used, and the compressed length can reveal secrets. Not over UDP.
    pub const fn compress(mut self, least: usize) -> Self {
        self.compress = Some(least);
        self
    }

    /// Sets the limits of replies. The default is [`Limits::DEFAULT`].
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the seed of the random numbers, for tests.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Creates the client, and waits until it has a connection.
    ///
    /// # Errors
    ///
    /// There is no endpoint, a URL is invalid, or no server could be reached. Then the error is that of the first server.
    pub async fn connect(self) -> Result<Client, ConnectError> {
        let client = self.build()?;
        client.connected().await?;
        Ok(client)
    }

    /// Creates the client, within the runtime of tokio. It connects in the background.
    ///
    /// # Errors
    ///
    /// There is no endpoint, or a URL is invalid.
    pub fn build(mut self) -> Result<Client, ConnectError> {
        let given = std::mem::take(&mut self.endpoints);
        let mut endpoints = Vec::new();
        for given in given {
            endpoints.push(Arc::new(match given {
                EndpointSpec::Endpoint(endpoint) => endpoint,
                EndpointSpec::Url(url) => Endpoint::parse(&url, &self.connection)?,
            }));
        }
        if endpoints.is_empty() {
            return Err(ConnectError::new("nothing", "there is no endpoint"));
        }
        let state = Arc::new(self.state(endpoints.len() * self.connections));
        let mut tasks = Vec::new();
        for (lane, endpoint) in endpoints
            .iter()
            // One connection to each endpoint first.
            .cycle()
            .take(endpoints.len() * self.connections)
            .enumerate()
        {
            let task = maintain(Arc::clone(&state), lane, Arc::clone(endpoint));
            tasks.push(tokio::spawn(task).abort_handle());
        }
        Ok(self.client(state, tasks, endpoints))
    }

    /// A client over one connected stream. It does not reconnect.
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
        let config = ClientConfig {
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
        let flow = Flow::new(FlowOptions {
            lanes,
            budget: self.budget.clone(),
            throttle: self.throttle.map(Throttle::new),
            rate: self.rate.clone(),
            most_pending: self.pending,
            random: Random::new(self.seed),
        });
        ClientState::new(Clock::new(), flow, QueueQuota::new(self.queue), config)
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
            timeout: self.deadline,
            stream_timeout: Duration::MAX,
            idempotent: false,
            metadata: None,
        }
    }
}
