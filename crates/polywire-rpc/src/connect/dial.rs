//! The dialer of all clients: look up the host, connect, pass the proxy, negotiate TLS.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_util::rt::TokioIo;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpStream, lookup_host};
use tower::Service;

use super::proxy::{Hop, HopKind, Proxy};
use super::race::race;
use super::stream::{ConnectionInfo, Socket, Stream};
use super::url::{Address, ServerUrl, UrlError, Wire};
use super::{Step, TransportError, tunnel};

/// The options of connections, the same for all clients.
#[derive(Clone, Debug)]
pub(crate) struct ConnectOptions {
    /// The time limit for connecting, from the lookup to TLS.
    pub(crate) timeout: Duration,
    /// How long an unused connection of HTTP is kept.
    pub(crate) idle_timeout: Duration,
    pub(crate) http2: bool,
    /// The length from which streams wait for `100 Continue`, in bytes, over HTTP/1.
    pub(crate) expect_continue_from: Option<u64>,
    pub(crate) proxy: Option<Proxy>,
    #[cfg(feature = "tls")]
    pub(crate) tls: crate::tls::ClientTls,
    /// The configuration that `tls` gives, if several servers share it.
    #[cfg(feature = "tls")]
    pub(super) shared_tls: Option<Arc<rustls::ClientConfig>>,
}

impl ConnectOptions {
    pub(crate) fn new() -> Self {
        Self {
            timeout: Duration::from_secs(5),
            idle_timeout: super::transport::IDLE_TIMEOUT,
            http2: false,
            expect_continue_from: Some(1024 * 1024),
            proxy: None,
            #[cfg(feature = "tls")]
            tls: crate::tls::ClientTls::new(),
            #[cfg(feature = "tls")]
            shared_tls: None,
        }
    }

    /// Makes the configuration of TLS that other servers with the wire of `url` share.
    #[cfg(feature = "tls")]
    pub(super) fn prepare_tls(&mut self, url: &ServerUrl) -> Result<(), UrlError> {
        if self.shared_tls.is_none() {
            let config = self.tls.config(self.alpn(url.wire));
            let config = config.map_err(|error| UrlError::new(url.shown(), error.to_string()))?;
            self.shared_tls = Some(config);
        }
        Ok(())
    }

    /// The protocol to negotiate (ALPN). Servers recognise frames by their first byte.
    #[cfg(feature = "tls")]
    const fn alpn(&self, wire: Wire) -> Option<&'static [u8]> {
        match wire {
            Wire::Http { .. } if self.http2 => Some(b"h2"),
            Wire::Http { .. } | Wire::WebSocket { .. } => Some(b"http/1.1"),
            Wire::Scgi | Wire::Frames { .. } | Wire::Datagrams => None,
        }
    }
}

/// Makes connections to one server. Clones share their state.
#[derive(Clone, Debug)]
pub(crate) struct Dialer(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    url: ServerUrl,
    timeout: Duration,
    hop: Option<Hop>,
    #[cfg(feature = "tls")]
    tls: Option<TlsSession>,
}

/// The TLS settings for one server.
#[cfg(feature = "tls")]
#[derive(Debug)]
struct TlsSession {
    config: Arc<rustls::ClientConfig>,
    name: rustls::pki_types::ServerName<'static>,
}

/// The step that a connection has reached, for the error of a timeout.
struct Progress(Mutex<(Step, String)>);

impl Progress {
    const fn new() -> Self {
        Self(Mutex::new((Step::Connect, String::new())))
    }

    fn at(&self, step: Step, address: &str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (step, address.to_owned());
    }

