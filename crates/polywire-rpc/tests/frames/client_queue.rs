//! Queued calls: limits of the queue, deadlines and cancellation.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use polywire_rpc::frames::{Client, ClientBuilder};
use polywire_rpc::{CallError, CallErrorKind};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::scripted::{Action, ScriptedServer, settle};

fn builder(server: &ScriptedServer) -> ClientBuilder {
    Client::builder()
        .connector("scripted", server.connector())
        .seed(7)
}

type Call = JoinHandle<Result<Vec<u8>, CallError>>;

/// Starts `count` calls with an input of `bytes` bytes each.
async fn calls(client: &Client, count: usize, bytes: usize) -> Vec<Call> {
    let calls = (0..count)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.call_bytes("Echo", &vec![7; bytes]).await })
        })
        .collect();
    settle().await;
    calls
}

#[tokio::test(start_paused = true)]
async fn queued_calls_are_bounded() {
    let server = ScriptedServer::new(|_| Action::Hold);
    let client = builder(&server).in_flight(20..=20).queue(30, 1 << 20);
    let client = client.connect().await.unwrap();
    let first = calls(&client, 50, 10).await;
    let stats = client.stats();
    assert_eq!((stats.in_flight, stats.limit), (20, 20));
    assert_eq!((stats.waiting, stats.waiting_bytes), (30, 300));
    let error = client.call_bytes("Echo", b"").await.unwrap_err();
    assert!(error.kind() == CallErrorKind::QueueFull, "{error:?}");
    assert!(error.is_unstarted());
    assert_eq!(client.stats().overloaded, 1);
    // A cancelled call frees its place in the queue.
    first[49].abort();
    settle().await;
    let more = calls(&client, 2, 10).await;
    assert!(!more[0].is_finished() && more[1].is_finished());
    assert_eq!(client.stats().waiting, 30);
    assert_eq!(server.seen().len(), 20);
    for call in first.into_iter().chain(more) {
        call.abort();
    }
    settle().await;
    let stats = client.stats();
    assert_eq!((stats.waiting, stats.waiting_bytes), (0, 0));
    assert_eq!((stats.pending, stats.cancelled), (0, 51));
}

#[tokio::test(start_paused = true)]
async fn queued_bytes_are_bounded() {
    let server = ScriptedServer::new(|_| Action::Hold);
    let client = builder(&server).in_flight(20..=20).queue(1_000, 1_000);
    let client = client.connect().await.unwrap();
    calls(&client, 20, 1).await;
    // A single queued call may have any size.
    let large = calls(&client, 2, 5_000).await;
    assert!(!large[0].is_finished() && large[1].is_finished());
    large[0].abort();
    settle().await;
    let small = calls(&client, 11, 100).await;
    let full: Vec<bool> = small.iter().map(JoinHandle::is_finished).collect();
    assert_eq!(full.iter().filter(|full| **full).count(), 1, "{full:?}");
    assert_eq!(client.stats().waiting_bytes, 1_000);
}

#[tokio::test(start_paused = true)]
async fn queue_limits_apply_while_disconnected() {
    let server = ScriptedServer::new(|_| Action::Echo);
    server.kill();
    let client = builder(&server).queue(5, 1_000).build().unwrap();
    let waiting = calls(&client, 6, 10).await;
    assert_eq!(waiting.iter().filter(|call| call.is_finished()).count(), 1);
    assert_eq!(client.stats().waiting_bytes, 50);
    let large = calls(&client, 1, 951).await;
    assert!(large[0].is_finished());
    server.revive();
    sleep(Duration::from_secs(1)).await;
    assert_eq!(client.stats().replies, 5);
}

#[tokio::test(start_paused = true)]
async fn the_table_of_pending_calls_is_bounded() {
    let server = ScriptedServer::new(|_| Action::Hold);
    let client = builder(&server).pending(100).connect().await.unwrap();
    calls(&client, 100, 1).await;
    assert_eq!(client.pending(), 100);
    let error = client.call_bytes("Echo", b"").await.unwrap_err();
    assert!(error.kind() == CallErrorKind::QueueFull, "{error:?}");
    assert_eq!(client.pending(), 100);
}

