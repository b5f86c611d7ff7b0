//! State for frames that all connections of a server share.

use std::sync::Arc;

use super::limits::FrameLimits;
use super::stats::{FrameStats, Sums};
use crate::call::admission::Admission;
use crate::call::capacity::Capacity;
use crate::call::queue::{RunQueue, RunQueues};

/// Limits, counts and run queues of a server.
pub(crate) struct Flow {
    pub(super) limits: FrameLimits,
    pub(super) sums: Sums,
    pub(super) capacity: Arc<Capacity>,
    queues: RunQueues,
}

impl Flow {
    pub(crate) fn new(limits: FrameLimits) -> Self {
        Self {
            capacity: Arc::new(Capacity::new(limits.at_work, limits.load.clone())),
            limits,
            sums: Sums::default(),
            queues: RunQueues::default(),
        }
    }

    /// `memory` is the number of bytes that calls hold.
    pub(crate) fn stats(&self, memory: usize) -> FrameStats {
        let (handlers, waiting) = (self.capacity.handlers(), self.queues.waiting());
        self.sums.stats(handlers, waiting, memory)
    }

    /// The run queue of the current runtime.
    pub(super) fn queue(&self) -> Arc<RunQueue> {
        self.queues
            .current(self.limits.target, self.limits.interval)
    }

    /// The admission of a connection.
    pub(super) fn admission(&self, queue: &Arc<RunQueue>) -> Admission {
        let (capacity, queue) = (Arc::clone(&self.capacity), Arc::clone(queue));
        Admission::new(capacity, queue, self.limits.target, self.limits.interval)
    }
}
