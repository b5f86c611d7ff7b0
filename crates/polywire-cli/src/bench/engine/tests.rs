//! Tests with simulated time: the clock jumps to the next event.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::super::recording::{CallFailure, Outcome, Tally};
use super::super::schedule::{Schedule, Share};
use super::super::wire::Wire;
use super::state::{Run, ThreadState};
use super::{closed, open};

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Replies after a delay, and not before its stall ends.
struct FakeClient {
    begin: Instant,
    takes: Duration,
    stall: Option<(Duration, Duration)>,
    fails: bool,
    kind: &'static str,
    open: AtomicU64,
    most_open: AtomicU64,
    calls: AtomicU64,
}

impl FakeClient {
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

impl Wire for FakeClient {
    async fn call(&self) -> Outcome {
        let open = self.open.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_open.fetch_max(open, Ordering::Relaxed);
        // A busy loop would prevent simulated time from advancing, so the test fails instead.
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
            true => Err(CallFailure::new(self.kind, "on purpose")),
            false => Ok(()),
        }
    }
}

/// 100 ms of warm-up, one second of measurement, and half a second to wait for open calls.
fn state() -> Arc<ThreadState> {
    let run = Run::new(Instant::now(), millis(100), millis(1_000), millis(500));
    Arc::new(ThreadState::new(Arc::new(run)))
}

fn tally(state: &ThreadState) -> Tally {
    state.recorder().tally.clone()
}

async fn scheduled(
    state: &Arc<ThreadState>,
    clients: &[Arc<FakeClient>],
    schedule: Schedule,
    most_open: u32,
) {
    let share = Share::new(schedule, 0, 1);
    let until = async |due| {
        let soon = state.run.now() + millis(10);
        tokio::time::sleep_until(state.run.at(soon.min(due))).await;
    };
    open::send_scheduled(state, clients, &share, most_open, until).await;
    state.wait_for_open_calls().await;
}