    fn reached(&self) -> (Step, String) {
        let reached = self.0.lock();
        reached.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Dialer {
    /// # Errors
    ///
    /// TLS is not available or its settings cannot be used with the host, or a proxy would have to forward datagrams.
    pub(crate) fn new(url: ServerUrl, options: &ConnectOptions) -> Result<Self, UrlError> {
        let hop = options.proxy.as_ref().and_then(|proxy| proxy.hop(&url));
        if hop.is_some() && url.wire == Wire::Datagrams {
            let reason = "a proxy does not forward UDP: exclude the host by `Proxy::except`";
            return Err(UrlError::new(url.shown(), reason));
        }
        #[cfg(not(feature = "tls"))]
        if url.wire.is_tls() {
            let reason = "TLS needs the feature `tls` of polywire-rpc";
            return Err(UrlError::new(url.shown(), reason));
        }
        Ok(Self(Arc::new(Inner {
            #[cfg(feature = "tls")]
            tls: TlsSession::new(&url, options)?,
            url,
            timeout: options.timeout,
            hop,
        })))
    }

    pub(crate) fn url(&self) -> &ServerUrl {
        &self.0.url
    }

    /// The proxy that receives plain HTTP requests with the whole URL, if there is one.
    pub(crate) fn forwarding(&self) -> Option<&Hop> {
        let hop = self.0.hop.as_ref()?;
        let is_plain = self.0.url.wire == Wire::Http { tls: false };
        (is_plain && hop.kind == HopKind::Http).then_some(hop)
    }

    /// Connects to a server over TCP or a Unix socket, through the proxy and with TLS if they are configured.
    pub(crate) async fn connect(&self) -> Result<Stream, TransportError> {
        let progress = Progress::new();
        self.in_time(&progress, self.connect_stream(&progress))
            .await
    }

    /// Connects to the first address of the host that `attempt` succeeds with.
    #[cfg(feature = "udp")]
    pub(crate) async fn connect_datagrams<T, F>(
        &self,
        attempt: impl Fn(SocketAddr) -> F,
    ) -> Result<T, TransportError>
    where
        F: Future<Output = std::io::Result<T>>,
    {
        let Address::Host { host, port } = &self.0.url.address else {
            return Err(self.error(Step::Connect).because("the URL names no host"));
        };
        let progress = Progress::new();
        let connecting = self.connect_any(host, *port, &progress, attempt);
        let (connected, _) = self.in_time(&progress, connecting).await?;
        Ok(connected)
    }

    /// Applies the time limit. The error of a timeout names the step that was late.
    async fn in_time<T>(
        &self,
        progress: &Progress,
        connecting: impl Future<Output = Result<T, TransportError>>,
    ) -> Result<T, TransportError> {
        let limit = self.0.timeout;
        let connected = tokio::time::timeout(limit, connecting).await;
        connected.unwrap_or_else(|_| {
            let (step, address) = progress.reached();
            Err(self.error(step).at(address).timed_out(limit))
        })
    }

    pub(super) fn error(&self, step: Step) -> TransportError {
        TransportError::new(self.0.url.shown(), step)
    }

    async fn connect_stream(&self, progress: &Progress) -> Result<Stream, TransportError> {
        let inner = &*self.0;
        let (socket, address) = match (&inner.url.address, &inner.hop) {
            (Address::Unix(path), _) => self.connect_unix(path, progress).await?,
            (Address::Host { host, port }, None) => self.connect_tcp(host, *port, progress).await?,
            (Address::Host { host, port }, Some(hop)) => {
                let (socket, address) = self.connect_tcp(&hop.host, hop.port, progress).await?;
                if self.forwarding().is_some() {
                    let known = ConnectionInfo::new(format!("{address} (proxy)"));
                    let mut stream = Stream::plain(socket, known);
                    stream.proxied = true;
                    return Ok(stream);
                }
                progress.at(Step::Proxy, &address);
                let socket = tunnel::open(self, hop, socket, (host, *port), &address).await?;
                (socket, format!("{host}:{port} by proxy {address}"))
            }
            (Address::InProcess(name), _) => {
                let error = self.error(Step::Connect).at(name);
                return Err(error.because("a server in this process has no socket"));
            }
        };
        #[cfg(feature = "tls")]
        if let Some(tls) = &inner.tls {
            progress.at(Step::Tls, &address);
            let connector = tokio_rustls::TlsConnector::from(tls.config.clone());
            let stream = connector.connect(tls.name.clone(), socket).await;
            let stream = stream.map_err(|error| {
                let failure = self.error(Step::Tls).at(&*address);
                let mut failure = failure.untrusted(crate::tls::is_untrusted(&error));
                if let Some(advice) = crate::tls::advice(&error) {
                    failure = failure.because(advice);
                }
                failure.with_source(crate::tls::failure(error))
            })?;
            return Ok(Stream::tls(stream, ConnectionInfo::new(address)));
        }
        Ok(Stream::plain(socket, ConnectionInfo::new(address)))
    }

    #[cfg(unix)]
    async fn connect_unix(
        &self,
        path: &std::path::Path,
        progress: &Progress,
    ) -> Result<(Socket, String), TransportError> {
        let address = path.display().to_string();
        progress.at(Step::Connect, &address);
        match tokio::net::UnixStream::connect(path).await {
            Ok(stream) => Ok((Socket::Unix(stream), address)),
            Err(error) => Err(self.error(Step::Connect).at(address).with_source(error)),
        }
    }

    #[cfg(not(unix))]
    async fn connect_unix(
        &self,
        path: &std::path::Path,
        _: &Progress,
    ) -> Result<(Socket, String), TransportError> {
        let error = self.error(Step::Connect).at(path.display().to_string());
        Err(error.because("this system has no Unix sockets"))
    }

    async fn connect_tcp(
        &self,
        host: &str,
        port: u16,
        progress: &Progress,
    ) -> Result<(Socket, String), TransportError> {
        let connected = self.connect_any(host, port, progress, connect_to).await;
        let (stream, addresses) = connected?;
        let address = stream.peer_addr();
        let address = address.map_or(addresses, |address| address.to_string());
        Ok((Socket::Tcp(stream), address))
    }

    /// Looks up a host and races its addresses. Returns the connection and the list of addresses.
    async fn connect_any<T, F>(
        &self,
        host: &str,
        port: u16,
        progress: &Progress,
        attempt: impl Fn(SocketAddr) -> F,
    ) -> Result<(T, String), TransportError>
    where
        F: Future<Output = std::io::Result<T>>,
    {
        progress.at(Step::Resolve, &format!("{host}:{port}"));
        let found = self.resolve(host, port).await?;
        let list: Vec<String> = found.iter().map(SocketAddr::to_string).collect();
        let list = list.join(", ");
        progress.at(Step::Connect, &list);
        match race(found, attempt).await {
            Ok(connected) => Ok((connected, list)),
            Err(error) => {
                let failure = self.error(Step::Connect).at(list);
                Err(match error {
                    Some(error) => failure.with_source(error),
                    None => failure,
                })
            }
        }
    }

    /// Looks up a host: at least one address.
    pub(super) async fn resolve(
        &self,
        host: &str,
        port: u16,
    ) -> Result<Vec<SocketAddr>, TransportError> {
        let failed = || self.error(Step::Resolve).at(host);
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let found = lookup_host((bare, port)).await;
        let found = found.map_err(|error| failed().with_source(error))?;
        let found: Vec<SocketAddr> = found.collect();
        match found.is_empty() {
            true => Err(failed().because(format!("DNS returned no addresses for {host}"))),
            false => Ok(found),
        }
    }
}

#[cfg(feature = "tls")]
impl TlsSession {
    fn new(url: &ServerUrl, options: &ConnectOptions) -> Result<Option<Self>, UrlError> {
        let (Address::Host { host, .. }, true) = (&url.address, url.wire.is_tls()) else {
            return Ok(None);
        };
        let fail = |error: crate::tls::TlsError| UrlError::new(url.shown(), error.to_string());
        Ok(Some(Self {
            config: match &options.shared_tls {
                Some(config) => Arc::clone(config),
                None => options.tls.config(options.alpn(url.wire)).map_err(fail)?,
            },
            name: options.tls.name_for(host).map_err(fail)?,
        }))
    }
}

/// The time without traffic after which the system probes the peer.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// Connects to an address of TCP.
async fn connect_to(address: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    // Small messages must not wait for more data.
    let nodelay = stream.set_nodelay(true);
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE);
    let keepalive = SockRef::from(&stream).set_tcp_keepalive(&keepalive);
    // The connection works without these options.
    for (option, set) in [("TCP_NODELAY", nodelay), ("SO_KEEPALIVE", keepalive)] {
        if let Err(error) = set {
            tracing::debug!(%error, option, "socket option not set");
        }
    }
    Ok(stream)
}

impl Service<Uri> for Dialer {
    type Response = TokioIo<Stream>;
    type Error = TransportError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    /// Connects to the server of the dialer, for every request URL.
    fn call(&mut self, _: Uri) -> Self::Future {
        let dialer = self.clone();
        Box::pin(async move { dialer.connect().await.map(TokioIo::new) })
    }
}
