//! CPU-bound calls: they run in the order of a run queue, and do not block the tasks of their connections.
//!
//! In tests with paused time, a handler that advances the clock stands for a handler that uses the processor for that
//! time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use polywire_protocol::Fault;
use polywire_rpc::frames::Client;
use polywire_rpc::server::{FrameLimits, UdpSocket};
use polywire_rpc::{Methods, RunningServer, Server, Timeouts};
use tokio::task::JoinSet;
use tokio::time::advance;

use crate::raw::{FAULT, Frame, REPLY, Raw, UNSTARTED};
use crate::support::client;

const OVERLOADED: u16 = 0x30;
const UNAVAILABLE: u16 = 0x31;
const INVALID: u16 = 0x02;
const NAMED: u16 = 0x11;

/// The CBOR of no parameters, and of one number.
const NONE: &[u8] = &[0x80];
const ZERO: &[u8] = &[0x81, 0x00];
const ONE: &[u8] = &[0x81, 0x01];

/// `Quick` ends at once. `Slow` takes 30 ms, and counts its calls in `started`.
fn methods(started: &Arc<AtomicUsize>) -> Methods {
    let counted = Arc::clone(started);
    Methods::new()
        .method("Quick", |()| async {})
        .method("Slow", move |(fails,): (u8,)| {
            counted.fetch_add(1, Ordering::Relaxed);
            async move {
                advance(Duration::from_millis(30)).await;
                match fails {
                    0 => Ok(()),
                    _ => Err(Fault::coded(7, "as asked")),
                }
            }
        })
}

/// A server with these methods, and the number of slow calls that have begun.
async fn serve(limits: FrameLimits) -> (RunningServer, Arc<AtomicUsize>) {
    let started = Arc::new(AtomicUsize::new(0));
    let server = Server::methods(methods(&started))
        .frames(true)
        .frame_limits(limits)
        .build()
        .unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    (running, started)
}

/// A connection to a server that has measured which methods are slow.
async fn connect(limits: FrameLimits) -> (Raw, RunningServer, Arc<AtomicUsize>) {
    let (running, started) = serve(limits).await;
    let mut raw = Raw::connect(running.address()).await;
    for _ in 0..40 {
        assert_eq!(raw.ask("Slow", ZERO).await.kind, REPLY);
    }
    started.store(0, Ordering::Relaxed);
    (raw, running, started)
}

/// Limits with a maximum queueing delay of 100 s, so that no test exceeds it.
fn patient() -> FrameLimits {
    let long = Duration::from_secs(100);
    FrameLimits::new().queue(long, long)
}

fn slot(frame: &Frame) -> u32 {
    frame.id & 0xffff
}

