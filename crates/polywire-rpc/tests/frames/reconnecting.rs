//! Lost connections, and how clients reconnect.

use std::error::Error;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use polywire_frame::Reason;
use polywire_rpc::CallErrorKind;
use polywire_rpc::frames::{Client, ClientBuilder, Stats};
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, sleep};

use crate::scripted::{Action, ScriptedServer, settle};

fn builder(server: &ScriptedServer) -> ClientBuilder {
    Client::builder()
        .connector("scripted", server.connector())
        .seed(7)
}

#[tokio::test(start_paused = true)]
async fn calls_wait_while_the_server_is_down() {
    let server = ScriptedServer::new(|_| Action::Echo);
    let client = builder(&server).connect().await.unwrap();
    client.call_bytes("Echo", b"before").await.unwrap();
    server.kill();
    settle().await;
    let calls: Vec<_> = (0..100_u8)
        .map(|number| {
            let client = client.clone();
            tokio::spawn(async move { client.call_bytes("Echo", &[number]).await })
        })
        .collect();
    sleep(Duration::from_secs(30)).await;
    let stats = client.stats();
    assert_eq!((stats.pending, stats.waiting), (100, 100));
    assert_eq!((stats.waiting_bytes, stats.connections), (100, 0));
    server.revive();
    let back = Instant::now();
    for (number, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.unwrap().unwrap(), [number as u8]);
    }
    assert!(back.elapsed() < Duration::from_secs(1));
    let stats = client.stats();
    assert_eq!((stats.replies, stats.retries), (101, 0));
    assert_eq!((stats.reconnects, stats.connections), (1, 1));
    assert_eq!((stats.waiting, stats.waiting_bytes), (0, 0));
}

/// The result of a test in which a server is killed four times while a hundred tasks call it.
struct KillResult {
    calls: usize,
    failed: usize,
    /// The number of calls that were open when the server was killed: the sum of all four times.
    open: usize,
    /// The maximum time from a restart of the server to the next call that it receives.
    longest: Duration,
    sent: usize,
    stats: Stats,
}

async fn killed_under_load(idempotent: bool) -> KillResult {
    let server = ScriptedServer::new(|_| Action::Later(Duration::from_millis(100)));
    let client = builder(&server).connect().await.unwrap();
    let client = match idempotent {
        true => client.idempotent(),
        false => client,
    };
    let until = Instant::now() + Duration::from_secs(40);
    let callers: Vec<_> = (0..100_u8)
        .map(|number| {
            let client = client.clone();
            tokio::spawn(async move {
                let (mut calls, mut failed) = (0, 0);
                while Instant::now() < until {
                    calls += 1;
                    match client.call_bytes("Echo", &[number]).await {
                        Ok(reply) => assert_eq!(reply, [number]),
                        Err(error) if error.kind() == CallErrorKind::Disconnected => failed += 1,
                        Err(error) => panic!("{error}"),
                    }
                }
                (calls, failed)
            })
        })
        .collect();
    let (mut longest, mut open) = (Duration::ZERO, 0);
    for away in [0, 100, 1_000, 5_000] {
        sleep(Duration::from_secs(5)).await;
        // The client reads all replies that the server has sent.
        settle().await;
        open += client.stats().in_flight;
        server.kill();
        sleep(Duration::from_millis(away)).await;
        server.revive();
        let back = Instant::now();
        let before = server.seen().len();
        while server.seen().len() == before {
            sleep(Duration::from_millis(1)).await;
        }
        longest = longest.max(back.elapsed());
    }
    let (mut calls, mut failed) = (0, 0);
    for caller in callers {
        let (own, lost) = caller.await.unwrap();
        (calls, failed) = (calls + own, failed + lost);
    }
    KillResult {
        calls,
        failed,
        open,
        longest,
        sent: server.seen().len(),
        stats: client.stats(),
    }
}

