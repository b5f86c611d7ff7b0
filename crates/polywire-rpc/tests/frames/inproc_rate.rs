//! Calls per second within a process. Run manually, because other programs on the machine change the result.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use polywire_rpc::frames::Client;
use polywire_rpc::{Methods, Server};
use tokio::runtime::{Builder, Runtime};

/// Concurrent calls of one client.
const IN_FLIGHT: usize = 100;
const DURATION: Duration = Duration::from_secs(5);
/// The published rate of UVRPC within a process, in calls per second.
const TARGET: f64 = 125_000.0;

fn runtime() -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

fn server() -> Server {
    let methods = Methods::new().method("Add", |(a, b): (i32, i32)| async move { a + b });
    Server::methods(methods).frames(true).build().unwrap()
}

/// Calls `Add` on the server with this name for `DURATION`. Returns the calls per second.
async fn measure(name: &str) -> f64 {
    let client = Client::connect(&format!("inproc://{name}")).await.unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let count = Arc::new(AtomicU64::new(0));
    let callers: Vec<_> = (0..IN_FLIGHT)
        .map(|_| {
            let (client, stop, count) = (client.clone(), Arc::clone(&stop), Arc::clone(&count));
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    assert_eq!(client.call::<i32>("Add", (2, 3)).await.unwrap(), 5);
                    count.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    let start = Instant::now();
    tokio::time::sleep(DURATION).await;
    stop.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.await.unwrap();
    }
    count.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64()
}

#[test]
#[ignore = "measures for 10 seconds; `cargo test --release -p polywire-rpc --test frames inproc_rate -- --ignored --nocapture`"]
fn the_call_rate_exceeds_the_target() {
    let one_thread = runtime().block_on(async {
        let _running = server().listen_inproc("one-thread").unwrap();
        measure("one-thread").await
    });
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        runtime().block_on(async {
            let _running = server().listen_inproc("two-threads").unwrap();
            sender.send(()).unwrap();
            std::future::pending::<()>().await;
        });
    });
    receiver.recv().unwrap();
    let two_threads = runtime().block_on(measure("two-threads"));
    println!("one thread {one_thread:.0}/s, two threads {two_threads:.0}/s");
    assert!(one_thread > TARGET && two_threads > TARGET);
}
