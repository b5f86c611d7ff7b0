//! Peers that are silent, are slow, or disconnect without `GOAWAY`.

use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use polywire_rpc::CallErrorKind;
use polywire_rpc::frames::Client;
use polywire_rpc::{Methods, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::Instant;

use crate::scripted::settle;

/// The preface and a hello without settings.
const HELLO: &[u8] = b"\xf7PW\x01\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0";

fn frame(kind: u8, flags: u8, code: u16, id: u32, value: u32, body: &[u8]) -> Vec<u8> {
    let mut frame = (body.len() as u32).to_le_bytes().to_vec();
    frame.extend([kind, flags]);
    frame.extend(code.to_le_bytes());
    frame.extend(id.to_le_bytes());
    frame.extend(value.to_le_bytes());
    frame.extend(body);
    frame
}

/// A client, and the server end of its stream, which the test drives. The hello of the server is already written.
async fn client_and_server_stream() -> (Client, DuplexStream) {
    let (theirs, mut ours) = tokio::io::duplex(1 << 16);
    ours.write_all(HELLO).await.unwrap();
    (Client::over(theirs), ours)
}

#[tokio::test(start_paused = true)]
async fn silent_peers_are_pinged_once_and_closed() {
    let (client, mut ours) = client_and_server_stream().await;
    let began = Instant::now();
    let call = client.with_deadline(Duration::from_secs(100_000));
    // The operating system takes what the client writes. This does not show that the server is alive.
    let drains = async {
        let mut all = Vec::new();
        ours.read_to_end(&mut all).await.unwrap();
        all
    };
    let (error, all) = tokio::join!(call.call_bytes("Add", b""), drains);
    let error = error.unwrap_err();
    assert!(error.kind() == CallErrorKind::Disconnected, "{error}");
    assert_eq!(began.elapsed().as_secs(), 60);
    let pings = all.windows(6).filter(|six| six == b"\0\0\0\0\x0e\0");
    assert_eq!(pings.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn slow_replies_are_read_to_the_end() {
    let (client, mut ours) = client_and_server_stream().await;
    let client = client.with_deadline(Duration::from_secs(100_000));
    let calls: Vec<_> = (0..6)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(
                async move { client.call_bytes("Get", b"").await.map(|reply| reply.len()) },
            )
        })
        .collect();
    // Each frame takes 18 s, and almost every read ends within a frame.
    let body = vec![7; (1 << 20) - 16];
    let stream: Vec<u8> = (0..6).flat_map(|id| frame(4, 0, 0, id, 0, &body)).collect();
    let began = Instant::now();
    for piece in stream.chunks(1_448) {
        ours.write_all(piece).await.unwrap();
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap(), body.len());
    }
    assert!(began.elapsed() > Duration::from_secs(60));
}

#[tokio::test(start_paused = true)]
async fn a_frame_that_arrives_too_slowly_closes_the_connection() {
    let (client, mut ours) = client_and_server_stream().await;
    let client = client.with_deadline(Duration::from_secs(100_000));
    let call = tokio::spawn(async move { client.call_bytes("Get", b"").await });
    ours.write_all(&frame(4, 0, 0, 0, 0, &[7; 100_000])[..20])
        .await
        .unwrap();
    let began = Instant::now();
    while ours.write_all(&[7]).await.is_ok() && !call.is_finished() {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let error = call.await.unwrap().unwrap_err();
    let kind = error.kind();
    let is_lost = matches!(kind, CallErrorKind::Connect | CallErrorKind::Disconnected);
    assert!(is_lost, "{error}");
    assert!(began.elapsed() < Duration::from_secs(40));
}

/// The server removes a connection that the client has closed, even if the time slice of the connection ended with its
/// last call and no further input arrives.
#[tokio::test]
async fn disconnected_clients_are_removed() {
    let methods = Methods::new().method("Long", |(): ()| async {
        // Blocks the thread, like a CPU-bound handler.
        std::thread::sleep(Duration::from_millis(3));
    });
    let server = Server::methods(methods).frames(true).build().unwrap();
    let address = "127.0.0.1:0".parse().unwrap();
    let running = server.clone().listen(address).await.unwrap();
    let mut stream = tokio::net::TcpStream::connect(running.address())
        .await
        .unwrap();
    let mut calls = HELLO.to_vec();
    calls.extend(frame(2, 1, 1, 0, 0, b"\x07\0\x01\x04\0Long"));
    calls.extend(frame(2, 0, 1, 1, 0, b""));
    stream.write_all(&calls).await.unwrap();
    // Both replies, after the preface and the hello.
    let mut replies = 0;
    let mut received = Vec::new();
    while replies < 2 {
        stream.read_buf(&mut received).await.unwrap();
        let reply = |six: &&[u8]| six[4] == 4 && six[5] == 0 && six[1..4] == [0; 3];
        replies = received.windows(6).filter(reply).count();
    }
    drop(stream);
    let removal = async {
        while server.frame_stats().connections > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), removal)
        .await
        .unwrap();
}

