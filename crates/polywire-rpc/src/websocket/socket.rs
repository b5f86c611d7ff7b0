//! The API of a connection.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use http::{HeaderMap, Uri, request};

use super::client::WebSocketBuilder;
use super::error::{ConnectError, SendError, TrySendError, WebSocketError};
use super::message::{CloseCode, CloseFrame, Message};
use super::queue::Queue;
use crate::auth::Identity;
use crate::peer::Peer;

/// A WebSocket connection, of a client or of a server.
///
/// A task reads and writes in the background. It replies to pings, sends pings, and enforces
/// [`WebSocketLimits`](super::WebSocketLimits). On a server, the handler runs on the same task.
///
/// Dropping a `WebSocket` closes the connection after all queued messages have been sent, as [`Self::close`] does. The
/// code is 1000, or 1011 if the thread is panicking. Received messages that were not taken are lost.
pub struct WebSocket {
    queue: Arc<Queue>,
    head: Arc<Head>,
}

/// The data of the handshake.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    pub(super) protocol: Option<Box<str>>,
    pub(super) peer: Peer,
    pub(super) identity: Option<Identity>,
}

impl Head {
    /// Creates the head from an upgrade request.
    pub(super) fn of(head: &request::Parts, protocol: Option<Box<str>>, peer: Peer) -> Self {
        Self {
            uri: head.uri.clone(),
            headers: head.headers.clone(),
            protocol,
            peer,
            identity: head.extensions.get().cloned(),
        }
    }
}

impl WebSocket {
    pub(super) const fn new(queue: Arc<Queue>, head: Arc<Head>) -> Self {
        Self { queue, head }
    }

    /// Connects to a server with default settings. See [`Self::builder`] for the URLs.
    ///
    /// # Errors
    ///
    /// The URL is not valid, the server cannot be reached, it refuses the upgrade, or its response violates RFC 6455.
    ///
    /// # Panics
    ///
    /// If it is polled outside a Tokio runtime with I/O and time enabled.
    pub async fn connect(url: &str) -> Result<Self, ConnectError> {
        Self::builder(url).connect().await
    }

    /// Creates a builder for a connection to a server.
    ///
    /// The URL is `ws://HOST:PORT/PATH`, `wss://HOST:PORT/PATH` (TLS), or `ws+unix://SOCKET`. The documentation of
    /// [`connect`](crate::connect) describes how the URL of a Unix socket contains a request path.
    pub fn builder(url: &str) -> WebSocketBuilder {
        WebSocketBuilder::new(url)
    }

    /// Returns the path and the query of the upgrade request.
    #[must_use]
    pub fn uri(&self) -> &Uri {
        &self.head.uri
    }

    /// Returns the headers of the handshake: on a server those of the request, on a client those of the response.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// Returns the negotiated subprotocol. `None` if the server selected none.
    #[must_use]
    pub fn protocol(&self) -> Option<&str> {
        self.head.protocol.as_deref()
    }

    /// Returns the authenticated caller that sent the upgrade request, if the server has
    /// [authenticators](crate::auth).
    #[must_use]
    pub fn identity(&self) -> Option<&Identity> {
        self.head.identity.as_ref()
    }

