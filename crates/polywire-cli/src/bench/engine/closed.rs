//! Closed loops: the next call is sent when an earlier one ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::task::coop;
use tokio::time::{MissedTickBehavior, interval_at};

use super::super::wire::Wire;
use super::state::ThreadState;

/// If a call fails within this time and the server did not respond, the client pauses. Otherwise
/// calls that cannot be sent would consume all CPU time. Calls rejected by the server are repeated
/// at once, because that is the requested load.
const FAST_FAILURE: Duration = Duration::from_millis(1);

/// The length of the pause.
const PAUSE: Duration = Duration::from_millis(10);

/// How often to poll for replies before a batch is skipped: reading, waking and completing a call
/// each take one iteration.
const POLL_ATTEMPTS: usize = 4;

/// Keeps a number of calls of each client open until the run ends.
pub(super) async fn keep_open<W: Wire>(
    state: &Arc<ThreadState>,
    clients: &[Arc<W>],
    concurrency: u32,
) {
    tokio::time::sleep_until(state.run.at(Duration::ZERO)).await;
    for client in clients {
        for _ in 0..concurrency {
            let (state, client) = (Arc::clone(state), Arc::clone(client));
            tokio::spawn(async move {
                loop {
                    let begin = state.run.now();
                    if begin >= state.run.end() {
                        return;
                    }
                    state.record_sent(begin, begin);
                    let outcome = client.call().await;
                    state.record_end(begin, &outcome);
                    let unanswered = outcome
                        .as_ref()
                        .is_err_and(|failure| !failure.is_server_response());
                    if unanswered && state.run.now() < begin + FAST_FAILURE {
                        tokio::time::sleep(PAUSE).await;
                    }
                    // Yield even if the wire is always ready.
                    coop::consume_budget().await;
                }
            });
        }
    }
    wait_for_end(state).await;
}

/// Sends a batch of calls per client and interval. Latency starts at the start of the interval. A
/// client with too many open calls skips the rest of the batch.
pub(super) async fn send_batches<W: Wire>(
    state: &Arc<ThreadState>,
    clients: &[Arc<W>],
    concurrency: u32,
    interval: Duration,
) {
    let open: Vec<Arc<AtomicU32>> = clients.iter().map(|_| Arc::default()).collect();
    let mut ticks = interval_at(state.run.at(Duration::ZERO), interval);
    let mut due = Duration::ZERO;
    // Keep the pace after a delay.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    loop {
        ticks.tick().await;
        let room =
            |open: &AtomicU32| (2 * concurrency).saturating_sub(open.load(Ordering::Relaxed));
        // If this thread was delayed, replies have arrived that were not read yet. Do not count
        // those calls as open.
        for _ in 0..POLL_ATTEMPTS {
            if open.iter().all(|open| room(open) >= concurrency) {
                break;
            }
            tokio::task::yield_now().await;
        }
        if due >= state.run.end() {
            return;
        }
        let now = state.run.now();
        for (client, open) in clients.iter().zip(&open) {
            let room = room(open);
            let count = concurrency.min(room);
            if count < concurrency {
                state.record_skipped(due, u64::from(concurrency - count));
            }
            for _ in 0..count {
                open.fetch_add(1, Ordering::Relaxed);
                // Counted before the task runs, because the run waits for open calls at its end.
                state.record_sent(due, now);
                let (state, client) = (Arc::clone(state), Arc::clone(client));
                let open = Arc::clone(open);
                tokio::spawn(async move {
                    let outcome = client.call().await;
                    open.fetch_sub(1, Ordering::Relaxed);
                    state.record_end(due, &outcome);
                });
            }
        }
        due += interval;
    }
}

/// Returns when the run has ended.
async fn wait_for_end(state: &ThreadState) {
    loop {
        let (now, end) = (state.run.now(), state.run.end());
        if now >= end {
            return;
        }
        // Another thread may end the run earlier.
        tokio::time::sleep((end - now).min(Duration::from_millis(20))).await;
    }
}
