//! Servers that listen, and where.

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A server that listens, until this is dropped.
///
/// Dropping it stops the server as [`Running::shutdown`] does, but waits for nothing: calls
/// in progress end in the background, as long as the runtime is there. So it has to be kept:
///
/// ```compile_fail
/// #![deny(unused_must_use)]
/// # use polywire_rpc::Server;
/// async fn serve(server: &Server) -> std::io::Result<()> {
///     server.listen(([127, 0, 0, 1], 8080).into()).await?;
///     Ok(())
/// }
/// ```
///
/// What it listens on is its type: [`Running::address`] is there for TCP and UDP,
/// [`Running::path`] for Unix sockets. [`Running::into_any`] makes those of all
/// kinds one type, to be kept together.
#[derive(Debug)]
#[must_use = "the server stops when this is dropped"]
pub struct Running<P = SocketAddr> {
    place: P,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

/// Where a server listens.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Place {
    /// A name within this process.
    Inproc(String),
    /// An address of TCP.
    Tcp(SocketAddr),
    /// An address of UDP.
    Udp(SocketAddr),
    /// The path of a Unix socket.
    Unix(PathBuf),
    /// Of a user-defined [`Listener`](super::Listener).
    Other(String),
}

/// An address of UDP that a server listens on.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct UdpAddress(pub SocketAddr);

impl fmt::Display for Place {
    /// `127.0.0.1:8080`, `udp:127.0.0.1:8080`, `unix:/run/polywire.sock`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inproc(name) => write!(f, "inproc:{name}"),
            Self::Tcp(address) => address.fmt(f),
            Self::Udp(address) => write!(f, "udp:{address}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Other(place) => place.fmt(f),
        }
    }
}

impl From<SocketAddr> for Place {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

impl From<UdpAddress> for Place {
    fn from(UdpAddress(address): UdpAddress) -> Self {
        Self::Udp(address)
    }
}

impl From<PathBuf> for Place {
    fn from(path: PathBuf) -> Self {
        Self::Unix(path)
    }
}

impl Running {
    /// The address that it listens on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.place
    }
}

impl Running<UdpAddress> {
    /// The address that it listens on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.place.0
    }
}

impl Running<PathBuf> {
    /// The path of the socket that it listens on.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.place
    }
}

impl<P> Running<P> {
    pub(super) const fn new(place: P, stop: watch::Sender<bool>, task: JoinHandle<()>) -> Self {
        Self { place, stop, task }
    }

    /// What it listens on.
    #[must_use]
    pub const fn place(&self) -> &P {
        &self.place
    }

    /// The same server, with the type that all kinds of listeners have in common.
    pub fn into_any(self) -> Running<Place>
    where
        P: Into<Place>,
    {
        Running::new(self.place.into(), self.stop, self.task)
    }

    pub(super) fn at<Q>(self, place: Q) -> Running<Q> {
        Running::new(place, self.stop, self.task)
    }

    /// Returns when it serves no more, although nobody has told it to stop: its
    /// runtime is gone, or it has panicked.
    pub async fn ended(&self) {
        self.stop.closed().await;
    }

    /// Stops: accepts no more connections, lets calls in progress end for the
    /// time that the server's timeouts give them, then returns.
    pub async fn shutdown(self) {
        // Nobody listening any more is as good as stopped.
        let _ = self.stop.send(true);
        let _ = self.task.await;
    }
}
