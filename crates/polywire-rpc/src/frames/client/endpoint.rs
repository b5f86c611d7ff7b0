//! Where a client connects to.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::connect::{self, Dialer, Layer, Place, Socket, UrlError, Wire};
use crate::frames::cause::Cause;
use crate::frames::inproc::Caller;
use crate::frames::link::{Link, LinkOptions};
use crate::frames::{inproc, udp};

/// A server, and how to connect to it.
pub(super) struct Endpoint {
    /// As it was given.
    pub(super) name: Box<str>,
    way: Way,
}

enum Way {
    Own(Box<Connector>),
    /// The name of a server in this process.
    Inproc(Box<str>),
    /// TCP or a Unix socket, with or without TLS.
    Stream(Dialer),
    Udp {
        host: Box<str>,
        port: u16,
    },
    /// The bytes of WebSocket messages.
    #[cfg(feature = "websocket")]
    WebSocket(Dialer, Box<connect::Endpoint>),
}

/// What an endpoint may need beside its URL.
#[derive(Clone, Debug, Default)]
pub(super) struct Needs {
    #[cfg(feature = "tls")]
    pub(super) tls: connect::Tls,
}

/// Makes a connection of its own kind.
type Connector = dyn Fn(LinkOptions) -> Opening<'static> + Send + Sync;

type Opening<'a> = Pin<Box<dyn Future<Output = io::Result<Link>> + Send + 'a>>;

impl Endpoint {
    /// The server of a URL. A connection has so much time to be made.
    pub(super) fn parse(url: &str, needs: &Needs, within: Duration) -> Result<Self, ConnectError> {
        let way = Way::parse(url, needs, within);
        let way = way.map_err(|error| ConnectError::new(error.url(), error.reason()))?;
        let name = url.into();
        Ok(Self { name, way })
    }

    /// One whose streams somebody else makes.
    pub(super) fn own<C, F, S>(name: &str, connect: C) -> Self
    where
        C: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<S>> + Send + 'static,
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let connector = move |options| {
            let connecting = connect();
            let opening = async move { Ok(Link::over(connecting.await?, options)) };
            Box::pin(opening) as Opening<'static>
        };
        Self {
            name: name.into(),
            way: Way::Own(Box::new(connector)),
        }
    }

    /// Whether its server is in this process.
    pub(super) const fn is_within_process(&self) -> bool {
        matches!(self.way, Way::Inproc(_))
    }

    /// Connects within a time.
    pub(super) async fn open(&self, options: LinkOptions, within: Duration) -> io::Result<Link> {
        match &self.way {
            Way::Own(connector) => in_time(within, connector(options)).await,
            Way::Inproc(name) => {
                let caller = Caller {
                    clock: options.clock,
                    most: options.settings.frame(),
                };
                let connected = inproc::connect(name, caller)?;
                Ok(Link::within_process(connected, options))
            }
            // A dialer keeps to the time itself, and tells which step was late.
            Way::Stream(dialer) => Ok(match dialer.connect().await?.into_layer() {
                Layer::Plain(Socket::Tcp(stream)) => Link::over(stream, options),
                #[cfg(unix)]
                Layer::Plain(Socket::Unix(stream)) => Link::over(stream, options),
                #[cfg(feature = "tls")]
                Layer::Tls(stream) => Link::over(*stream, options),
            }),
            #[cfg(feature = "websocket")]
            Way::WebSocket(dialer, endpoint) => {
                let stream = dialer.connect().await?;
                let request = crate::websocket::UpgradeRequest::for_frames(endpoint, within);
                let upgraded = crate::websocket::upgrade(stream, request).await;
                let upgraded = upgraded.map_err(io::Error::other)?;
                Ok(Link::over(upgraded.into_bytes()?, options))
            }
            Way::Udp { host, port } => {
                let attempt = |socket| Link::over_datagrams(socket, options.clone());
                in_time(within, udp::connect(host, *port, attempt)).await
            }
        }
    }
}

/// What comes of a connection, or an error if that takes too long.
async fn in_time<T>(
    within: Duration,
    connecting: impl Future<Output = io::Result<T>>,
) -> io::Result<T> {
    let connected = tokio::time::timeout(within, connecting).await;
    connected.unwrap_or_else(|_| {
        let words = format!("it took longer than {within:?}");
        Err(io::Error::new(io::ErrorKind::TimedOut, words))
    })
}

impl Way {
    fn parse(url: &str, needs: &Needs, within: Duration) -> Result<Self, UrlError> {
        if let Some(("inproc", name)) = url.split_once("://") {
            return match inproc::is_name(name) {
                true => Ok(Self::Inproc(name.into())),
                false => Err(UrlError::new(url, format!("the name: {}", inproc::A_NAME))),
            };
        }
        let endpoint = connect::Endpoint::parse_frames(url)?;
        if let (Wire::Datagrams, Place::Tcp { host, port }) = (endpoint.wire, &endpoint.place) {
            let (host, port) = (host.as_str().into(), *port);
            return Ok(Self::Udp { host, port });
        }
        #[cfg(feature = "websocket")]
        if matches!(endpoint.wire, Wire::WebSocket { .. }) {
            let options = connect::Options {
                connect_timeout: within,
                #[cfg(feature = "tls")]
                tls: needs.tls.clone(),
                ..connect::Options::new()
            };
            let dialer = crate::websocket::dialer(endpoint.clone(), &options)?;
            return Ok(Self::WebSocket(dialer, Box::new(endpoint)));
        }
        // No protocol is asked for: servers tell frames by their first byte.
        #[cfg(feature = "tls")]
        let tls = connect::Secured::new(&endpoint, &needs.tls, None)?;
        #[cfg(not(feature = "tls"))]
        if endpoint.wire.is_tls() {
            let _ = needs;
            let words = "tcp+tls is not built in: the feature `tls` of polywire-rpc is off";
            return Err(UrlError::new(url, words));
        }
        Ok(Self::Stream(Dialer::new(
            Arc::new(endpoint),
            within,
            None,
            #[cfg(feature = "tls")]
            tls,
        )))
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Endpoint").field(&self.name).finish()
    }
}

/// A connection that could not be made.
#[derive(Clone, Debug)]
pub struct ConnectError {
    url: Box<str>,
    why: Cause,
}

impl ConnectError {
    pub(super) fn new(url: &str, why: impl Into<Cause>) -> Self {
        Self {
            url: url.into(),
            why: why.into(),
        }
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot connect to {}: {}", self.url, self.why)
    }
}

impl std::error::Error for ConnectError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.why.source()
    }
}
