//! Serving the connections of listeners.

use std::io;
use std::net::SocketAddr;
#[cfg(unix)]
use std::path::PathBuf;

use tokio::net::TcpListener;

use super::bind::bind;
use super::gate::{BUSY_HTTP, BUSY_SCGI};
use super::listener::{AnyListener, Listener};
use super::running::RunningServer;
#[cfg(unix)]
use super::unix::UnixSocket;
use super::{Server, accept, connection, scgi};
#[cfg(feature = "tls")]
use crate::tls::ServerTls;

impl Server {
    /// Serves HTTP, and frames if they are offered, on the connections of a listener: tokio's `TcpListener` or
    /// `UnixListener`, a [`TlsListener`](super::TlsListener), or your own [`Listener`].
    ///
    /// Serves in the background, on this tokio runtime, until the returned value is dropped. The file of a
    /// `UnixListener` stays.
    ///
    /// ```no_run
    /// use polywire_rpc::Server;
    /// use tokio::net::TcpListener;
    ///
    /// async fn serve(server: &Server) -> std::io::Result<()> {
    ///     let listener = TcpListener::bind("127.0.0.1:8080").await?;
    ///     let running = server.serve(listener)?;
    ///     println!("{}", running.address());
    ///     running.ended().await;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The listener has no address.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn serve<L: Listener>(&self, listener: L) -> io::Result<RunningServer<L::Addr>> {
        let address = listener.local_addr()?;
        Ok(self.serve_any(Box::new(listener)).at(address))
    }

    /// Serves SCGI on the connections of a listener, for a web server in front of this one, or for clients of rTorrent. See
    /// [`Self::serve`].
    ///
    /// Protocols, layers and limits are the same as over HTTP. The peer of a call is the client that the web server reports,
    /// if the web server is on this machine, or if [`ServerBuilder::trust_remote_scgi`] is set. All variables of the
    /// request are in its extensions as [`Variables`](polywire_protocol::scgi::Variables). Any process that can connect
    /// can set them, so only the web server should be able to connect: prefer a Unix socket.
    ///
    /// [`ServerBuilder::trust_remote_scgi`]: crate::ServerBuilder::trust_remote_scgi
    ///
    /// # Errors
    ///
    /// The listener has no address.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn serve_scgi<L: Listener>(&self, listener: L) -> io::Result<RunningServer<L::Addr>> {
        let address = listener.local_addr()?;
        Ok(self.serve_any_scgi(Box::new(listener)).at(address))
    }

    // The two are not generic, so that they are compiled here and not in each crate that calls the generic ones.
    fn serve_any(&self, listener: Box<dyn AnyListener>) -> RunningServer<()> {
        accept::serve(self, listener, BUSY_HTTP, connection::connection)
    }

    fn serve_any_scgi(&self, listener: Box<dyn AnyListener>) -> RunningServer<()> {
        accept::serve(self, listener, BUSY_SCGI, scgi::connection)
    }

    /// Listens on a TCP address and calls [`Self::serve`].
    ///
    /// # Errors
    ///
    /// The address cannot be bound.
    pub async fn listen(&self, address: SocketAddr) -> io::Result<RunningServer> {
        self.serve(TcpListener::from_std(bind(address)?)?)
    }

    /// Listens on a TCP address for HTTPS and calls [`Self::serve`].
    ///
    /// # Errors
    ///
    /// The address cannot be bound.
    #[cfg(feature = "tls")]
    pub async fn listen_tls(
        &self,
        address: SocketAddr,
        tls: &ServerTls,
    ) -> io::Result<RunningServer> {
        self.serve(TcpListener::from_std(bind(address)?)?.tls(tls))
    }

    /// Listens on a TCP address for SCGI and calls [`Self::serve_scgi`].
    ///
    /// # Errors
    ///
    /// The address cannot be bound.
    pub async fn listen_scgi(&self, address: SocketAddr) -> io::Result<RunningServer> {
        self.serve_scgi(TcpListener::from_std(bind(address)?)?)
    }

    /// Listens on a Unix socket and calls [`Self::serve`].
    ///
    /// Only processes of the same user may connect, unless the [`UnixSocket`] has another mode. The file of a process that
    /// has ended is replaced. The file is removed when the server stops. The credentials of the peer are in
    /// [`Context::caller`](crate::Context::caller).
    ///
    /// ```no_run
    /// use polywire_rpc::Server;
    /// use polywire_rpc::server::UnixSocket;
    ///
    /// async fn listen(server: &Server) -> std::io::Result<()> {
    ///     let running = server.listen_unix("/run/greeter.sock").await?;
    ///     println!("{}", running.path().display());
    ///     // The group may call too.
    ///     let socket = UnixSocket::new("/run/greeter-group.sock").mode(0o660);
    ///     let group = server.listen_unix(socket).await?;
    ///     running.ended().await;
    ///     group.shutdown().await;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`UnixSocket::bind`].
    #[cfg(unix)]
    pub async fn listen_unix(
        &self,
        socket: impl Into<UnixSocket>,
    ) -> io::Result<RunningServer<PathBuf>> {
        self.serve(socket.into().bind().await?)
    }

    /// Listens on a Unix socket for SCGI and calls [`Self::serve_scgi`]. The file is created and removed as by
    /// [`Self::listen_unix`].
    ///
    /// # Errors
    ///
    /// Those of [`UnixSocket::bind`].
    #[cfg(unix)]
    pub async fn listen_scgi_unix(
        &self,
        socket: impl Into<UnixSocket>,
    ) -> io::Result<RunningServer<PathBuf>> {
        self.serve_scgi(socket.into().bind().await?)
    }
}