/// More calls than a connection has slots for.
#[tokio::test(start_paused = true)]
async fn a_hundred_thousand_calls_are_all_answered() {
    let server = ScriptedServer::new(|_| Action::Echo);
    let client = builder(&server).pending(1 << 17).queue(1 << 17, 1 << 20);
    let client = client.connect().await.unwrap();
    let calls = calls(&client, 100_000, 4).await;
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap(), [7; 4]);
    }
    let stats = client.stats();
    assert_eq!((stats.replies, stats.tries), (100_000, 100_000));
    assert_eq!((stats.waiting, stats.waiting_bytes), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn dropping_a_call_cancels_it_at_the_server() {
    let server = ScriptedServer::new(|_| Action::Hold);
    let client = builder(&server).connect().await.unwrap();
    for client in [client.clone(), client.idempotent()] {
        let call = client.call_bytes("Hold", b"");
        assert!(timeout(Duration::from_secs(1), call).await.is_err());
    }
    settle().await;
    assert_eq!((server.seen().len(), server.cancels()), (2, 2));
    let stats = client.stats();
    assert_eq!((stats.cancelled, stats.pending), (2, 0));
    assert_eq!(stats.in_flight, 0);
}

#[tokio::test(start_paused = true)]
async fn calls_dropped_while_queued_are_never_sent() {
    let server = ScriptedServer::new(|_| Action::Hold);
    let client = builder(&server).in_flight(10..=10);
    let client = client.connect().await.unwrap();
    let open = calls(&client, 10, 1).await;
    let waiting = calls(&client, 10, 1).await;
    for call in waiting {
        call.abort();
    }
    settle().await;
    for call in open {
        call.abort();
    }
    settle().await;
    assert_eq!((server.seen().len(), server.cancels()), (10, 10));

    // Calls that wait for a connection are not sent either.
    server.kill();
    settle().await;
    let waiting = calls(&client, 10, 1).await;
    assert_eq!(client.stats().waiting, 10);
    for call in waiting {
        call.abort();
    }
    settle().await;
    assert_eq!(client.stats().waiting, 0);
    server.revive();
    sleep(Duration::from_secs(1)).await;
    assert_eq!(server.seen().len(), 10);
    assert_eq!(client.stats().cancelled, 30);
}

#[tokio::test(start_paused = true)]
async fn queued_calls_end_at_their_deadline() {
    let server = ScriptedServer::new(|_| Action::Hold);
    let client = builder(&server)
        .in_flight(10..=10)
        .deadline(Duration::from_secs(3));
    let client = client.connect().await.unwrap();
    let began = Instant::now();
    for call in calls(&client, 30, 1).await {
        let error = call.await.unwrap().unwrap_err();
        assert!(error.kind() == CallErrorKind::Deadline, "{error:?}");
    }
    let took = began.elapsed().as_millis();
    assert!((3_000..3_010).contains(&took), "{took} ms");
    assert_eq!(client.stats().deadlines, 30);
}

/// An idle connection frees unused memory. Later calls succeed on the same connection.
#[tokio::test(start_paused = true)]
async fn an_idle_connection_accepts_further_calls() {
    let server = ScriptedServer::new(|_| Action::Echo);
    let client = builder(&server).connect().await.unwrap();
    for _ in 0..3 {
        for call in calls(&client, 500, 100).await {
            assert_eq!(call.await.unwrap().unwrap(), [7; 100]);
        }
        sleep(Duration::from_secs(300)).await;
    }
    assert_eq!((client.stats().replies, server.connections()), (1_500, 1));
}

/// Two clients of one server share nothing: the calls of one succeed while the queue of the other is full.
#[tokio::test(start_paused = true)]
async fn clients_share_no_limits() {
    let server = ScriptedServer::new(|call| match &call.payload[..] {
        b"" => Action::Echo,
        _ => Action::Hold,
    });
    let greedy = builder(&server).in_flight(10..=10).queue(10, 100);
    let greedy = greedy.connect().await.unwrap();
    let other = builder(&server).connect().await.unwrap();
    calls(&greedy, 100, 1).await;
    let error = greedy.call_bytes("Echo", b"").await.unwrap_err();
    assert!(error.kind() == CallErrorKind::QueueFull, "{error:?}");
    other.call_bytes("Echo", b"").await.unwrap();
    let (greedy, other) = (greedy.stats(), other.stats());
    assert_eq!((greedy.pending, greedy.overloaded), (20, 81));
    assert_eq!((other.pending, other.replies), (0, 1));
    assert_eq!(other.overloaded, 0);
}

/// A one-way call that waits for unsent output fails after its deadline, even if there is capacity when it is polled
/// again.
#[tokio::test(start_paused = true)]
async fn a_notification_that_has_waited_too_long_is_not_sent() {
    let server = ScriptedServer::new(|_| Action::Hold);
    let client = builder(&server).connect().await.unwrap();
    settle().await;
    // More than the limit of unsent output, above which one-way calls wait.
    let text = "x".repeat(400_000);
    client.notify("Note", (text,)).await.unwrap();
    let late = client.with_deadline(Duration::from_secs(1));
    let mut waits = pin!(late.notify("Note", (1,)));
    let polled = poll_fn(|context| Poll::Ready(waits.as_mut().poll(context)));
    assert!(polled.await.is_pending());
    // The server reads all of it in this time.
    sleep(Duration::from_secs(2)).await;
    let error = waits.await.unwrap_err();
    assert!(error.kind() == CallErrorKind::Deadline, "{error}");
}
