//! What calls go over. One more is one more implementation.

use std::future::Future;
use std::io;
use std::net::Ipv4Addr;

use polywire_rpc::Server;
use polywire_rpc::server::{Place, Running};
use tokio::io::{AsyncRead, AsyncWrite};

/// A transport of byte streams.
pub(super) trait Transport: 'static {
    /// What is listened on, before a runtime has it.
    type Socket: Send;
    type Listener;
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Listens somewhere. What a client of ours connects to, too.
    fn bind() -> io::Result<(Self::Socket, String)>;

    /// Hands what is listened on to the runtime.
    fn listener(socket: Self::Socket) -> io::Result<Self::Listener>;

    fn accept(listener: &Self::Listener) -> impl Future<Output = io::Result<Self::Stream>> + Send;

    fn connect(url: &str) -> impl Future<Output = io::Result<Self::Stream>> + Send;

    /// Has our server listen.
    fn serve(server: &Server, listener: Self::Listener) -> io::Result<Running<Place>>;
}

/// Loopback TCP. What is small is not kept back.
pub(super) struct Tcp;

impl Transport for Tcp {
    type Socket = std::net::TcpListener;
    type Listener = tokio::net::TcpListener;
    type Stream = tokio::net::TcpStream;

    fn bind() -> io::Result<(Self::Socket, String)> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let url = format!("tcp://{}", listener.local_addr()?);
        Ok((listener, url))
    }

    fn listener(socket: Self::Socket) -> io::Result<Self::Listener> {
        tokio::net::TcpListener::from_std(socket)
    }

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

    fn serve(server: &Server, listener: Self::Listener) -> io::Result<Running<Place>> {
        Ok(server.serve(listener)?.into_any())
    }
}
