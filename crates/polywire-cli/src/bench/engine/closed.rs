//! Closed loops: how many calls are open decides when the next is sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::task::coop;
use tokio::time::{MissedTickBehavior, interval_at};

use super::super::wire::Wire;
use super::lane::Lane;

/// A call that fails sooner than this and was not answered is followed by a pause, or calls that cannot be
/// sent would be all that the program does. Who is turned away by the server calls again at once: that is the load that
/// was asked for.
const AT_ONCE: Duration = Duration::from_millis(1);

/// That pause.
const PAUSE: Duration = Duration::from_millis(10);

/// How often what has come is looked at before a batch is skipped: reading, waking and ending a call
/// take a turn each.
const LOOKS: usize = 4;

/// Keeps so many calls of each client open until the run ends.
pub(super) async fn steady<W: Wire>(lane: &Arc<Lane>, clients: &[Arc<W>], concurrency: u32) {
    tokio::time::sleep_until(lane.run.at(Duration::ZERO)).await;
    for client in clients {
        for _ in 0..concurrency {
            let (lane, client) = (Arc::clone(lane), Arc::clone(client));
            tokio::spawn(async move {
                loop {
                    let begin = lane.run.now();
                    if begin >= lane.run.end() {
                        return;
                    }
                    lane.sent(begin, begin);
                    let outcome = client.call().await;
                    lane.ended(begin, &outcome);
                    let unanswered = outcome.as_ref().is_err_and(|wrong| !wrong.was_answered());
                    if unanswered && lane.run.now() < begin + AT_ONCE {
                        tokio::time::sleep(PAUSE).await;
                    }
                    // A wire that never has to wait must let the others run.
                    coop::consume_budget().await;
                }
            });
        }
    }
    ended(lane).await;
}

/// Has each client send so many calls at once, every interval; they count from when the interval began. A client that has as many open
/// again skips what would go beyond.
pub(super) async fn paced<W: Wire>(
    lane: &Arc<Lane>,
    clients: &[Arc<W>],
    concurrency: u32,
    interval: Duration,
) {
    let open: Vec<Arc<AtomicU32>> = clients.iter().map(|_| Arc::default()).collect();
    let mut ticks = interval_at(lane.run.at(Duration::ZERO), interval);
    let mut due = Duration::ZERO;
    // Late is late: the pace stays.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    loop {
        ticks.tick().await;
        let room =
            |open: &AtomicU32| (2 * concurrency).saturating_sub(open.load(Ordering::Relaxed));
        // If this thread was kept from running, replies have come that it has not read: those
        // calls are not open.
        for _ in 0..LOOKS {
            if open.iter().all(|open| room(open) >= concurrency) {
                break;
            }
            tokio::task::yield_now().await;
        }
        if due >= lane.run.end() {
            return;
        }
        let now = lane.run.now();
        for (client, open) in clients.iter().zip(&open) {
            let room = room(open);
            let count = concurrency.min(room);
            if count < concurrency {
                lane.skipped(due, u64::from(concurrency - count));
            }
            for _ in 0..count {
                open.fetch_add(1, Ordering::Relaxed);
                // Here and not in the task: what is open when the run ends is waited for.
                lane.sent(due, now);
                let (lane, client) = (Arc::clone(lane), Arc::clone(client));
                let open = Arc::clone(open);
                tokio::spawn(async move {
                    let outcome = client.call().await;
                    open.fetch_sub(1, Ordering::Relaxed);
                    lane.ended(due, &outcome);
                });
            }
        }
        due += interval;
    }
}

/// Returns when the run has ended.
async fn ended(lane: &Lane) {
    loop {
        let (now, end) = (lane.run.now(), lane.run.end());
        if now >= end {
            return;
        }
        // It may be ended sooner meanwhile.
        tokio::time::sleep((end - now).min(Duration::from_millis(20))).await;
    }
}
