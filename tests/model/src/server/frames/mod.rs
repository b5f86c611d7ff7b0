//! Of connections.

#[path = "../../../../../crates/polywire-rpc/src/server/frames/completion.rs"]
mod completion;
#[path = "../../../../../crates/polywire-rpc/src/server/frames/pipe.rs"]
mod pipe;

/// As little as completions need of it.
mod topic_call {
    #[derive(Debug)]
    pub(super) struct TopicCall;
}

#[cfg(test)]
mod streams;
