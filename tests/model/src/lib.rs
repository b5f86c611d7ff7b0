//! State that threads of a server or of a client share, tested by loom in every possible
//! interleaving. `scripts/check-memory loom` runs it. Without `cfg(loom)` the crate is empty.
//!
//! The files are included from `polywire-rpc`. Their locks and atomics are those of loom (`sync`).
//! Other items of that crate are replaced by minimal stand-ins.
#![cfg(loom)]
#![allow(dead_code, reason = "what is not modelled is compiled too")]
#![allow(unreachable_pub, reason = "in a module of this crate alone")]
#![allow(clippy::unwrap_used, reason = "tests")]

/// The module of the same name in `polywire-rpc`, with types of loom.
mod sync {
    pub(crate) use loom::sync::{Mutex, MutexGuard, atomic};
    pub(crate) use std::sync::{Arc, PoisonError};
}

mod methods {
    /// A stand-in for a reply, which has only a length.
    #[derive(Debug, PartialEq)]
    pub(crate) struct MethodReply(pub(crate) usize);

    impl MethodReply {
        pub(crate) const fn len(&self) -> usize {
            self.0
        }
    }
}

mod topics {
    /// What happens if a message is published while the queue of a subscriber is full.
    #[derive(Clone, Copy, Debug)]
    pub(crate) enum SlowSubscriber {
        DropOldest,
        DropNewest,
        End,
    }

    /// The limits of a subscriber's queue.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct QueuePolicy {
        pub(crate) max_messages: usize,
        pub(crate) max_bytes: usize,
        pub(crate) slow: SlowSubscriber,
        pub(crate) is_memory_exhausted: bool,
    }
}

mod call;
mod frames;
