//! What a connection may cost.

use std::time::Duration;

/// What a WebSocket connection may cost, and how long its peer may take.
///
/// ```
/// use std::time::Duration;
/// use polywire_rpc::websocket::WebSocketLimits;
///
/// let limits = WebSocketLimits::DEFAULT
///     .with_message_bytes(64 << 10)
///     .with_idle_timeout(Some(Duration::from_secs(600)));
/// assert_eq!(limits.queue_messages, WebSocketLimits::DEFAULT.queue_messages);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct WebSocketLimits {
    /// The bytes of a message that is received, all its fragments together. A larger one closes the connection
    /// with 1009. 1 MiB.
    pub message_bytes: usize,
    /// The bytes of one frame that is received. A larger one closes the connection with 1009. 1 MiB.
    pub frame_bytes: usize,
    /// The messages that wait to be sent. 1,024.
    pub queue_messages: usize,
    /// The bytes of the messages that wait to be sent, each counted with 64 more. One message may always wait,
    /// whatever its size. 1 MiB.
    pub queue_bytes: usize,
    /// A ping is sent when nothing has come for this long. 30 seconds; `None`: never.
    pub ping_interval: Option<Duration>,
    /// The connection is given up when nothing comes for this long after a ping. 20 seconds.
    pub pong_timeout: Duration,
    /// The connection is closed with 1001 when no message has come or gone for this long. `None`: never.
    pub idle_timeout: Option<Duration>,
    /// A peer that takes no bytes for this long, or whose queue is full for this long, is a slow reader: it is
    /// closed with 1008. 10 seconds.
    pub write_timeout: Duration,
    /// How long the peer may take to answer a close frame. 5 seconds.
    pub close_timeout: Duration,
}

/// No time so long that an instant cannot be moved by it.
const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

impl WebSocketLimits {
    /// The defaults that the fields name.
    pub const DEFAULT: Self = Self {
        message_bytes: 1 << 20,
        frame_bytes: 1 << 20,
        queue_messages: 1024,
        queue_bytes: 1 << 20,
        ping_interval: Some(Duration::from_secs(30)),
        pong_timeout: Duration::from_secs(20),
        idle_timeout: None,
        write_timeout: Duration::from_secs(10),
        close_timeout: Duration::from_secs(5),
    };

    /// The same with another limit for messages, and for frames, which are no larger.
    #[must_use]
    pub const fn with_message_bytes(mut self, bytes: usize) -> Self {
        self.message_bytes = bytes;
        self.frame_bytes = bytes;
        self
    }

    /// The same with another limit for frames.
    #[must_use]
    pub const fn with_frame_bytes(mut self, bytes: usize) -> Self {
        self.frame_bytes = bytes;
        self
    }

    /// The same with another limit for the messages that wait to be sent.
    #[must_use]
    pub const fn with_queue(mut self, messages: usize, bytes: usize) -> Self {
        self.queue_messages = messages;
        self.queue_bytes = bytes;
        self
    }

    /// The same with another time before a ping, and for the answer to it.
    #[must_use]
    pub const fn with_ping(mut self, interval: Option<Duration>, timeout: Duration) -> Self {
        self.ping_interval = interval;
        self.pong_timeout = timeout;
        self
    }

    /// The same with another time without messages.
    #[must_use]
    pub const fn with_idle_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// The same with another time for peers that read slowly.
    #[must_use]
    pub const fn with_write_timeout(mut self, timeout: Duration) -> Self {
        self.write_timeout = timeout;
        self
    }

    /// The same with another time for the answer to a close frame.
    #[must_use]
    pub const fn with_close_timeout(mut self, timeout: Duration) -> Self {
        self.close_timeout = timeout;
        self
    }

    pub(super) fn capped(self) -> Self {
        Self {
            ping_interval: self.ping_interval.map(|time| time.min(YEAR)),
            pong_timeout: self.pong_timeout.min(YEAR),
            idle_timeout: self.idle_timeout.map(|time| time.min(YEAR)),
            write_timeout: self.write_timeout.min(YEAR),
            close_timeout: self.close_timeout.min(YEAR),
            ..self
        }
    }
}

impl Default for WebSocketLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
