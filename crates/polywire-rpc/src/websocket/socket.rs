//! A connection, as its user sees it.

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
use crate::server::Peer;

/// A WebSocket connection: that of a client to a server, or of a server to one of its clients.
///
/// A task of its own reads and writes. It answers pings, sends its own, and keeps to
/// [`WebSocketLimits`](super::WebSocketLimits). When this is dropped, the connection is closed with code 1000 once all
/// messages have been sent, or with 1011 if a panic dropped it.
pub struct WebSocket {
    queue: Arc<Queue>,
    head: Arc<Head>,
}

/// What is known of a connection from its handshake.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    pub(super) protocol: Option<Box<str>>,
    pub(super) peer: Peer,
}

impl Head {
    /// The head of a request.
    pub(super) fn of(head: &request::Parts, protocol: Option<Box<str>>, peer: Peer) -> Self {
        Self {
            uri: head.uri.clone(),
            headers: head.headers.clone(),
            protocol,
            peer,
        }
    }
}

impl WebSocket {
    pub(super) const fn new(queue: Arc<Queue>, head: Arc<Head>) -> Self {
        Self { queue, head }
    }

    /// Connects to a server, with all defaults: see [`Self::builder`].
    ///
    /// # Errors
    ///
    /// The URL is none of a WebSocket, the server cannot be reached, or refuses.
    pub async fn connect(url: &str) -> Result<Self, ConnectError> {
        Self::builder(url).connect().await
    }

    /// Begins to connect to a server: `ws://HOST:PORT/PATH`, `wss://HOST:PORT/PATH` over TLS, or
    /// `ws+unix://SOCKET`, in whose URL socket and path stand as [`connect`](crate::connect) describes.
    pub fn builder(url: &str) -> WebSocketBuilder {
        WebSocketBuilder::new(url)
    }

    /// What was asked for: path and query.
    #[must_use]
    pub fn uri(&self) -> &Uri {
        &self.head.uri
    }

    /// On a server the headers of the request; on a client those of the answer.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// The subprotocol that was agreed on, if any was.
    #[must_use]
    pub fn protocol(&self) -> Option<&str> {
        self.head.protocol.as_deref()
    }

    /// On a server who is at the other end; on a client nothing is known.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.head.peer
    }

    /// The next message. `None` if the connection is closed; then [`Self::close_frame`] says how.
    ///
    /// A connection that ends otherwise gives its error once. Messages that came before are received before.
    ///
    /// This is cancel-safe: a message is lost only with the `WebSocket`.
    ///
    /// # Errors
    ///
    /// The peer broke the protocol or a limit, or the connection broke.
    pub async fn recv(&mut self) -> Option<Result<Message, WebSocketError>> {
        poll_fn(|cx| self.queue.poll_next(cx)).await
    }

    /// Sends a message, once the queue has room: see [`WebSocketSender::send`].
    ///
    /// # Errors
    ///
    /// The connection is closed or closing.
    pub async fn send(&self, message: impl Into<Message>) -> Result<(), SendError> {
        self.queue.send(message.into()).await
    }

    /// Sends a message, if the queue has room: see [`WebSocketSender::try_send`].
    ///
    /// # Errors
    ///
    /// The queue has no room, or the connection is closed or closing.
    pub fn try_send(&self, message: impl Into<Message>) -> Result<(), TrySendError> {
        self.queue.try_send(message.into())
    }

    /// A handle that sends, for other tasks.
    #[must_use]
    pub fn sender(&self) -> WebSocketSender {
        WebSocketSender(Arc::clone(&self.queue))
    }

    /// Closes the connection, once all messages have been sent: no more can be. Those that still come are received,
    /// until the peer has answered or [`WebSocketLimits::close_timeout`](super::WebSocketLimits::close_timeout) is
    /// over.
    ///
    /// A code that may not be sent is sent as 1011, [`CloseCode::NO_STATUS`] as a close frame without a code, and of
    /// the reason the first 123 bytes.
    pub fn close(&self, frame: CloseFrame) {
        self.queue.close(frame);
    }

    /// How the connection was closed, once it is: the close frame of whoever closed first. Its code is
    /// [`CloseCode::ABNORMAL`] if the connection ended without one.
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
            true => CloseCode::INTERNAL,
            false => CloseCode::NORMAL,
        };
        self.queue.leave(CloseFrame::new(code, ""));
    }
}

impl fmt::Debug for WebSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebSocket")
            .field("path", &self.head.uri.path())
            .field("protocol", &self.head.protocol)
            .finish_non_exhaustive()
    }
}

/// Sends messages over a [`WebSocket`], from any task. Cloning counts up. It keeps no connection open.
#[derive(Clone)]
pub struct WebSocketSender(Arc<Queue>);

impl WebSocketSender {
    /// Sends a message, if the queue has room.
    ///
    /// Messages go in the order in which they were taken, many in one write.
    ///
    /// # Errors
    ///
    /// The queue has no room, or the connection is closed or closing.
    pub fn try_send(&self, message: impl Into<Message>) -> Result<(), TrySendError> {
        self.0.try_send(message.into())
    }

    /// Sends a message, once the queue has room. When this returns, the message waits in the queue; it was not
    /// necessarily written.
    ///
    /// This is cancel-safe: a message whose sending is given up is not sent.
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

    /// How many messages wait in the queue, and how many bytes they have.
    #[must_use]
    pub fn queued(&self) -> (usize, usize) {
        self.0.waiting()
    }

    /// Whether messages can be sent.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.0.is_open()
    }

    /// Waits until the connection is closed, and says how: see [`WebSocket::close_frame`].
    pub async fn closed(&self) -> CloseFrame {
        self.0.ended().await;
        let abnormal = || CloseFrame::new(CloseCode::ABNORMAL, "");
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
