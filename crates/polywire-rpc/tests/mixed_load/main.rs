//! Mixed load for minutes: small and large calls, batches, CBOR, gzip, malformed requests and
//! aborted connections, over TCP, Unix sockets and SCGI. Each reply is checked. The memory of
//! server and clients must not grow.
//!
//! `POLYWIRE_LOAD_SECONDS` sets the duration (default 120) and `POLYWIRE_LOAD_RATE` the calls
//! per second (default 100). Half an hour, with the record printed:
//!
//! ```text
//! POLYWIRE_LOAD_SECONDS=1800 cargo test --release -p polywire-rpc --test mixed_load \
//!     -- --ignored --exact --nocapture mixed_load
//! ```
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::print_stdout,
    dead_code,
    reason = "a test may panic and tell, and does not use all helpers"
)]
#![cfg(target_os = "linux")]

mod calls;
#[path = "../support/child.rs"]
mod child;
mod record;
mod server;

use std::sync::Arc;
use std::time::Duration;

use calls::{Callers, KINDS};
use child::Child;
use record::Record;
use tokio::sync::Semaphore;
use tokio::time::{Instant, MissedTickBehavior, interval};

/// A number from an environment variable, or the default.
fn setting(name: &str, default: u64) -> u64 {
    let set = std::env::var(name).ok();
    set.map_or(default, |text| text.parse().unwrap())
}

/// Maximum number of calls in progress.
const AT_ONCE: usize = 64;

#[tokio::test]
#[ignore = "takes two minutes, or as many as are wanted"]
async fn mixed_load() {
    let time = Duration::from_secs(setting("POLYWIRE_LOAD_SECONDS", 120));
    let rate = setting("POLYWIRE_LOAD_RATE", 100);
    let mut server = Child::start("server::serves", "");
    let callers = Arc::new(Callers::new(&server.line()));
    let record = Arc::new(Record::new());
    let room = Arc::new(Semaphore::new(AT_ONCE));

    let mut turn = interval(Duration::from_secs(1) / u32::try_from(rate).unwrap());
    turn.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let started = Instant::now();
    // Memory is measured at the end of each part.
    for part in 1..=record::PARTS {
        while started.elapsed() < time * part / record::PARTS {
            turn.tick().await;
            let permit = room.clone().acquire_owned().await.unwrap();
            let number = record.next();
            let kind = &KINDS[usize::try_from(number).unwrap() % KINDS.len()];
            let (callers, record) = (callers.clone(), record.clone());
            tokio::spawn(async move {
                let outcome = (kind.call)(callers, number).await;
                record.add(kind.name, outcome);
                drop(permit);
            });
        }
        record.sample(started.elapsed(), server.ask("resident").parse().unwrap());
    }
    // Wait for all calls in progress.
    let all = u32::try_from(AT_ONCE).unwrap();
    room.acquire_many(all).await.unwrap().forget();
    drop(callers);
    assert_eq!(server.ask("stop"), "stopped");
    print!("{record}");
    record.verify();
}
