//! The transports. To add one, implement [`Wire`], and [`Transport`] for byte streams.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU32, Ordering};

use polywire_rpc::Server;
use polywire_rpc::server::{BoundAddress, RunningServer};
use tokio::io::{AsyncRead, AsyncWrite};

/// A transport that our servers listen on and our clients connect to.
pub(super) trait Wire: 'static {
    /// The listening socket, before a runtime has it.
    type Socket: Send;
    type Listener: Send + Sync;

    /// Listens on a free address. Returns the URL for our clients too.
    fn bind() -> io::Result<(Self::Socket, String)>;

    /// Registers the socket with the runtime.
    fn listener(socket: Self::Socket) -> io::Result<Self::Listener>;

    /// Starts our server.
    fn serve(
        server: &Server,
        listener: Self::Listener,
    ) -> impl Future<Output = io::Result<RunningServer<BoundAddress>>> + Send;

    /// Removes what remains after the server has ended.
    fn clear(_url: &str) {}
}

/// A transport of byte streams, which the peers use too.
pub(super) trait Transport: Wire {
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    fn accept(listener: &Self::Listener) -> impl Future<Output = io::Result<Self::Stream>> + Send;

    fn connect(url: &str) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

/// Loopback TCP with TCP_NODELAY.
pub(super) struct Tcp;

impl Wire for Tcp {
    type Socket = std::net::TcpListener;
    type Listener = tokio::net::TcpListener;

    fn bind() -> io::Result<(Self::Socket, String)> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let url = format!("tcp://{}", listener.local_addr()?);
        Ok((listener, url))
    }

    fn listener(socket: Self::Socket) -> io::Result<Self::Listener> {
        tokio::net::TcpListener::from_std(socket)
    }

    async fn serve(
        server: &Server,
        listener: Self::Listener,
    ) -> io::Result<RunningServer<BoundAddress>> {
        Ok(server.serve(listener)?.into_any())
    }
}

impl Transport for Tcp {
    type Stream = tokio::net::TcpStream;

    async fn accept(listener: &Self::Listener) -> io::Result<Self::Stream> {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    async fn connect(url: &str) -> io::Result<Self::Stream> {
        let stream = tokio::net::TcpStream::connect(url.trim_start_matches("tcp://")).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

/// A Unix socket, in the folder for temporary files.
pub(super) struct Unix;

impl Wire for Unix {
    type Socket = std::os::unix::net::UnixListener;
    type Listener = tokio::net::UnixListener;

    fn bind() -> io::Result<(Self::Socket, String)> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("polywire-peers-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let listener = std::os::unix::net::UnixListener::bind(&path)?;
        listener.set_nonblocking(true)?;
        Ok((listener, format!("unix://{}", path.display())))
    }

    fn listener(socket: Self::Socket) -> io::Result<Self::Listener> {
        tokio::net::UnixListener::from_std(socket)
    }

    async fn serve(
        server: &Server,
        listener: Self::Listener,
    ) -> io::Result<RunningServer<BoundAddress>> {
        Ok(server.serve(listener)?.into_any())
    }

    fn clear(url: &str) {
        // If that fails, a temporary file remains.
        let _ = std::fs::remove_file(url.trim_start_matches("unix://"));
    }
}

impl Transport for Unix {
    type Stream = tokio::net::UnixStream;

    async fn accept(listener: &Self::Listener) -> io::Result<Self::Stream> {
        let (stream, _) = listener.accept().await?;
        Ok(stream)
    }

    async fn connect(url: &str) -> io::Result<Self::Stream> {
        tokio::net::UnixStream::connect(url.trim_start_matches("unix://")).await
    }
}

/// Datagrams on loopback, which our server binds itself.
pub(super) struct Udp;

impl Wire for Udp {
    type Socket = SocketAddr;
    type Listener = SocketAddr;

    fn bind() -> io::Result<(Self::Socket, String)> {
        // The port stays free until the server binds it: ports are not reused at once.
        let socket = std::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = socket.local_addr()?;
        Ok((address, format!("udp://{address}")))
    }

    fn listener(socket: Self::Socket) -> io::Result<Self::Listener> {
        Ok(socket)
    }

    async fn serve(
        server: &Server,
        listener: Self::Listener,
    ) -> io::Result<RunningServer<BoundAddress>> {
        Ok(server.listen_udp(listener).await?.into_any())
    }
}
