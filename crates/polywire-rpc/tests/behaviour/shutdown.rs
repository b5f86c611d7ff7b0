//! Shutdown: calls in progress are completed, and new connections are refused.

use std::sync::Arc;
use std::time::Duration;

use polywire_protocol::ProtocolKind::RestJson1;
use polywire_rpc::{Timeouts, dynamic};
use polywire_schema::Map;
use tokio::net::TcpStream;
use tokio::sync::{Notify, Semaphore};

use crate::support::{Site, Socket, builder, request, within};

#[tokio::test]
async fn calls_in_progress_end() {
    let entered = Arc::new(Semaphore::new(0));
    let release = Arc::new(Notify::new());
    let (inside, gate) = (Arc::clone(&entered), Arc::clone(&release));
    let handler = dynamic(move |input: Map, _| {
        let (inside, gate) = (Arc::clone(&inside), Arc::clone(&gate));
        async move {
            inside.add_permits(1);
            gate.notified().await;
            Ok(input)
        }
    });
    let site = Site::start(builder().operation("Names", handler)).await;
    let address = site.address();
    let mut idle = site.open().await;
    idle.write(request("GET /status/200", &[], "")).await;
    assert_eq!(idle.reply().await.status, 200);
    let mut silent = site.open().await;
    let mut busy = site.open().await;
    busy.write(request("POST /names", &[], r#"{"long":1}"#))
        .await;
    let http2 = site.client_with(RestJson1, |builder| builder.http2(true));
    let http2 = tokio::spawn(async move { http2.call("Names", r#"{"long":2}"#).await });
    within(entered.acquire_many(2)).await.unwrap().forget();

    let stopping = tokio::spawn(site.into_running().shutdown());
    // Idle connections are closed before the calls end.
    assert!(idle.ends().await);
    assert!(silent.ends().await);
    assert!(TcpStream::connect(address).await.is_err());
    assert!(!stopping.is_finished());

    release.notify_waiters();
    let reply = busy.reply().await;
    assert_eq!((reply.status, reply.text()), (200, r#"{"long":1}"#));
    assert_eq!(reply.header("connection"), Some("close"));
    assert!(busy.ends().await);
    assert_eq!(within(http2).await.unwrap().unwrap(), r#"{"long":2}"#);
    within(stopping).await.unwrap();
}

#[tokio::test]
async fn calls_are_aborted_after_the_shutdown_timeout() {
    let mut site = Site::start(
        builder().timeouts(Timeouts::DEFAULT.with_shutdown(Duration::from_millis(200))),
    )
    .await;
    let mut stuck = site.open().await;
    stuck
        .write(request("POST /fail", &[], r#"{"how":"slow"}"#))
        .await;
    // The call of `stuck` has most likely started, because later calls have been answered. If it
    // has not, the outcome is the same.
    site.assert_still_serving().await;
    site.stop().await;
    assert!(stuck.ends().await);
}

#[tokio::test]
async fn a_server_that_is_dropped_stops() {
    let site = Site::plain().await;
    let mut idle = site.open().await;
    idle.write(request("GET /status/200", &[], "")).await;
    assert_eq!(idle.reply().await.status, 200);
    drop(site);
    assert!(idle.ends().await);
}

/// Connections in the accept backlog are served during shutdown, because their clients have most
/// likely sent requests.
#[tokio::test]
async fn connections_in_the_backlog_are_answered() {
    let site = Site::plain().await;
    let time = request("GET /status/200", &[], "");
    let mut sockets: Vec<Socket> = (0..300).map(|_| site.open_at_once()).collect();
    let (sent, unsent) = sockets.split_at_mut(250);
    for socket in &mut *sent {
        socket.write_at_once(&time);
    }
    // The runtime has one thread, so the server has not accepted any connection yet.
    let stopping = tokio::spawn(site.into_running().shutdown());
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    for socket in &mut *unsent {
        socket.write_at_once(&time);
    }
    for socket in &mut sockets {
        assert_eq!(socket.reply().await.status, 200);
    }
    within(stopping).await.unwrap();
}

/// A request that was sent on a kept-alive connection before shutdown is answered, even if the
/// server reads it after shutdown has started.
#[tokio::test]
async fn requests_that_were_sent_are_answered() {
    let site = Site::plain().await;
    let time = request("GET /status/200", &[], "");
    let mut sockets = Vec::new();
    for _ in 0..50 {
        let mut socket = site.open().await;
        socket.write(&time).await;
        assert_eq!(socket.reply().await.status, 200);
        sockets.push(socket);
    }
    for socket in &mut sockets {
        socket.write_at_once(&time);
    }
    let stopping = tokio::spawn(site.into_running().shutdown());
    for socket in &mut sockets {
        assert_eq!(socket.reply().await.status, 200);
        assert!(socket.ends().await);
    }
    within(stopping).await.unwrap();
}

/// A request on a kept-alive connection shortly after shutdown has started is answered with
/// `Connection: close`. Otherwise a client could not know that the connection ends.
#[tokio::test]
async fn the_last_response_has_connection_close() {
    let site = Site::plain().await;
    let time = request("GET /status/200", &[], "");
    let mut sockets = Vec::new();
    for _ in 0..5 {
        let mut socket = site.open().await;
        socket.write(&time).await;
        let reply = socket.reply().await;
        assert_eq!((reply.status, reply.header("connection")), (200, None));
        sockets.push(socket);
    }
    let mut idle = sockets.pop().unwrap();
    let stopping = tokio::spawn(site.into_running().shutdown());
    // 100 ms is well within the grace period of 1 s.
    tokio::time::sleep(Duration::from_millis(100)).await;
    for socket in &mut sockets {
        // Two requests in one write. The second one is not answered, so the client can retry it.
        socket.write([&*time, &time].concat()).await;
    }
    for socket in &mut sockets {
        let reply = socket.try_reply().await.expect("closed without a word");
        assert_eq!(reply.status, 200);
        assert_eq!(reply.header("connection"), Some("close"));
        assert!(socket.ends().await);
    }
    assert!(idle.ends().await);
    within(stopping).await.unwrap();
}

/// Connections with an incomplete request head do not delay shutdown.
#[tokio::test]
async fn incomplete_heads_do_not_delay_the_shutdown() {
    const PREFACE: &str = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let mut site = Site::plain().await;
    let whole = "GET /status/200 HTTP/1.1\r\nHost: x\r\n\r\n";
    let mut sockets = Vec::new();
    for word in ["", "P", "GET /status", whole, PREFACE, &PREFACE[..20]] {
        let mut socket = site.open().await;
        socket.write(word).await;
        if word == whole {
            assert_eq!(socket.reply().await.status, 200);
            socket.write(&whole[..20]).await;
        }
        sockets.push(socket);
    }
    let mut slow = site.open().await;
    slow.write("GET /status/200 HTTP/1.1\r\nX-Slow: ").await;
    let drip = async {
        loop {
            slow.write("x").await;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    site.assert_still_serving().await;
    // Half of the shutdown timeout for calls in progress.
    let soon = tokio::time::timeout(Timeouts::DEFAULT.shutdown / 2, site.stop());
    tokio::select! {
        () = drip => unreachable!(),
        stopped = soon => stopped.unwrap(),
    }
    for mut socket in sockets {
        socket.drain().await;
    }
}

/// Requests and replies in progress are completed, even if that takes longer than the grace period
/// of idle connections.
#[tokio::test]
async fn bodies_and_replies_in_progress_are_completed() {
    let site = Site::plain().await;
    let whole = request("POST /names", &[], r#"{"long":1}"#);
    let (begin, rest) = whole.split_at(whole.len() - 3);
    let mut body = site.open().await;
    body.write(begin).await;
    // The reply is larger than the socket buffers, so that most of it is queued in the server.
    let text = "x".repeat(10_000_000);
    let mut answer = site.open_narrow().await;
    let plain = [("Content-Type", "text/plain")];
    answer
        .write(request("PUT /payload/text", &plain, &text))
        .await;
    site.assert_still_serving().await;
    let stopping = tokio::spawn(site.into_running().shutdown());
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert!(!stopping.is_finished());
    body.write(rest).await;
    assert_eq!(body.reply().await.text(), r#"{"long":1}"#);
    assert_eq!(answer.reply().await.body.len(), text.len());
    within(stopping).await.unwrap();
}

#[tokio::test]
async fn ended_resolves_when_the_runtime_of_the_server_ends() {
    let elsewhere = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let server = builder().build().unwrap();
    let listen = async move { server.listen("127.0.0.1:0".parse().unwrap()).await };
    let running = elsewhere.spawn(listen).await.unwrap().unwrap();
    let mut ended = std::pin::pin!(running.ended());
    tokio::select! {
        biased;
        () = &mut ended => panic!("it runs"),
        () = tokio::task::yield_now() => {}
    }
    elsewhere.shutdown_background();
    within(ended).await;
}
