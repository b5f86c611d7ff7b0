//! A call to a topic.

use bytes::Bytes;

use super::InFlight;

/// A call that publishes a message or subscribes, whose caller is authenticated.
#[derive(Debug)]
pub(crate) struct TopicCall {
    pub(crate) topic: Box<str>,
    /// The message; none for a subscription.
    pub(crate) message: Option<Bytes>,
    pub(crate) context: crate::Context,
    pub(crate) in_flight: Option<InFlight>,
}
