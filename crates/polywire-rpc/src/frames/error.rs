//! Errors of calls over frames.

use super::quota::QueueFull;
use super::tickets::End;
use crate::error::{CallError, FrameFault};

impl CallError {
    /// The error for an end other than a reply, with the payload of a fault.
    #[cold]
    pub(super) fn from_end(end: End, payload: &[u8]) -> Self {
        match end {
            End::Reply | End::Large(_) => Self::decode_text("a reply where a fault was expected"),
            End::Deadline => Self::deadline(None),
            End::Lost { sent, cause } => Self::lost(sent, cause),
            End::Fault {
                code,
                retry_after,
                unstarted,
            } => Self::frame_fault(FrameFault::new(code, retry_after, payload), unstarted),
        }
    }
}

impl From<QueueFull> for CallError {
    fn from(_: QueueFull) -> Self {
        Self::queue_full()
    }
}