/// Calls that were open fail, because the server may have executed them. All other calls are answered.
#[tokio::test(start_paused = true)]
async fn killing_a_server_under_load_fails_only_open_calls() {
    let survived = killed_under_load(false).await;
    assert!(survived.open > 300, "{}", survived.open);
    assert_eq!(survived.failed, survived.open);
    assert!(survived.longest < Duration::from_secs(1));
    assert_eq!(survived.sent, survived.calls);
    let stats = survived.stats;
    assert_eq!(stats.replies as usize, survived.calls - survived.failed);
    assert_eq!(
        (stats.disconnected as usize, stats.pending),
        (survived.failed, 0)
    );
    assert_eq!((stats.reconnects, stats.retries), (4, 0));
}

/// Idempotent calls that were open are sent once more, and none fails.
#[tokio::test(start_paused = true)]
async fn killing_a_server_under_load_fails_no_idempotent_call() {
    let survived = killed_under_load(true).await;
    assert!(survived.open > 300, "{}", survived.open);
    assert_eq!(survived.failed, 0);
    assert!(survived.longest < Duration::from_secs(1));
    let stats = survived.stats;
    assert_eq!((stats.replies as usize, stats.pending), (survived.calls, 0));
    assert_eq!(
        (stats.reconnects, stats.retries as usize),
        (4, survived.open)
    );
    assert_eq!(survived.sent, survived.calls + survived.open);
    assert!(survived.sent * 10 < survived.calls * 13);
}

/// The server closes the connection at every fiftieth call. Without a retry budget each call would be sent four times.
#[tokio::test(start_paused = true)]
async fn retries_to_a_server_that_keeps_dying_are_bounded() {
    let server = ScriptedServer::new(|call| match call.number % 50 {
        49 => Action::HangUp,
        _ => Action::Later(Duration::from_millis(100)),
    });
    let client = builder(&server).connect().await.unwrap().idempotent();
    let until = Instant::now() + Duration::from_secs(60);
    let callers: Vec<_> = (0..100)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move {
                let mut calls = 0;
                while Instant::now() < until {
                    let _ = client.call_bytes("Echo", b"").await;
                    calls += 1;
                }
                calls
            })
        })
        .collect();
    let mut calls = 0;
    for caller in callers {
        calls += caller.await.unwrap();
    }
    let stats = client.stats();
    assert_eq!(stats.replies + stats.disconnected, calls);
    assert!(stats.over_budget > 0, "{stats:?}");
    let sent = server.seen().len() as u64;
    assert!(sent * 10 < calls * 13, "{sent} sent for {calls} calls");
}

#[tokio::test(start_paused = true)]
async fn non_idempotent_calls_fail_with_their_connection() {
    let server = ScriptedServer::new(|_| Action::Hold);
    let client = builder(&server).connect().await.unwrap();
    let other = client.clone();
    let call = tokio::spawn(async move { other.call_bytes("Hold", b"").await });
    settle().await;
    assert_eq!(server.seen().len(), 1);
    server.kill();
    let error = call.await.unwrap().unwrap_err();
    assert!(error.kind() == CallErrorKind::Disconnected, "{error:?}");
    assert_eq!(client.stats().disconnected, 1);
}

