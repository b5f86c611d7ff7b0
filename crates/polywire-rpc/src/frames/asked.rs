//! What a call asks for, and how far it is.

use polywire_frame::{Time, Trace};

use super::tickets::Ticket;

/// What a call asks for.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) what: What,
    /// The operation's name, or the topic.
    pub(super) operation: &'a str,
    /// The time, at which it is asked at once.
    pub(super) now: Time,
    /// When it has ended at the latest; if it has items, when it has begun.
    pub(super) deadline: Time,
    /// When a call with items has ended at the latest.
    pub(super) lasts: Time,
    pub(super) metadata: &'a [(&'a str, &'a [u8])],
    pub(super) trace: Option<Trace>,
}

/// What kind of call it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum What {
    Call,
    /// A call whose items are wanted.
    Stream,
    /// A call to which items will be sent, and whose items are wanted.
    TwoWay,
    Subscribe,
    Publish,
}

impl What {
    /// Whether it is open for as long as it likes, with items.
    pub(super) const fn has_items(self) -> bool {
        matches!(self, Self::Stream | Self::TwoWay | Self::Subscribe)
    }
}

/// How far a call is. Not to be copied: whoever has it gives the call up.
#[derive(Debug)]
pub(super) enum Stage {
    New,
    /// It has a ticket, for room or for an answer.
    Waits(Ticket),
    Done,
}
