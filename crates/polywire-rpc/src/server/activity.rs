//! The activity of a connection, to detect idle connections and stalled peers.
//!
//! Transfers are counted, and timers compare the counts of two moments. The end of a response is a time: a connection is
//! idle from then on. hyper's own timer for heads is not used, because it would be set and dropped for each request.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use std::{io, mem};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, Sleep};

use super::connection_fault::ConnectionFault;
use super::connection_stream::ConnectionStream;
use super::first_bytes::FirstBytes;

/// Counts the events of a connection. The counts wrap around.
#[derive(Debug)]
pub(super) struct Activity {
    /// Whether calls have tasks of their own (HTTP/2). In HTTP/1 only the task of the connection
    /// counts, without atomic read-modify-write operations.
    spawned: bool,
    /// Calls in progress.
    calls: AtomicU32,
    /// When the connection was accepted.
    start: Instant,
    /// In HTTP/1 the last write, in HTTP/2, which writes for pings too, the end of the last call: in milliseconds after
    /// `start`, rounded up. 0 if there was none.
    last_end: AtomicU64,
    /// Reads and writes that transferred bytes.
    moves: AtomicU32,
    /// `moves` at the last write that was pending. At first a value that `moves` does not have.
    held_at: AtomicU32,
    /// Whether the server is stopping. Only for HTTP/1.
    stopping: AtomicBool,
    /// Whether the connection ends with a reset.
    resets: AtomicBool,
    /// The upgrade that takes over the connection after the response with status 101.
    #[cfg(feature = "websocket")]
    upgrade: std::sync::OnceLock<crate::websocket::PendingUpgrade>,
}

impl Activity {
    pub(super) fn new(spawned: bool) -> Self {
        Self {
            spawned,
            calls: AtomicU32::new(0),
            start: Instant::now(),
            last_end: AtomicU64::new(0),
            moves: AtomicU32::new(0),
            held_at: AtomicU32::new(u32::MAX),
            stopping: AtomicBool::new(false),
            resets: AtomicBool::new(false),
            #[cfg(feature = "websocket")]
            upgrade: std::sync::OnceLock::new(),
        }
    }

    /// Makes the next HTTP/1 response the last one of the connection. Returns false for HTTP/2,
    /// which uses GOAWAY instead.
    pub(super) fn stop(&self) -> bool {
        let is_http1 = !self.spawned;
        self.stopping.store(is_http1, Ordering::Relaxed);
        is_http1
    }

    /// Whether a handler has asked for a reset of the connection.
    pub(super) fn resets(&self) -> bool {
        self.resets.load(Ordering::Relaxed)
    }

    /// Returns the upgrade that takes over the connection, if there is one.
    #[cfg(feature = "websocket")]
    pub(super) fn upgraded(&self) -> Option<crate::websocket::PendingUpgrade> {
        self.upgrade.get().cloned()
    }

    /// Counts a call until the guard is dropped.
    pub(super) fn call(self: &Arc<Self>) -> CallGuard {
        self.add(&self.calls, 1);
        CallGuard(Arc::clone(self))
    }

    /// Records the end of a call, or of a part of its response.
    fn record_end(&self) {
        let elapsed = self.start.elapsed();
        let millis = u64::from(elapsed.subsec_nanos().div_ceil(1_000_000));
        let end = elapsed.as_secs() * 1_000 + millis;
        self.last_end.store(end.max(1), Ordering::Relaxed);
    }

    fn add(&self, count: &AtomicU32, more: u32) {
        if self.spawned {
            count.fetch_add(more, Ordering::Release);
        } else {
            let sum = count.load(Ordering::Relaxed).wrapping_add(more);
            count.store(sum, Ordering::Relaxed);
        }
    }

    /// Whether a call is in progress.
    fn is_calling(&self) -> bool {
        self.calls.load(Ordering::Relaxed) > 0
    }

    /// The number of reads and writes that transferred bytes.
    pub(super) fn moves(&self) -> u32 {
        self.moves.load(Ordering::Relaxed)
    }

    /// Whether an HTTP/1 connection has had no head.
    pub(super) fn lacks_head(&self) -> bool {
        !self.spawned && !self.is_calling() && self.last_end.load(Ordering::Relaxed) == 0
    }

    /// Since when the connection waits for a request. None during a call.
    fn idle_since(&self) -> Option<Instant> {
        // First the number of calls: their end is stored before it is decremented.
        if self.calls.load(Ordering::Acquire) > 0 {
            return None;
        }
        let millis = self.last_end.load(Ordering::Relaxed);
        Some(self.start + Duration::from_millis(millis))
    }

    /// Whether a response waits for the peer to read: nothing was transferred since the last pending
    /// write. hyper writes after each read.
    fn is_held(&self) -> bool {
        self.held_at.load(Ordering::Relaxed) == self.moves()
    }

    /// Returns when the connection only waits for a request. Checks this after each `time`. In HTTP/2,
    /// where a response can wait for flow control, also requires a whole `time` without transfers.
    pub(super) async fn waiting(&self, time: Duration) {
        let mut seen = self.moves();
        loop {
            tokio::time::sleep(time).await;
            let before = mem::replace(&mut seen, self.moves());
            let moved = self.spawned && before != seen;
            if !moved && !self.is_calling() && !self.is_held() {
                return;
            }
        }
    }

    /// Returns between one and two times of `time` after the last transfer or the end of the last call.
    pub(super) async fn stuck(&self, time: Duration) {
        let mut seen = self.moves();
        loop {
            tokio::time::sleep(time).await;
            let before = mem::replace(&mut seen, self.moves());
            if before == seen && !self.is_calling() {
                return;
            }
        }
    }
}

