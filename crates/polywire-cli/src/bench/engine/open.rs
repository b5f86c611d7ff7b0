//! Open loops: the schedule decides when calls are sent, independent of replies.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::super::schedule::Share;
use super::super::wire::Wire;
use super::state::ThreadState;

/// The maximum number of calls sent before other tasks run. After a stall, thousands are due.
const MAX_BURST: u64 = 256;

/// Sends each scheduled call, to one client after the other. A client with too many open calls
/// skips the call. `until` returns at or soon after the given time, or when the run ends.
pub(super) async fn send_scheduled<W: Wire>(
    state: &Arc<ThreadState>,
    clients: &[Arc<W>],
    share: &Share,
    most_open: u32,
    until: impl AsyncFn(Duration),
) {
    let open: Vec<Arc<AtomicU32>> = clients.iter().map(|_| Arc::default()).collect();
    let mut call = 0;
    loop {
        let now = state.run.now();
        let end = state.run.end();
        let behind = share.due_by(now).saturating_sub(call);
        for _ in 0..behind.min(MAX_BURST) {
            let due = share.time_of(call);
            if due >= end {
                return;
            }
            let turn = (call % clients.len() as u64) as usize;
            call += 1;
            send(state, &clients[turn], &open[turn], most_open, due);
        }
        // Calls that were due before the end are sent, however late.
        if now >= end && behind <= MAX_BURST {
            return;
        }
        match behind > MAX_BURST {
            true => tokio::task::yield_now().await,
            false => until(share.time_of(call)).await,
        }
    }
}

fn send<W: Wire>(
    state: &Arc<ThreadState>,
    client: &Arc<W>,
    open: &Arc<AtomicU32>,
    most_open: u32,
    due: Duration,
) {
    if open.load(Ordering::Relaxed) >= most_open {
        state.record_skipped(due, 1);
        return;
    }
    open.fetch_add(1, Ordering::Relaxed);
    // Counted before the task runs, because the run waits for open calls at its end.
    state.record_sent(due, state.run.now());
    let (state, client, open) = (Arc::clone(state), Arc::clone(client), Arc::clone(open));
    tokio::spawn(async move {
        let outcome = client.call().await;
        open.fetch_sub(1, Ordering::Relaxed);
        state.record_end(due, &outcome);
    });
}
