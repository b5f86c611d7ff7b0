//! What threads of a server and of a client share, in every order in which they can meet: run by
//! `scripts/check-memory loom`, and empty otherwise.
//!
//! The files are those of `polywire-rpc`. What they lock and count with is loom's here
//! (`sync`), and what they need of the rest of that crate is as little as it can be.
#![cfg(loom)]
#![allow(dead_code, reason = "what is not modelled is compiled too")]
#![allow(unreachable_pub, reason = "in a module of this crate alone")]
#![allow(clippy::unwrap_used, reason = "tests")]

/// As in that crate, but loom's.
mod sync {
    pub(crate) use loom::sync::{Mutex, MutexGuard, atomic};
    pub(crate) use std::sync::{Arc, PoisonError};
}

mod methods {
    /// A reply, into which nobody looks.
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