#[tokio::test(start_paused = true)]
async fn calls_fail_at_once_if_configured() {
    let server = ScriptedServer::new(|_| Action::Echo);
    let client = builder(&server).fail_fast(true).connect().await.unwrap();
    client.call_bytes("Echo", b"").await.unwrap();
    server.kill();
    settle().await;
    let began = Instant::now();
    let error = client.call_bytes("Echo", b"").await.unwrap_err();
    assert_eq!(error.kind(), CallErrorKind::Connect, "{error:?}");
    assert!(began.elapsed() < Duration::from_millis(1));
    // The source of the error is the `io::Error` of the connector.
    sleep(Duration::from_millis(100)).await;
    let error = client.call_bytes("Echo", b"").await.unwrap_err();
    let source = error.source().and_then(|source| source.downcast_ref());
    let kind = source.map(io::Error::kind);
    assert_eq!(kind, Some(io::ErrorKind::ConnectionRefused), "{error}");
    server.revive();
    sleep(Duration::from_secs(1)).await;
    client.call_bytes("Echo", b"").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn calls_waiting_for_a_connection_end_at_their_deadline() {
    let server = ScriptedServer::new(|_| Action::Echo);
    server.kill();
    let client = builder(&server)
        .deadline(Duration::from_secs(2))
        .build()
        .unwrap();
    let began = Instant::now();
    let error = client.call_bytes("Echo", b"").await.unwrap_err();
    assert!(error.kind() == CallErrorKind::Deadline, "{error:?}");
    let took = began.elapsed();
    assert!(
        (2_000..2_010).contains(&took.as_millis()),
        "{took:?} of 2 s"
    );
    assert_eq!(client.stats().deadlines, 1);
    // Without a deadline a call waits without limit.
    let client = builder(&server).no_deadline().build().unwrap();
    let call = tokio::spawn(async move { client.call_bytes("Echo", b"at last").await });
    sleep(Duration::from_secs(3_600)).await;
    assert!(!call.is_finished());
    server.revive();
    assert_eq!(call.await.unwrap().unwrap(), b"at last");
}

#[tokio::test(start_paused = true)]
async fn connect_fails_if_the_first_connection_fails() {
    let server = ScriptedServer::new(|_| Action::Echo);
    server.kill();
    let error = builder(&server).connect().await.unwrap_err();
    let words = error.to_string();
    assert!(
        words.starts_with("cannot connect to scripted: connection refused"),
        "{words}"
    );
    let source = error.source().and_then(|source| source.downcast_ref());
    let kind = source.map(io::Error::kind);
    assert_eq!(kind, Some(io::ErrorKind::ConnectionRefused));
    // After `connect` has failed there are no further attempts in the background.
    let tried = server.connections();
    sleep(Duration::from_secs(60)).await;
    assert_eq!(server.connections(), tried);
}

#[tokio::test(start_paused = true)]
async fn connecting_to_a_silent_listener_fails() {
    let silent = || async {
        let (theirs, ours) = tokio::io::duplex(1 << 16);
        // The server side is leaked, so that the stream remains open.
        std::mem::forget(ours);
        Ok(theirs)
    };
    let client = Client::builder().connector("silent", silent);
    let began = Instant::now();
    let error = client.connect().await.unwrap_err();
    let words = error.to_string();
    assert!(
        words.ends_with("the handshake: not done within 5 s"),
        "{words}"
    );
    assert_eq!(began.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_closes_each_connection_is_not_reconnected_constantly() {
    let server = ScriptedServer::new(|_| Action::HangUp);
    let client = builder(&server).connect().await.unwrap();
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(60) {
        client.call_bytes("Echo", b"").await.unwrap_err();
    }
    let tried = server.connections();
    assert!((120..300).contains(&tried), "{tried}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_sends_goaway_loses_no_call() {
    let server = ScriptedServer::new(|call| match call.number % 100 {
        99 => Action::GoAway(Reason::AGE),
        _ => Action::Later(Duration::from_millis(1)),
    });
    let client = builder(&server).connect().await.unwrap();
    let calls: Vec<_> = (0..200_u8)
        .map(|number| {
            let client = client.clone();
            tokio::spawn(async move { client.call_bytes("Echo", &[number]).await })
        })
        .collect();
    for (number, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.unwrap().unwrap(), [number as u8]);
    }
    assert!(client.stats().reconnects > 0);
}

/// The client opens the next connection as soon as the server has sent `GOAWAY`. Open calls end on the old connection:
/// no call fails, is delayed or is retried.
#[tokio::test(start_paused = true)]
async fn a_goaway_interrupts_no_calls() {
    for fail_fast in [false, true] {
        let server = ScriptedServer::new(|call| match call.number % 2_000 {
            1_999 => Action::GoAway(Reason::AGE),
            _ => Action::Later(Duration::from_millis(5)),
        });
        let client = builder(&server).fail_fast(fail_fast).retry_budget(0.0, 0.0);
        let client = client.connect().await.unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        let callers: Vec<_> = (0..10_u8)
            .map(|number| {
                let client = client.clone();
                tokio::spawn(async move {
                    let (mut calls, mut longest) = (0, Duration::ZERO);
                    while Instant::now() < until {
                        let began = Instant::now();
                        let reply = client.call_bytes("Echo", &[number]).await.unwrap();
                        assert_eq!(reply, [number]);
                        longest = longest.max(began.elapsed());
                        calls += 1;
                    }
                    (calls, longest)
                })
            })
            .collect();
        let (mut calls, mut longest) = (0, Duration::ZERO);
        for caller in callers {
            let (own, took) = caller.await.unwrap();
            (calls, longest) = (calls + own, longest.max(took));
        }
        // The server takes 5 ms. Timers have a resolution of 1 ms.
        assert!(longest <= Duration::from_millis(7), "{longest:?}");
        let stats = client.stats();
        assert!(stats.reconnects >= 10, "{stats:?}");
        assert_eq!((stats.replies, stats.retries), (calls, 0));
        assert_eq!(server.connections() as u64, stats.reconnects + 1);
    }
}

/// A stopping server sends `GOAWAY` to all clients at the same time. The clients wait for random times before they
/// reconnect.
#[tokio::test(start_paused = true)]
async fn clients_of_a_server_that_stops_reconnect_at_different_times() {
    let server = ScriptedServer::new(|_| Action::GoAway(Reason::STOP));
    let connected = Arc::new(Mutex::new(Vec::new()));
    let mut clients = Vec::new();
    for seed in 0..20 {
        let (connect, connected) = (server.connector(), Arc::clone(&connected));
        let builder = Client::builder().seed(seed).connector("scripted", move || {
            connected.lock().unwrap().push(Instant::now());
            connect()
        });
        clients.push(builder.connect().await.unwrap());
    }
    sleep(Duration::from_secs(10)).await;
    connected.lock().unwrap().clear();
    let stopped = Instant::now();
    for client in &clients {
        client.call_bytes("Echo", b"").await.unwrap();
    }
    assert_eq!(stopped.elapsed(), Duration::ZERO);
    sleep(Duration::from_secs(1)).await;
    let mut connected = std::mem::take(&mut *connected.lock().unwrap());
    assert_eq!(connected.len(), 20);
    assert!(!connected.contains(&stopped));
    connected.dedup();
    assert!(connected.len() > 3, "{connected:?}");
}

#[tokio::test(start_paused = true)]
async fn connections_close_with_the_last_client() {
    let server = ScriptedServer::new(|_| Action::Echo);
    let client = builder(&server).connections(3).build().unwrap();
    client.call_bytes("Echo", b"").await.unwrap();
    settle().await;
    assert_eq!(client.stats().connections, 3);
    let clone = client.clone();
    drop(client);
    clone.call_bytes("Echo", b"").await.unwrap();
    drop(clone);
    server.closed().await;
    sleep(Duration::from_secs(60)).await;
    assert_eq!(server.connections(), 3);
}

/// A call that was not sent is made on another connection, even if it is not idempotent: also if the first connection
/// is lost in the middle of a frame from the server.
#[tokio::test(start_paused = true)]
async fn an_unsent_call_is_made_on_another_connection() {
    let server = ScriptedServer::new(|_| Action::Echo);
    let (first, streams) = std::sync::mpsc::channel();
    let streams = Mutex::new(streams);
    let connect = server.connector();
    let builder =
        Client::builder().connector("cut", move || match streams.lock().unwrap().try_recv() {
            Ok(stream) => std::future::ready(Ok(stream)),
            Err(_) => connect(),
        });
    let (theirs, mut ours) = tokio::io::duplex(64 << 10);
    first.send(theirs).unwrap();
    // A hello, and the first 8 bytes of a reply.
    let hello = b"\xf7PW\x01\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0";
    ours.write_all(hello).await.unwrap();
    ours.write_all(b"\0\0\x10\0\x04\0\0\0").await.unwrap();
    let client = builder.connect().await.unwrap();
    settle().await;
    drop(ours);
    // The call begins before the task of the connection has noticed the close.
    assert_eq!(client.call_bytes("Echo", b"once").await.unwrap(), b"once");
    assert_eq!((server.seen().len(), client.stats().retries), (1, 0));
}
