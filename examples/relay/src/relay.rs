//! The state that connections share, startup and shutdown.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use polywire_nostr::{FilterLimits, Limits, MessageLimits, RelayUrl};
use polywire_rpc::layers::Firewall;
use polywire_rpc::server::{Listener, bind};
use polywire_rpc::tls::{Pem, ServerTls};
use polywire_rpc::{RunningServer, Server};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use crate::live::Live;
use crate::metrics::Metrics;
use crate::options::Options;
use crate::store::{LogEntry, Store};
use crate::web;

/// The maximum number of queries that run at a time.
const MAX_QUERIES: usize = 4;

/// The time for connections to send their last messages.
const SHUTDOWN: Duration = Duration::from_secs(10);

/// The state that connections share.
pub(crate) struct Relay {
    pub(crate) options: Options,
    /// The URL that clients connect to, and that AUTH events contain.
    pub(crate) url: RelayUrl,
    pub(crate) limits: MessageLimits,
    pub(crate) store: Store,
    pub(crate) live: Arc<Live>,
    /// New events for `live`.
    pub(crate) events: SyncSender<Vec<LogEntry>>,
    pub(crate) metrics: Arc<Metrics>,
    /// The rate limits per address.
    pub(crate) event_rate: Firewall,
    pub(crate) request_rate: Firewall,
    pub(crate) queries: Arc<Semaphore>,
    /// True when the relay stops. Each connection has a receiver.
    pub(crate) stop: watch::Sender<bool>,
    /// For its metrics. Set once at startup.
    pub(crate) server: OnceLock<Server>,
}

/// A limit per second with bursts of five times as much. 0: no limit.
fn rate(per_second: u32) -> Firewall {
    let Some(rate) = NonZeroU32::new(per_second) else {
        return Firewall::new();
    };
    let burst = rate.saturating_mul(NonZeroU32::MIN.saturating_add(4));
    Firewall::new().requests_per_address(rate, burst)
}

/// A running relay.
pub struct RunningRelay {
    relay: Arc<Relay>,
    running: RunningServer,
    writer: JoinHandle<()>,
}

/// Opens the database and listens.
///
/// # Errors
///
/// The database, the address or the certificates cannot be used. The text says what to do.
pub async fn start(options: Options) -> Result<RunningRelay, Box<dyn std::error::Error>> {
    let address = options.listen;
    let listener = bind(address).map_err(|error| format!("cannot listen on {address}: {error}"))?;
    let listener = TcpListener::from_std(listener)?;
    let tls = match (&options.tls_cert, &options.tls_key) {
        (Some(chain), Some(key)) => {
            Some(ServerTls::builder(Pem::file(chain), Pem::file(key)).build()?)
        }
        _ => None,
    };
    let scheme = if tls.is_some() { "wss" } else { "ws" };
    let bound = listener.local_addr()?;
    // Without the zone of a link-local IPv6 address, which URLs do not have.
    let default_url = format!("{scheme}://{}", SocketAddr::new(bound.ip(), bound.port()));
    let url = options.url.clone();
    let url = url.map_or_else(|| RelayUrl::parse(&default_url), Ok)?;
    let metrics = Arc::new(Metrics::default());
    let (live, events) = Live::start(Arc::clone(&metrics))?;
    let (store, writer) = Store::open(&options, events.clone(), Arc::clone(&metrics))?;
    let event_limits = Limits::DEFAULT.with_bytes(options.max_message);
    let relay = Arc::new(Relay {
        limits: MessageLimits::default()
            .with_bytes(options.max_message)
            .with_event(event_limits.with_tags(options.max_tags))
            .with_filter(FilterLimits::DEFAULT.with_filters(options.max_filters)),
        url,
        event_rate: rate(options.events_per_second),
        request_rate: rate(options.requests_per_second),
        store,
        live,
        events,
        metrics,
        queries: Arc::new(Semaphore::new(MAX_QUERIES)),
        stop: watch::Sender::new(false),
        server: OnceLock::new(),
        options,
    });
    let server = web::server(&relay)?;
    let running = match &tls {
        Some(tls) => server.serve(listener.tls(tls))?,
        None => server.serve(listener)?,
    };
    // It is not set yet.
    let _ = relay.server.set(server);
    let data = relay.options.data.display();
    tracing::info!(address = %running.address(), url = relay.url.as_str(), %data, "listening");
    Ok(RunningRelay {
        relay,
        running,
        writer,
    })
}

impl RunningRelay {
    /// Returns the address that it listens on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.running.address()
    }

    /// Answers publications, closes subscriptions and connections, and writes the index.
    pub async fn shutdown(self) {
        let Self { relay, running, .. } = self;
        relay.stop.send_replace(true);
        // All connections have closed their subscriptions when they have dropped their receivers.
        let closed = tokio::time::timeout(SHUTDOWN, relay.stop.closed()).await;
        if closed.is_err() {
            let connections = relay.stop.receiver_count();
            tracing::warn!(connections, "connections did not end in time");
        }
        running.shutdown().await;
        relay.store.stop();
        match tokio::task::spawn_blocking(move || self.writer.join()).await {
            Ok(Ok(())) => tracing::info!("the relay has stopped"),
            _ => tracing::error!("the writer panicked"),
        }
    }
}
