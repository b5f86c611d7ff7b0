//! The measured systems.

mod caller;
mod capnp;
mod echo;
mod frames;
mod generated;
mod large;
mod tarpc;
mod tonic;
mod udp;

use std::future::Future;

use tokio::task::JoinSet;

pub(super) use caller::{Caller, Calls};
pub(super) use capnp::Capnp;
pub(super) use echo::Echo;
pub(super) use frames::Frames;
pub(super) use large::{Copy, LargeFrames};
pub(super) use tarpc::Tarpc;
pub(super) use tonic::Tonic;
pub(super) use udp::UdpEcho;

use super::layout::Layout;
use super::tally::{self, Times};

/// Runs `window` tasks for each client. `work` is a task's future; it gets the task's number.
async fn tasks<C, F>(
    layout: Layout,
    times: Times,
    clients: Vec<C>,
    work: impl Fn(C, u32) -> F,
) -> Result<(), String>
where
    C: Clone,
    F: Future<Output = ()> + Send + 'static,
{
    let mut tasks = JoinSet::new();
    let callers = clients
        .iter()
        .flat_map(|client| (0..layout.window).map(move |_| client));
    for (caller, client) in (0..).zip(callers) {
        tasks.spawn(work(client.clone(), caller));
    }
    ended(times, &mut tasks).await
}

/// Waits for the tasks. Each one that does not end counts as a failed call.
async fn ended(times: Times, tasks: &mut JoinSet<()>) -> Result<(), String> {
    let all = async {
        while let Some(task) = tasks.join_next().await {
            task.map_err(|error| format!("a task of the clients: {error}"))?;
        }
        Ok(())
    };
    match tokio::time::timeout_at(times.drained_by().into(), all).await {
        Ok(ended) => ended,
        Err(_) => {
            let lost = tasks.len() as u64;
            tally::with(|tally| tally.failed(lost, "never answered"));
            Ok(())
        }
    }
}