    /// Returns the peer of a connection on a server. On a client the peer is unknown.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.head.peer
    }

    /// Receives the next message. It waits until a message arrives or the connection ends.
    ///
    /// `None` means that the connection is closed. [`Self::close_frame`] then returns the code and the reason.
    ///
    /// Messages that arrived before an error are returned first, then the error once, then `None`.
    ///
    /// This method is cancel-safe: no message is lost when the future is dropped.
    ///
    /// # Errors
    ///
    /// The peer violated the protocol or a limit, or the connection failed.
    pub async fn recv(&mut self) -> Option<Result<Message, WebSocketError>> {
        poll_fn(|cx| self.queue.poll_next(cx)).await
    }

    /// Puts a message in the send queue and waits until there is space: see [`WebSocketSender::send`].
    ///
    /// # Errors
    ///
    /// The connection is closed or closing.
    pub async fn send(&self, message: impl Into<Message>) -> Result<(), SendError> {
        self.queue.send(message.into()).await
    }

    /// Puts a message in the send queue without waiting: see [`WebSocketSender::try_send`].
    ///
    /// # Errors
    ///
    /// The queue is full, or the connection is closed or closing.
    pub fn try_send(&self, message: impl Into<Message>) -> Result<(), TrySendError> {
        self.queue.try_send(message.into())
    }

    /// Returns a handle with which other tasks can send.
    #[must_use]
    pub fn sender(&self) -> WebSocketSender {
        WebSocketSender(Arc::clone(&self.queue))
    }

    /// Closes the connection. Only the first call has an effect.
    ///
    /// No more messages can be sent. Queued messages are sent first, then the close frame. Messages that the peer has not
    /// accepted within [`WebSocketLimits::write_timeout`](super::WebSocketLimits::write_timeout) are dropped, and the
    /// close frame follows those that it has.
    ///
    /// [`Self::recv`] still returns messages until the close frame of the peer arrives or
    /// [`WebSocketLimits::close_timeout`](super::WebSocketLimits::close_timeout) has expired. After the close frame was
    /// sent, messages that exceed the receive buffer are dropped.
    ///
    /// - A code that is not [sendable](CloseCode::is_sendable) is replaced by 1011 in the frame that is sent.
    /// - [`CloseCode::NO_STATUS`] sends a close frame without a code.
    /// - A reason of more than 123 bytes is cut at a character boundary.
    pub fn close(&self, frame: CloseFrame) {
        self.queue.close(frame);
    }

    /// Returns the close frame of the side that closed first. `None` while the connection is open or closing.
    ///
    /// The code is [`CloseCode::ABNORMAL_CLOSURE`] if the connection ended without a close frame.
    #[must_use]
    pub fn close_frame(&self) -> Option<CloseFrame> {
        self.queue.close_frame()
    }
}

impl Stream for WebSocket {
    type Item = Result<Message, WebSocketError>;

    fn poll_next(self: std::pin::Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.queue.poll_next(cx)
    }
}

impl Drop for WebSocket {
    fn drop(&mut self) {
        let code = match std::thread::panicking() {
            true => CloseCode::INTERNAL_ERROR,
            false => CloseCode::NORMAL_CLOSURE,
        };
        self.queue.drop_receiver(CloseFrame::new(code, ""));
    }
}

impl_debug!(|this| WebSocket {
    path: this.head.uri.path(),
    protocol: this.head.protocol
});

/// Sends messages over a [`WebSocket`] from any task.
///
/// A clone shares the send queue. A sender does not keep the connection open: dropping the [`WebSocket`] closes it.
#[derive(Clone)]
pub struct WebSocketSender(Arc<Queue>);

impl WebSocketSender {
    /// Puts a message in the send queue without waiting.
    ///
    /// Messages are sent in the order of the queue. One write can contain many messages.
    ///
    /// # Errors
    ///
    /// The queue is full, or the connection is closed or closing. The queue of a server is also full when
    /// [`ServerBuilder::body_memory`](crate::ServerBuilder::body_memory) is exhausted.
    pub fn try_send(&self, message: impl Into<Message>) -> Result<(), TrySendError> {
        self.0.try_send(message.into())
    }

    /// Puts a message in the send queue and waits until there is space. When it returns, the message is in the queue
    /// and is not necessarily written.
    ///
    /// This method is cancel-safe: if the future is dropped before it is ready, the message is not sent.
    ///
    /// # Errors
    ///
    /// The connection is closed or closing.
    pub async fn send(&self, message: impl Into<Message>) -> Result<(), SendError> {
        self.0.send(message.into()).await
    }

    /// Closes the connection: see [`WebSocket::close`].
    pub fn close(&self, frame: CloseFrame) {
        self.0.close(frame);
    }

    /// Returns the number of messages in the send queue, and the sum of their payloads in bytes.
    #[must_use]
    pub fn queued(&self) -> (usize, usize) {
        self.0.queued()
    }

    /// Returns whether messages can be sent: the connection is neither closed nor closing.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.0.is_open()
    }

    /// Waits until the connection is closed, and returns its close frame: see [`WebSocket::close_frame`].
    pub async fn closed(&self) -> CloseFrame {
        self.0.closed().await;
        let abnormal = || CloseFrame::new(CloseCode::ABNORMAL_CLOSURE, "");
        self.0.close_frame().unwrap_or_else(abnormal)
    }
}

impl fmt::Debug for WebSocketSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (messages, bytes) = self.queued();
        f.debug_struct("WebSocketSender")
            .field("messages", &messages)
            .field("bytes", &bytes)
            .finish()
    }
}
