//! Open loops: the schedule decides when a call is sent, whatever has become of others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::super::schedule::Share;
use super::super::wire::Wire;
use super::lane::Lane;

/// The most calls that are sent before others have their turn: after a stall thousands are due.
const AT_ONCE: u64 = 256;

/// Sends each call when it is due, to one client after the other. A client with so many open skips
/// the call. `until` returns at that time or soon after, or when the run ends.
pub(super) async fn scheduled<W: Wire>(
    lane: &Arc<Lane>,
    clients: &[Arc<W>],
    share: &Share,
    most_open: u32,
    until: impl AsyncFn(Duration),
) {
    let open: Vec<Arc<AtomicU32>> = clients.iter().map(|_| Arc::default()).collect();
    let mut call = 0;
    loop {
        let now = lane.run.now();
        let end = lane.run.end();
        let behind = share.due_by(now).saturating_sub(call);
        for _ in 0..behind.min(AT_ONCE) {
            let due = share.time_of(call);
            if due >= end {
                return;
            }
            let turn = (call % clients.len() as u64) as usize;
            call += 1;
            send(lane, &clients[turn], &open[turn], most_open, due);
        }
        // What was due by the end is sent, however late.
        if now >= end && behind <= AT_ONCE {
            return;
        }
        match behind > AT_ONCE {
            true => tokio::task::yield_now().await,
            false => until(share.time_of(call)).await,
        }
    }
}

fn send<W: Wire>(
    lane: &Arc<Lane>,
    client: &Arc<W>,
    open: &Arc<AtomicU32>,
    most_open: u32,
    due: Duration,
) {
    if open.load(Ordering::Relaxed) >= most_open {
        lane.skipped(due, 1);
        return;
    }
    open.fetch_add(1, Ordering::Relaxed);
    // Here and not in the task: what is open when the run ends is waited for.
    lane.sent(due, lane.run.now());
    let (lane, client, open) = (Arc::clone(lane), Arc::clone(client), Arc::clone(open));
    tokio::spawn(async move {
        let outcome = client.call().await;
        open.fetch_sub(1, Ordering::Relaxed);
        lane.ended(due, &outcome);
    });
}
