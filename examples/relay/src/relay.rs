//! The relay: what its connections share, and how it starts and stops.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use polywire_nostr::{Event, FilterLimits, Limits, MessageLimits, RelayUrl};
use polywire_rpc::layers::Firewall;
use polywire_rpc::server::{Pem, Tls};
use polywire_rpc::{Running, Server};
use tokio::sync::{Semaphore, watch};

use crate::live::Live;
use crate::metrics::Metrics;
use crate::options::Options;
use crate::store::{Store, WriterThread};
use crate::web;

/// The queries that are answered at once.
const QUERIES: usize = 4;

/// How long connections have to end.
const SHUTDOWN: Duration = Duration::from_secs(10);

/// What the connections share.
pub(crate) struct Relay {
    pub(crate) options: Options,
    pub(crate) limits: MessageLimits,
    pub(crate) store: Store,
    pub(crate) live: Live,
    pub(crate) metrics: Arc<Metrics>,
    /// How often an address may publish and ask.
    pub(crate) events: Firewall,
    pub(crate) requests: Firewall,
    pub(crate) queries: Semaphore,
    /// Becomes true when the relay stops.
    pub(crate) stop: watch::Sender<bool>,
    /// The server, whose counts are shown, once there is one.
    pub(crate) server: OnceLock<Server>,
    url: OnceLock<RelayUrl>,
}

impl Relay {
    /// The public URL. `None` until the relay listens.
    pub(crate) fn url(&self) -> Option<&RelayUrl> {
        self.url.get()
    }

    /// Hands events that are not stored to subscriptions.
    pub(crate) async fn broadcast(&self, events: Vec<(u64, Event)>) {
        let live = self.live.clone();
        // It may have to wait.
        let sent = tokio::task::spawn_blocking(move || live.events().send(events));
        // The thread is there for as long as this.
        let _ = sent.await;
    }
}

/// So many a second, and five times as many after a pause. Without a limit if it is 0.
fn rate(per_second: u32) -> Firewall {
    let Some(rate) = NonZeroU32::new(per_second) else {
        return Firewall::new();
    };
    let burst = rate.saturating_mul(NonZeroU32::MIN.saturating_add(4));
    Firewall::new().requests_per_address(rate, burst)
}

/// A relay that runs.
pub struct RunningRelay {
    relay: Arc<Relay>,
    running: Running,
    writer: WriterThread,
}

/// Opens the database and listens.
///
/// # Errors
///
/// The database, the address or the certificates are not to be had; the text says what to do.
pub async fn start(options: Options) -> Result<RunningRelay, Box<dyn std::error::Error>> {
    let metrics = Arc::new(Metrics::default());
    let live = Live::start(Arc::clone(&metrics))?;
    let stored = live.events().clone();
    let (store, writer) = Store::open(&options, stored, Arc::clone(&metrics))?;
    let relay = Arc::new(Relay {
        limits: MessageLimits::default()
            .with_bytes(options.max_message)
            .with_event(
                Limits::DEFAULT
                    .with_bytes(options.max_message)
                    .with_tags(options.max_tags),
            )
            .with_filter(FilterLimits::DEFAULT.with_filters(options.max_filters)),
        events: rate(options.events_per_second),
        requests: rate(options.requests_per_second),
        store,
        live,
        metrics,
        queries: Semaphore::new(QUERIES),
        stop: watch::Sender::new(false),
        server: OnceLock::new(),
        url: OnceLock::new(),
        options,
    });
    let server = web::server(&relay)?;
    let options = &relay.options;
    let (scheme, listening) = match (&options.tls_cert, &options.tls_key) {
        (Some(certificates), Some(key)) => {
            let tls = Tls::builder(Pem::file(certificates), Pem::file(key)).build()?;
            ("wss", server.listen_tls(options.listen, &tls).await)
        }
        _ => ("ws", server.listen(options.listen).await),
    };
    let running = listening.map_err(|error| {
        let address = options.listen;
        match error.kind() {
            std::io::ErrorKind::AddrInUse => format!(
                "{address} is in use by another program: stop it, or give this relay another address with --listen"
            ),
            _ => format!("cannot listen on {address}: {error}"),
        }
    })?;
    let url = match &options.url {
        Some(url) => url.clone(),
        None => RelayUrl::parse(&format!("{scheme}://{}", running.address()))?,
    };
    // Both are set once.
    let _ = relay.url.set(url.clone());
    let _ = relay.server.set(server);
    tracing::info!(address = %running.address(), url = url.as_str(), data = %options.data.display(), "the relay listens");
    Ok(RunningRelay {
        relay,
        running,
        writer,
    })
}

impl RunningRelay {
    /// The address that it listens on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.running.address()
    }

    /// Answers what was published, closes all subscriptions and connections, and writes what is in memory.
    pub async fn shutdown(self) {
        let Self { relay, running, .. } = self;
        relay.stop.send_replace(true);
        let connected = || {
            relay
                .server
                .get()
                .map_or(0, |own| own.websocket_stats().connections)
        };
        let ended = async {
            while connected() > 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        if tokio::time::timeout(SHUTDOWN, ended).await.is_err() {
            tracing::warn!(connections = connected(), "connections did not end in time");
        }
        running.shutdown().await;
        relay.store.stop();
        let written = tokio::task::spawn_blocking(move || self.writer.join()).await;
        match written {
            Ok(Ok(())) => tracing::info!("the relay has stopped"),
            _ => tracing::error!("the writer failed"),
        }
    }
}
