//! The service of the examples, and a listener over memory.

use std::io;

use polywire::rpc::server::{BoundAddress, Listener, Peer};
use polywire::rpc::{BuildError, Methods, Server};
use tokio::io::DuplexStream;
use tokio::sync::mpsc;

/// A server with the method `add`, over XML-RPC.
///
/// # Errors
///
/// None: the settings fit each other.
pub fn server() -> Result<Server, BuildError> {
    let methods = Methods::new().method(
        "add",
        |(left, right): (i32, i32)| async move { left + right },
    );
    Server::methods(methods).build()
}

/// The bytes in each direction that are not read yet.
const BUFFER: usize = 64 << 10;

/// Creates a listener over memory, and the connector of its clients. At most `backlog` connections wait to be accepted.
#[must_use]
pub fn memory(backlog: usize) -> (MemoryListener, MemoryConnector) {
    let (sender, receiver) = mpsc::channel(backlog);
    (MemoryListener(receiver), MemoryConnector(sender))
}

/// A listener over memory. For another transport, such as vsock, only the types differ.
#[derive(Debug)]
pub struct MemoryListener(mpsc::Receiver<DuplexStream>);

/// Connects to a [`MemoryListener`].
#[derive(Clone, Debug)]
pub struct MemoryConnector(mpsc::Sender<DuplexStream>);

/// The address of a [`MemoryListener`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Memory;

impl From<Memory> for BoundAddress {
    fn from(_: Memory) -> Self {
        Self::Other("memory".to_owned())
    }
}

impl MemoryConnector {
    /// Connects, as soon as there is room in the backlog.
    ///
    /// # Errors
    ///
    /// The listener does not exist any more.
    pub async fn connect(&self) -> io::Result<DuplexStream> {
        let (client, server) = tokio::io::duplex(BUFFER);
        let refused = |_| io::Error::from(io::ErrorKind::ConnectionRefused);
        self.0.send(server).await.map_err(refused)?;
        Ok(client)
    }
}

impl Listener for MemoryListener {
    type Io = DuplexStream;
    type Addr = Memory;

    async fn accept(&mut self) -> io::Result<(DuplexStream, Peer)> {
        match self.0.recv().await {
            Some(stream) => Ok((stream, peer())),
            // No connector is left. An error would be logged, and accept be called again.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<Memory> {
        Ok(Memory)
    }

    fn try_accept(&mut self) -> Option<(DuplexStream, Peer)> {
        // From here on `connect` fails.
        self.0.close();
        Some((self.0.try_recv().ok()?, peer()))
    }
}

/// The client is in this process: local, and no other process can read the connection.
fn peer() -> Peer {
    Peer::unix(None).with_encryption(true)
}
