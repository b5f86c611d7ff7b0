//! Where a client connects to.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
#[cfg(feature = "tls")]
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::frames::cause::Cause;
use crate::frames::inproc::Caller;
use crate::frames::link::{Link, LinkOptions};
use crate::frames::{inproc, udp};

/// A server, or somebody who knows the way to it.
pub(super) struct Endpoint {
    /// As it was given.
    pub(super) name: Box<str>,
    way: Way,
}

enum Way {
    Own(Box<Connector>),
    /// The name of a server in this process.
    Inproc(Box<str>),
    /// `HOST:PORT`.
    Tcp(Box<str>),
    /// The same.
    Udp(Box<str>),
    #[cfg(feature = "tls")]
    Tls(Box<Secured>),
    #[cfg(unix)]
    Unix(Box<str>),
}

/// A server that is spoken to by TLS.
#[cfg(feature = "tls")]
struct Secured {
    /// `HOST:PORT`.
    address: Box<str>,
    config: Arc<rustls::ClientConfig>,
    name: rustls::pki_types::ServerName<'static>,
}

/// What an endpoint may need beside its URL.
#[derive(Clone, Debug, Default)]
pub(super) struct Needs {
    #[cfg(feature = "tls")]
    pub(super) tls: crate::connect::Tls,
}

/// Makes a connection of its own kind.
type Connector = dyn Fn(LinkOptions) -> Opening<'static> + Send + Sync;

type Opening<'a> = Pin<Box<dyn Future<Output = io::Result<Link>> + Send + 'a>>;

impl Endpoint {
    /// The server of a URL.
    pub(super) fn parse(url: &str, needs: &Needs) -> Result<Self, ConnectError> {
        let way = Way::parse(url, needs).map_err(|why| match url.split_once('@') {
            // What stands before it may be a password.
            Some((_, rest)) => ConnectError::new(&format!("***@{rest}"), NO_USER),
            None => ConnectError::new(url, why),
        })?;
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

    /// Connects.
    pub(super) async fn open(&self, options: LinkOptions) -> io::Result<Link> {
        match &self.way {
            Way::Own(connector) => connector(options).await,
            Way::Inproc(name) => {
                let caller = Caller {
                    clock: options.clock,
                    most: options.settings.frame(),
                };
                let connected = inproc::connect(name, caller)?;
                Ok(Link::within_process(connected, options))
            }
            Way::Tcp(address) => Ok(Link::over(connect(address).await?, options)),
            Way::Udp(address) => {
                let try_one = |socket| Link::over_datagrams(socket, options.clone());
                udp::connect(address, try_one).await
            }
            #[cfg(feature = "tls")]
            Way::Tls(secured) => Ok(Link::over(secured.connect().await?, options)),
            #[cfg(unix)]
            Way::Unix(path) => {
                let stream = tokio::net::UnixStream::connect(&**path).await?;
                Ok(Link::over(stream, options))
            }
        }
    }
}

/// Why a URL with a user is refused.
const NO_USER: &str = "a URL has no user: `Client::with_authorization` sets one";

/// The schemes of URLs that are known here.
const KNOWN: &str = "expected tcp://HOST:PORT, tcp+tls://HOST:PORT, udp://HOST:PORT, unix:///PATH or \
                     inproc://NAME";

impl Way {
    fn parse(url: &str, needs: &Needs) -> Result<Self, String> {
        match url.split_once("://") {
            Some(("inproc", name)) if inproc::is_name(name) => Ok(Self::Inproc(name.into())),
            Some(("inproc", _)) => Err(format!("the name: {}", inproc::A_NAME)),
            Some(("tcp", address)) if host_of(address).is_some() => Ok(Self::Tcp(address.into())),
            Some(("udp", address)) if host_of(address).is_some() => Ok(Self::Udp(address.into())),
            Some((scheme @ ("tcp" | "udp"), _)) => Err(format!("expected {scheme}://HOST:PORT")),
            Some(("tcp+tls", address)) => match host_of(address) {
                Some(host) => Self::secured(address, host, needs),
                None => Err("expected tcp+tls://HOST:PORT".to_owned()),
            },
            #[cfg(unix)]
            Some(("unix", path)) if !path.is_empty() => Ok(Self::Unix(path.into())),
            _ => Err(KNOWN.to_owned()),
        }
    }

    #[cfg(feature = "tls")]
    fn secured(address: &str, host: &str, needs: &Needs) -> Result<Self, String> {
        // No protocol is asked for: servers tell frames by their first byte.
        let config = needs.tls.config(None).map_err(|error| error.to_string())?;
        let name = needs.tls.name_for(host);
        Ok(Self::Tls(Box::new(Secured {
            address: address.into(),
            config,
            name: name.map_err(|error| error.to_string())?,
        })))
    }

    #[cfg(not(feature = "tls"))]
    fn secured(_: &str, _: &str, _: &Needs) -> Result<Self, String> {
        Err("tcp+tls is not built in: the feature `tls` of polywire-rpc is off".to_owned())
    }
}

/// The host of `HOST:PORT`.
fn host_of(address: &str) -> Option<&str> {
    let (host, port) = address.rsplit_once(':')?;
    // A user has no place here, and is not to be looked up as part of a name.
    let known = !host.is_empty() && !host.contains('@') && port.parse::<u16>().is_ok();
    known.then_some(host)
}

async fn connect(address: &str) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    // What is small must not wait for more.
    stream.set_nodelay(true)?;
    Ok(stream)
}

#[cfg(feature = "tls")]
impl Secured {
    async fn connect(&self) -> io::Result<tokio_rustls::client::TlsStream<TcpStream>> {
        let stream = connect(&self.address).await?;
        let connector = tokio_rustls::TlsConnector::from(Arc::clone(&self.config));
        let secured = connector.connect(self.name.clone(), stream).await;
        secured.map_err(|error| {
            let hint = crate::connect::hint(&error);
            let reason = crate::connect::reason(error);
            io::Error::other(match hint {
                Some(hint) => format!("TLS: {hint} ({reason})"),
                None => format!("TLS: {reason}"),
            })
        })
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
