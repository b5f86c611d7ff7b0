//! Of calls on servers.

#[path = "../../../../crates/polywire-rpc/src/call/completion.rs"]
mod completion;
#[path = "../../../../crates/polywire-rpc/src/call/memory.rs"]
mod memory;
#[path = "../../../../crates/polywire-rpc/src/call/pipe.rs"]
mod pipe;
#[path = "../../../../crates/polywire-rpc/src/call/admission/rejection.rs"]
mod rejection;

/// The reasons of rejections, which completions need.
mod admission {
    pub(super) use super::rejection::{MemoryUse, Rejection};
}

/// As little as completions need of it.
mod topic_call {
    #[derive(Debug)]
    pub(super) struct TopicCall;
}

#[cfg(test)]
mod shared_memory;
#[cfg(test)]
mod streams;
