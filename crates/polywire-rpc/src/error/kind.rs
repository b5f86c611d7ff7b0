//! The kinds of failed calls.

/// What happened to a call without a result.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum CallErrorKind {
    /// There was no connection, or it ended before the call was sent.
    Connect,
    /// The deadline of the call passed. The server may have executed it, or may still do so.
    Deadline,
    /// The response cannot be decoded, exceeds a limit, or does not have the expected type.
    Decode,
    /// The connection failed after the call, or part of it, was sent.
    Disconnected,
    /// The input cannot be encoded, or exceeds a limit of the server. Nothing was sent.
    Encode,
    /// The server responded with a fault: see [`CallError::fault`](crate::CallError::fault).
    Fault,
    /// A batch failed before this call of it was sent.
    NotSent,
    /// The response is not of the protocol: another service or a proxy responded.
    Protocol,
    /// The client has as many pending calls or queued bytes as its limits allow. Nothing was sent.
    QueueFull,
    /// The client did not send the call, because the server rejects most calls.
    Throttled,
    /// The model has no such operation. Nothing was sent.
    UnknownOperation,
    /// The client was used incorrectly: a blocking client in an asynchronous task, a place of another batch, or a
    /// notification or batch over a protocol that has none. Nothing was sent.
    Usage,
}

impl CallErrorKind {
    /// Whether nothing of a call was sent, for every error of this kind.
    pub(super) const fn is_before_call(self) -> bool {
        match self {
            Self::Connect
            | Self::Encode
            | Self::NotSent
            | Self::QueueFull
            | Self::Throttled
            | Self::UnknownOperation
            | Self::Usage => true,
            Self::Deadline | Self::Decode | Self::Disconnected | Self::Fault | Self::Protocol => {
                false
            }
        }
    }

    /// The beginning of the text of an error.
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Connect => "not connected",
            Self::Deadline => "the deadline passed before the response",
            Self::Decode => "cannot decode the response",
            Self::Disconnected => "disconnected",
            Self::Encode => "cannot encode the call",
            Self::Fault => "fault",
            Self::NotSent => "not sent, since a call before it in the batch failed",
            Self::Protocol => "the response is not of the protocol",
            Self::QueueFull => "the limit of pending calls is reached",
            Self::Throttled => "not sent, since the server rejects most calls",
            Self::UnknownOperation => "no such operation",
            Self::Usage => "incorrect use",
        }
    }
}
