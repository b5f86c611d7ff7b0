//! The parameters of a call, and its progress.

use polywire_frame::{Time, Trace};

use super::tickets::Ticket;
use crate::call::FrameDeadline;

/// The parameters of a call, except its input.
#[derive(Clone, Copy)]
pub(super) struct CallRequest<'a> {
    pub(super) kind: RequestKind,
    /// The name of the operation, or the topic.
    pub(super) operation: &'a str,
    /// The current time.
    pub(super) now: Time,
    /// The deadline of the call; of a call with items, the deadline for opening it.
    pub(super) deadline: FrameDeadline,
    /// The deadline of a call with items.
    pub(super) stream_deadline: FrameDeadline,
    pub(super) metadata: &'a [(&'a str, &'a [u8])],
    pub(super) trace: Option<Trace>,
}

/// The kind of a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum RequestKind {
    Call,
    /// A call that receives items.
    Stream,
    /// A call that sends and receives items.
    TwoWay,
    Subscribe,
    Publish,
}

impl RequestKind {
    /// Whether the call has items, and can last longer than its deadline for opening.
    pub(super) const fn has_items(self) -> bool {
        matches!(self, Self::Stream | Self::TwoWay | Self::Subscribe)
    }
}

/// The progress of a call. Not `Copy`, because its owner cancels the call.
#[derive(Debug)]
pub(super) enum CallStage {
    New,
    /// It waits for capacity or for a reply.
    Waiting(Ticket),
    Done,
}