/// A one-way call to a peer that does not read waits until its deadline, and then fails.
#[tokio::test(start_paused = true)]
async fn one_way_calls_wait_until_their_deadline() {
    let (client, _ours) = client_and_server_stream().await;
    let client = client.with_deadline(Duration::from_secs(2));
    let note = "x".repeat(60_000);
    let error = loop {
        let began = Instant::now();
        let Err(error) = client.notify("Note", (&note,)).await else {
            assert_eq!(began.elapsed(), Duration::ZERO);
            continue;
        };
        assert_eq!(began.elapsed().as_secs(), 2);
        break error;
    };
    assert!(error.kind() == CallErrorKind::Deadline, "{error}");
    assert_eq!(client.stats().deadlines, 1);
}

/// A task that waits for several futures polls a waiting one-way call repeatedly. The client keeps few clones of its
/// waker, not one per poll.
#[tokio::test(start_paused = true)]
async fn a_task_that_polls_repeatedly_registers_few_wakers() {
    struct CountedWaker;
    impl Wake for CountedWaker {
        fn wake(self: Arc<Self>) {}
    }
    let (client, _ours) = client_and_server_stream().await;
    let note = "x".repeat(60_000);
    let counted_waker = Arc::new(CountedWaker);
    let waker = Waker::from(Arc::clone(&counted_waker));
    let mut context = Context::from_waker(&waker);
    let mut pending = 0;
    while pending < 1_000 {
        let mut notes = std::pin::pin!(client.notify("Note", (&note,)));
        while pending < 1_000 && notes.as_mut().poll(&mut context).is_pending() {
            pending += 1;
            if pending % 10 == 0 {
                // The same task makes another call.
                break;
            }
        }
        settle().await;
    }
    let clones = Arc::strong_count(&counted_waker);
    assert!(clones < 10, "{clones}");
}

