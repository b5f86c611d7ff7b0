//! What a run does: how many clients, how they send, for how long.

use std::time::Duration;

use super::schedule::Schedule;

/// How calls are sent.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Load {
    /// Each client has so many calls open, and sends the next as soon as one has ended.
    Closed { concurrency: u32 },
    /// Each client sends so many calls at once, every interval. It never has more than twice as
    /// many open: what would go beyond is skipped.
    Paced {
        concurrency: u32,
        interval: Duration,
    },
    /// Calls are sent when they are due, however long others take. A client with so many open
    /// skips the next.
    Open { schedule: Schedule, most_open: u32 },
}

impl Load {
    /// The rate that the measured time asks for, in calls a second; a closed loop asks for what it
    /// gets.
    pub(super) fn asked(&self, plan: &Plan) -> Option<f64> {
        match self {
            Self::Closed { .. } => None,
            Self::Paced {
                concurrency,
                interval,
            } => {
                let clients = f64::from(plan.threads * plan.clients);
                Some(clients * f64::from(*concurrency) / interval.as_secs_f64())
            }
            Self::Open { schedule, .. } => {
                Some(schedule.mean_rate(plan.warm_up, plan.warm_up + plan.duration))
            }
        }
    }
}

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    pub(super) threads: u32,
    /// Of each thread.
    pub(super) clients: u32,
    pub(super) load: Load,
    pub(super) warm_up: Duration,
    /// The measured time.
    pub(super) duration: Duration,
    /// How long a call may take, and so how long the end of the run may.
    pub(super) deadline: Duration,
}
