//! In-process listeners.

use std::fmt;
use std::io;

use tokio::io::DuplexStream;

use crate::frames::inproc::InprocListener;
use crate::peer::Peer;
use crate::server::Server;
use crate::server::accept;
use crate::server::first_bytes::FirstBytes;
use crate::server::listener::Listener;
use crate::server::running::{BoundAddress, RunningServer};

/// A name within this process that a server listens on.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct InprocName(pub String);

impl fmt::Display for InprocName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<InprocName> for BoundAddress {
    fn from(InprocName(name): InprocName) -> Self {
        Self::Inproc(name)
    }
}

impl RunningServer<InprocName> {
    /// The name that the server listens on.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.bound_address().0
    }
}

impl Server {
    /// Listens on a name within this process, for clients at `inproc://NAME`. Stops when the returned value is dropped.
    ///
    /// A connection is a pair of in-memory byte streams with frames, served like a TCP connection with all limits. Client and server may be on different runtimes.
    ///
    /// ```
    /// use polywire_rpc::frames::Client;
    /// use polywire_rpc::{Methods, Server};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let methods = Methods::new().method("Add", |(a, b): (i32, i32)| async move { a + b });
    /// let server = Server::methods(methods).frames(true).build()?;
    /// let running = server.listen_inproc("adder")?;
    ///
    /// let client = Client::connect("inproc://adder").await?;
    /// let sum: i32 = client.call("Add", (2, 3)).await?;
    /// assert_eq!(sum, 5);
    /// # running.shutdown().await;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// `AddrInUse` if another server of this process has the name. `InvalidInput` if the name is empty, longer than 255
    /// bytes, or contains white space, control characters or slashes; or if the server does not offer
    /// [`frames`](crate::ServerBuilder::frames).
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn listen_inproc(&self, name: &str) -> io::Result<RunningServer<InprocName>> {
        if self.app.frames.is_none() {
            let message = "the server does not offer frames: `ServerBuilder::frames`";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let listener = InprocListener::bind(name)?;
        let place = InprocName(listener.name().to_owned());
        let connection = |server, stream, peer, stopped| {
            super::connection(server, stream, FirstBytes::default(), peer, stopped)
        };
        Ok(accept::serve(self, Box::new(listener), b"", connection).at(place))
    }
}

impl Listener for InprocListener {
    type Io = DuplexStream;
    type Addr = InprocName;

    async fn accept(&mut self) -> io::Result<(DuplexStream, Peer)> {
        Ok((Self::accept(self).await, Peer::in_process()))
    }

    fn local_addr(&self) -> io::Result<InprocName> {
        Ok(InprocName(self.name().to_owned()))
    }

    fn try_accept(&mut self) -> Option<(DuplexStream, Peer)> {
        self.close();
        Some((self.next()?, Peer::in_process()))
    }
}