#[tokio::test(start_paused = true)]
async fn closed_loop_keeps_calls_open() {
    let state = state();
    let clients = [millis(10), millis(20)].map(|takes| Arc::new(FakeClient::new(takes)));
    closed::keep_open(&state, &clients, 3).await;
    state.wait_for_open_calls().await;
    let tally = tally(&state);
    // 3 calls every 10 ms and 3 every 20 ms.
    assert_eq!((tally.sent, tally.replied, tally.arrived), (450, 450, 450));
    assert_eq!((tally.warm_up, tally.failed()), ((45, 0), 0));
    assert_eq!(clients[0].most_open(), 3);
    assert_eq!(tally.latency.max() / 1_000_000, 20);
    assert_eq!(state.recorder().open(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn pauses_after_immediate_failures() {
    let state = state();
    let mut fake = FakeClient::new(Duration::ZERO);
    fake.fails = true;
    closed::keep_open(&state, &[Arc::new(fake)], 1).await;
    state.wait_for_open_calls().await;
    let tally = tally(&state);
    assert!((50..=100).contains(&tally.failed()), "{}", tally.failed());
    assert_eq!(tally.errors["disconnected"].samples, ["on purpose"]);
}

/// Clients whose calls the server rejects immediately keep calling.
#[tokio::test(start_paused = true)]
async fn does_not_pause_after_rejected_calls() {
    let state = state();
    let mut fake = FakeClient::new(Duration::from_micros(100));
    (fake.fails, fake.kind) = (true, "overloaded");
    closed::keep_open(&state, &[Arc::new(fake)], 1).await;
    state.wait_for_open_calls().await;
    // Timers of tokio have a resolution of a millisecond.
    let failed = tally(&state).failed();
    assert!((900..=1_000).contains(&failed), "{failed}");
}

/// More calls are due after a stall than are sent in one burst.
#[tokio::test(start_paused = true)]
async fn sends_all_calls_that_were_due() {
    let state = state();
    let share = Share::new(Schedule::constant(10_000.0), 0, 1);
    let until = async |_| tokio::time::sleep_until(state.run.at(millis(1_200))).await;
    let clients = [Arc::new(FakeClient::new(millis(5)))];
    open::send_scheduled(&state, &clients, &share, 4_000, until).await;
    state.wait_for_open_calls().await;
    let tally = tally(&state);
    assert_eq!(tally.sent + tally.skipped, 10_000);
    assert!(tally.sent >= 3_000, "{}", tally.sent);
}

/// The latency of a delayed batch starts when it was due.
#[tokio::test(start_paused = true)]
async fn latency_of_batches_starts_when_due() {
    let state = state();
    let clients = [Arc::new(FakeClient::new(millis(1)))];
    let stall = async {
        tokio::time::sleep_until(state.run.at(millis(399))).await;
        // Blocks all tasks of this thread.
        tokio::time::advance(millis(200)).await;
    };
    tokio::join!(
        closed::send_batches(&state, &clients, 10, millis(10)),
        stall
    );
    state.wait_for_open_calls().await;
    let tally = tally(&state);
    assert_eq!(tally.sent + tally.skipped, 1_000);
    assert!(
        tally.latency.max() >= 180_000_000,
        "{}",
        tally.latency.max()
    );
}

#[tokio::test(start_paused = true)]
async fn batches_keep_the_pace() {
    let state = state();
    let clients = [Arc::new(FakeClient::new(millis(4)))];
    closed::send_batches(&state, &clients, 10, millis(5)).await;
    state.wait_for_open_calls().await;
    let tally = tally(&state);
    assert_eq!((tally.sent, tally.skipped, tally.failed()), (2_000, 0, 0));
    assert_eq!(clients[0].most_open(), 10);
}

#[tokio::test(start_paused = true)]
async fn skips_calls_beyond_two_batches() {
    let state = state();
    let clients = [Arc::new(FakeClient::new(millis(50)))];
    closed::send_batches(&state, &clients, 10, millis(5)).await;
    state.wait_for_open_calls().await;
    let tally = tally(&state);
    assert_eq!(tally.sent + tally.skipped, 2_000);
    // 20 every 50 ms. Replies that arrive at the time of a batch are read before it.
    assert_eq!((tally.sent, tally.success_rate()), (400, 1.0));
    assert_eq!(clients[0].most_open(), 20);
}

/// A closed loop would measure one slow call. An open loop measures all calls that were due
/// meanwhile.
#[tokio::test(start_paused = true)]
async fn latency_of_open_loops_starts_when_due() {
    let state = state();
    let mut fake = FakeClient::new(millis(1));
    fake.stall = Some((millis(400), millis(600)));
    scheduled(
        &state,
        &[Arc::new(fake)],
        Schedule::constant(1_000.0),
        1_000,
    )
    .await;
    let tally = tally(&state);
    assert_eq!(
        (tally.sent, tally.replied, tally.skipped),
        (1_000, 1_000, 0)
    );
    let slow = tally.latency.count_between(10_000_000, u64::MAX);
    assert!((185..=192).contains(&slow), "{slow}");
    assert_eq!(tally.latency.max() / 10_000_000, 20);
}

/// Calls that were due are sent and awaited, however late.
#[tokio::test(start_paused = true)]
async fn waits_for_the_last_calls() {
    let state = state();
    let share = Share::new(Schedule::constant(100.0), 0, 1);
    let until = async |_| tokio::time::sleep_until(state.run.at(millis(1_200))).await;
    open::send_scheduled(
        &state,
        &[Arc::new(FakeClient::new(millis(5)))],
        &share,
        1_000,
        until,
    )
    .await;
    state.wait_for_open_calls().await;
    let tally = tally(&state);
    assert_eq!((tally.sent, tally.replied, tally.arrived), (100, 100, 0));
    assert_eq!(tally.lateness.max() / 100_000_000, 11);
    assert_eq!(state.recorder().open(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn open_loop_limits_open_calls() {
    let state = state();
    let clients = [
        Arc::new(FakeClient::new(millis(1_000))),
        Arc::new(FakeClient::new(millis(1))),
    ];
    scheduled(&state, &clients, Schedule::constant(1_000.0), 20).await;
    let tally = tally(&state);
    // Calls of the first client's warm-up are open for at least 1,000 ms.
    assert_eq!(clients[0].most_open(), 20);
    assert_eq!(tally.sent + tally.skipped, 1_000);
    assert!(tally.skipped > 450, "{}", tally.skipped);
    assert_eq!(clients[1].most_open(), 1);
}

#[tokio::test(start_paused = true)]
async fn runs_can_be_ended_early() {
    let state = state();
    let fake = Arc::new(FakeClient::new(millis(10)));
    let run = Arc::clone(&state.run);
    tokio::spawn(async move {
        tokio::time::sleep(millis(350)).await;
        run.end_early(millis(100));
    });
    closed::keep_open(&state, &[fake], 1).await;
    state.wait_for_open_calls().await;
    let (tally, window) = (tally(&state), state.run.window());
    assert_eq!(window, millis(100)..millis(350));
    assert!((24..=26).contains(&tally.sent), "{}", tally.sent);
}

#[tokio::test(start_paused = true)]
async fn waiting_is_limited() {
    let state = state();
    let clients = [Arc::new(FakeClient::new(Duration::from_secs(3_600)))];
    closed::keep_open(&state, &clients, 5).await;
    state.wait_for_open_calls().await;
    assert_eq!(state.recorder().open(), (5, 0));
    assert!(state.run.now() < millis(1_700));
}
