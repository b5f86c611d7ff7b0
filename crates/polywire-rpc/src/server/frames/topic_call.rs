//! A call to a topic.

use bytes::Bytes;

use crate::call::InFlight;

/// A call that publishes a message or subscribes, whose caller is authenticated.
#[derive(Debug)]
pub(super) struct TopicCall {
    pub(super) topic: Box<str>,
    /// The message; none for a subscription.
    pub(super) message: Option<Bytes>,
    pub(super) context: crate::Context,
    pub(super) in_flight: Option<InFlight>,
}
