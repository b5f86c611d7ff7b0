//! Which calls are retried, and which never.

use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use polywire_rpc::xmlrpc::Client;
use tokio::net::TcpListener;

use crate::support::{Action, ScriptedServer, fault, http, ok};

/// Closes the connection on the second request, without a reply. Answers all other requests.
async fn script_that_drops_the_second_request() -> ScriptedServer {
    ScriptedServer::start(|nth, _| match nth {
        1 => Action::AnswerAndClose(Vec::new()),
        _ => ok("<int>1</int>"),
    })
    .await
}

#[tokio::test]
async fn a_call_that_may_have_run_is_sent_once() {
    let server = script_that_drops_the_second_request().await;
    let client = Client::new(&server.url()).unwrap();
    client.call_values("pay", &[]).await.unwrap();
    let error = client.call_values("pay", &[]).await.unwrap_err();
    assert!(!error.is_unstarted());
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn an_idempotent_call_is_sent_again_over_a_new_connection() {
    let server = script_that_drops_the_second_request().await;
    let client = Client::new(&server.url()).unwrap();
    client.call_values("get", &[]).await.unwrap();
    client
        .method("get")
        .idempotent()
        .call_values(&[])
        .await
        .unwrap();
    let seen = server.seen();
    assert_eq!(seen.len(), 3);
    assert_ne!(seen[1].connection, seen[2].connection);
}

#[tokio::test]
async fn a_first_call_that_is_cut_off_is_not_sent_again() {
    let server = ScriptedServer::start(|_, _| Action::AnswerAndClose(Vec::new())).await;
    let client = Client::new(&server.url()).unwrap();
    let call = client.method("get").idempotent();
    call.call_values(&[]).await.unwrap_err();
    // The connection was new, not an idle one that the server had closed. The server has
    // received the call.
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_partly_received_answer_is_not_requested_again() {
    let server = ScriptedServer::start(|nth, _| match nth {
        0 => ok("<int>1</int>"),
        _ => Action::AnswerAndClose(b"HTTP/1.1 2".to_vec()),
    })
    .await;
    let client = Client::new(&server.url()).unwrap();
    client.call_values("get", &[]).await.unwrap();
    let call = client.method("get").idempotent();
    call.call_values(&[]).await.unwrap_err();
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_server_that_starts_between_attempts_is_reached() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let client = Client::builder(&format!("http://{address}")).unwrap();
    let client = client.retries(1000).build().unwrap();
    let calling = tokio::spawn(async move {
        let call = client.method("get").idempotent();
        call.call_values(&[]).await
    });
    // By now the connect has been refused at least once, or is about to be.
    tokio::task::yield_now().await;
    let listener = TcpListener::bind(address).await.unwrap();
    tokio::spawn(async move {
        let list = Arc::default();
        let script = Arc::new(|_: usize, _: &_| ok("<int>1</int>"));
        let (stream, _) = listener.accept().await.unwrap();
        crate::support::serve(stream, 0, script, list).await;
    });
    calling.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_call_to_a_refusing_server_fails_with_connection_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    for (retries, time) in [
        (2, Duration::from_secs(60)),
        (u32::MAX, Duration::from_millis(300)),
    ] {
        let client = Client::builder(&format!("http://{address}")).unwrap();
        let client = client.retries(retries).deadline(time).build().unwrap();
        let call = client.method("get").idempotent();
        let error = call.call_values(&[]).await.unwrap_err();
        assert!(error.transport().unwrap().is_refused());
    }
}

fn busy(after: &str) -> Action {
    let headers = format!("Retry-After: {after}\r\n");
    Action::Answer(http("503 Service Unavailable", &headers, "busy"))
}

#[tokio::test]
async fn an_idempotent_call_is_retried_after_503_with_retry_after() {
    let server = ScriptedServer::start(|nth, _| match nth {
        0 => busy("0"),
        _ => ok("<int>1</int>"),
    })
    .await;
    let client = Client::new(&server.url()).unwrap();
    client
        .method("get")
        .idempotent()
        .call_values(&[])
        .await
        .unwrap();
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn no_retry_exceeds_the_deadline_or_repeats_a_non_idempotent_call() {
    let server = ScriptedServer::start(|_, _| busy("100000")).await;
    let client = Client::new(&server.url()).unwrap();
    let call = client.method("get").idempotent();
    let error = call.call_values(&[]).await.unwrap_err();
    let status = error.http_status().unwrap();
    assert_eq!(status.retry_after(), Some(Duration::from_secs(100_000)));
    assert!(error.to_string().contains("again in 100000 s"), "{error}");
    // A call that is not idempotent is not retried, even if the server sends Retry-After.
    let server = ScriptedServer::start(|_, _| busy("0")).await;
    let client = Client::new(&server.url()).unwrap();
    client.call_values("pay", &[]).await.unwrap_err();
    assert_eq!(server.seen().len(), 1);
}

/// Each attempt sends the remaining time, not the original deadline.
#[tokio::test]
async fn a_retry_sends_the_remaining_time() {
    let pause = Duration::from_millis(20);
    let server = ScriptedServer::start(move |nth, _| match nth {
        0 => {
            std::thread::sleep(pause);
            busy("0")
        }
        _ => ok("<int>1</int>"),
    })
    .await;
    let client = Client::builder(&server.url()).unwrap();
    let client = client.send_deadline(true).build().unwrap();
    let call = client.method("get").idempotent();
    call.call_values(&[]).await.unwrap();
    let seen = server.seen();
    let left = |nth: usize| -> u64 {
        let value = seen[nth].header("polywire-timeout-ms").unwrap();
        value.parse().unwrap()
    };
    assert!(left(0) <= 60_000 && left(1) <= left(0) - 20, "{seen:?}");
    // Without `send_deadline` the client sends no deadline.
    let client = Client::new(&server.url()).unwrap();
    client.call_values("get", &[]).await.unwrap();
    assert_eq!(server.seen()[2].header("polywire-timeout-ms"), None);
}

/// A 503 response with a fault and Retry-After is retried. polywire servers answer this way
/// under overload.
#[tokio::test]
async fn a_503_with_a_fault_is_retried() {
    let busy = |after| {
        let headers = format!("Retry-After: {after}\r\n");
        Action::Answer(http(
            "503 Service Unavailable",
            &headers,
            fault(-32000, "busy"),
        ))
    };
    let server = ScriptedServer::start(move |nth, _| match nth {
        0 => busy("0"),
        1 => ok("<int>1</int>"),
        _ => busy("18446744073709551615"),
    })
    .await;
    let client = Client::new(&server.url()).unwrap();
    let call = || client.method("get").idempotent().call_values(&[]);
    call().await.unwrap();
    assert_eq!(server.seen().len(), 2);
    // This time overflows the clock, so the call is not retried.
    let error = call().await.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(u64::MAX)));
    assert_eq!(error.xmlrpc_fault().unwrap().code(), -32000);
    assert_eq!(
        error.xmlrpc_fault().unwrap().retry_after(),
        error.retry_after()
    );
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn the_longest_durations_are_accepted() {
    // The task that closes idle connections would panic outside the test, so a hook records
    // its panic.
    let overflown = Arc::new(AtomicBool::new(false));
    let seen = overflown.clone();
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if info.to_string().contains("adding duration to instant") {
            seen.store(true, Ordering::SeqCst);
        }
        before(info);
    }));
    let server = ScriptedServer::start(|_, _| ok("<int>1</int>")).await;
    let client = Client::builder(&server.url()).unwrap();
    let client = client
        .idle_timeout(Duration::MAX)
        .connect_timeout(Duration::MAX)
        .deadline(Duration::MAX)
        .build()
        .unwrap();
    for _ in 0..2 {
        client.call_values("get", &[]).await.unwrap();
    }
    assert_eq!(server.seen()[1].connection, 0);
    assert!(!overflown.load(Ordering::SeqCst));
}
