//! Limits of a connection.

use std::time::Duration;

/// Limits and timeouts of a WebSocket connection.
///
/// A timeout of more than 365 days counts as 365 days.
///
/// ```
/// use std::time::Duration;
/// use polywire_rpc::websocket::WebSocketLimits;
///
/// let limits = WebSocketLimits::DEFAULT
///     .with_max_message_bytes(64 << 10)
///     .with_idle_timeout(Some(Duration::from_secs(600)));
/// assert_eq!(limits.max_queued_messages, WebSocketLimits::DEFAULT.max_queued_messages);
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct WebSocketLimits {
    /// The maximum size of a received message, in bytes, over all its fragments. A larger message closes the
    /// connection with 1009. The default is 1 MiB.
    pub max_message_bytes: usize,
    /// The maximum payload of one received frame, in bytes. A larger frame closes the connection with 1009, as soon as
    /// its header has arrived. The default is 1 MiB.
    pub max_frame_bytes: usize,
    /// The maximum number of messages in the send queue. An empty queue accepts one message even if this is 0. The
    /// default is 1,024.
    pub max_queued_messages: usize,
    /// The maximum size of the send queue, in bytes. Each message counts with its payload and 64 bytes. An empty queue
    /// accepts one message of any size. The default is 1 MiB.
    pub max_queued_bytes: usize,
    /// A ping is sent when no bytes were received for this time. `None` disables pings. The default is 30 seconds.
    ///
    /// Pings are suspended while reading is paused because the application does not receive messages.
    pub ping_interval: Option<Duration>,
    /// The connection fails with [`WebSocketError::NoPong`](super::WebSocketError::NoPong) when no bytes are received
    /// for this time after a ping. Any data counts, not only a pong. The default is 20 seconds.
    pub pong_timeout: Duration,
    /// The connection is closed with 1001 when no message was sent or received for this time. Pings and pongs do not
    /// count. `None` disables the timeout. The default is `None`.
    pub idle_timeout: Option<Duration>,
    /// The connection is closed with 1008 as a slow reader when, for this time, the peer accepts no bytes although
    /// data is pending, or the send queue stays full. The queue is full from the first message that it does not accept
    /// until it is empty, or half empty in messages and bytes. The default is 10 seconds.
    ///
    /// After [`WebSocket::close`](super::WebSocket::close), it is also the maximum time for sending the queued messages.
    /// The rest is dropped.
    pub write_timeout: Duration,
    /// The maximum time to wait for the close frame or the end of the stream of the peer after this side has sent or
    /// received a close frame. The default is 5 seconds.
    pub close_timeout: Duration,
}

/// The maximum of all timeouts. Adding it to an `Instant` does not overflow.
const MAX_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

impl WebSocketLimits {
    /// The defaults, which are documented at the fields.
    pub const DEFAULT: Self = Self {
        max_message_bytes: 1 << 20,
        max_frame_bytes: 1 << 20,
        max_queued_messages: 1024,
        max_queued_bytes: 1 << 20,
        ping_interval: Some(Duration::from_secs(30)),
        pong_timeout: Duration::from_secs(20),
        idle_timeout: None,
        write_timeout: Duration::from_secs(10),
        close_timeout: Duration::from_secs(5),
    };

    /// Sets [`Self::max_message_bytes`] and [`Self::max_frame_bytes`] to the same value.
    pub const fn with_max_message_bytes(mut self, bytes: usize) -> Self {
        self.max_message_bytes = bytes;
        self.max_frame_bytes = bytes;
        self
    }

    /// Sets [`Self::max_frame_bytes`]. Call it after [`Self::with_max_message_bytes`], which sets it too.
    pub const fn with_max_frame_bytes(mut self, bytes: usize) -> Self {
        self.max_frame_bytes = bytes;
        self
    }

    /// Sets [`Self::max_queued_messages`] and [`Self::max_queued_bytes`].
    pub const fn with_max_queued(mut self, messages: usize, bytes: usize) -> Self {
        self.max_queued_messages = messages;
        self.max_queued_bytes = bytes;
        self
    }

    /// Sets [`Self::ping_interval`] and [`Self::pong_timeout`].
    pub const fn with_ping(mut self, interval: Option<Duration>, timeout: Duration) -> Self {
        self.ping_interval = interval;
        self.pong_timeout = timeout;
        self
    }

    /// Sets [`Self::idle_timeout`].
    pub const fn with_idle_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Sets [`Self::write_timeout`].
    pub const fn with_write_timeout(mut self, timeout: Duration) -> Self {
        self.write_timeout = timeout;
        self
    }

    /// Sets [`Self::close_timeout`].
    pub const fn with_close_timeout(mut self, timeout: Duration) -> Self {
        self.close_timeout = timeout;
        self
    }

    /// Reduces all timeouts to [`MAX_TIMEOUT`].
    pub(super) fn capped(self) -> Self {
        Self {
            ping_interval: self.ping_interval.map(|time| time.min(MAX_TIMEOUT)),
            pong_timeout: self.pong_timeout.min(MAX_TIMEOUT),
            idle_timeout: self.idle_timeout.map(|time| time.min(MAX_TIMEOUT)),
            write_timeout: self.write_timeout.min(MAX_TIMEOUT),
            close_timeout: self.close_timeout.min(MAX_TIMEOUT),
            ..self
        }
    }
}

impl Default for WebSocketLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
