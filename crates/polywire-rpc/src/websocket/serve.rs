//! Upgraded connections of a server.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tungstenite::protocol::Role;

use super::byte_stream::MessageStream;
use super::codec::Codec;
use super::driver::Driver;
use super::endpoint::{Endpoints, HandlerFuture, Service, WebSocketEndpoint};
use super::message::{CloseCode, CloseFrame};
use super::queue::Queue;
use super::socket::{Head, WebSocket};
use super::stats::{Count, Counts};
use crate::call::catch_panic;
use crate::call::memory::MemoryReservation;
use crate::peer::Peer;

/// A request extension: the connection can be upgraded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Upgradable;

/// An extension of a response with status 101: the endpoint that takes over the connection.
#[derive(Clone)]
pub(crate) struct PendingUpgrade(Arc<Mutex<Option<Upgrade>>>);

type Upgrade = (Arc<WebSocketEndpoint>, Head);

impl PendingUpgrade {
    pub(super) fn new(endpoint: Arc<WebSocketEndpoint>, head: Head) -> Self {
        Self(Arc::new(Mutex::new(Some((endpoint, head)))))
    }

    fn take(&self) -> Option<Upgrade> {
        let mut upgrade = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        upgrade.take()
    }
}

impl std::fmt::Debug for PendingUpgrade {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PendingUpgrade(..)")
    }
}

/// Counts an open connection until it is dropped.
pub(crate) struct ConnectionGuard(Arc<Counts>);

impl ConnectionGuard {
    fn new(counts: Arc<Counts>) -> Self {
        counts.add(Count::Accepted, 1);
        counts.add(Count::Connections, 1);
        Self(counts)
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.0.sub(Count::Connections, 1);
    }
}

/// The result of [`serve`].
pub(crate) enum ServeOutcome<S> {
    /// The connection is closed.
    Ended,
    /// The connection carries frames on this byte stream. The guard counts the connection.
    Frames(Box<MessageStream<S>>, Peer, ConnectionGuard),
}

/// Serves an upgraded connection until it is closed and its handler has returned.
///
/// `prefetched`: the bytes that were received after the request. `held`: the memory reservation of the connection.
/// `stopped`: changes when the server stops.
pub(crate) async fn serve<S>(
    endpoints: &Endpoints,
    pending: PendingUpgrade,
    stream: S,
    prefetched: Bytes,
    held: MemoryReservation,
    mut stopped: watch::Receiver<bool>,
) -> ServeOutcome<S>
where
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    let Some((endpoint, head)) = pending.take() else {
        return ServeOutcome::Ended;
    };
    let guard = ConnectionGuard::new(Arc::clone(endpoints.counts()));
    let peer = head.peer.clone();
    let limits = endpoint.limits;
    let handler = match &endpoint.service {
        Service::Handler(handler) => handler,
        Service::Frames => {
            let codec = Codec::unbuffered(stream, &prefetched, Role::Server, &limits);
            return ServeOutcome::Frames(Box::new(MessageStream::new(codec)), peer, guard);
        }
    };
    let queue = Arc::new(Queue::new(&limits, Some(held)));
    let codec = Codec::new(stream, &prefetched, Role::Server, &limits);
    let driver = Driver::new(codec, Arc::clone(&queue), Arc::clone(&guard.0), limits);
    let socket = WebSocket::new(Arc::clone(&queue), Arc::new(head));
    // The handler can panic before it returns its future.
    let handler = catch_panic(|| Ok(handler(socket)));
    let mut session = Session {
        driver,
        queue: Arc::clone(&queue),
        handler: handler.map_err(|fault| panicked(&fault)).ok(),
        closed: false,
    };
    let mut stop = pin!(async move {
        // An error means that the sender was dropped, which also means that the server stops.
        let _ = stopped.changed().await;
    });
    let mut stopping = false;
    poll_fn(|cx| {
        if !stopping && stop.as_mut().poll(cx).is_ready() {
            stopping = true;
            let reason = "the server is stopping";
            queue.close(CloseFrame::new(CloseCode::GOING_AWAY, reason));
        }
        session.poll(cx)
    })
    .await;
    tracing::debug!(?peer, closed = ?queue.close_frame(), "a WebSocket has ended");
    ServeOutcome::Ended
}

fn panicked(fault: &polywire_protocol::Fault) {
    let reason = std::error::Error::source(fault).map(ToString::to_string);
    tracing::error!(reason, "a WebSocket handler panicked");
}

/// A connection and its handler, which run on one task.
struct Session<S> {
    driver: Driver<S>,
    queue: Arc<Queue>,
    handler: Option<HandlerFuture>,
    closed: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Session<S> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if !self.closed {
                self.closed = self.driver.poll(cx).is_ready();
            }
            // The handler is polled after the driver, because the driver does not wake a receiver on its own task.
            if let Some(handler) = &mut self.handler {
                let polled = catch_panic(|| Ok(Pin::new(handler).poll(cx)));
                let ended = match polled {
                    Ok(polled) => polled.is_ready(),
                    Err(fault) => {
                        panicked(&fault);
                        true
                    }
                };
                if ended {
                    self.handler = None;
                }
            }
            if self.closed {
                return match self.handler {
                    None => Poll::Ready(()),
                    Some(_) => Poll::Pending,
                };
            }
            if self.queue.register_waker(cx) {
                return Poll::Pending;
            }
        }
    }
}
