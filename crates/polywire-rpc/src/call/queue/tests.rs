//! Run queues without connections.

use tokio::task::{JoinHandle, yield_now};

use super::*;

const TARGET: Duration = Duration::from_millis(50);
const INTERVAL: Duration = Duration::from_millis(200);
const LONG_TIME: Duration = Duration::from_secs(9);

fn queue(threads: usize) -> Arc<RunQueue> {
    Arc::new(RunQueue::new(TARGET, INTERVAL, threads))
}

fn cost(millis: u32) -> OperationCost {
    OperationCost::of_millis(millis)
}

fn at(millis: u64) -> Time {
    Time::ZERO.after(Duration::from_millis(millis))
}

/// Runs a call on a task. `work` gets whether the call may start.
fn spawn(
    queue: &Arc<RunQueue>,
    cost: &OperationCost,
    work: impl FnOnce(bool) + Send + 'static,
) -> JoinHandle<()> {
    let call = queue.enter(cost);
    tokio::spawn(async move {
        let turn = call.turn().await;
        work(turn.is_ok());
    })
}

/// Number of calls that wait or run.
fn calls(queue: &RunQueue) -> u32 {
    let state = queue.lock();
    state.waiting + state.running
}

/// Waits until all calls have ended.
async fn drain(queue: &RunQueue) {
    while calls(queue) > 0 {
        yield_now().await;
    }
}

#[test]
fn each_runtime_has_a_queue() {
    let queues = RunQueues::default();
    let runtime = || {
        let mut builder = runtime::Builder::new_multi_thread();
        builder.worker_threads(3).build().unwrap()
    };
    let (one, other) = (runtime(), runtime());
    let current =
        |runtime: &runtime::Runtime| runtime.block_on(async { queues.current(TARGET, INTERVAL) });
    let first = current(&one);
    assert!(Arc::ptr_eq(&first, &current(&one)));
    assert!(!Arc::ptr_eq(&first, &current(&other)));
    assert_eq!(first.threads, 3);
    assert_eq!(queues.current(TARGET, INTERVAL).threads, 1);
    drop(first);
    drop((current(&one), current(&other)));
    let kept = current(&one);
    assert_eq!(queues.lock().len(), 1);
    drop(kept);
}

#[test]
fn a_call_that_would_wait_too_long_is_rejected_on_arrival() {
    let queue = queue(1);
    let ten = cost(10);
    let calls: Vec<_> = (0..10).map(|_| queue.enter(&ten)).collect();
    // A burst is not rejected.
    assert_eq!(queue.admit_at(at(0), &ten, LONG_TIME), Ok(()));
    let too_long = Err(Rejection::QueueTooLong);
    // The call would not start before its deadline.
    let left = Duration::from_millis(100);
    assert_eq!(queue.admit_at(at(0), &ten, left), too_long);
    let more = queue.enter(&ten);
    assert_eq!(queue.admit_at(at(1), &ten, LONG_TIME), too_long);
    assert_eq!(queue.waiting(), 11);
    drop(more);
    // 100 ms later, the calls no longer count as a burst.
    assert_eq!(queue.admit_at(at(101), &ten, LONG_TIME), too_long);
    drop(calls);
    assert_eq!(queue.waiting(), 0);
    assert_eq!(queue.admit_at(at(102), &ten, LONG_TIME), Ok(()));
}

/// Calls may be long: one running call and one waiting call per thread are not yet a queue.
#[test]
fn no_call_is_rejected_while_threads_are_idle() {
    let queue = queue(4);
    let second = cost(1_000);
    let mut calls = Vec::new();
    for call in 0..4 {
        assert_eq!(queue.admit_at(at(call), &second, LONG_TIME), Ok(()));
        calls.push(queue.enter(&second));
    }
    for time in 4..1_000 {
        assert_eq!(queue.admit_at(at(time), &second, LONG_TIME), Ok(()));
    }
    let soon = Duration::from_millis(900);
    let too_long = Err(Rejection::QueueTooLong);
    assert_eq!(queue.admit_at(at(1_000), &second, soon), too_long);
    calls.extend((0..4).map(|_| queue.enter(&second)));
    assert_eq!(queue.admit_at(at(1_001), &second, LONG_TIME), too_long);
}

#[tokio::test(start_paused = true)]
async fn predictions_include_other_work_of_the_threads() {
    let queue = queue(1);
    let one = cost(1);
    for _ in 0..100 {
        let call = spawn(&queue, &one, |_| {});
        tokio::time::advance(Duration::from_millis(150)).await;
        call.await.unwrap();
    }
    let now = queue.clock.now();
    // An empty queue accepts every call.
    assert_eq!(queue.admit_at(now, &one, LONG_TIME), Ok(()));
    let calls = [(); 2].map(|()| queue.enter(&one));
    assert_eq!(
        queue.admit_at(now, &one, LONG_TIME),
        Err(Rejection::QueueTooLong),
        "{:?}",
        queue.lock().excess
    );
    drop(calls);
}

