//! What every wire does with a call before its handler runs.

pub(crate) mod admission;
pub(crate) mod capacity;
pub(crate) mod queue;
