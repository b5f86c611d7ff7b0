//! Loads over simulated time: the clock jumps to whatever is next.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::super::recording::{Outcome, Tally, Wrong};
use super::super::schedule::{Schedule, Share};
use super::super::wire::Wire;
use super::lane::{Lane, Run};
use super::{closed, open};

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Answers after a time, but not before it has recovered from its stall.
struct Fake {
    begin: Instant,
    takes: Duration,
    stall: Option<(Duration, Duration)>,
    fails: bool,
    kind: &'static str,
    open: AtomicU64,
    most_open: AtomicU64,
    calls: AtomicU64,
}

impl Fake {
    fn new(takes: Duration) -> Self {
        Self {
            begin: Instant::now(),
            takes,
            stall: None,
            fails: false,
            kind: "disconnected",
            open: AtomicU64::new(0),
            most_open: AtomicU64::new(0),
            calls: AtomicU64::new(0),
        }
    }

    fn most_open(&self) -> u64 {
        self.most_open.load(Ordering::Relaxed)
    }
}

impl Wire for Fake {
    async fn call(&self) -> Outcome {
        let open = self.open.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_open.fetch_max(open, Ordering::Relaxed);
        // Whoever spins does not let the clock go on: that test shall end.
        let calls = self.calls.fetch_add(1, Ordering::Relaxed);
        assert!(calls < 100_000, "too many calls");
        let mut ends = self.begin.elapsed() + self.takes;
        if let Some((from, to)) = self.stall
            && (from..to).contains(&ends)
        {
            ends = to;
        }
        tokio::time::sleep_until(self.begin + ends).await;
        self.open.fetch_sub(1, Ordering::Relaxed);
        match self.fails {
            true => Err(Wrong::new(self.kind, "on purpose")),
            false => Ok(()),
        }
    }
}

/// 100 ms of warm-up, a second that is measured, and half a second of patience.
fn lane() -> Arc<Lane> {
    let run = Run::new(Instant::now(), millis(100), millis(1_000), millis(500));
    Arc::new(Lane::new(Arc::new(run)))
}

fn tally(lane: &Lane) -> Tally {
    lane.recorder().tally.clone()
}

async fn scheduled(lane: &Arc<Lane>, clients: &[Arc<Fake>], schedule: Schedule, most_open: u32) {
    let share = Share::new(schedule, 0, 1);
    let until = async |due| {
        let soon = lane.run.now() + millis(10);
        tokio::time::sleep_until(lane.run.at(soon.min(due))).await;
    };
    open::scheduled(lane, clients, &share, most_open, until).await;
    lane.drained().await;
}

