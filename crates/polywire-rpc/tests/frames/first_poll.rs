//! The first poll of a handler, on the task of its connection.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use polywire_rpc::server::FrameLimits;
use polywire_rpc::{Methods, Server};
use tokio::sync::Semaphore;
use tokio::task::coop::has_budget_remaining;

use crate::raw::{FAULT, REPLY, Raw};

/// The CBOR of no parameters.
const NONE: &[u8] = &[0x80];

fn methods() -> Methods {
    let permits = Arc::new(Semaphore::new(1));
    Methods::new()
        // Each `acquire` uses a unit of the coop budget of the task.
        .method("Permit", move |()| {
            let permits = Arc::clone(&permits);
            async move {
                for _ in 0..3 {
                    drop(permits.acquire().await.unwrap());
                }
            }
        })
        .method("Budget", |()| async {
            if !has_budget_remaining() {
                panic!("the handler is polled without coop budget");
            }
        })
        .method("Yields", |()| tokio::task::yield_now())
        // Wakes its task and returns `Pending` in the first two polls.
        .method("Wakes", |()| {
            let mut looks = 0;
            poll_fn(move |context| {
                looks += 1;
                if looks == 3 {
                    return Poll::Ready(());
                }
                context.waker().wake_by_ref();
                Poll::Pending
            })
        })
        // In the first poll, starts another thread that wakes the task. Later polls wake the task themselves.
        .method("WakesOnce", |()| {
            let mut woken = None::<Arc<std::sync::atomic::AtomicBool>>;
            poll_fn(move |context| {
                use std::sync::atomic::Ordering;

                if let Some(woken) = &woken {
                    // The wake-up of the first poll has no effect, because its waker is a no-op. The flag is still set.
                    return match woken.load(Ordering::Acquire) {
                        true => Poll::Ready(()),
                        false => {
                            context.waker().wake_by_ref();
                            Poll::Pending
                        }
                    };
                }
                let own = Arc::default();
                woken = Some(Arc::clone(&own));
                let waker = context.waker().clone();
                std::thread::spawn(move || {
                    own.store(true, Ordering::Release);
                    waker.wake();
                });
                Poll::Pending
            })
        })
}

/// A server that does not reject calls because of queueing delay.
fn server() -> Server {
    let patient = FrameLimits::new().queue(Duration::MAX, Duration::MAX);
    let server = Server::methods(methods())
        .frames(true)
        .frame_limits(patient);
    server.build().unwrap()
}

#[tokio::test]
async fn calls_are_answered_however_their_handler_waits() {
    let server = server();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let mut raw = Raw::connect(running.address()).await;
    for name in ["Yields", "Wakes", "WakesOnce", "Permit", "Budget"] {
        for slot in 0..100 {
            raw.call(slot, name, 0, NONE);
        }
        raw.send().await;
        let (answers, _) = raw.answers(100).await;
        assert!(answers.iter().all(|answer| answer.kind == REPLY), "{name}");
    }
}

#[tokio::test]
async fn no_handler_is_first_polled_without_coop_budget() {
    let server = server();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let mut raw = Raw::connect(running.address()).await;
    for slot in 0..300 {
        let name = if slot % 3 == 2 { "Budget" } else { "Permit" };
        raw.call(slot, name, 0, NONE);
    }
    raw.send().await;
    let (answers, _) = raw.answers(300).await;
    let faults = answers.iter().filter(|answer| answer.kind == FAULT);
    assert_eq!(faults.count(), 0);
}
