//! Client deadlines over HTTP: the header `polywire-timeout-ms`.

use std::time::Duration;

use polywire_rpc::{CallErrorKind, Context, Timeouts, dynamic};
use polywire_schema::{Map, Value};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::support::{Site, WIRES, builder, call_of, request, within};

const CREATE: &str = r#"{"name":"kettle"}"#;

/// A call in the form of a protocol, with the header `Polywire-Timeout-Ms`.
fn with_header(kind: polywire_protocol::ProtocolKind, value: &str) -> Vec<u8> {
    let call = call_of(kind, "/things", "Create", CREATE);
    let line = call.windows(2).position(|two| two == b"\r\n").unwrap() + 2;
    let header = format!("Polywire-Timeout-Ms: {value}\r\n");
    [&call[..line], header.as_bytes(), &call[line..]].concat()
}

#[tokio::test]
async fn the_earlier_limit_applies() {
    for (limit, timeout, expected) in [
        (5_000, Some("100"), 100),
        (100, Some("5000"), 100),
        (100, None, 100),
    ] {
        let handler = dynamic(|_: Map, context: Context| async move {
            let left = context.deadline().unwrap() - Instant::now();
            Ok(Map::from_iter([
                ("id", Value::from(left.as_millis() as i32)),
                ("name", Value::from("x")),
            ]))
        });
        let timeouts = Timeouts::DEFAULT.with_handler(Duration::from_millis(limit));
        let site = Site::start(builder().timeouts(timeouts).operation("Create", handler)).await;
        let headers: Vec<(&str, &str)> = timeout
            .iter()
            .map(|value| ("polywire-timeout-ms", *value))
            .collect();
        let reply = site.send(request("POST /things", &headers, CREATE)).await;
        assert_eq!(reply.status, 201, "{}", reply.text());
        let id = reply.text().split("\"id\":").nth(1).unwrap();
        let id: u64 = id.split([',', '}']).next().unwrap().parse().unwrap();
        assert!(id <= expected && id > 0, "{id}");
    }
}

/// The server ends a call at its deadline and replies with an error in the protocol of the call.
#[tokio::test]
async fn handlers_end_at_the_deadline() {
    let handler = dynamic(|input: Map, _: Context| async move {
        std::future::pending::<()>().await;
        Ok(input)
    });
    let site = Site::start(builder().operation("Create", handler)).await;
    for kind in WIRES {
        let reply = site.send(with_header(kind, "20")).await;
        let (_, _, message) = reply.error(kind);
        assert!(message.contains("took too long"), "{kind} {message}");
    }
}

/// A call whose deadline has passed is rejected before the handler starts.
#[tokio::test]
async fn calls_whose_deadline_has_passed_are_not_started() {
    let handler = dynamic(|_: Map, _: Context| async move {
        unreachable!("the handler began");
        #[allow(unreachable_code, reason = "the type of the output")]
        Ok(Map::new())
    });
    let site = Site::start(builder().operation("Create", handler)).await;
    for kind in WIRES {
        let reply = site.send(with_header(kind, "0")).await;
        let (_, _, message) = reply.error(kind);
        let is_late = message.contains("deadline passed before the call started");
        assert!(is_late, "{kind} {message}");
    }
}

#[tokio::test]
async fn invalid_headers() {
    let site = Site::start(builder()).await;
    for kind in WIRES {
        for value in [
            "",
            "-1",
            "1.5",
            "5s",
            "123456789",
            "1\r\nPolywire-Timeout-Ms: 2",
        ] {
            let reply = site.send(with_header(kind, value)).await;
            let (status, _, message) = reply.error(kind);
            assert_eq!(status, 400, "{kind} {value}");
            assert!(message.contains("polywire-timeout-ms"), "{kind} {message}");
        }
        let reply = site.send(with_header(kind, "99999999")).await;
        assert!(matches!(reply.status, 200 | 201), "{kind}");
    }
}

/// The deadline also limits the time for receiving the body.
#[tokio::test]
async fn bodies_that_arrive_after_the_deadline() {
    let site = Site::start(builder()).await;
    let mut socket = site.open().await;
    let headers = [("polywire-timeout-ms", "30"), ("Content-Length", "100")];
    socket.write(request("POST /things", &headers, "")).await;
    let reply = socket.reply().await;
    let (status, _, message) = reply.error(polywire_protocol::ProtocolKind::RestJson1);
    assert_eq!(status, 408);
    assert!(message.contains("before the deadline"), "{message}");
}

/// Sends a message when it is dropped.
struct OnDrop(mpsc::UnboundedSender<()>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

/// If a client sends its deadline, the server cancels the handler at that deadline. Otherwise the
/// handler continues.
#[tokio::test]
async fn clients_send_their_deadline() {
    let (began, mut started) = mpsc::unbounded_channel();
    let (dropped, mut ended) = mpsc::unbounded_channel();
    let handler = dynamic(move |input: Map, context: Context| {
        let left = context.deadline().unwrap() - Instant::now();
        began.send(left).unwrap();
        let guard = OnDrop(dropped.clone());
        async move {
            std::future::pending::<()>().await;
            drop(guard);
            Ok(input)
        }
    });
    let timeouts = Timeouts::DEFAULT.with_handler(Duration::from_secs(3_600));
    let site = Site::start(builder().timeouts(timeouts).operation("Create", handler)).await;
    let total = Duration::from_millis(100);
    for kind in WIRES {
        for send in [false, true] {
            let client =
                site.client_with(kind, |client| client.deadline(total).send_deadline(send));
            let error = client.call("Create", CREATE).await.unwrap_err();
            // The client reports its own deadline, because the deadline of the server is not
            // earlier.
            assert_eq!(error.kind(), CallErrorKind::Deadline, "{kind} {error}");
            let left = within(started.recv()).await.unwrap();
            assert_eq!(left <= total, send, "{kind} {left:?}");
            match send {
                true => within(ended.recv()).await.unwrap(),
                false => assert!(ended.try_recv().is_err(), "{kind}"),
            }
        }
    }
}

/// The request that `call_showing` shows has the deadline header.
#[tokio::test]
async fn shown_requests_contain_the_deadline_header() {
    let site = Site::plain().await;
    let service = crate::support::service();
    let client = polywire_rpc::Client::builder(service, WIRES[0])
        .deadline(Duration::from_secs(7))
        .send_deadline(true)
        .connect(&site.url())
        .unwrap();
    let mut seen = Vec::new();
    let input = Map::from_iter([("name", Value::from("kettle"))]);
    let called = client.call_showing("Create", input, |exchange| {
        let header = exchange.request.headers().get("polywire-timeout-ms");
        seen.push(header.unwrap().to_str().unwrap().parse::<u64>().unwrap());
    });
    called.await.unwrap();
    assert_eq!(seen.len(), 2);
    assert!(seen.iter().all(|millis| (1..=7_000).contains(millis)));
}
