//! Where a client connects to.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use crate::frames::link::{Link, LinkOptions};
use crate::frames::udp;

/// A server, or somebody who knows the way to it.
pub(super) struct Endpoint {
    /// As it was given.
    pub(super) name: Box<str>,
    way: Way,
}

enum Way {
    Own(Box<Connector>),
    /// `HOST:PORT`.
    Tcp(Box<str>),
    /// The same.
    Udp(Box<str>),
    #[cfg(unix)]
    Unix(Box<str>),
}

/// Makes a connection of its own kind.
type Connector = dyn Fn(LinkOptions) -> Opening<'static> + Send + Sync;

type Opening<'a> = Pin<Box<dyn Future<Output = io::Result<Link>> + Send + 'a>>;

impl Endpoint {
    /// The server of a URL.
    pub(super) fn parse(url: &str) -> Result<Self, ConnectError> {
        let wrong = |expected: &str| Err(ConnectError::new(url, &format!("expected {expected}")));
        let way = match url.split_once("://") {
            Some((scheme @ ("tcp" | "udp"), address)) => {
                let port = address
                    .rsplit_once(':')
                    .map(|(_, port)| port.parse::<u16>());
                if !matches!(port, Some(Ok(_))) {
                    return wrong(&format!("{scheme}://HOST:PORT"));
                }
                match scheme {
                    "tcp" => Way::Tcp(address.into()),
                    _ => Way::Udp(address.into()),
                }
            }
            #[cfg(unix)]
            Some(("unix", path)) if !path.is_empty() => Way::Unix(path.into()),
            _ => return wrong("tcp://HOST:PORT, udp://HOST:PORT or unix:///PATH"),
        };
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

    /// Connects.
    pub(super) async fn open(&self, options: LinkOptions) -> io::Result<Link> {
        match &self.way {
            Way::Own(connector) => connector(options).await,
            Way::Tcp(address) => {
                let stream = TcpStream::connect(&**address).await?;
                // What is small must not wait for more.
                stream.set_nodelay(true)?;
                Ok(Link::over(stream, options))
            }
            Way::Udp(address) => {
                let socket = udp::connect(address).await?;
                Link::over_datagrams(socket, options).await
            }
            #[cfg(unix)]
            Way::Unix(path) => {
                let stream = tokio::net::UnixStream::connect(&**path).await?;
                Ok(Link::over(stream, options))
            }
        }
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
    why: Arc<str>,
}

impl ConnectError {
    pub(super) fn new(url: &str, why: &dyn fmt::Display) -> Self {
        Self {
            url: url.into(),
            why: why.to_string().into(),
        }
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot connect to {}: {}", self.url, self.why)
    }
}

impl std::error::Error for ConnectError {}
