//! Connections of a server that have been upgraded.

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
use crate::server::{Held, Peer, caught};

/// Stands in the extensions of a request whose connection can be upgraded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Upgradable;

/// Stands in the extensions of a response of 101: what becomes of the connection.
#[derive(Clone)]
pub(crate) struct Accepted(Arc<Mutex<Option<Upgrade>>>);

type Upgrade = (Arc<WebSocketEndpoint>, Head);

impl Accepted {
    pub(super) fn new(endpoint: Arc<WebSocketEndpoint>, head: Head) -> Self {
        Self(Arc::new(Mutex::new(Some((endpoint, head)))))
    }

    fn take(&self) -> Option<Upgrade> {
        let mut place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        place.take()
    }
}

impl std::fmt::Debug for Accepted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Accepted(..)")
    }
}

/// Counts a connection for as long as it is there.
pub(crate) struct Open(Arc<Counts>);

impl Open {
    fn new(counts: Arc<Counts>) -> Self {
        counts.add(Count::Accepted, 1);
        counts.add(Count::Connections, 1);
        Self(counts)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.take(Count::Connections, 1);
    }
}

/// What becomes of a connection.
pub(crate) enum Served<S> {
    /// It has been closed.
    Ended,
    /// Frames are to be spoken on these bytes. The guard counts the connection.
    Frames(Box<MessageStream<S>>, Peer, Open),
}

/// Serves a connection that has been upgraded, until it is closed and its handler has ended.
///
/// `begun`: what came behind the request. `held`: what it takes of the server's memory.
pub(crate) async fn serve<S>(
    endpoints: &Endpoints,
    accepted: Accepted,
    stream: S,
    begun: Bytes,
    held: Held,
    mut stopped: watch::Receiver<bool>,
) -> Served<S>
where
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    let Some((endpoint, head)) = accepted.take() else {
        return Served::Ended;
    };
    let open = Open::new(Arc::clone(endpoints.counts()));
    let peer = head.peer.clone();
    let limits = endpoint.limits;
    let handler = match &endpoint.service {
        Service::Handler(handler) => handler,
        Service::Frames => {
            let codec = Codec::unbuffered(stream, &begun, Role::Server, &limits);
            return Served::Frames(Box::new(MessageStream::new(codec)), peer, open);
        }
    };
    let queue = Arc::new(Queue::new(&limits, Some(held)));
    let codec = Codec::new(stream, &begun, Role::Server, &limits);
    let driver = Driver::new(codec, Arc::clone(&queue), Arc::clone(&open.0), limits);
    let socket = WebSocket::new(Arc::clone(&queue), Arc::new(head));
    // What it does before it waits first may panic, too.
    let handler = caught(|| Ok(handler(socket)));
    let mut session = Session {
        driver,
        queue: Arc::clone(&queue),
        handler: handler.map_err(|fault| panicked(&fault)).ok(),
        closed: false,
    };
    let mut stop = pin!(async move {
        // A dropped sender means stop.
        let _ = stopped.changed().await;
    });
    let mut stopping = false;
    poll_fn(|cx| {
        if !stopping && stop.as_mut().poll(cx).is_ready() {
            stopping = true;
            let words = "the server is stopping";
            queue.close(CloseFrame::new(CloseCode::GOING_AWAY, words));
        }
        session.poll(cx)
    })
    .await;
    tracing::debug!(?peer, closed = ?queue.close_frame(), "a WebSocket has ended");
    Served::Ended
}

fn panicked(fault: &polywire_protocol::Fault) {
    let reason = std::error::Error::source(fault).map(ToString::to_string);
    tracing::error!(reason, "a handler of a WebSocket failed");
}

/// A connection and its handler, on one task.
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
            // After what has come, which wakes no handler on this task.
            if let Some(handler) = &mut self.handler {
                let polled = caught(|| Ok(Pin::new(handler).poll(cx)));
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
            if self.queue.park(cx) {
                return Poll::Pending;
            }
        }
    }
}
