//! One-way calls. They have no reply, and run to their end after their connection has closed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use polywire_rpc::frames::Client;
use polywire_rpc::server::{FrameLimits, UdpSocket};
use polywire_rpc::{Methods, Server, ServerBuilder};
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// Counts the started and ended handlers of `Note`. Each one waits for a permit of `gate` before it ends.
#[derive(Clone)]
struct Notes {
    started: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
    gate: Arc<Semaphore>,
}

impl Notes {
    fn new() -> Self {
        Self {
            started: Arc::default(),
            ended: Arc::default(),
            gate: Arc::new(Semaphore::new(0)),
        }
    }

    fn server(&self) -> ServerBuilder {
        let notes = self.clone();
        let methods =
            Methods::new()
                .method("Quick", |()| async move {})
                .method("Note", move |()| {
                    let notes = notes.clone();
                    notes.started.fetch_add(1, Ordering::Relaxed);
                    async move {
                        notes.gate.acquire().await.unwrap().forget();
                        notes.ended.fetch_add(1, Ordering::Relaxed);
                    }
                });
        Server::methods(methods).frames(true)
    }

    fn started(&self) -> usize {
        self.started.load(Ordering::Relaxed)
    }

    fn ended(&self) -> usize {
        self.ended.load(Ordering::Relaxed)
    }
}

async fn wait_until(condition: impl Fn() -> bool) {
    let all = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), all)
        .await
        .unwrap();
}

fn any_port() -> std::net::SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

#[tokio::test]
async fn one_way_calls_outlive_their_connection() {
    let notes = Notes::new();
    let server = notes.server().build().unwrap();
    let running = server.listen(any_port()).await.unwrap();
    let url = format!("tcp://{}", running.address());
    let client = Client::connect(&url).await.unwrap();
    for _ in 0..3 {
        client.notify("Note", ()).await.unwrap();
    }
    wait_until(|| notes.started() == 3).await;
    drop(client);
    wait_until(|| server.frame_stats().connections == 0).await;
    assert_eq!(server.frame_stats().at_work, 3);
    notes.gate.add_permits(3);
    wait_until(|| notes.ended() == 3).await;
    wait_until(|| server.frame_stats().at_work == 0).await;
}

/// The permit of a connection is held until its one-way calls have ended, so a client cannot run more of them by
/// reconnecting.
#[tokio::test]
async fn one_way_calls_hold_the_permit_of_their_connection() {
    let notes = Notes::new();
    let server = notes.server().connections(1).build().unwrap();
    let running = server.listen(any_port()).await.unwrap();
    let url = format!("tcp://{}", running.address());
    let client = Client::connect(&url).await.unwrap();
    client.notify("Note", ()).await.unwrap();
    wait_until(|| notes.started() == 1).await;
    drop(client);
    wait_until(|| server.frame_stats().connections == 0).await;
    let next = tokio::spawn(async move { Client::connect(&url).await });
    // The kernel has completed the TCP handshake, but the server has not accepted the connection.
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(server.frame_stats().accepted, 1);
    notes.gate.add_permits(1);
    next.await.unwrap().unwrap();
    assert_eq!(notes.ended(), 1);
}

#[tokio::test]
async fn shutdown_waits_for_one_way_calls() {
    for scheme in ["tcp", "udp"] {
        let notes = Notes::new();
        let server = notes.server().build().unwrap();
        let running = match scheme {
            "tcp" => server.listen(any_port()).await.unwrap().into_any(),
            _ => {
                let socket = UdpSocket::new(any_port());
                server.listen_udp(socket).await.unwrap().into_any()
            }
        };
        let bound = running.bound_address().to_string();
        let address = bound.trim_start_matches("udp:");
        let url = format!("{scheme}://{address}");
        let client = Client::connect(&url).await.unwrap();
        client.notify("Note", ()).await.unwrap();
        wait_until(|| notes.started() == 1).await;
        drop(client);
        let stopping = tokio::spawn(running.shutdown());
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(!stopping.is_finished(), "over {scheme}");
        notes.gate.add_permits(1);
        stopping.await.unwrap();
        assert_eq!(notes.ended(), 1, "over {scheme}");
    }
}

#[tokio::test(start_paused = true)]
async fn shutdown_waits_for_one_way_calls_until_its_timeout() {
    let notes = Notes::new();
    let server = notes.server().build().unwrap();
    let running = server.listen(any_port()).await.unwrap();
    let url = format!("tcp://{}", running.address());
    let client = Client::connect(&url).await.unwrap();
    client.notify("Note", ()).await.unwrap();
    wait_until(|| notes.started() == 1).await;
    drop(client);
    let started = Instant::now();
    running.shutdown().await;
    let took = started.elapsed();
    assert!((9..=11).contains(&took.as_secs()), "{took:?}");
    assert_eq!(notes.ended(), 0);
}

#[tokio::test]
async fn over_udp_each_client_has_its_own_limit() {
    let notes = Notes::new();
    let limits = FrameLimits::new().calls(2);
    let server = notes.server().frame_limits(limits).build().unwrap();
    let running = server.listen_udp(any_port()).await.unwrap();
    let url = format!("udp://{}", running.address());
    let greedy = Client::connect(&url).await.unwrap();
    let other = Client::connect(&url).await.unwrap();
    for _ in 0..5 {
        greedy.notify("Note", ()).await.unwrap();
    }
    // The reply shows that the server has processed the earlier datagrams.
    greedy.call::<()>("Quick", ()).await.unwrap();
    assert_eq!(notes.started(), 2);
    other.notify("Note", ()).await.unwrap();
    wait_until(|| notes.started() == 3).await;
    notes.gate.add_permits(3);
    wait_until(|| notes.ended() == 3).await;
    // The client is below its limit again.
    greedy.notify("Note", ()).await.unwrap();
    wait_until(|| notes.started() == 4).await;
}
