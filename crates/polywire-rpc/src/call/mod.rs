//! What every wire does with a call before its handler runs.

pub(crate) mod admission;
pub(crate) mod capacity;
pub(crate) mod deadline;
mod head;
pub(crate) mod queue;

pub(crate) use deadline::Deadline;
pub use head::CallHead;
