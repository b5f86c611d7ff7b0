//! Frames over UDP: one socket for all clients, and one task that has it.
//!
//! What comes over a socket is one state machine's, whoever sent it. Calls are carried out as those of
//! connections are, and what has come together is answered together, in as few system calls as can be.

mod work;

use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::pin;

use polywire_frame_udp::server::Limits;
use tokio::sync::watch;

use crate::frames::Socket;
use crate::server::Server;
use crate::server::running::{Running, UdpAddress};
use work::Work;

/// A socket of UDP to serve on, and how much is kept of its clients.
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
    /// A socket at an address, with the defaults that the methods tell.
    pub const fn new(address: SocketAddr) -> Self {
        Self {
            address,
            limits: Limits::DEFAULT,
        }
    }

    /// Sets the most bytes of an answer with the 24 before its payload, from 256 to 65,000; 1,400 unless
    /// this says other. What is longer than the network carries in one piece does not arrive. Calls may
    /// have 65,000 whatever this says.
    pub const fn datagram(mut self, bytes: usize) -> Self {
        self.limits.datagram = bytes;
        self
    }

    /// Sets how many clients are known at once; 4,096 unless this says other. Further ones are turned
    /// away until one has been silent for a minute.
    pub const fn clients(mut self, most: usize) -> Self {
        self.limits.peers = most;
        self
    }

    /// Sets how many of those may be of one address, or of one network of 64 bits in version 6; 1,024 unless
    /// this says other, so that nobody takes all places. Many clients may share an address: behind a router, or in
    /// one process.
    pub const fn clients_per_host(mut self, most: usize) -> Self {
        self.limits.peers_per_host = most;
        self
    }

    /// Sets the most bytes that are kept of all clients: mostly answers, in case they are lost. 64 MiB
    /// unless this says other. Beyond it the older ones are forgotten, and a call whose answer is
    /// lost then ends in a fault.
    pub const fn memory(mut self, bytes: usize) -> Self {
        self.limits.memory = bytes;
        self
    }
}

impl Server {
    /// Listens on an address of UDP and serves frames there in the background, on this runtime, as
    /// `docs/frame.md` defines: calls are sent again until they are answered, and carried out once.
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
    /// The address is not to be had, or the server does not offer
    /// [`frames`](crate::ServerBuilder::frames).
    #[allow(clippy::unused_async, reason = "as the others that listen")]
    pub async fn listen_udp(
        &self,
        socket: impl Into<UdpSocket>,
    ) -> io::Result<Running<UdpAddress>> {
        self.serve_udp(socket.into())
    }

    fn serve_udp(&self, socket: UdpSocket) -> io::Result<Running<UdpAddress>> {
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
        Ok(Running::new(place, stop, task))
    }
}

async fn serve(mut work: Work, mut stopped: watch::Receiver<bool>) {
    let mut stop = pin!(async move {
        // An error means that the sender was dropped: the server stops then too.
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
