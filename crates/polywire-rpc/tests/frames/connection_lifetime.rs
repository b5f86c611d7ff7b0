//! The end of connections: maximum age, idle timeout and server shutdown.

use std::time::Duration;

use polywire_protocol::Fault;
use polywire_rpc::frames::Client;
use polywire_rpc::server::{FrameLimits, Timeouts};
use polywire_rpc::{RunningServer, Server, StreamCall};
use tokio::time::{Instant, sleep};

use crate::raw::{FAULT, GOAWAY, ITEM, REPLY, Raw, UNSTARTED};
use crate::support::methods;

const AGE: u16 = 1;
const IDLE: u16 = 2;
const UNAVAILABLE: u16 = 0x31;
const SECOND: Duration = Duration::from_secs(1);

async fn server(limits: FrameLimits) -> RunningServer {
    let server = Server::methods(methods()).frames(true).frame_limits(limits);
    let server = server.build().unwrap();
    server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap()
}

/// The CBOR of a list of one number: `seconds` in milliseconds.
fn seconds(seconds: u16) -> Vec<u8> {
    let [high, low] = (seconds * 1_000).to_be_bytes();
    vec![0x81, 0x19, high, low]
}

#[tokio::test(start_paused = true)]
async fn a_connection_at_its_maximum_age_finishes_open_calls_and_rejects_others() {
    let running = server(FrameLimits::new().age(60 * SECOND)).await;
    let mut raw = Raw::connect(running.address()).await;
    let started = Instant::now();
    sleep(50 * SECOND).await;
    raw.call(0, "Sleep", 0, &seconds(20));
    raw.send().await;
    let goaway = raw.next().await.unwrap();
    assert_eq!((goaway.kind, goaway.code), (GOAWAY, AGE), "{goaway:?}");
    assert_eq!(goaway.value, 10_000);
    let age = started.elapsed();
    assert!((54 * SECOND..=67 * SECOND).contains(&age), "{age:?}");
    raw.call(1, "Nothing", 0, &[0x80]);
    raw.send().await;
    let refused = raw.next().await.unwrap();
    assert_eq!((refused.kind, refused.code), (FAULT, UNAVAILABLE));
    assert_eq!(refused.flags & UNSTARTED, UNSTARTED);
    if age > 61 * SECOND {
        // `Sleep` ends 70 s after the start, within the 10 s that follow GOAWAY.
        assert_eq!(raw.next().await.unwrap().kind, REPLY);
    }
    // Otherwise the open call fails with UNAVAILABLE, not marked as unstarted.
    let rest = raw.next().await;
    let is_answer = |frame: crate::raw::Frame| {
        frame.kind == REPLY || (frame.code, frame.flags & UNSTARTED) == (UNAVAILABLE, 0)
    };
    assert!(rest.is_none_or(is_answer));
    assert!(started.elapsed() < age + 12 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn connections_opened_at_the_same_time_close_at_different_times() {
    let running = server(FrameLimits::new().age(1_000 * SECOND)).await;
    let started = Instant::now();
    let connections: Vec<_> = (0..10)
        .map(|_| {
            let address = running.address();
            tokio::spawn(async move {
                let mut raw = Raw::connect(address).await;
                assert_eq!(raw.next().await.unwrap().code, AGE);
                started.elapsed().as_secs()
            })
        })
        .collect();
    let mut ages = Vec::new();
    for connection in connections {
        ages.push(connection.await.unwrap());
    }
    assert!(
        ages.iter().all(|age| (899..=1_101).contains(age)),
        "{ages:?}"
    );
    ages.sort_unstable();
    ages.dedup();
    assert!(ages.len() > 3, "{ages:?}");
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_idle_only_while_no_call_is_open() {
    let running = server(FrameLimits::new().idle(5 * SECOND)).await;
    let mut raw = Raw::connect(running.address()).await;
    let started = Instant::now();
    assert_eq!(raw.ask("Sleep", &seconds(20)).await.kind, REPLY);
    sleep(4 * SECOND).await;
    assert_eq!(raw.ask("Nothing", &[0x80]).await.kind, REPLY);
    let goaway = raw.next().await.unwrap();
    assert_eq!((goaway.kind, goaway.code), (GOAWAY, IDLE), "{goaway:?}");
    let age = started.elapsed();
    assert!((29 * SECOND..31 * SECOND).contains(&age), "{age:?}");
    assert!(raw.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_client_loses_no_call_when_connections_reach_their_maximum_age() {
    let running = server(FrameLimits::new().age(30 * SECOND)).await;
    let url = format!("tcp://{}", running.address());
    let client = Client::connect(&url).await.unwrap();
    for number in 0..300 {
        let sum: i32 = client.call("Add", (number, 1)).await.unwrap();
        assert_eq!(sum, number + 1);
        sleep(SECOND).await;
    }
    let stats = client.stats();
    assert!((8..=12).contains(&stats.reconnects), "{stats:?}");
    // A call that the server receives after it sent GOAWAY is not started. The client retries it.
    assert_eq!(stats.replies, 300);
    assert!(stats.tries <= 300 + stats.reconnects, "{stats:?}");
}

/// A client respects the minimum ping interval of the server, here 120 s. Otherwise the server would close the
/// connection.
#[tokio::test(start_paused = true)]
async fn a_client_respects_the_minimum_ping_interval_of_the_server() {
    let timeouts = Timeouts::DEFAULT
        // Prevents pings by the server.
        .with_head(36_000 * SECOND);
    let server = Server::methods(methods())
        .frames(true)
        .timeouts(timeouts)
        .frame_limits(FrameLimits::new().ping(120 * SECOND))
        .build()
        .unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let url = format!("tcp://{}", running.address());
    let client = Client::connect(&url).await.unwrap();
    assert_eq!(client.call::<i32>("Add", (2, 3)).await.unwrap(), 5);
    sleep(7_200 * SECOND).await;
    assert_eq!(client.call::<i32>("Add", (2, 3)).await.unwrap(), 5);
    assert_eq!(client.stats().reconnects, 0);
    assert_eq!(server.frame_stats().accepted, 1);
}

/// A server with the default shutdown timeout of 10 s. `Never` does not end. `Until` sends items and ends when the
/// server shuts down.
async fn stoppable(limits: FrameLimits) -> (Server, RunningServer) {
    let methods = methods()
        .method("Never", |()| std::future::pending::<()>())
        .stream("Until", |(): (), call: StreamCall| async move {
            let (_, out) = call.split();
            let mut count = 0_u32;
            loop {
                tokio::select! {
                    () = out.going_away() => return Ok::<_, Fault>(count),
                    () = sleep(SECOND / 10) => out.send(count).await?,
                }
                count += 1;
            }
        });
    let server = Server::methods(methods).frames(true).frame_limits(limits);
    let server = server.build().unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    (server, running)
}

#[tokio::test(start_paused = true)]
async fn calls_open_at_the_shutdown_timeout_fail_and_are_not_marked_unstarted() {
    let (_, running) = stoppable(FrameLimits::new()).await;
    let mut raw = Raw::connect(running.address()).await;
    raw.call(0, "Never", 0, &[0x80]);
    raw.call(1, "Until", 0, &[0x80]);
    raw.send().await;
    while raw.next().await.unwrap().kind != ITEM {}
    let started = Instant::now();
    let stopping = tokio::spawn(running.shutdown());
    let goaway = loop {
        match raw.next().await.unwrap() {
            frame if frame.kind == ITEM => {}
            frame => break frame,
        }
    };
    assert_eq!((goaway.kind, goaway.code), (GOAWAY, 0), "{goaway:?}");
    assert_eq!(goaway.value, 9_000);
    // `Until` waits for `going_away`, and so it replies at once.
    let reply = raw.next().await.unwrap();
    assert_eq!((reply.kind, reply.id), (REPLY, 1));
    assert!(started.elapsed() < SECOND);
    let unknown = raw.next().await.unwrap();
    assert_eq!((unknown.kind, unknown.code), (FAULT, UNAVAILABLE));
    assert_eq!(unknown.flags & UNSTARTED, 0, "it was begun");
    let took = started.elapsed();
    assert!((8 * SECOND..10 * SECOND).contains(&took), "{took:?}");
    assert!(raw.next().await.is_none());
    stopping.await.unwrap();
    assert!(started.elapsed() <= 10 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn calls_over_udp_are_answered_when_the_shutdown_timeout_ends() {
    let (server, _running) = stoppable(FrameLimits::new()).await;
    let address: std::net::SocketAddr = "127.0.0.1:0".parse().unwrap();
    let running = server.listen_udp(address).await.unwrap();
    let url = format!("udp://{}", running.address());
    let client = Client::builder().endpoint(&url).retries(0);
    let client = client.connect().await.unwrap();
    let own = client.clone();
    let call = tokio::spawn(async move { own.call::<()>("Never", ()).await });
    while server.frame_stats().at_work == 0 {
        tokio::task::yield_now().await;
    }
    running.shutdown().await;
    let error = call.await.unwrap().unwrap_err();
    let code = error.frame_code().unwrap();
    assert_eq!(code.0, UNAVAILABLE, "{error:?}");
    assert!(!error.is_unstarted());
}

/// The connection of a peer that reads slowly is not closed for inactivity, but it is closed at its maximum age.
#[tokio::test(start_paused = true)]
async fn slow_readers_are_closed_at_the_maximum_age() {
    let patient = FrameLimits::new().queue(Duration::MAX, Duration::MAX);
    let (server, running) = stoppable(patient.age(60 * SECOND)).await;
    let mut raw = Raw::connect(running.address()).await;
    for slot in 0..1_000 {
        // The CBOR of ["x", 60000].
        raw.call(slot, "Repeat", 0, &[0x82, 0x61, b'x', 0x19, 0xea, 0x60]);
    }
    raw.send().await;
    let started = Instant::now();
    let mut trickled = 0;
    while started.elapsed() < 60 * SECOND || server.frame_stats().connections > 0 {
        // From 54 s on, the server may send GOAWAY. The peer then reads less than the server has buffered.
        let bytes = match started.elapsed() < 54 * SECOND {
            true => 500_000,
            false => 50_000,
        };
        trickled += raw.discard(bytes).await;
        sleep(SECOND).await;
        assert!(started.elapsed() < 90 * SECOND, "it is still there");
    }
    // The connection was not closed for inactivity.
    let took = started.elapsed();
    assert!(took >= 60 * SECOND, "{took:?}");
    assert!(trickled > 10_000_000, "{trickled}");
}