/// Cancelled streams that the server has not answered yet do not count against the limit of calls in flight.
#[tokio::test(start_paused = true)]
async fn cancelled_streams_do_not_delay_others() {
    let (theirs, mut ours) = tokio::io::duplex(1 << 16);
    ours.write_all(HELLO).await.unwrap();
    let stream = std::sync::Mutex::new(Some(theirs));
    let connect = move || {
        let stream = stream.lock().unwrap().take();
        std::future::ready(stream.ok_or_else(|| std::io::ErrorKind::ConnectionRefused.into()))
    };
    let client = Client::builder().connector("by hand", connect);
    let client = client.in_flight(10..=10).connect().await.unwrap();
    let short = client.with_stream_deadline(Duration::from_secs(1));
    let mut streams = Vec::new();
    for _ in 0..15 {
        streams.push(client.stream("Get", ()).await.unwrap());
    }
    for _ in 0..15 {
        streams.push(short.stream("Get", ()).await.unwrap());
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    for stream in &mut streams[15..] {
        let error = stream.next_bytes().await.unwrap_err();
        assert!(error.kind() == CallErrorKind::Deadline, "{error}");
    }
    drop(streams);
    let call = |_| {
        let client = client.clone();
        tokio::spawn(async move { client.call_bytes("Now", b"").await })
    };
    let calls: Vec<_> = (0..20).map(call).collect();
    settle().await;
    let stats = client.stats();
    assert_eq!((stats.in_flight, stats.waiting), (30 + 10, 10));
    // Each of the first ten replies frees its slot for a queued call.
    for id in (30..40).chain((30..40).map(|slot| slot | 1 << 16)) {
        ours.write_all(&frame(4, 0, 0, id, 0, b"")).await.unwrap();
        settle().await;
    }
    for call in calls {
        call.await.unwrap().unwrap();
    }
    // After the server has answered the cancelled streams, the limit of calls in flight is unchanged.
    for id in 0..30 {
        let cancelled = frame(5, 0, 0x33, id, 0, b"");
        ours.write_all(&cancelled).await.unwrap();
    }
    settle().await;
    assert_eq!(client.stats().in_flight, 0);
    let _calls: Vec<_> = (0..20).map(call).collect();
    settle().await;
    let stats = client.stats();
    assert_eq!((stats.in_flight, stats.waiting), (10, 10));
}

#[tokio::test(start_paused = true)]
async fn an_unconfirmed_subscription_fails_at_its_deadline() {
    let (client, mut ours) = client_and_server_stream().await;
    let client = client.with_deadline(Duration::from_secs(2));
    let began = Instant::now();
    let error = client.subscribe("news").await.unwrap_err();
    assert!(error.kind() == CallErrorKind::Deadline, "{error}");
    assert_eq!(began.elapsed().as_secs(), 2);
    assert_eq!((client.stats().opened, client.stats().pending), (1, 0));
    // The client sends `CANCEL`.
    drop(client);
    let mut received = Vec::new();
    let mut buffer = [0; 256];
    while !received
        .windows(6)
        .any(|six: &[u8]| six == b"\0\0\0\0\x06\0")
    {
        let read = ours.read(&mut buffer).await.unwrap();
        assert!(read > 0, "{received:?}");
        received.extend(&buffer[..read]);
    }
}

/// After a protocol error of the server, open calls end at once, although the server does not close the connection.
#[tokio::test(start_paused = true)]
async fn a_protocol_error_ends_open_calls_at_once() {
    let (client, mut ours) = client_and_server_stream().await;
    let call = client.call_bytes("Get", b"");
    let breaks = async {
        settle().await;
        ours.write_all(&frame(4, 0, 0, 77, 0, b"")).await.unwrap();
    };
    let began = Instant::now();
    let (error, ()) = tokio::join!(call, breaks);
    let why = error.unwrap_err().to_string();
    assert!(
        why.contains("expected REPLY for a call that is open"),
        "{why}"
    );
    assert_eq!(began.elapsed(), Duration::ZERO);
    // The client sends the error to the server too.
    let mut received = vec![0; 4_096];
    let read = ours.read(&mut received).await.unwrap();
    assert!(String::from_utf8_lossy(&received[..read]).contains("for a call that is open"));
}

/// When the server shuts down its write side, open calls end at once, even if the server does not read the output that
/// is still unsent.
#[tokio::test(start_paused = true)]
async fn calls_end_at_once_when_the_server_shuts_down_its_write_side() {
    let (client, mut ours) = client_and_server_stream().await;
    let input = vec![0; 60_000];
    client.notify("Put", &input).await.unwrap();
    let call = client.call_bytes("Put", &input);
    let ends = async {
        settle().await;
        ours.shutdown().await.unwrap();
    };
    let began = Instant::now();
    let (error, ()) = tokio::join!(call, ends);
    let why = error.unwrap_err().to_string();
    assert_eq!(why, "disconnected: the server closed the connection");
    assert_eq!(began.elapsed(), Duration::ZERO);
}

/// The client answers each `PING`. It closes the connection if the server does not read these answers, because they
/// would accumulate.
#[tokio::test(start_paused = true)]
async fn a_server_that_pings_and_never_reads_is_closed() {
    let (client, mut ours) = client_and_server_stream().await;
    let call = tokio::spawn(async move { client.call_bytes("Get", b"").await });
    let pings = frame(0x0e, 0, 0, 1, 2, b"").repeat(1_000);
    let mut sent = 0;
    while ours.write_all(&pings).await.is_ok() {
        sent += 1_000;
        assert!(sent < 100_000, "it takes more and more");
    }
    // More than the stream holds: 64 KiB, or 4,096 frames of 16 bytes. The client queues some more.
    assert!(sent > 4_000, "{sent}");
    let error = call.await.unwrap().unwrap_err().to_string();
    let words = "not connected: the server does not read what it asks for";
    assert_eq!(error, words);
}

/// Wakers are foreign code, which may access the client.
#[test]
fn wakers_are_woken_without_a_lock() {
    struct StatsWaker(Client, std::sync::mpsc::Sender<usize>);
    impl Wake for StatsWaker {
        fn wake(self: Arc<Self>) {
            let _ = self.1.send(self.0.stats().pending);
        }
    }
    let (sender, receiver) = std::sync::mpsc::channel();
    // On a separate thread, because a locked client would be a deadlock.
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        runtime.block_on(async move {
            let (client, mut ours) = client_and_server_stream().await;
            let waker = Waker::from(Arc::new(StatsWaker(client.clone(), sender)));
            let mut context = Context::from_waker(&waker);
            let mut call = std::pin::pin!(client.call_bytes("Get", b""));
            assert!(call.as_mut().poll(&mut context).is_pending());
            ours.write_all(&frame(4, 0, 0, 0, 0, b"5")).await.unwrap();
            settle().await;
            assert_eq!(call.await.unwrap(), b"5");
        });
    });
    let pending = receiver.recv_timeout(Duration::from_secs(60));
    assert_eq!(pending, Ok(1));
}
