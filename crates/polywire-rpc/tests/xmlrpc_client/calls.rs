//! Requests and replies of single calls, and reuse of connections.

use std::sync::Arc;
use std::time::Duration;

use polywire_rpc::xmlrpc::Client;
use polywire_schema::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::{Barrier, mpsc};

use crate::support::{Action, ScriptedServer, fault, http, ok, result};

#[tokio::test]
async fn a_call_is_one_write_with_the_headers_that_servers_expect() {
    let server = ScriptedServer::start(|_, _| ok("<string>up</string>")).await;
    let client = Client::new(&server.url()).unwrap();
    let parameters = [Value::from("web"), Value::from(3)];
    let value = client.call_values("process.state", &parameters).await;
    assert_eq!(value.unwrap().as_str(), Some("up"));
    let seen = &server.seen()[0];
    assert_eq!(seen.line(), "POST /RPC2 HTTP/1.1");
    assert_eq!(seen.header("content-type"), Some("text/xml"));
    assert_eq!(seen.header("accept-encoding"), Some("gzip"));
    assert_eq!(seen.header("host"), Some(&*server.address.to_string()));
    assert!(seen.header("user-agent").unwrap().starts_with("polywire/"));
    assert!(seen.header("content-length").is_some());
    assert!(
        seen.body()
            .contains("<methodName>process.state</methodName>")
    );
    assert!(seen.body().contains("<value><string>web</string></value>"));
    // Head and body arrive in one read, so no server waits between them.
    assert_eq!(seen.reads, 1);
}

#[tokio::test]
async fn connections_are_reused() {
    let server = ScriptedServer::start(|_, _| ok("<int>1</int>")).await;
    let client = Client::new(&server.url()).unwrap();
    for _ in 0..5 {
        client.call_values("m", &[]).await.unwrap();
    }
    assert!(server.seen().iter().all(|seen| seen.connection == 0));
}

#[tokio::test]
async fn a_connection_that_the_server_closes_is_not_reused() {
    let server = ScriptedServer::start(|_, _| {
        let Action::Answer(bytes) = ok("<int>1</int>") else {
            unreachable!()
        };
        let text = String::from_utf8(bytes).unwrap();
        // HTTP/1.0 servers answer this way, for example Python's.
        Action::AnswerAndClose(text.replace("HTTP/1.1", "HTTP/1.0").into_bytes())
    })
    .await;
    let client = Client::new(&server.url()).unwrap();
    for nth in 0..4 {
        client.call_values("m", &[]).await.unwrap();
        assert_eq!(server.seen()[nth].connection, nth);
    }
}

#[tokio::test]
async fn idle_connections_above_100_are_closed() {
    const CALLS: usize = 110;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let all = Arc::new(Barrier::new(CALLS));
    let (sender, mut closed) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let (all, sender) = (all.clone(), sender.clone());
            tokio::spawn(async move {
                let mut got = Vec::new();
                while !got.ends_with(b"</methodCall>") {
                    assert!(stream.read_buf(&mut got).await.unwrap() > 0);
                }
                // No call is answered before all calls have arrived.
                all.wait().await;
                let answer = http("200 OK", "", result("<int>1</int>"));
                stream.write_all(&answer).await.unwrap();
                let end = stream.read(&mut [0]).await;
                sender.send(end.is_ok_and(|count| count == 0)).unwrap();
            });
        }
    });
    let client = Client::new(&url).unwrap();
    let calls = (0..CALLS).map(|_| {
        let client = client.clone();
        tokio::spawn(async move { client.call_values("m", &[]).await })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap().unwrap();
    }
    for _ in 100..CALLS {
        let end = tokio::time::timeout(Duration::from_secs(10), closed.recv());
        assert_eq!(end.await.expect("a connection that is closed"), Some(true));
    }
    assert!(closed.try_recv().is_err(), "more were closed");
}

/// Closes the connection after a reply that does not announce the close.
fn closing() -> Action {
    match ok("<int>1</int>") {
        Action::Answer(bytes) => Action::AnswerAndClose(bytes),
        _ => unreachable!(),
    }
}

#[tokio::test]
async fn connections_closed_in_the_meantime_fail_no_call() {
    let server = ScriptedServer::start(|_, _| closing()).await;
    let client = Client::new(&server.url()).unwrap();
    for nth in 0..50 {
        client.call_values("m", &[]).await.unwrap();
        // Wait until the server has closed the connection.
        while server.closed() <= nth {
            tokio::task::yield_now().await;
        }
        // Yield, as any program does that awaits something between calls. The client's
        // connection task then sees the close.
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(server.seen().len(), 50);
}

#[test]
fn idle_connections_that_were_closed_fail_no_call_of_a_blocking_client() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let server = runtime.block_on(ScriptedServer::start(|_, _| closing()));
    let client = polywire_rpc::xmlrpc::blocking::Client::new(&server.url()).unwrap();
    for nth in 0..50 {
        client.call_values("m", &[]).unwrap();
        while server.closed() <= nth {
            std::thread::yield_now();
        }
    }
    assert_eq!(server.seen().len(), 50);
}

#[tokio::test]
async fn faults_have_code_message_and_the_whole_value() {
    let server = ScriptedServer::start(|nth, _| match nth {
        0 => Action::Answer(http("200 OK", "", fault(10, "BAD_NAME: web"))),
        // Some servers send a fault with another status, or with the code as a string.
        1 => Action::Answer(http("500 Oops", "", fault(4, "no"))),
        _ => {
            let text = fault(7, "x").replace("<int>7</int>", "<string>7</string>");
            Action::Answer(http("200 OK", "", text))
        }
    })
    .await;
    let client = Client::new(&server.url()).unwrap();
    let error = client.call_values("m", &[]).await.unwrap_err();
    let fault = error.xmlrpc_fault().unwrap();
    assert_eq!((fault.code(), fault.message()), (10, "BAD_NAME: web"));
    assert_eq!(fault.value()["faultCode"].as_i64(), Some(10));
    assert_eq!(error.to_string(), "fault 10: BAD_NAME: web");
    for code in [4, 7] {
        let error = client.call_values("m", &[]).await.unwrap_err();
        assert_eq!(error.xmlrpc_fault().unwrap().code(), code);
    }
}

#[tokio::test]
async fn values_that_cannot_be_encoded_are_not_sent() {
    let server = ScriptedServer::start(|_, _| ok("<int>1</int>")).await;
    let client = Client::new(&server.url()).unwrap();
    let error = client.call_values("m", &[Value::from("\u{1}")]).await;
    let error = error.unwrap_err();
    assert!(error.is_unstarted(), "{error}");
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn an_observer_sees_both_directions() {
    let server = ScriptedServer::start(|_, _| ok("<int>1</int>")).await;
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let list = seen.clone();
    let client = Client::builder(&server.url())
        .unwrap()
        .basic("me", "hunter2")
        .observer(move |exchange| {
            let response = exchange.response.as_ref();
            let secret = exchange.request.headers()["authorization"].is_sensitive();
            let body = response.map(|response| response.body().clone());
            list.lock().unwrap().push((secret, body));
        })
        .build()
        .unwrap();
    client.call_values("m", &[]).await.unwrap();
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[0], (true, None));
    assert!(seen[1].1.as_ref().unwrap().starts_with(b"<?xml"));
}
