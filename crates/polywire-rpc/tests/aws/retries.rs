//! Retries of clients of AWS, against a server by hand.

use std::time::{Duration, Instant};

use polywire_protocol::ProtocolKind;
use polywire_rpc::aws::{Retries, RetrySettings, Signer};
use polywire_rpc::client::RetryPolicy;
use polywire_rpc::{CallErrorKind, Client, ClientBuilder};
use polywire_schema::{ByteStream, Map, Value};

use crate::script::{Endpoint, Reply};
use crate::support::{BYTES, KEY, pieces, put, service, within};

/// With delays of at most 10 ms.
fn fast() -> Retries {
    Retries::standard().with_settings(settings())
}

fn settings() -> RetrySettings {
    let mut settings = RetrySettings::STANDARD;
    settings.transient_base = Duration::from_millis(5);
    settings.throttling_base = Duration::from_millis(5);
    settings
}

fn builder(policy: impl RetryPolicy) -> ClientBuilder {
    Client::builder(service(), ProtocolKind::RestXml)
        .interceptor(Signer::new(KEY(), "us-east-1", "s3"))
        .retry(policy)
}

fn error(status: u16, code: &str) -> Reply {
    let body = format!("<Error><Code>{code}</Code><Message>m</Message></Error>");
    Reply::Raw(format!(
        "HTTP/1.1 {status} S\r\nconnection: close\r\ncontent-type: application/xml\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    ))
}

fn ok() -> Reply {
    Reply::Body(200, String::new())
}

fn get() -> Map {
    Map::from_iter([("key", "a")])
}

fn value<'a>(request: &'a str, name: &str) -> &'a str {
    let value = request.split(&format!("{name}: ")).nth(1);
    value.and_then(|rest| rest.lines().next()).unwrap()
}

#[tokio::test]
async fn attempts_are_signed_and_numbered() {
    let server = Endpoint::start(|_, number| match number {
        0 => error(503, "Whatever"),
        1 => Reply::Close,
        _ => ok(),
    })
    .await;
    let client = builder(fast()).connect(&server.url).unwrap();
    within(client.call("Get", get())).await.unwrap();
    let requests = server.requests();
    let id = value(&requests[0], "amz-sdk-invocation-id");
    assert_eq!(id.len(), 36);
    for (number, request) in requests.iter().enumerate() {
        assert_eq!(value(request, "amz-sdk-invocation-id"), id);
        let expected = format!("attempt={}; max=3", number + 1);
        assert_eq!(value(request, "amz-sdk-request"), expected);
    }
    assert_eq!(requests.len(), 3);
    let signature = |number: usize| value(&requests[number], "authorization");
    assert_ne!(signature(0), signature(1));
    // Another call has another id; without a policy there is one attempt.
    let plain = Client::builder(service(), ProtocolKind::RestXml)
        .interceptor(Signer::new(KEY(), "us-east-1", "s3"))
        .connect(&server.url)
        .unwrap();
    within(plain.call("Get", get())).await.unwrap();
    let requests = server.requests();
    assert_ne!(value(&requests[3], "amz-sdk-invocation-id"), id);
    assert_eq!(value(&requests[3], "amz-sdk-request"), "attempt=1; max=1");
}

#[tokio::test]
async fn only_safe_calls_are_repeated() {
    type Script = fn() -> Reply;
    let cases: [(&str, Script, usize, usize); 10] = [
        ("Get", || error(500, "Whatever"), 3, 3),
        ("Get", || error(404, "NoSuchKey"), 1, 1),
        // A copy that fails after the response has begun.
        ("Copy", || error(200, "InternalError"), 3, 3),
        ("Get", || Reply::Close, 3, 3),
        ("Get", || Reply::Body(502, "<html>".to_owned()), 3, 3),
        // This operation may have effects.
        ("Describe", || error(500, "Whatever"), 1, 3),
        ("Describe", || Reply::Close, 1, 3),
        // The server says that it has done nothing.
        ("Describe", || error(503, "SlowDown"), 3, 3),
        ("Describe", || error(400, "Busy"), 3, 3),
        ("Describe", || error(409, "Conflict"), 1, 1),
    ];
    for (operation, script, safe, any) in cases {
        for (policy, expected) in [(fast(), safe), (fast().with_any_operation(true), any)] {
            let server = Endpoint::start(move |_, _| script()).await;
            let client = builder(policy).connect(&server.url).unwrap();
            let input = match operation {
                "Get" | "Copy" => get(),
                _ => Map::new(),
            };
            let error = within(client.call(operation, input)).await.unwrap_err();
            assert!(!error.is_unstarted(), "{error}");
            assert_eq!(server.requests().len(), expected, "{operation}: {error}");
        }
    }
}