#[tokio::test(start_paused = true)]
async fn a_closed_loop_keeps_its_calls_open() {
    let lane = lane();
    let clients = [millis(10), millis(20)].map(|takes| Arc::new(Fake::new(takes)));
    closed::steady(&lane, &clients, 3).await;
    lane.drained().await;
    let tally = tally(&lane);
    // 3 calls every 10 ms and 3 every 20 ms.
    assert_eq!((tally.sent, tally.replied, tally.arrived), (450, 450, 450));
    assert_eq!((tally.warm_up, tally.failed()), ((45, 0), 0));
    assert_eq!(clients[0].most_open(), 3);
    assert_eq!(tally.latency.max() / 1_000_000, 20);
    assert_eq!(lane.recorder().open(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn calls_that_fail_at_once_do_not_spin() {
    let lane = lane();
    let mut fake = Fake::new(Duration::ZERO);
    fake.fails = true;
    closed::steady(&lane, &[Arc::new(fake)], 1).await;
    lane.drained().await;
    let tally = tally(&lane);
    assert!((50..=100).contains(&tally.failed()), "{}", tally.failed());
    assert_eq!(tally.errors["disconnected"].samples, ["on purpose"]);
}

/// Whoever is turned away at once by the server keeps calling.
#[tokio::test(start_paused = true)]
async fn calls_that_are_turned_away_are_no_pause() {
    let lane = lane();
    let mut fake = Fake::new(Duration::from_micros(100));
    (fake.fails, fake.kind) = (true, "overloaded");
    closed::steady(&lane, &[Arc::new(fake)], 1).await;
    lane.drained().await;
    // tokio's time goes on by milliseconds.
    let failed = tally(&lane).failed();
    assert!((900..=1_000).contains(&failed), "{failed}");
}

/// More than are sent at once were due when nobody could send them.
#[tokio::test(start_paused = true)]
async fn none_that_was_due_is_forgotten() {
    let lane = lane();
    let share = Share::new(Schedule::constant(10_000.0), 0, 1);
    let until = async |_| tokio::time::sleep_until(lane.run.at(millis(1_200))).await;
    let clients = [Arc::new(Fake::new(millis(5)))];
    open::scheduled(&lane, &clients, &share, 4_000, until).await;
    lane.drained().await;
    let tally = tally(&lane);
    assert_eq!(tally.sent + tally.skipped, 10_000);
    assert!(tally.sent >= 3_000, "{}", tally.sent);
}

/// A batch that was sent late counts from when it was due.
#[tokio::test(start_paused = true)]
async fn batches_count_from_when_they_were_due() {
    let lane = lane();
    let clients = [Arc::new(Fake::new(millis(1)))];
    let stall = async {
        tokio::time::sleep_until(lane.run.at(millis(399))).await;
        // Nobody on this thread goes on meanwhile.
        tokio::time::advance(millis(200)).await;
    };
    tokio::join!(closed::paced(&lane, &clients, 10, millis(10)), stall);
    lane.drained().await;
    let tally = tally(&lane);
    assert_eq!(tally.sent + tally.skipped, 1_000);
    assert!(
        tally.latency.max() >= 180_000_000,
        "{}",
        tally.latency.max()
    );
}

#[tokio::test(start_paused = true)]
async fn batches_keep_their_pace() {
    let lane = lane();
    let clients = [Arc::new(Fake::new(millis(4)))];
    closed::paced(&lane, &clients, 10, millis(5)).await;
    lane.drained().await;
    let tally = tally(&lane);
    assert_eq!((tally.sent, tally.skipped, tally.failed()), (2_000, 0, 0));
    assert_eq!(clients[0].most_open(), 10);
}

#[tokio::test(start_paused = true)]
async fn what_goes_beyond_two_batches_is_skipped() {
    let lane = lane();
    let clients = [Arc::new(Fake::new(millis(50)))];
    closed::paced(&lane, &clients, 10, millis(5)).await;
    lane.drained().await;
    let tally = tally(&lane);
    assert_eq!(tally.sent + tally.skipped, 2_000);
    // 20 every 50 ms: the replies that come at the time of a batch are read before it.
    assert_eq!((tally.sent, tally.success_rate()), (400, 1.0));
    assert_eq!(clients[0].most_open(), 20);
}

/// A closed loop would have seen one slow call: here all that were due meanwhile are slow.
#[tokio::test(start_paused = true)]
async fn an_open_loop_counts_from_when_calls_were_due() {
    let lane = lane();
    let mut fake = Fake::new(millis(1));
    fake.stall = Some((millis(400), millis(600)));
    scheduled(&lane, &[Arc::new(fake)], Schedule::constant(1_000.0), 1_000).await;
    let tally = tally(&lane);
    assert_eq!(
        (tally.sent, tally.replied, tally.skipped),
        (1_000, 1_000, 0)
    );
    let slow = tally.latency.count_between(10_000_000, u64::MAX);
    assert!((185..=192).contains(&slow), "{slow}");
    assert_eq!(tally.latency.max() / 10_000_000, 20);
}

/// What was due is sent, however late, and waited for.
#[tokio::test(start_paused = true)]
async fn the_last_calls_are_not_left_behind() {
    let lane = lane();
    let share = Share::new(Schedule::constant(100.0), 0, 1);
    let until = async |_| tokio::time::sleep_until(lane.run.at(millis(1_200))).await;
    open::scheduled(
        &lane,
        &[Arc::new(Fake::new(millis(5)))],
        &share,
        1_000,
        until,
    )
    .await;
    lane.drained().await;
    let tally = tally(&lane);
    assert_eq!((tally.sent, tally.replied, tally.arrived), (100, 100, 0));
    assert_eq!(tally.lateness.max() / 100_000_000, 11);
    assert_eq!(lane.recorder().open(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn an_open_loop_does_not_pile_up_without_end() {
    let lane = lane();
    let clients = [
        Arc::new(Fake::new(millis(1_000))),
        Arc::new(Fake::new(millis(1))),
    ];
    scheduled(&lane, &clients, Schedule::constant(1_000.0), 20).await;
    let tally = tally(&lane);
    // Of the first client those of the warm-up are open until 1,000 ms and more.
    assert_eq!(clients[0].most_open(), 20);
    assert_eq!(tally.sent + tally.skipped, 1_000);
    assert!(tally.skipped > 450, "{}", tally.skipped);
    assert_eq!(clients[1].most_open(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_run_can_be_ended() {
    let lane = lane();
    let fake = Arc::new(Fake::new(millis(10)));
    let run = Arc::clone(&lane.run);
    tokio::spawn(async move {
        tokio::time::sleep(millis(350)).await;
        run.cut(millis(100));
    });
    closed::steady(&lane, &[fake], 1).await;
    lane.drained().await;
    let (tally, window) = (tally(&lane), lane.run.window());
    assert_eq!(window, millis(100)..millis(350));
    assert!((24..=26).contains(&tally.sent), "{}", tally.sent);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_ever() {
    let lane = lane();
    let clients = [Arc::new(Fake::new(Duration::from_secs(3_600)))];
    closed::steady(&lane, &clients, 5).await;
    lane.drained().await;
    assert_eq!(lane.recorder().open(), (5, 0));
    assert!(lane.run.now() < millis(1_700));
}
