//! Making connections: look up, connect, pass the proxy, speak TLS.

use std::future::{Future, ready};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::rt::TokioIo;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpStream, lookup_host};
use tower::Service;

use super::proxy::{Hop, HopKind};
use super::race::race;
use super::stream::{Known, Socket, Stream};
#[cfg(feature = "tls")]
use super::url::UrlError;
use super::url::{Endpoint, Place, Wire};
use super::{Step, TransportError};

/// Makes connections to one server.
#[derive(Clone, Debug)]
pub(crate) struct Dialer(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    endpoint: Arc<Endpoint>,
    timeout: Duration,
    hop: Option<Hop>,
    #[cfg(feature = "tls")]
    tls: Option<Secured>,
}

/// How TLS is spoken with the server.
#[cfg(feature = "tls")]
#[derive(Debug)]
pub(crate) struct Secured {
    pub(crate) config: Arc<rustls::ClientConfig>,
    pub(crate) name: rustls::pki_types::ServerName<'static>,
}

#[cfg(feature = "tls")]
impl Secured {
    /// How TLS is spoken with a server, if it is: who is trusted, and which protocol is asked for (ALPN).
    pub(crate) fn new(
        endpoint: &Endpoint,
        tls: &super::Tls,
        protocol: Option<&[u8]>,
    ) -> Result<Option<Self>, UrlError> {
        let (Place::Tcp { host, .. }, true) = (&endpoint.place, endpoint.wire.is_tls()) else {
            return Ok(None);
        };
        let fail = |error: super::TlsError| UrlError::new(endpoint.shown(), error.to_string());
        Ok(Some(Self {
            config: tls.config(protocol).map_err(fail)?,
            name: tls.name_for(host).map_err(fail)?,
        }))
    }
}

/// How far a connection has got, for saying so when time is up.
struct Progress(Mutex<(Step, String)>);

impl Progress {
    fn at(&self, step: Step, address: &str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (step, address.to_owned());
    }

