//! The threads of a run.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::super::plan::{Load, Plan};
use super::super::schedule::Share;
use super::super::wire::{Connect, Wire};
use super::state::{Run, ThreadState};
use super::usage::{Usage, measure_thread};
use super::{closed, open, pacer};
use crate::Failure;

/// Running or finished threads.
#[derive(Debug)]
pub(in crate::bench) struct Threads {
    pub(in crate::bench) run: Arc<Run>,
    pub(in crate::bench) states: Vec<Arc<ThreadState>>,
    handles: Vec<JoinHandle<Option<Usage>>>,
    /// Closes when all threads have ended.
    working: mpsc::Receiver<()>,
}

/// The CPU usage of each thread, where the system provides it.
pub(in crate::bench) type ThreadUsage = Vec<Option<Usage>>;

/// The time between the last connection and the first call.
const START_DELAY: Duration = Duration::from_millis(5);

impl Threads {
    /// Starts the threads, which connect their clients. The run starts when all are connected.
    pub(in crate::bench) async fn start<C: Connect>(
        plan: &Plan,
        connect: C,
    ) -> Result<Self, Failure> {
        let (ready, mut is_ready) = mpsc::channel(plan.threads as usize);
        let (begin, started) = watch::channel(None);
        let (work, working) = mpsc::channel(1);
        let mut handles = Vec::new();
        for number in 0..plan.threads {
            let (plan, connect) = (plan.clone(), connect.clone());
            let (ready, mut started, work) = (ready.clone(), started.clone(), work.clone());
            let thread = std::thread::Builder::new().name(format!("load-{number}"));
            let handle = thread.spawn(move || {
                let _work = work;
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build();
                let runtime = match runtime.map_err(Failure::transport) {
                    Ok(runtime) => runtime,
                    Err(failure) => {
                        let _ = ready.try_send(Err(failure));
                        return None;
                    }
                };
                runtime.block_on(async {
                    let clients = clients(&plan, &connect).await;
                    // The receiver is gone only if the run was abandoned.
                    let clients = match clients {
                        Ok(clients) => ready.send(Ok(())).await.ok().map(|()| clients)?,
                        Err(failure) => {
                            let _ = ready.send(Err(failure)).await;
                            return None;
                        }
                    };
                    let states = started.wait_for(Option::is_some).await.ok()?;
                    let states: Option<Vec<Arc<ThreadState>>> = states.clone();
                    let state = Arc::clone(states?.get(number as usize)?);
                    let (usage, ()) = tokio::join!(
                        measure_thread(&state.run),
                        drive(&plan, number, &state, &clients)
                    );
                    usage
                })
            });
            handles.push(handle.map_err(Failure::transport)?);
        }
        drop((ready, work));
        for _ in 0..plan.threads {
            match is_ready.recv().await {
                Some(Ok(())) => {}
                Some(Err(failure)) => return Err(failure),
                None => return Err(Failure::transport("a thread stopped unexpectedly")),
            }
        }
        let origin = Instant::now() + START_DELAY;
        let run = Run::new(origin, plan.warm_up, plan.duration, grace(plan));
        let run = Arc::new(run);
        let states = (0..plan.threads).map(|_| Arc::new(ThreadState::new(Arc::clone(&run))));
        let states: Vec<Arc<ThreadState>> = states.collect();
        let _ = begin.send(Some(states.clone()));
        Ok(Self {
            run,
            states,
            handles,
            working,
        })
    }

    /// Waits until all threads have ended.
    pub(in crate::bench) async fn wait(&mut self) {
        while self.working.recv().await.is_some() {}
    }

    /// Returns the CPU usage. Call it after all threads have ended.
    pub(in crate::bench) fn usage(self) -> Result<ThreadUsage, Failure> {
        let each = self.handles.into_iter().map(JoinHandle::join);
        let each: Result<ThreadUsage, _> = each.collect();
        each.map_err(|_| Failure::transport("a thread of the load generator panicked"))
    }
}

/// How long to wait for open calls: slightly longer than their deadline.
fn grace(plan: &Plan) -> Duration {
    plan.deadline + Duration::from_millis(500)
}

async fn clients<C: Connect>(plan: &Plan, connect: &C) -> Result<Vec<Arc<C::Wire>>, Failure> {
    let mut clients = Vec::new();
    for _ in 0..plan.clients {
        clients.push(Arc::new(connect.connect().await?));
    }
    Ok(clients)
}

/// Sends the calls of a thread.
async fn drive<W: Wire>(plan: &Plan, number: u32, state: &Arc<ThreadState>, clients: &[Arc<W>]) {
    match &plan.load {
        Load::Closed { concurrency } => closed::keep_open(state, clients, *concurrency).await,
        Load::Paced {
            concurrency,
            interval,
        } => closed::send_batches(state, clients, *concurrency, *interval).await,
        Load::Open {
            schedule,
            most_open,
        } => {
            let threads = u64::from(plan.threads);
            let share = Share::new(schedule.clone(), u64::from(number), threads);
            tokio::time::sleep_until(state.run.at(Duration::ZERO)).await;
            match pacer::start(Arc::clone(&state.run), share.clone()) {
                Ok(notify) => {
                    let until = async |_| notify.notified().await;
                    open::send_scheduled(state, clients, &share, *most_open, until).await;
                }
                // Fall back to the less precise timer.
                Err(_) => {
                    let until = async |due| {
                        let soon = state.run.now() + Duration::from_millis(20);
                        tokio::time::sleep_until(state.run.at(soon.min(due))).await;
                    };
                    open::send_scheduled(state, clients, &share, *most_open, until).await;
                }
            }
        }
    }
    state.wait_for_open_calls().await;
}