#[tokio::test]
async fn streams_are_sent_once_unless_they_are_in_memory() {
    let server = Endpoint::start(|_, _| error(503, "SlowDown")).await;
    let client = builder(fast()).connect(&server.url).unwrap();
    let stream = ByteStream::with_len(pieces(1), BYTES as u64);
    let error = within(client.call("Put", put("a", stream)))
        .await
        .unwrap_err();
    assert_eq!(error.fault().unwrap().name(), "SlowDown");
    assert_eq!(server.requests().len(), 1);
    let stream = ByteStream::from(polywire_schema::Blob::from(b"hello".as_slice()));
    for body in [Value::from(stream), Value::Blob(b"hello".as_slice().into())] {
        let before = server.requests().len();
        within(client.call("Put", put("a", body)))
            .await
            .unwrap_err();
        let requests = server.requests().split_off(before);
        assert_eq!(requests.len(), 3);
        assert!(
            requests.iter().all(|request| request.contains("hello")),
            "{requests:?}"
        );
    }
}

#[tokio::test]
async fn the_service_and_the_deadline_limit_retries() {
    let later = |millis: u32| {
        Endpoint::start(move |_, number| match number {
            0 => Reply::Raw(format!(
                "HTTP/1.1 503 S\r\nconnection: close\r\nx-amz-retry-after: {millis}\r\ncontent-length: 0\r\n\r\n"
            )),
            _ => ok(),
        })
    };
    let server = later(200).await;
    let client = builder(fast()).connect(&server.url).unwrap();
    let started = Instant::now();
    within(client.call("Get", get())).await.unwrap();
    assert!(started.elapsed() >= Duration::from_millis(200));
    // The error comes at once, not at the deadline.
    let server = later(100_000).await;
    let client = builder(fast()).deadline(Duration::from_secs(4));
    let client = client.connect(&server.url).unwrap();
    let started = Instant::now();
    let error = within(client.call("Get", get())).await.unwrap_err();
    assert_eq!(error.fault().unwrap().status(), 503, "{error}");
    assert!(started.elapsed() < Duration::from_secs(2));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn the_quota_is_that_of_all_calls() {
    let server = Endpoint::start(|_, _| error(500, "Whatever")).await;
    let mut settings = settings();
    settings.capacity = 15;
    let policy = Retries::standard().with_settings(settings);
    // Clones share it.
    for expected in [3, 2, 1] {
        let client = builder(policy.clone()).connect(&server.url).unwrap();
        let before = server.requests().len();
        within(client.call("Get", get())).await.unwrap_err();
        assert_eq!(server.requests().len() - before, expected);
    }
}

#[tokio::test]
async fn adaptive_clients_slow_down() {
    let server = Endpoint::start(|_, number| match number {
        0 => error(429, "TooManyRequestsException"),
        _ => ok(),
    })
    .await;
    let policy = Retries::adaptive().with_max_attempts(1);
    let client = builder(policy).deadline(Duration::from_millis(500));
    let client = client.connect(&server.url).unwrap();
    within(client.call("Get", get())).await.unwrap_err();
    within(client.call("Get", get())).await.unwrap();
    let error = within(client.call("Get", get())).await.unwrap_err();
    assert_eq!(error.kind(), CallErrorKind::Deadline);
    assert_eq!(server.requests().len(), 2);
}
