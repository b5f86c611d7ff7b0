//! Blocking handlers on a bounded pool.

use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::time::Duration;

use polywire_protocol::ProtocolKind::RestJson1;
use polywire_protocol::{Fault, FaultKind};
use polywire_rpc::Timeouts;
use polywire_rpc::blocking::BlockingPool;
use polywire_schema::Map;

use crate::support::{Site, WIRES, builder, request, within};

const CREATE: &str = r#"{"name":"kettle"}"#;

#[tokio::test]
async fn blocking_handlers_do_not_delay_other_calls_and_a_full_pool_rejects() {
    // The server runs on one thread, so a handler that blocks this thread would block all calls.
    let pool = BlockingPool::new(2, 0);
    let barrier = Arc::new(Barrier::new(3));
    let (started, begins) = mpsc::channel();
    let (started, own) = (Mutex::new(started), Arc::clone(&barrier));
    let handler = pool.dynamic(move |mut input: Map, _| {
        started.lock().unwrap().send(()).unwrap();
        own.wait();
        input.insert("id", 7);
        Ok(input)
    });
    let site = Site::start(builder().operation("Create", handler)).await;
    let mut sockets = Vec::new();
    for _ in 0..2 {
        let mut socket = site.open().await;
        socket.write(request("POST /things", &[], CREATE)).await;
        sockets.push(socket);
    }
    let begins = tokio::task::spawn_blocking(move || {
        begins.recv().unwrap();
        begins.recv().unwrap();
        begins
    });
    let begins = within(begins).await.unwrap();
    for _ in 0..20 {
        site.assert_still_serving().await;
    }
    // A third call is rejected: both threads are busy, and the queue has no slots.
    for kind in WIRES {
        let fault = site.client(kind).fault("Create", CREATE).await;
        assert_eq!(fault.kind(), FaultKind::Overloaded, "{kind}");
        assert!(fault.retry_after().is_some(), "{kind}");
    }
    tokio::task::spawn_blocking(move || barrier.wait())
        .await
        .unwrap();
    for socket in &mut sockets {
        assert_eq!(socket.reply().await.status, 201);
    }
    drop(begins);
}

/// A pool with 1 thread and 2 queue slots runs 3 pieces of work in order and rejects a fourth.
#[tokio::test]
async fn a_pool_runs_queued_work_in_order_and_rejects_work_above_its_queue() {
    let pool = BlockingPool::new(1, 2);
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let work = Arc::new(move |number: u32| {
        released.lock().unwrap().recv().unwrap();
        number
    });
    let run = |number| {
        let work = Arc::clone(&work);
        pool.run(move || work(number))
    };
    let waiting: Vec<_> = (0..3).map(run).map(tokio::spawn).collect();
    assert_eq!(
        within(run(3)).await.unwrap_err().kind(),
        FaultKind::Overloaded
    );
    for _ in 0..3 {
        release.send(()).unwrap();
    }
    let mut done = Vec::new();
    for task in waiting {
        done.push(within(task).await.unwrap().unwrap());
    }
    assert_eq!(done, [0, 1, 2]);
    // Dropping the future of work that has not started releases its slot.
    for _ in 0..10 {
        drop(run(4));
    }
    release.send(()).unwrap();
    assert_eq!(within(run(5)).await.unwrap(), 5);
}

#[tokio::test]
async fn a_panic_on_a_pool_is_an_internal_error_without_details() {
    let pool = BlockingPool::new(1, 0);
    let handler = pool.dynamic(|_: Map, _| -> Result<Map, Fault> {
        panic!("the password of the database");
    });
    let site = Site::start(builder().operation("Create", handler)).await;
    for _ in 0..3 {
        let fault = site.client(RestJson1).fault("Create", CREATE).await;
        assert_eq!(fault.message(), "an internal error occurred");
    }
}

/// A call that exceeds its deadline fails, but its thread stays busy until the work ends.
#[tokio::test]
async fn a_call_on_a_pool_fails_at_its_deadline_and_keeps_its_thread_busy() {
    let pool = BlockingPool::new(1, 0);
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let handler = pool.dynamic(move |input: Map, _| {
        released.lock().unwrap().recv().unwrap();
        Ok(input)
    });
    let timeouts = Timeouts::DEFAULT.with_handler(Duration::from_millis(100));
    let server = builder().operation("Create", handler).timeouts(timeouts);
    let site = Site::start(server).await;
    let client = site.client(RestJson1);
    let fault = client.fault("Create", CREATE).await;
    assert!(fault.message().contains("took too long"), "{fault}");
    let fault = client.fault("Create", CREATE).await;
    assert_eq!(fault.kind(), FaultKind::Overloaded);
    release.send(()).unwrap();
    within(async {
        while pool.run(|| ()).await.is_err() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}
