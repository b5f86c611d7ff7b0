//! What every wire does with a call: from its head to the result of its handler.

pub(crate) mod admission;
pub(crate) mod capacity;
pub(crate) mod deadline;
mod head;
mod invocation;
pub(crate) mod queue;
mod target;

pub(crate) use deadline::{CallTimeout, Deadline, FrameDeadline};
pub use head::CallHead;
pub(crate) use invocation::{Invocation, Reply, catch_panic};
pub(crate) use target::Target;