#[tokio::test(start_paused = true)]
async fn calls_start_in_order_and_not_after_they_are_cancelled() {
    let queue = queue(1);
    let order = Arc::new(Mutex::new(Vec::new()));
    let calls: Vec<_> = (0..3)
        .map(|number| {
            let order = Arc::clone(&order);
            spawn(&queue, &cost(1), move |starts| {
                order.lock().unwrap().push((number, starts));
            })
        })
        .collect();
    calls[1].abort();
    assert!(order.lock().unwrap().is_empty());
    drain(&queue).await;
    assert_eq!(*order.lock().unwrap(), [(0, true), (2, true)]);
    assert!(queue.lock().cost.is_zero());
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_does_not_start() {
    let queue = queue(1);
    let call = queue.enter(&cost(1));
    assert!(call.cancel());
    assert!(call.turn().await.is_err());
    let other = queue.enter(&cost(1));
    let turn = other.turn().await.unwrap();
    assert!(!other.cancel());
    drop(turn);
    drop((call, other));
    assert_eq!(calls(&queue), 0);
}

/// An accepted call is not rejected later because it waited as long as predicted.
#[tokio::test(start_paused = true)]
async fn a_predicted_delay_is_not_too_long() {
    let queue = queue(1);
    let long = cost(300);
    assert_eq!(queue.admit_at(at(0), &long, LONG_TIME), Ok(()));
    let (sender, receiver) = std::sync::mpsc::channel();
    for _ in 0..2 {
        let sender = sender.clone();
        assert_eq!(queue.admit_at(at(0), &long, LONG_TIME), Ok(()));
        spawn(&queue, &long, move |starts| sender.send(starts).unwrap());
    }
    tokio::time::advance(Duration::from_millis(300)).await;
    drain(&queue).await;
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [true, true]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_does_not_block_the_queue() {
    let queue = queue(1);
    let (sender, receiver) = std::sync::mpsc::channel();
    let panics = spawn(&queue, &cost(1), |_| panic!("a bug"));
    spawn(&queue, &cost(1), move |starts| sender.send(starts).unwrap());
    drain(&queue).await;
    assert_eq!(receiver.try_recv(), Ok(true));
    assert!(panics.await.unwrap_err().is_panic());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waited_much_longer_than_predicted_is_rejected() {
    let queue = queue(1);
    let (sender, receiver) = std::sync::mpsc::channel();
    spawn(&queue, &cost(1), move |starts| sender.send(starts).unwrap());
    tokio::time::advance(Duration::from_millis(202)).await;
    drain(&queue).await;
    assert_eq!(receiver.try_recv(), Ok(false));
}

/// A cancelled call drops its data at once, even while an earlier call runs.
#[tokio::test(start_paused = true)]
async fn cancelled_calls_hold_nothing() {
    let queue = queue(1);
    let first = queue.enter(&cost(1));
    let turn = first.turn().await.unwrap();
    let input = Arc::new(());
    for _ in 0..1_000 {
        let held = Arc::clone(&input);
        let call = spawn(&queue, &cost(1), move |_| drop(held));
        yield_now().await;
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
    }
    assert_eq!(Arc::strong_count(&input), 1);
    assert_eq!(queue.waiting(), 0);
    assert_eq!(calls(&queue), 1);
    drop(turn);
}

/// Short calls run one after another. Between their time slices, other tasks run.
#[tokio::test(start_paused = true)]
async fn other_tasks_run_between_slices() {
    let queue = queue(1);
    let (sender, receiver) = std::sync::mpsc::channel();
    let other = sender.clone();
    let other = tokio::spawn(async move {
        loop {
            other.send("other").unwrap();
            yield_now().await;
        }
    });
    for _ in 0..7 {
        let call = queue.enter(&cost(1));
        let sender = sender.clone();
        tokio::spawn(async move {
            let turn = call.turn().await.unwrap();
            sender.send("call").unwrap();
            tokio::time::advance(Duration::from_millis(1)).await;
            drop(turn);
        });
    }
    drain(&queue).await;
    other.abort();
    let order: Vec<_> = receiver.try_iter().collect();
    let runs = order.chunk_by(|one, next| one == next);
    let calls: Vec<_> = runs
        .filter(|run| run[0] == "call")
        .map(<[_]>::len)
        .collect();
    assert!(calls.len() > 1, "{order:?}");
}