/// A timer that fires when the connection has waited for a request for `time`.
#[derive(Debug)]
pub(super) struct IdleTimer {
    activity: Arc<Activity>,
    sleep: Pin<Box<Sleep>>,
    time: Duration,
}

impl IdleTimer {
    pub(super) fn new(activity: Arc<Activity>, time: Duration) -> Self {
        Self {
            activity,
            sleep: Box::pin(tokio::time::sleep(time)),
            time,
        }
    }

    /// Whether the timer has elapsed. Cheaper than `poll`.
    pub(super) fn is_due(&self) -> bool {
        self.sleep.is_elapsed()
    }

    /// Ready when the time has passed since the last response, or since the start.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            std::task::ready!(self.sleep.as_mut().poll(context));
            let now = Instant::now();
            let due = self.activity.idle_since().unwrap_or(now) + self.time;
            if due <= now {
                return Poll::Ready(());
            }
            self.sleep.as_mut().reset(due);
        }
    }
}

/// A call in progress.
#[derive(Debug)]
pub(super) struct CallGuard(Arc<Activity>);

impl CallGuard {
    /// Counts the call until the new guard is dropped too.
    pub(super) fn extend(&self) -> Self {
        self.0.call()
    }

    /// Whether the response has to say that the connection closes after it.
    pub(super) fn is_last(&self) -> bool {
        self.0.stopping.load(Ordering::Relaxed)
    }

    /// Records how the connection ends instead of a response. In HTTP/2 other calls go on.
    #[cold]
    pub(super) fn fail(&self, fault: ConnectionFault) {
        let resets = fault == ConnectionFault::Reset && !self.0.spawned;
        self.0.resets.store(resets, Ordering::Relaxed);
    }

    /// Sets the upgrade that takes over the connection after the response.
    #[cfg(feature = "websocket")]
    pub(super) fn upgrade(&self, pending: crate::websocket::PendingUpgrade) {
        // A connection has at most one response with status 101.
        let _ = self.0.upgrade.set(pending);
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        if self.0.spawned {
            self.0.record_end();
        }
        // One less: counts wrap around.
        self.0.add(&self.0.calls, u32::MAX);
    }
}

/// The stream of a connection, whose reads and writes are counted.
pub(super) struct CountedStream {
    stream: TokioIo<ConnectionStream>,
    activity: Arc<Activity>,
    /// The bytes that were read to detect the protocol.
    first: FirstBytes,
}

thread_local! {
    /// For a short response in one piece. Shared by the connections of a thread, so that idle ones have none.
    static SHORT_RESPONSE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl CountedStream {
    pub(super) fn new(
        stream: ConnectionStream,
        first: FirstBytes,
        activity: Arc<Activity>,
    ) -> Self {
        Self {
            stream: TokioIo::new(stream),
            activity,
            first,
        }
    }

    /// Has the system send a reset when the stream is dropped, if it is TCP.
    #[cold]
    pub(super) fn reset_on_drop(&self) {
        self.stream.inner().reset_on_drop();
    }

    /// Returns the stream. All bytes of `first` must have been read.
    #[cfg(feature = "websocket")]
    pub(super) fn into_stream(self) -> ConnectionStream {
        debug_assert!(self.first.is_empty());
        self.stream.into_inner()
    }

    /// Reads the bytes of `first` and what the stream has, in one read.
    #[cold]
    #[inline(never)]
    fn poll_first(
        &mut self,
        context: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        buffer.put_slice(self.first.take(buffer.remaining()));
        // The end and errors are reported by the next read.
        let _ = Pin::new(&mut self.stream).poll_read(context, buffer);
        Poll::Ready(Ok(()))
    }

    /// Counts a write, or records that it is pending.
    fn count_write(&self, poll: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &poll {
            Poll::Pending => {
                let moves = self.activity.moves();
                self.activity.held_at.store(moves, Ordering::Relaxed);
            }
            Poll::Ready(Ok(_)) if !self.activity.spawned => self.activity.record_end(),
            Poll::Ready(_) => {}
        }
        self.count(poll)
    }

    fn count<T>(&self, poll: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if let Poll::Ready(Ok(_)) = &poll {
            // Only the task of the connection writes this value, so no atomic addition is needed.
            let moves = self.activity.moves.load(Ordering::Relaxed);
            let moves = moves.wrapping_add(1);
            self.activity.moves.store(moves, Ordering::Relaxed);
        }
        poll
    }
}

/// Responses up to this size in bytes are written as one piece.
const SHORT: usize = 1024;

impl Read for CountedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let poll = if self.first.is_empty() {
            Pin::new(&mut self.stream).poll_read(context, buffer)
        } else {
            self.poll_first(context, buffer)
        };
        self.count(poll)
    }
}

impl Write for CountedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.count_write(poll)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // Copying a few hundred bytes costs less than a vectored write.
        let len: usize = parts.iter().map(|part| part.len()).sum();
        let poll = if len <= SHORT {
            let mut short = SHORT_RESPONSE.take();
            short.clear();
            for part in parts {
                short.extend_from_slice(part);
            }
            let poll = Pin::new(&mut self.stream).poll_write(context, &short);
            SHORT_RESPONSE.set(short);
            poll
        } else {
            Pin::new(&mut self.stream).poll_write_vectored(context, parts)
        };
        self.count_write(poll)
    }
}
