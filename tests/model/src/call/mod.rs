//! The files of `call/` that the model tests.

#[path = "../../../../crates/polywire-rpc/src/call/completion.rs"]
mod completion;
#[path = "../../../../crates/polywire-rpc/src/call/memory.rs"]
mod memory;
#[path = "../../../../crates/polywire-rpc/src/call/pipe.rs"]
mod pipe;
#[path = "../../../../crates/polywire-rpc/src/call/admission/rejection.rs"]
mod rejection;

/// The part of `call/admission.rs` that completions use.
mod admission {
    pub(super) use super::rejection::{MemoryUse, Rejection};
}

/// A stand-in: completions only store it.
mod topic_call {
    #[derive(Debug)]
    pub(super) struct TopicCall;
}

#[cfg(test)]
mod shared_memory;
#[cfg(test)]
mod streams;
