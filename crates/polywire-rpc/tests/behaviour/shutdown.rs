//! Stopping: calls in progress end, nothing new begins.

use std::sync::Arc;
use std::time::Duration;

use polywire_protocol::ProtocolKind::RestJson1;
use polywire_rpc::{Timeouts, dynamic};
use polywire_schema::Map;
use tokio::net::TcpStream;
use tokio::sync::{Notify, Semaphore};

use crate::support::{Site, builder, request, within};

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
    // Those that wait for nothing are let go at once.
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
async fn calls_that_do_not_end_are_cut_off() {
    let mut site = Site::start(builder().timeouts(Timeouts {
        shutdown: Duration::from_millis(200),
        ..Timeouts::DEFAULT
    }))
    .await;
    let mut stuck = site.open().await;
    stuck
        .write(request("POST /fail", &[], r#"{"how":"slow"}"#))
        .await;
    // Another call on another connection has been answered, so the first has
    // most likely begun; whether it has does not matter to the outcome.
    site.serves_on().await;
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
