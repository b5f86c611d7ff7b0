//! What every wire does with a call: from its head to the result of its handler.

pub(crate) mod admission;
pub(crate) mod capacity;
pub(crate) mod completion;
pub(crate) mod deadline;
pub(crate) mod decoding;
mod engine;
mod events;
pub(crate) mod faults;
mod head;
mod in_flight;
mod invocation;
pub(crate) mod memory;
pub(crate) mod pipe;
pub(crate) mod queue;
mod sequence;
mod target;
pub(crate) mod topic_call;

pub(crate) use deadline::{CallTimeout, Deadline, FrameDeadline};
pub(crate) use engine::Engine;
pub(crate) use events::ServerEvents;
pub use head::CallHead;
pub(crate) use in_flight::{CallLimit, InFlight};
pub(crate) use invocation::{Invocation, Reply, catch_panic};
pub(crate) use sequence::CallSequence;
pub(crate) use target::Target;