#[tokio::test(start_paused = true)]
async fn a_quick_call_does_not_wait_behind_slow_ones_of_its_connection() {
    let (mut raw, _running, started) = connect(patient()).await;
    for slot in 0..9 {
        raw.call(slot, "Slow", 0, ZERO);
    }
    raw.call(9, "Quick", 0, NONE);
    raw.send().await;
    let (answers, _) = raw.answers(10).await;
    let order: Vec<_> = answers.iter().map(slot).collect();
    assert_eq!(order, [9, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert!(answers.iter().all(|answer| answer.kind == REPLY));
    assert_eq!(started.load(Ordering::Relaxed), 9);
}

#[tokio::test(start_paused = true)]
async fn calls_that_would_wait_too_long_are_rejected_on_arrival() {
    let (mut raw, _running, started) = connect(FrameLimits::new()).await;
    for slot in 0..100 {
        raw.call(slot, "Slow", 0, ZERO);
    }
    raw.send().await;
    let (answers, _) = raw.answers(100).await;
    let shed = answers.iter().take_while(|answer| answer.kind == FAULT);
    let shed: Vec<_> = shed.collect();
    assert!(shed.len() > 90 && shed.len() < 100, "{}", shed.len());
    for fault in &shed {
        assert_eq!(fault.code, OVERLOADED);
        assert_ne!(fault.flags & UNSTARTED, 0);
        assert!(fault.value > 0, "when to try again");
    }
    // The other calls are executed in the order of their arrival.
    let replies = answers[shed.len()..].iter().map(slot);
    let first: Vec<_> = (0..100 - shed.len() as u32).collect();
    assert_eq!(replies.collect::<Vec<_>>(), first);
    assert_eq!(started.load(Ordering::Relaxed), 100 - shed.len());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_would_wait_too_long_in_the_queue_is_not_started() {
    let (mut raw, _running, started) = connect(patient()).await;
    for slot in 0..3 {
        raw.call(slot, "Slow", 50, ZERO);
    }
    raw.send().await;
    let (answers, _) = raw.answers(3).await;
    let third = &answers[0];
    assert_eq!(
        (slot(third), third.kind, third.code),
        (2, FAULT, OVERLOADED)
    );
    assert_ne!(third.flags & UNSTARTED, 0);
    assert_eq!(answers[1].kind, REPLY);
    assert_eq!(started.load(Ordering::Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn calls_cancelled_in_the_queue_never_start() {
    let (mut raw, running, started) = connect(patient()).await;
    for slot in 0..5 {
        raw.call(slot, "Slow", 0, ZERO);
    }
    for slot in 1..4 {
        raw.cancel(slot);
    }
    raw.send().await;
    let (answers, _) = raw.answers(5).await;
    let replies = answers.iter().filter(|answer| answer.kind == REPLY);
    assert_eq!(replies.map(slot).collect::<Vec<_>>(), [0, 4]);
    assert_eq!(started.load(Ordering::Relaxed), 2);
    // Queued calls of a closed connection do not begin either.
    for slot in 0..5 {
        raw.call(slot, "Slow", 0, ZERO);
    }
    raw.call(5, "Quick", 0, NONE);
    raw.send().await;
    assert_eq!(slot(&raw.answers(1).await.0[0]), 5);
    drop(raw);
    let mut other = Raw::connect(running.address()).await;
    for _ in 0..100 {
        assert_eq!(other.ask("Quick", NONE).await.kind, REPLY);
    }
    assert!(started.load(Ordering::Relaxed) < 7);
    assert_eq!(other.ask("Slow", ZERO).await.kind, REPLY);
}

/// Cancelled calls do not count for the queueing delay, so that later calls are not shed.
#[tokio::test(start_paused = true)]
async fn cancelled_calls_leave_the_run_queue() {
    let (mut raw, _running, _begun) = connect(FrameLimits::new()).await;
    for _ in 0..50 {
        for slot in 0..2 {
            raw.call(slot, "Slow", 0, ZERO);
        }
        raw.cancel(1);
        raw.send().await;
        let (answers, _) = raw.answers(2).await;
        let shed = answers.iter().find(|answer| answer.code == OVERLOADED);
        assert!(shed.is_none(), "{shed:?}");
    }
}

/// Queued calls do not count against the limit of handlers at work.
#[tokio::test(start_paused = true)]
async fn queued_calls_do_not_count_as_waiting_handlers() {
    let (mut raw, running, started) = connect(patient().at_work(1)).await;
    for slot in 0..9 {
        raw.call(slot, "Slow", 0, ZERO);
    }
    raw.send().await;
    let (answers, _) = raw.answers(9).await;
    assert!(answers.iter().all(|answer| answer.kind == REPLY));
    assert_eq!(started.load(Ordering::Relaxed), 9);
    drop(running);
}

/// A stopping server executes the calls in the run queue, like all open calls.
#[tokio::test(start_paused = true)]
async fn queued_calls_run_during_a_shutdown() {
    let (mut raw, running, started) = connect(patient()).await;
    for slot in 0..9 {
        raw.call(slot, "Slow", 0, ZERO);
    }
    raw.call(9, "Quick", 0, NONE);
    raw.send().await;
    assert_eq!(slot(&raw.answers(1).await.0[0]), 9);
    let stopping = tokio::spawn(running.shutdown());
    let (answers, _) = raw.answers(9).await;
    assert!(answers.iter().all(|answer| answer.kind == REPLY));
    assert_eq!(started.load(Ordering::Relaxed), 9);
    drop(raw);
    stopping.await.unwrap();
}

/// Calls that have not begun when the shutdown timeout ends fail with `UNAVAILABLE`, marked as unstarted.
#[tokio::test(start_paused = true)]
async fn calls_still_queued_at_shutdown_are_unstarted() {
    let started = Arc::new(AtomicUsize::new(0));
    let server = Server::methods(methods(&started)).frames(true);
    let timeouts = Timeouts::DEFAULT.with_shutdown(Duration::from_millis(500));
    let server = server.frame_limits(patient()).timeouts(timeouts);
    let server = server.build().unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let mut raw = Raw::connect(running.address()).await;
    for _ in 0..40 {
        assert_eq!(raw.ask("Slow", ZERO).await.kind, REPLY);
    }
    started.store(0, Ordering::Relaxed);
    for slot in 0..100 {
        raw.call(slot, "Slow", 0, ZERO);
    }
    raw.call(100, "Quick", 0, NONE);
    raw.send().await;
    assert_eq!(slot(&raw.answers(1).await.0[0]), 100);
    let stopping = tokio::spawn(running.shutdown());
    let (answers, _) = raw.answers(100).await;
    let replies = answers.iter().filter(|answer| answer.kind == REPLY);
    let started = started.load(Ordering::Relaxed);
    assert!(
        replies.count() >= started - 1 && started < 50,
        "{started} started"
    );
    let faults = answers.iter().filter(|answer| answer.kind == FAULT);
    let mut unstarted = 0;
    for fault in faults {
        assert_eq!(fault.code, UNAVAILABLE);
        unstarted += usize::from(fault.flags & UNSTARTED != 0);
    }
    assert_eq!(unstarted, 100 - started);
    drop(raw);
    stopping.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn calls_over_udp_use_the_run_queue_too() {
    let started = Arc::new(AtomicUsize::new(0));
    let server = Server::methods(methods(&started)).frames(true);
    let server = server.frame_limits(patient()).build().unwrap();
    let any_port = "127.0.0.1:0".parse().unwrap();
    let running = server.listen_udp(UdpSocket::new(any_port)).await.unwrap();
    let url = format!("udp://{}", running.address());
    let client = Client::connect(&url).await.unwrap();
    for _ in 0..40 {
        let () = client.call("Slow", (0,)).await.unwrap();
    }
    started.store(0, Ordering::Relaxed);
    let mut slow = JoinSet::new();
    for _ in 0..5 {
        let client = client.clone();
        slow.spawn(async move { client.call::<()>("Slow", (0,)).await });
    }
    tokio::task::yield_now().await;
    let () = client.call("Quick", ()).await.unwrap();
    assert!(started.load(Ordering::Relaxed) < 5);
    assert!(slow.join_all().await.iter().all(Result::is_ok));
    assert_eq!(started.load(Ordering::Relaxed), 5);
}

#[tokio::test(start_paused = true)]
async fn calls_in_the_run_queue_have_the_usual_faults() {
    let (mut raw, _running, started) = connect(patient()).await;
    let failed = raw.ask("Slow", ONE).await;
    assert_eq!((failed.kind, failed.code), (FAULT, NAMED));
    assert_eq!(failed.flags & UNSTARTED, 0);
    assert_eq!(started.load(Ordering::Relaxed), 1);
    let refused = raw.ask("Slow", NONE).await;
    assert_eq!((refused.kind, refused.code), (FAULT, INVALID));
    assert_ne!(refused.flags & UNSTARTED, 0);
    assert_eq!(started.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn one_way_calls_use_the_run_queue_too() {
    let (_raw, running, started) = connect(patient()).await;
    let client = client(&running).await;
    for _ in 0..5 {
        client.notify("Slow", (0,)).await.unwrap();
    }
    let () = client.call("Quick", ()).await.unwrap();
    assert!(started.load(Ordering::Relaxed) < 2);
    for _ in 0..100 {
        let () = client.call("Quick", ()).await.unwrap();
    }
    assert_eq!(started.load(Ordering::Relaxed), 5);
}

/// Slow calls of one connection use all threads of the runtime.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_calls_of_one_connection_run_in_parallel() {
    let met = Arc::new((Mutex::new(0), Condvar::new()));
    let methods = Methods::new().method("Meet", move |(waits,): (bool,)| {
        let met = Arc::clone(&met);
        async move {
            if !waits {
                std::thread::sleep(Duration::from_millis(1));
                return false;
            }
            let (count, changed) = &*met;
            let mut count = count.lock().unwrap();
            *count += 1;
            changed.notify_all();
            let long = Duration::from_secs(10);
            let waited = changed.wait_timeout_while(count, long, |count| *count < 2);
            !waited.unwrap().1.timed_out()
        }
    });
    let server = Server::methods(methods).frames(true).build().unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let client = client(&running).await;
    for _ in 0..8 {
        let _: bool = client.call("Meet", (false,)).await.unwrap();
    }
    let (one, other): (Result<bool, _>, Result<bool, _>) =
        tokio::join!(client.call("Meet", (true,)), client.call("Meet", (true,)));
    assert!(one.unwrap() && other.unwrap());
}
