//! Servers on sockets that stop, and restart on the same address.

use std::net::SocketAddr;
use std::time::Duration;

use polywire_rpc::CallErrorKind;
use polywire_rpc::frames::Client;
use polywire_rpc::{RunningServer, Server};
use tokio::time::sleep;

use crate::support::methods;

/// Starts a server on `address`. Retries, because the address may still be in use.
async fn server_at(address: SocketAddr) -> RunningServer {
    let server = Server::methods(methods()).frames(true).build().unwrap();
    loop {
        match server.listen(address).await {
            Ok(running) => return running,
            Err(_) => tokio::task::yield_now().await,
        }
    }
}

#[tokio::test]
async fn a_server_that_is_restarted_under_load_loses_no_idempotent_call() {
    let running = crate::support::server().await;
    let address = running.address();
    let client = Client::connect(&format!("tcp://{address}")).await.unwrap();
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let callers: Vec<_> = (0..20)
        .map(|caller| {
            let (client, stopped) = (client.idempotent(), stopped.clone());
            tokio::spawn(async move {
                let mut calls = 0_u64;
                while !*stopped.borrow() {
                    let number = calls as i32;
                    let sum: i32 = client.call("Add", (number, caller)).await.unwrap();
                    assert_eq!(sum, number + caller);
                    calls += 1;
                }
                calls
            })
        })
        .collect();
    let mut running = running;
    for _ in 0..3 {
        let before = client.stats().replies;
        while client.stats().replies < before + 1_000 {
            tokio::task::yield_now().await;
        }
        running.shutdown().await;
        running = server_at(address).await;
    }
    let before = client.stats().replies;
    while client.stats().replies < before + 1_000 {
        tokio::task::yield_now().await;
    }
    stop.send(true).unwrap();
    let mut calls = 0;
    for caller in callers {
        calls += caller.await.unwrap();
    }
    let stats = client.stats();
    assert_eq!(stats.replies, calls);
    assert_eq!((stats.reconnects, stats.pending), (3, 0));
    assert!(stats.tries * 10 < calls * 13, "{stats:?}");
}

/// One-way calls and streams wait while the server is down, and are sent on the next connection.
#[tokio::test]
async fn one_way_calls_and_streams_wait_for_the_next_connection() {
    let running = crate::support::server().await;
    let address = running.address();
    let client = Client::connect(&format!("tcp://{address}")).await.unwrap();
    client.notify("Nothing", ()).await.unwrap();
    running.shutdown().await;
    let waits = client.clone();
    let notified = tokio::spawn(async move { waits.notify("Nothing", ()).await });
    let waits = client.clone();
    let opened = tokio::spawn(async move { waits.stream("Add", (2, 3)).await });
    while client.stats().waiting < 2 {
        tokio::task::yield_now().await;
    }
    let running = server_at(address).await;
    notified.await.unwrap().unwrap();
    let stream = opened.await.unwrap().unwrap();
    assert_eq!(stream.result::<i32>().await.unwrap(), 5);
    let stats = client.stats();
    assert_eq!((stats.sent, stats.opened, stats.pending), (2, 1, 0));
    running.shutdown().await;
}

/// A client without calls reconnects too.
#[tokio::test]
async fn clients_without_calls_reconnect() {
    let running = crate::support::server().await;
    let address = running.address();
    let client = Client::connect(&format!("tcp://{address}")).await.unwrap();
    running.shutdown().await;
    while client.stats().connections > 0 {
        sleep(Duration::from_millis(1)).await;
    }
    let running = server_at(address).await;
    while client.stats().connections == 0 {
        sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(client.call::<i32>("Add", (2, 3)).await.unwrap(), 5);
    running.shutdown().await;
    // A client over a given stream cannot reconnect.
    let (theirs, ours) = tokio::io::duplex(1 << 16);
    let client = Client::over(theirs);
    drop(ours);
    let error = client.call::<i32>("Add", (2, 3)).await.unwrap_err();
    let kind = error.kind();
    let is_lost = matches!(kind, CallErrorKind::Connect | CallErrorKind::Disconnected);
    assert!(is_lost, "{error:?}");
}