    fn now(&self) -> (Step, String) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Dialer {
    pub(crate) fn new(
        endpoint: Arc<Endpoint>,
        timeout: Duration,
        hop: Option<Hop>,
        #[cfg(feature = "tls")] tls: Option<Secured>,
    ) -> Self {
        Self(Arc::new(Inner {
            endpoint,
            timeout,
            hop,
            #[cfg(feature = "tls")]
            tls,
        }))
    }

    /// The proxy that requests are written for, if there is one.
    pub(crate) fn forwarding(&self) -> Option<&Hop> {
        let hop = self.0.hop.as_ref()?;
        let plain = self.0.endpoint.wire == Wire::Http { tls: false };
        (plain && hop.kind == HopKind::Http).then_some(hop)
    }

    /// Connects.
    pub(crate) async fn connect(&self) -> Result<Stream, TransportError> {
        let inner = &*self.0;
        let progress = Progress(Mutex::new((Step::Connect, String::new())));
        match tokio::time::timeout(inner.timeout, self.steps(&progress)).await {
            Ok(connected) => connected,
            Err(_) => {
                let (step, address) = progress.now();
                Err(self.error(step).at(address).timed_out(inner.timeout))
            }
        }
    }

    fn error(&self, step: Step) -> TransportError {
        TransportError::new(self.0.endpoint.shown(), step)
    }

    async fn steps(&self, progress: &Progress) -> Result<Stream, TransportError> {
        let inner = &*self.0;
        let (socket, address) = match (&inner.endpoint.place, &inner.hop) {
            (Place::Unix(path), _) => self.unix(path, progress).await?,
            (Place::Tcp { host, port }, None) => self.tcp(host, *port, progress).await?,
            (Place::Tcp { host, port }, Some(hop)) => {
                let (socket, address) = self.tcp(&hop.host, hop.port, progress).await?;
                if self.forwarding().is_some() {
                    let known = Known::new(format!("{address} (proxy)"));
                    let mut stream = Stream::plain(socket, known);
                    stream.proxied = true;
                    return Ok(stream);
                }
                progress.at(Step::Proxy, &address);
                let socket = self.pass(hop, socket, host, *port, &address).await?;
                (socket, format!("{host}:{port} by proxy {address}"))
            }
        };
        #[cfg(feature = "tls")]
        if let Some(tls) = &inner.tls {
            progress.at(Step::Tls, &address);
            let connector = tokio_rustls::TlsConnector::from(tls.config.clone());
            let stream = connector.connect(tls.name.clone(), socket).await;
            let stream = stream.map_err(|error| {
                let failure = self.error(Step::Tls).at(&*address);
                let mut failure = failure.untrusted(super::tls::is_untrusted(&error));
                if let Some(hint) = super::tls::hint(&error) {
                    failure = failure.because(hint);
                }
                failure.with_source(super::tls::reason(error))
            })?;
            return Ok(Stream::tls(stream, Known::new(address)));
        }
        Ok(Stream::plain(socket, Known::new(address)))
    }

    #[cfg(unix)]
    async fn unix(
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
    async fn unix(
        &self,
        path: &std::path::Path,
        _: &Progress,
    ) -> Result<(Socket, String), TransportError> {
        let error = self.error(Step::Connect).at(path.display().to_string());
        Err(error.because("this system has no Unix sockets"))
    }

    /// Looks up a host and connects to the first of its addresses that answers.
    async fn tcp(
        &self,
        host: &str,
        port: u16,
        progress: &Progress,
    ) -> Result<(Socket, String), TransportError> {
        let named = format!("{host}:{port}");
        progress.at(Step::Resolve, &named);
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let found = lookup_host((bare, port)).await;
        let found: Vec<SocketAddr> = match found {
            Ok(found) => found.collect(),
            Err(error) => return Err(self.error(Step::Resolve).at(host).with_source(error)),
        };
        if found.is_empty() {
            let error = self.error(Step::Resolve).at(host);
            return Err(error.because(no_addresses(host)));
        }
        let list: Vec<String> = found.iter().map(SocketAddr::to_string).collect();
        let list = list.join(", ");
        progress.at(Step::Connect, &list);
        match race(found, connect_to).await {
            Ok(stream) => {
                let address = match stream.peer_addr() {
                    Ok(address) => address.to_string(),
                    Err(_) => list,
                };
                Ok((Socket::Tcp(stream), address))
            }
            Err(error) => {
                let error = error.unwrap_or_else(|| std::io::Error::other(no_addresses(host)));
                Err(self.error(Step::Connect).at(list).with_source(error))
            }
        }
    }

    /// Asks a proxy for a way to the server.
    async fn pass(
        &self,
        hop: &Hop,
        socket: Socket,
        host: &str,
        port: u16,
        address: &str,
    ) -> Result<Socket, TransportError> {
        let failed = |reason: String| self.error(Step::Proxy).at(address).because(reason);
        let proxy = hop
            .uri()
            .ok_or_else(|| failed("it is no host".to_owned()))?;
        let target = async {
            if hop.kind != (HopKind::Socks5 { local_lookup: true }) {
                return Ok(format!("{host}:{port}"));
            }
            let bare = host.trim_start_matches('[').trim_end_matches(']');
            let found = lookup_host((bare, port)).await;
            let found = found.map(|mut found| found.next());
            match found {
                Ok(Some(address)) => Ok(address.to_string()),
                Ok(None) => Err(self
                    .error(Step::Resolve)
                    .at(host)
                    .because(no_addresses(host))),
                Err(error) => Err(self.error(Step::Resolve).at(host).with_source(error)),
            }
        };
        let target = target.await?;
        let target = Uri::builder()
            .scheme("http")
            .authority(target)
            .path_and_query("/");
        let target = target.build().map_err(|error| failed(error.to_string()))?;
        let mut socket = Some(TokioIo::new(socket));
        let connected = tower::service_fn(move |_: Uri| {
            ready(
                socket
                    .take()
                    .ok_or(std::io::Error::other("connected twice")),
            )
        });
        let passed = match hop.kind {
            HopKind::Http => {
                let mut tunnel = Tunnel::new(proxy, connected);
                if let Some(credentials) = &hop.credentials {
                    tunnel = tunnel.with_auth(credentials.basic());
                }
                tunnel.call(target).await.map_err(|error| said(&error))
            }
            HopKind::Socks5 { .. } => {
                let mut socks = SocksV5::new(proxy, connected);
                if let Some(credentials) = hop.credentials.clone() {
                    socks = socks.with_auth(credentials.user, credentials.password);
                }
                socks.call(target).await.map_err(|error| format!("{error}"))
            }
        };
        Ok(passed.map_err(failed)?.into_inner())
    }
}

/// What an error says of a host that was looked up and has no addresses.
pub(crate) fn no_addresses(host: &str) -> String {
    format!("DNS returned no addresses for {host}")
}

/// After how long without traffic the system asks whether the other side is still there.
const KEEPALIVE: Duration = Duration::from_secs(60);

fn said(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// Connects to an address.
async fn connect_to(address: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    // Small messages must not wait for more data.
    let nodelay = stream.set_nodelay(true);
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE);
    let keepalive = SockRef::from(&stream).set_tcp_keepalive(&keepalive);
    // A connection is good without these options.
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

    /// Connects to the server, whatever host a request is for.
    fn call(&mut self, _: Uri) -> Self::Future {
        let dialer = self.clone();
        Box::pin(async move { dialer.connect().await.map(TokioIo::new) })
    }
}
