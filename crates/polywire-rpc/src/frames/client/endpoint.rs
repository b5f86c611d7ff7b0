//! The servers that a client connects to.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

#[cfg(any(feature = "udp", feature = "websocket"))]
use crate::connect::Wire;
use crate::connect::{
    Address, ConnectOptions, Dialer, Layer, ServerUrl, Socket, Step, TransportError, UrlError,
};
use crate::error::Cause;
use crate::frames::inproc;
use crate::frames::link::{Link, LinkOptions};

/// A server, and how to connect to it.
pub(super) struct Endpoint {
    /// The URL, or the name of the connector.
    pub(super) name: Box<str>,
    method: ConnectMethod,
}

/// How the connection is made.
enum ConnectMethod {
    Connector(Box<Connector>),
    Dialer(Dialer),
}

/// Connects by the code of the caller.
type Connector = dyn Fn(LinkOptions) -> LinkFuture + Send + Sync;

type LinkFuture = Pin<Box<dyn Future<Output = io::Result<Link>> + Send>>;

impl Endpoint {
    pub(super) fn parse(url: &str, options: &ConnectOptions) -> Result<Self, ConnectError> {
        let dialer = ServerUrl::for_frames(url).and_then(|url| Dialer::new(url, options));
        Ok(Self {
            name: url.into(),
            method: ConnectMethod::Dialer(dialer?),
        })
    }

    /// A server whose streams `connect` makes.
    pub(super) fn connector<C, F, S>(name: &str, connect: C) -> Self
    where
        C: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<S>> + Send + 'static,
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let connector = move |options| {
            let connecting = connect();
            let opening = async move { Ok(Link::over(connecting.await?, options)) };
            Box::pin(opening) as LinkFuture
        };
        Self {
            name: name.into(),
            method: ConnectMethod::Connector(Box::new(connector)),
        }
    }

    /// Connects. `within` limits a connector and the upgrade of a WebSocket; the dialer has the same limit.
    pub(super) async fn open(&self, options: LinkOptions, within: Duration) -> Result<Link, Cause> {
        let dialer = match &self.method {
            ConnectMethod::Connector(connector) => {
                let opened = timeout(within, connector(options)).await;
                let late = || TransportError::new(&self.name, Step::Connect).timed_out(within);
                return opened.map_err(|_| late())?.map_err(Cause::of);
            }
            ConnectMethod::Dialer(dialer) => dialer,
        };
        let url = dialer.url();
        if let Address::InProcess(name) = &url.address {
            let stream = inproc::connect(name).map_err(Cause::of)?;
            return Ok(Link::over(stream, options));
        }
        match url.wire {
            #[cfg(feature = "udp")]
            Wire::Datagrams => {
                let attempt = |address| {
                    let options = options.clone();
                    async move {
                        Link::over_datagrams(crate::frames::udp::connect(address)?, options).await
                    }
                };
                Ok(dialer.connect_datagrams(attempt).await?)
            }
            #[cfg(feature = "websocket")]
            Wire::WebSocket { .. } => {
                let stream = dialer.connect().await?;
                let request = crate::websocket::UpgradeRequest::for_frames(url, within);
                let upgraded = crate::websocket::upgrade(stream, request).await;
                let bytes = upgraded.map_err(Cause::of)?.into_bytes();
                Ok(Link::over(bytes.map_err(Cause::of)?, options))
            }
            // Frames over a byte stream: no scheme for frames has another wire.
            _ => Ok(match dialer.connect().await?.into_layer() {
                Layer::Plain(Socket::Tcp(stream)) => Link::over(stream, options),
                #[cfg(unix)]
                Layer::Plain(Socket::Unix(stream)) => Link::over(stream, options),
                #[cfg(feature = "tls")]
                Layer::Tls(stream) => Link::over(*stream, options),
            }),
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Endpoint").field(&self.name).finish()
    }
}

/// A client that could not be created or connected: the URL without secrets, and the reason.
#[derive(Clone, Debug)]
pub struct ConnectError {
    url: Box<str>,
    cause: Cause,
}

impl ConnectError {
    pub(super) fn new(url: &str, cause: impl Into<Cause>) -> Self {
        Self {
            url: url.into(),
            cause: cause.into(),
        }
    }
}

impl From<UrlError> for ConnectError {
    fn from(error: UrlError) -> Self {
        Self::new(error.url(), error.reason())
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot connect to {}: {}", self.url, self.cause)
    }
}

impl std::error::Error for ConnectError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.source()
    }
}
