//! Frames over UDP: one socket and one task for all clients.
//!
//! One state machine has all clients. Calls run as those of connections do. Replies to datagrams that were received together
//! are sent together, in few system calls.

mod work;

use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::pin;

use polywire_frame_udp::server::Limits;
use tokio::sync::watch;

use crate::frames::Socket;
use crate::server::Server;
use crate::server::running::{RunningServer, UdpAddress};
use work::Work;

/// A UDP socket for [`Server::listen_udp`], and the limits of its clients.
///
/// ```
/// use polywire_rpc::server::UdpSocket;
///
/// let socket = UdpSocket::new(([127, 0, 0, 1], 0).into())
///     .datagram(9_000)
///     .clients(100)
///     .memory(8 << 20);
/// # let _ = socket;
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "it is for `listen_udp`"]
pub struct UdpSocket {
    address: SocketAddr,
    limits: Limits,
}

impl From<SocketAddr> for UdpSocket {
    fn from(address: SocketAddr) -> Self {
        Self::new(address)
    }
}

impl UdpSocket {
    /// A socket at an address, with default limits.
    pub const fn new(address: SocketAddr) -> Self {
        Self {
            address,
            limits: Limits::DEFAULT,
        }
    }

    /// Sets the maximum size of a reply in bytes, including 24 before its payload: 256 to 65,000. Default: 1,400. Datagrams
    /// that are longer than the network allows are lost. Calls may always have 65,000.
    pub const fn datagram(mut self, bytes: usize) -> Self {
        self.limits.datagram = bytes;
        self
    }

    /// Sets the maximum number of known clients. Default: 4,096. Further ones are rejected until one has been silent for a
    /// minute.
    pub const fn clients(mut self, most: usize) -> Self {
        self.limits.peers = most;
        self
    }

    /// Sets the maximum number of known clients of one IPv4 address or one IPv6 network of 64 bits. Default: 1,024. Many
    /// clients may share an address: behind a router, or in one process.
    pub const fn clients_per_host(mut self, most: usize) -> Self {
        self.limits.peers_per_host = most;
        self
    }

    /// Sets the maximum number of bytes that are stored for all clients, mostly replies that may have to be sent again.
    /// Default: 64 MiB. Above it the oldest are removed, and a call whose reply is lost then fails.
    pub const fn memory(mut self, bytes: usize) -> Self {
        self.limits.memory = bytes;
        self
    }
}

impl Server {
    /// Serves frames over UDP in the background, on this runtime, as `docs/frame.md` defines: clients resend calls until they
    /// are answered, and each is executed at most once.
    ///
    /// ```
    /// use polywire_rpc::frames::Client;
    /// use polywire_rpc::{Methods, Server};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let methods = Methods::new().method("Add", |(a, b): (i32, i32)| async move { a + b });
    /// let server = Server::methods(methods).frames(true).build()?;
    /// let address: std::net::SocketAddr = "127.0.0.1:0".parse()?;
    /// let running = server.listen_udp(address).await?;
    ///
    /// let client = Client::connect(&format!("udp://{}", running.address())).await?;
    /// let sum: i32 = client.call("Add", (2, 3)).await?;
    /// assert_eq!(sum, 5);
    /// # running.shutdown().await;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// The socket cannot be bound, or the server does not offer [`frames`](crate::ServerBuilder::frames).
    #[allow(clippy::unused_async, reason = "as the others that listen")]
    pub async fn listen_udp(
        &self,
        socket: impl Into<UdpSocket>,
    ) -> io::Result<RunningServer<UdpAddress>> {
        self.serve_udp(socket.into())
    }

    fn serve_udp(&self, socket: UdpSocket) -> io::Result<RunningServer<UdpAddress>> {
        let UdpSocket { address, limits } = socket;
        let socket = std::net::UdpSocket::bind(address)?;
        socket.set_nonblocking(true)?;
        let socket = Socket::new(socket)?;
        let place = UdpAddress(socket.local_address()?);
        let Some(work) = Work::new(std::sync::Arc::clone(&self.app), socket, limits) else {
            let words = "the server does not offer frames: `ServerBuilder::frames`";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, words));
        };
        let (stop, stopped) = watch::channel(false);
        let task = tokio::spawn(serve(work, stopped));
        Ok(RunningServer::new(place, stop, task))
    }
}

async fn serve(mut work: Work, mut stopped: watch::Receiver<bool>) {
    let mut stop = pin!(async move {
        // A dropped sender means stop.
        let _ = stopped.changed().await;
    });
    let mut stopping = false;
    poll_fn(|context| {
        if !stopping && stop.as_mut().poll(context).is_ready() {
            stopping = true;
            work.stop();
        }
        work.poll(context)
    })
    .await;
    work.end().await;
}
