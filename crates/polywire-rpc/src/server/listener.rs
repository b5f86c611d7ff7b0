//! The sources of connections.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

use super::connection_stream::ConnectionStream;
#[cfg(feature = "tls")]
use super::tls::TlsListener;
use crate::peer::Peer;
#[cfg(feature = "tls")]
use crate::tls::ServerTls;

/// A source of connections for [`Server::serve`] and [`Server::serve_scgi`].
///
/// tokio's `TcpListener` and `UnixListener`, [`BoundUnixSocket`](super::BoundUnixSocket) and [`TlsListener`] are
/// listeners. Implement the trait to serve connections of another kind of socket:
///
/// ```
/// use std::io;
///
/// use polywire_rpc::server::{Listener, Peer};
/// use tokio::io::DuplexStream;
/// use tokio::sync::mpsc;
///
/// /// Serves the streams that are sent to a channel.
/// struct Streams(mpsc::Receiver<DuplexStream>);
///
/// impl Listener for Streams {
///     type Io = DuplexStream;
///     type Addr = &'static str;
///
///     async fn accept(&mut self) -> io::Result<(DuplexStream, Peer)> {
///         match self.0.recv().await {
///             Some(stream) => Ok((stream, Peer::default())),
///             // An error would be logged, and accept be called again.
///             None => std::future::pending().await,
///         }
///     }
///
///     fn local_addr(&self) -> io::Result<&'static str> {
///         Ok("memory")
///     }
///
///     fn try_accept(&mut self) -> Option<(DuplexStream, Peer)> {
///         Some((self.0.try_recv().ok()?, Peer::default()))
///     }
/// }
/// ```
///
/// [`Server::serve`]: super::Server::serve
/// [`Server::serve_scgi`]: super::Server::serve_scgi
pub trait Listener: Send + 'static {
    /// The byte stream of a connection.
    type Io: AsyncRead + AsyncWrite + Unpin + Send + 'static;
    /// Where the listener listens: [`RunningServer::bound_address`](super::RunningServer::bound_address) of the server.
    type Addr;

    /// Waits for the next connection.
    ///
    /// Must be cancel safe: the server drops this future when another connection ends, and calls `accept` again. Must not
    /// wait for bytes from the peer, because no other connection is accepted meanwhile.
    ///
    /// # Errors
    ///
    /// The connection could not be accepted. The server logs the error and calls `accept` again after 10 ms.
    fn accept(&mut self) -> impl Future<Output = io::Result<(Self::Io, Peer)>> + Send;

    /// Returns where the listener listens.
    ///
    /// # Errors
    ///
    /// The address is not known. Then [`Server::serve`](super::Server::serve) fails.
    fn local_addr(&self) -> io::Result<Self::Addr>;

    /// Returns a connection that is already established, without waiting.
    ///
    /// A server that stops calls this until it returns `None`, and serves these connections: their clients may have sent
    /// requests already. The first call should also make new connections fail, if the transport can do so. The default
    /// returns `None`.
    fn try_accept(&mut self) -> Option<(Self::Io, Peer)> {
        None
    }

    /// Wraps the listener in TLS.
    #[cfg(feature = "tls")]
    fn tls(self, tls: &ServerTls) -> TlsListener<Self>
    where
        Self: Sized,
    {
        TlsListener::new(self, tls)
    }
}

impl Listener for TcpListener {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> io::Result<(TcpStream, Peer)> {
        let (stream, address) = Self::accept(self).await?;
        Ok(prepare(stream, address))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Self::local_addr(self)
    }

    fn try_accept(&mut self) -> Option<(TcpStream, Peer)> {
        // Asks the system, since the runtime may not have polled the socket yet.
        let (socket, address) = SockRef::from(&*self).accept().ok()?;
        socket.set_nonblocking(true).ok()?;
        let stream = TcpStream::from_std(socket.into()).ok()?;
        Some(prepare(stream, address.as_socket()?))
    }
}

fn prepare(stream: TcpStream, address: SocketAddr) -> (TcpStream, Peer) {
    // Small responses must not wait for more data. Without the option they only arrive later.
    let _ = stream.set_nodelay(true);
    (stream, Peer::from(address))
}

type Accept<'a> = Pin<Box<dyn Future<Output = io::Result<(ConnectionStream, Peer)>> + Send + 'a>>;

/// A listener of any type, so that what serves connections is compiled once.
pub(super) trait AnyListener: Send {
    fn accept_any(&mut self) -> Accept<'_>;

    fn try_accept_any(&mut self) -> Option<(ConnectionStream, Peer)>;
}

impl<L: Listener> AnyListener for L {
    fn accept_any(&mut self) -> Accept<'_> {
        Box::pin(async {
            let (stream, peer) = self.accept().await?;
            Ok((ConnectionStream::new(stream), peer))
        })
    }

    fn try_accept_any(&mut self) -> Option<(ConnectionStream, Peer)> {
        let (stream, peer) = self.try_accept()?;
        Some((ConnectionStream::new(stream), peer))
    }
}
