//! Frames within a process.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::direct::Direct;
use super::work::Work;
use crate::frames::Clock;
use crate::frames::inproc::{Bound, Calls, Connected};
use crate::server::Server;
use crate::server::accept::{self, Listener};
use crate::server::peer::Peer;
use crate::server::running::{Place, Running};

/// A name within this process that a server listens on.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct InprocName(pub String);

impl fmt::Display for InprocName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<InprocName> for Place {
    fn from(InprocName(name): InprocName) -> Self {
        Self::Inproc(name)
    }
}

impl Running<InprocName> {
    /// The name that it listens on.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.place().0
    }
}

impl Server {
    /// Listens under a name within this process, for clients at `inproc://NAME`, until what this
    /// returns is dropped.
    ///
    /// A call with one answer is carried out where it is made: its handler begins on the thread of the caller,
    /// within the runtime that this was called on, and most have their answer at once; one that waits for
    /// something goes on as a task of that runtime. A handler that computes for long keeps its caller's
    /// thread, as it would keep a worker's; until it waits first, locals of the caller's task are seen, and
    /// `block_in_place` is the caller's to allow. Where client and server hold the same generated types, and the
    /// model has no defaults, tokens or unions to see to on the way, nothing is encoded; sizes are no limit then.
    ///
    /// As many calls of a connection are carried out so at once as the client may have in flight at most; further
    /// ones, and streams, topics and all else, go as frames, and wait as everywhere. Limits on handlers at work, memory,
    /// rates, load and time hold for all.
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
    /// Another server of this process has the name, it is none (empty, longer than 255 bytes, or with
    /// white space, control characters or slashes in it), or the server does not offer
    /// [`frames`](crate::ServerBuilder::frames).
    ///
    /// # Panics
    ///
    /// Outside of tokio's runtime.
    pub fn listen_inproc(&self, name: &str) -> io::Result<Running<InprocName>> {
        let runtime = Handle::current();
        let app = Arc::clone(&self.app);
        if app.frames.is_none() {
            let words = "the server does not offer frames: `ServerBuilder::frames`";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, words));
        }
        let bound = Bound::new(name, move |caller| {
            let direct = Direct::new(Arc::clone(&app), runtime.clone(), caller);
            #[expect(clippy::expect_used, reason = "the same server was asked above")]
            let direct = direct.expect("a server that offers frames");
            Arc::new(direct)
        })?;
        let place = InprocName(bound.name().to_owned());
        let words = b"";
        Ok(accept::serve(self, place, bound, words, speak))
    }
}

impl Listener for Bound {
    type Stream = Inproc;
    type Waiting = Self;

    async fn accept(&self) -> io::Result<(Inproc, Peer)> {
        Ok(prepared(Self::accept(self).await))
    }

    fn stop(self) -> Self {
        self.close();
        self
    }

    fn next(waiting: &Self) -> Option<(Inproc, Peer)> {
        waiting.next().map(prepared)
    }
}

fn prepared(connected: Connected) -> (Inproc, Peer) {
    let stream = Inproc {
        stream: connected.stream,
        clock: connected.caller.clock,
        stopping: Stopping(connected.calls),
    };
    (stream, Peer::in_process())
}

/// A connection within a process.
#[derive(Debug)]
pub(in crate::server) struct Inproc {
    stream: DuplexStream,
    /// What its calls are timed by.
    clock: Clock,
    stopping: Stopping,
}

/// Has no more calls begin when this is dropped.
#[derive(Debug)]
struct Stopping(Arc<dyn Calls>);

impl Drop for Stopping {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Ends all calls when this is dropped.
struct Cutting(Arc<dyn Calls>);

impl Drop for Cutting {
    fn drop(&mut self) {
        self.0.cut();
    }
}

/// Speaks frames on a connection, and waits for the calls that have taken the shorter way.
async fn speak(server: Server, stream: Inproc, peer: Peer, mut stopped: watch::Receiver<bool>) {
    let calls = Arc::clone(&stream.stopping.0);
    // However this ends: whoever has no more time for connections has none for their calls.
    let _cutting = Cutting(Arc::clone(&calls));
    let clock = stream.clock;
    let Some(mut work) = Work::new(server.app, peer, clock) else {
        return;
    };
    work.life.with_calls(Arc::clone(&calls));
    let stop = stopped.clone();
    // Nobody connects here who speaks anything else.
    let mut connection =
        std::pin::pin!(super::speak(super::session(work, stream, clock, b""), stop));
    tokio::select! {
        () = &mut connection => {}
        // Nobody who could say it is as good as said.
        _ = stopped.changed() => {
            calls.stop();
            connection.await;
        }
    }
    calls.ended().await;
}

impl AsyncRead for Inproc {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Inproc {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
