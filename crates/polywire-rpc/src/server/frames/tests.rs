//! Connections over in-memory streams with special behaviour.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use polywire_frame::client::{Connection, Operation, Request};
use polywire_frame::{Settings, Time};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf, duplex};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use super::connection;
use crate::frames::Client;
use crate::peer::Peer;
use crate::server::accept::Stream;
use crate::server::connection_stream::ConnectionStream;
use crate::server::first_bytes::FirstBytes;
use crate::server::{Server, Timeouts};
use crate::{Methods, ServerBuilder};

fn server() -> ServerBuilder {
    let methods = Methods::new().method("Add", |(a, b): (i32, i32)| async move { a + b });
    Server::methods(methods).frames(true)
}

/// Serves a stream. Returns a sender that stops the server, and the task, which ends when all calls are answered.
fn serve(server: ServerBuilder, stream: impl Stream) -> (watch::Sender<bool>, JoinHandle<()>) {
    let (stop, stopped) = watch::channel(false);
    let server = server.build().unwrap();
    let stream = ConnectionStream::new(stream);
    let serving = connection(
        server,
        stream,
        FirstBytes::default(),
        Peer::default(),
        stopped,
    );
    (stop, tokio::spawn(serving))
}

/// Runs all tasks until they wait, without advancing the clock.
async fn settle() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}

/// A stream that buffers all writes until it is flushed, as TLS does. Each flush first returns `Pending` once.
struct Keeping {
    inner: DuplexStream,
    kept: Vec<u8>,
    waited: bool,
}

impl Keeping {
    const fn new(inner: DuplexStream) -> Self {
        Self {
            inner,
            kept: Vec::new(),
            waited: false,
        }
    }
}

impl AsyncRead for Keeping {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl AsyncWrite for Keeping {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.kept.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.waited = !self.waited;
        if self.waited {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let Self { inner, kept, .. } = &mut *self;
        while !kept.is_empty() {
            let written = ready!(Pin::new(&mut *inner).poll_write(context, kept))?;
            kept.drain(..written);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush(context))?;
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

#[tokio::test(start_paused = true)]
async fn buffered_streams_are_flushed_by_both_sides() {
    // The stream holds less than one write, so writes are flushed in pieces.
    let (ours, theirs) = duplex(1_000);
    let _server = serve(server(), Keeping::new(ours));
    let client = Client::over(Keeping::new(theirs)).with_deadline(Duration::from_secs(5));
    for number in 0..10 {
        let sum: i32 = client.call("Add", (number, 1)).await.unwrap();
        assert_eq!(sum, number + 1);
    }
    let mut calls = JoinSet::new();
    for number in 0..200 {
        let client = client.clone();
        calls.spawn(async move { client.call::<i32>("Add", (number, number)).await.unwrap() });
    }
    let sums: i32 = calls.join_all().await.into_iter().sum();
    assert_eq!(sums, 200 * 199);
}

/// A stream that counts the attempts to write to it.
struct Counting {
    inner: DuplexStream,
    writes: Arc<AtomicUsize>,
}

impl AsyncRead for Counting {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl AsyncWrite for Counting {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.writes.fetch_add(1, Ordering::Relaxed);
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

/// After GOAWAY, the server waits for a client that does not read. It does not poll the stream repeatedly, and the
/// shutdown times out.
#[tokio::test(start_paused = true)]
async fn shutdown_waits_for_a_client_that_does_not_read_without_polling() {
    let (ours, mut theirs) = duplex(1_000);
    let writes = Arc::new(AtomicUsize::new(0));
    let stream = Counting {
        inner: ours,
        writes: Arc::clone(&writes),
    };
    let timeouts = Timeouts::DEFAULT.with_shutdown(Duration::from_secs(20));
    let (stop, serving) = serve(server().timeouts(timeouts), stream);
    let mut machine = Connection::new(Settings::DEFAULT);
    let request = Request::new(Operation {
        number: 1,
        name: "Add",
    });
    let bytes = |machine: &mut Connection<u32>| {
        let bytes = machine.output().parts().collect::<Vec<_>>().concat();
        machine.wrote();
        bytes
    };
    let hello = bytes(&mut machine);
    theirs.write_all(&hello).await.unwrap();
    settle().await;
    stop.send(true).unwrap();
    settle().await;
    // The server has sent GOAWAY. It rejects these calls with more bytes than its output may hold.
    for number in 0..60 {
        machine
            .call(Time::ZERO, &request)
            .unwrap()
            .send(number)
            .unwrap();
    }
    let calls = bytes(&mut machine);
    theirs.write_all(&calls).await.unwrap();
    settle().await;
    tokio::time::advance(Duration::from_secs(5)).await;
    let before = writes.load(Ordering::Relaxed);
    settle().await;
    let after = writes.load(Ordering::Relaxed);
    assert!(after - before < 5, "{} looks", after - before);
    assert!(!serving.is_finished());
    tokio::time::advance(Duration::from_secs(30)).await;
    serving.await.unwrap();
}
