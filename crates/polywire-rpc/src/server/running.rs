//! A server that listens, and its address.

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A server that listens until this is dropped.
///
/// Dropping it stops the server like [`RunningServer::shutdown`], but does not wait: calls in progress end in the background,
/// as long as the runtime exists. So keep it:
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
/// The type parameter is the address type of the listener: [`RunningServer::address`] exists for TCP and UDP,
/// [`RunningServer::path`] for Unix sockets. [`RunningServer::into_any`] converts all of them to one type.
#[derive(Debug)]
#[must_use = "the server stops when this is dropped"]
pub struct RunningServer<P = SocketAddr> {
    address: P,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

/// Where a server listens.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum BoundAddress {
    /// A name within this process.
    Inproc(String),
    /// A TCP address.
    Tcp(SocketAddr),
    /// A UDP address.
    Udp(SocketAddr),
    /// The path of a Unix socket.
    Unix(PathBuf),
    /// An address of a user-defined [`Listener`](super::Listener).
    Other(String),
}

/// The UDP address of a server.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct UdpAddress(pub SocketAddr);

impl fmt::Display for BoundAddress {
    /// `127.0.0.1:8080`, `udp:127.0.0.1:8080`, `unix:/run/polywire.sock`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inproc(name) => write!(f, "inproc:{name}"),
            Self::Tcp(address) => address.fmt(f),
            Self::Udp(address) => write!(f, "udp:{address}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Other(address) => address.fmt(f),
        }
    }
}

impl From<SocketAddr> for BoundAddress {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

impl From<UdpAddress> for BoundAddress {
    fn from(UdpAddress(address): UdpAddress) -> Self {
        Self::Udp(address)
    }
}

impl From<PathBuf> for BoundAddress {
    fn from(path: PathBuf) -> Self {
        Self::Unix(path)
    }
}

impl RunningServer {
    /// The address of the server.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl RunningServer<UdpAddress> {
    /// The address of the server.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address.0
    }
}

impl RunningServer<PathBuf> {
    /// The path of the socket.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.address
    }
}

impl<P> RunningServer<P> {
    pub(super) const fn new(address: P, stop: watch::Sender<bool>, task: JoinHandle<()>) -> Self {
        Self {
            address,
            stop,
            task,
        }
    }

    /// Where the server listens.
    #[must_use]
    pub const fn bound_address(&self) -> &P {
        &self.address
    }

    /// The same server, with the type that all kinds of listeners have in common.
    pub fn into_any(self) -> RunningServer<BoundAddress>
    where
        P: Into<BoundAddress>,
    {
        RunningServer::new(self.address.into(), self.stop, self.task)
    }

    pub(super) fn at<Q>(self, address: Q) -> RunningServer<Q> {
        RunningServer::new(address, self.stop, self.task)
    }

    /// Returns when the server has ended without [`Self::shutdown`]: its runtime has ended, or its task has panicked.
    pub async fn ended(&self) {
        self.stop.closed().await;
    }

    /// Stops the server: accepts no more connections, waits for calls in progress for at most
    /// [`Timeouts::shutdown`](super::Timeouts::shutdown), aborts the rest, and returns.
    ///
    /// | | calls in progress | idle connections |
    /// |---|---|---|
    /// | HTTP/1 | finish; the response has `Connection: close` | close after 1 second, for requests that are on their way |
    /// | HTTP/2 | finish after GOAWAY | close after 1 second without requests |
    /// | frames | finish after GOAWAY; nine tenths into the time (at least 1 second before its end) the rest gets `unavailable` | close when the client has answered, or after 1 second |
    /// | streams over frames | their handlers are told by [`StreamCall::going_away`](crate::StreamCall::going_away) | |
    /// | subscriptions | end at once with `unavailable`; queued messages are dropped | |
    /// | calls without a reply | may run until the end of the time | |
    pub async fn shutdown(self) {
        // Fails if the server has ended.
        let _ = self.stop.send(true);
        let _ = self.task.await;
    }
}
