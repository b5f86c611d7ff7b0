//! [`MessageLimits`]: how large a message may be.

/// The limits that a [`MessageDecoder`](super::MessageDecoder) checks, before it buffers a message.
///
/// The specification allows payloads of 24 MiB and headers of 128 KiB, and has services check
/// these maxima. The default for a whole message is lower: 16 MiB, as for other bodies.
///
/// ```
/// use polywire_protocol::event_stream::MessageLimits;
///
/// let limits = MessageLimits::DEFAULT.with_message(1 << 20);
/// assert_eq!((limits.message(), limits.headers()), (1 << 20, 128 << 10));
/// ```
///
/// <https://smithy.io/2.0/aws/amazon-eventstream.html#message-format>
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct MessageLimits {
    message: usize,
    headers: usize,
}

impl MessageLimits {
    /// Messages of 16 MiB, with headers of 128 KiB.
    pub const DEFAULT: Self = Self {
        message: 16 << 20,
        headers: 128 << 10,
    };

    /// What the specification allows: headers of 128 KiB and a payload of 24 MiB.
    pub const SPECIFICATION: Self = Self {
        message: (24 << 20) + (128 << 10) + super::PRELUDE + super::CHECKSUM,
        headers: 128 << 10,
    };

    /// The largest message, in bytes, with prelude and checksums.
    #[must_use]
    pub const fn message(&self) -> usize {
        self.message
    }

    /// The largest headers of one message, in bytes as encoded.
    #[must_use]
    pub const fn headers(&self) -> usize {
        self.headers
    }

    /// Sets the largest message, in bytes, with prelude and checksums.
    #[must_use]
    pub const fn with_message(self, message: usize) -> Self {
        Self { message, ..self }
    }

    /// Sets the largest headers of one message, in bytes as encoded. Decoded headers can need 20
    /// times as much memory.
    #[must_use]
    pub const fn with_headers(self, headers: usize) -> Self {
        Self { headers, ..self }
    }
}

impl Default for MessageLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
