//! JSON-RPC over HTTP: several calls in one message, notifications, limits and deadlines.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use polywire_protocol::{FaultKind, JsonRpc, ProtocolKind};
use polywire_rpc::layers::CrossOrigin;
use polywire_rpc::server::CallService;
use polywire_rpc::{
    Call, CallError, CallErrorKind, Client, ClientBuilder, Context, ServerBuilder, Timeouts,
    dynamic,
};
use polywire_schema::{Limits, Map, Value};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tower::{ServiceExt, layer::layer_fn, service_fn};

use crate::support::{Caller, Reply, SECRET, Site, WIRES, builder, request, service, within};

fn json_rpc() -> ServerBuilder {
    let others = WIRES.into_iter().fold(builder(), ServerBuilder::protocol);
    others.protocol(ProtocolKind::JsonRpc)
}

const JSON: (&str, &str) = ("content-type", "application/json");

async fn post(site: &Site, message: &str) -> Reply {
    let reply = site.send(request("POST /jsonrpc", &[JSON], message)).await;
    if !reply.text().is_empty() {
        assert_eq!(reply.header("content-type"), Some("application/json"));
    }
    reply
}

/// A call of `Add`, or a notification if the id is empty.
fn add(left: i64, id: &str) -> String {
    call("Add", &format!(r#"{{"left":{left},"right":1}}"#), id)
}

fn call(method: &str, params: &str, id: &str) -> String {
    let call = format!(r#""jsonrpc":"2.0","method":"{method}","params":{params}"#);
    match id {
        "" => format!("{{{call}}}"),
        id => format!("{{{call},\"id\":{id}}}"),
    }
}

fn fail(how: &str, id: &str) -> String {
    call("Fail", &format!(r#"["{how}"]"#), id)
}

fn sum(sum: i64, id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","result":{{"sum":{sum}}},"id":{id}}}"#)
}

/// The responses of a batch: id, code (0 for a result), and the message of the data.
fn responses(reply: &Reply) -> Vec<(String, i64, String)> {
    assert_eq!(reply.status, 200, "{}", reply.text());
    let value = polywire_codec::json::read_value(reply.text()).unwrap();
    let responses = value.as_list().unwrap().iter();
    let response = |response: &Value| {
        let error = &response["error"];
        let id = match &response["id"] {
            Value::Integer(id) => id.to_string(),
            _ => String::new(),
        };
        let message = error["data"]["message"].as_str().unwrap_or_default();
        (
            id,
            error["code"].as_i64().unwrap_or_default(),
            message.to_owned(),
        )
    };
    responses.map(response).collect()
}

#[tokio::test]
async fn batches_are_answered_in_their_order() {
    let site = Site::start(json_rpc()).await;
    let list = format!(
        "[{},{},{},{},17,{}]",
        add(1, "\"a\""),
        fail("soon", ""),
        call("Nothing", "{}", "2.50"),
        add(2, ""),
        add(3, "null"),
    );
    let reply = post(&site, &list).await;
    let expected = [
        &sum(2, "\"a\""),
        r#"{"jsonrpc":"2.0","result":{},"id":2.50}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request","data":{"__type":"smithy.framework#SerializationException","message":"expected a call with an object"}},"id":null}"#,
        &sum(4, "null"),
    ];
    assert_eq!(reply.text(), format!("[{}]", expected.join(",")));
    // A list of one call is answered with a list.
    let reply = post(&site, &format!("[{}]", add(5, "1"))).await;
    assert_eq!(reply.text(), format!("[{}]", sum(6, "1")));
    let reply = post(&site, &add(5, "1")).await;
    assert_eq!(reply.text(), sum(6, "1"));
    let reply = post(&site, "").await;
    assert!(reply.text().contains("-32700"), "{}", reply.text());
    site.assert_still_serving().await;
}

#[tokio::test]
async fn notifications_run_and_have_no_response() {
    let count = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&count);
    let handler = dynamic(move |_: Map, _: Context| {
        let counted = Arc::clone(&counted);
        async move {
            tokio::task::yield_now().await;
            counted.fetch_add(1, Ordering::SeqCst);
            Ok(())
        }
    });
    let site = Site::start(json_rpc().operation("Nothing", handler)).await;
    let nothing = call("Nothing", "[]", "");
    for (message, runs) in [
        (nothing.clone(), 1),
        (format!("[{nothing},{nothing}]"), 2),
        // Whatever becomes of them.
        (
            format!(
                "[{nothing},{},{}]",
                fail("internal", ""),
                call("None", "[]", "")
            ),
            1,
        ),
        (call("Nothing", "[1]", ""), 0),
        (fail("panic", ""), 0),
    ] {
        let before = count.load(Ordering::SeqCst);
        let reply = post(&site, &message).await;
        assert_eq!((reply.status, reply.text()), (200, ""), "{message}");
        assert_eq!(reply.header("content-type"), None);
        assert_eq!(count.load(Ordering::SeqCst) - before, runs, "{message}");
    }
}

/// One call of a batch that fails, in whatever way, leaves the others alone.
#[tokio::test]
async fn each_call_ends_once() {
    let site = Site::start(json_rpc()).await;
    let ways = [
        "not there",
        "internal",
        "panic",
        "late panic",
        "wrong output",
        "unknown shape",
        "invalid",
    ];
    let mut calls: Vec<String> = ways.iter().map(|how| fail(how, "1")).collect();
    calls.push(add(1, "2"));
    calls.push(call("Add", r#"{"left":"x"}"#, "3"));
    calls.push(call("Add", r#"{"left":1}"#, "4"));
    let reply = post(&site, &format!("[{}]", calls.join(","))).await;
    assert!(!reply.text().contains(SECRET), "{}", reply.text());
    let codes: Vec<i64> = responses(&reply).iter().map(|(_, code, _)| *code).collect();
    assert_eq!(
        codes,
        [
            -32000, -32603, -32603, -32603, -32603, -32603, -32602, 0, -32602, -32602
        ]
    );
    site.assert_still_serving().await;
}

#[tokio::test]
async fn clients_read_results_and_errors() {
    let site = Site::start(json_rpc()).await;
    let client = site.client(ProtocolKind::JsonRpc);
    let input = r#"{"left":1,"right":2,"note":"n"}"#;
    let expected = r#"{"sum":3,"note":"n"}"#;
    assert_eq!(client.call("Add", input).await.unwrap(), expected);
    let fault = client.fault("Fail", r#"{"how":"not there"}"#).await;
    assert_eq!(fault.shape(), "example.wire#NotThere");
    assert_eq!(
        fault.details().get("count").and_then(Value::as_i64),
        Some(3)
    );
    let fault = client.fault("Fail", r#"{"how":"internal"}"#).await;
    assert_eq!(
        (fault.kind(), fault.code()),
        (FaultKind::Internal, Some(-32603))
    );
    let fault = client.fault("Fail", r#"{"how":"panic"}"#).await;
    assert_eq!(fault.kind(), FaultKind::Internal);
}

fn input<const N: usize>(members: [(&'static str, Value); N]) -> Map {
    Map::from_iter(members)
}

/// The input of `Add`, whose output is 1 more.
fn number(left: i64) -> Map {
    input([("left", left.into()), ("right", 1.into())])
}

/// What became of a call: its sum, or the kind and text of its error.
fn outcome(result: &Result<Value, CallError>) -> Result<i64, (CallErrorKind, String)> {
    match result {
        Ok(output) => Ok(output["sum"].as_i64().unwrap()),
        Err(error) => Err((error.kind(), error.to_string())),
    }
}

#[tokio::test]
async fn clients_send_notifications() {
    let count = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&count);
    let handler = dynamic(move |_: Map, _: Context| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Ok(()) }
    });
    let site = Site::start(json_rpc().operation("Nothing", handler)).await;
    let Caller(client) = site.client(ProtocolKind::JsonRpc);
    for expected in 1..4 {
        within(client.notify("Nothing", Map::new())).await.unwrap();
        assert_eq!(count.load(Ordering::SeqCst), expected);
    }
    // The errors of the call are not known, but those of the client are.
    let panics = input([("how", "panic".into())]);
    within(client.notify("Fail", panics)).await.unwrap();
    let error = client.notify("None", Map::new()).await.unwrap_err();
    assert_eq!(error.kind(), CallErrorKind::UnknownOperation, "{error}");
    let wrong = input([("how", 5.into())]);
    let error = client.notify("Fail", wrong).await.unwrap_err();
    assert_eq!(error.kind(), CallErrorKind::Encode, "{error}");
}

#[tokio::test]
async fn clients_send_batches() {
    let site = Site::start(json_rpc()).await;
    let Caller(client) = site.client(ProtocolKind::JsonRpc);
    let calls = [
        ("Add", number(1)),
        ("Fail", input([("how", "not there".into())])),
        ("Nothing", Map::new()),
        ("Fail", input([("how", "internal".into())])),
        ("Add", number(2)),
    ];
    let results = within(client.call_batch(calls)).await.unwrap();
    let [one, two, three, four, five] = &results[..] else {
        panic!("{results:?}");
    };
    assert_eq!((outcome(one), outcome(five)), (Ok(2), Ok(3)));
    let fault = two.as_ref().unwrap_err().fault().unwrap();
    assert_eq!(fault.shape(), "example.wire#NotThere");
    assert_eq!(
        fault.details().get("count").and_then(Value::as_i64),
        Some(3)
    );
    assert_eq!(three.as_ref().unwrap(), &Value::Map(Map::new()));
    let fault = four.as_ref().unwrap_err().fault().unwrap();
    assert_eq!(fault.kind(), FaultKind::Internal);
    // One call is a batch too, and many are.
    let results = within(client.call_batch([("Add", number(5))])).await;
    assert_eq!(outcome(&results.unwrap()[0]), Ok(6));
    let calls = (0..1000).map(|left| ("Add", number(left)));
    let results = within(client.call_batch(calls)).await.unwrap();
    let sums: Vec<_> = results.iter().map(outcome).collect();
    assert_eq!(sums, (1..1001).map(Ok).collect::<Vec<_>>());
}

/// If a call cannot be sent, none is. Without calls nothing is sent.
#[tokio::test]
async fn batches_that_are_not_sent() {
    let builder = || Client::builder(service(), ProtocolKind::JsonRpc);
    let client = builder().connect("http://127.0.0.1:1").unwrap();
    assert!(client.call_batch([]).await.unwrap().is_empty());
    let wrong = input([("left", "x".into())]);
    let many = vec![("Add", number(1)); 1001];
    for (calls, kind) in [
        (
            vec![("Add", number(1)), ("None", Map::new())],
            CallErrorKind::UnknownOperation,
        ),
        (
            vec![("Add", number(1)), ("Add", wrong)],
            CallErrorKind::Encode,
        ),
        (many, CallErrorKind::Encode),
        (vec![("Add", number(1))], CallErrorKind::Connect),
    ] {
        let error = within(client.call_batch(calls)).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.is_unstarted());
    }
    let hosts = ["a", "b"].map(|tenant| ("Hosted", input([("tenant", tenant.into())])));
    let error = within(client.call_batch(hosts)).await.unwrap_err();
    assert!(error.to_string().contains("one host"), "{error}");
}

/// Only JSON-RPC has notifications and batches.
#[tokio::test]
async fn other_protocols_have_no_batches() {
    let kinds = WIRES.into_iter().map(|kind| (kind, "http://127.0.0.1:1"));
    for (kind, url) in kinds.chain([(ProtocolKind::Frame, "tcp://127.0.0.1:1")]) {
        let client = Client::builder(service(), kind).connect(url).unwrap();
        let error = client.notify("Add", number(1)).await.unwrap_err();
        assert_eq!(error.kind(), CallErrorKind::Usage);
        assert_eq!(error.to_string(), format!("{kind} has no notifications"));
        let error = client.call_batch([("Add", number(1))]).await.unwrap_err();
        assert_eq!(error.kind(), CallErrorKind::Usage);
        assert_eq!(error.to_string(), format!("{kind} has no batches"));
    }
}

/// A client of a server that answers one request with this text, and the body of the request.
async fn answered(
    status: u16,
    body: &str,
    cut: usize,
) -> (ClientBuilder, String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let len = body.len() + cut;
    let length = match status {
        204 => String::new(),
        _ => format!("content-length: {len}\r\n"),
    };
    let answer = format!("HTTP/1.1 {status} X\r\n{length}\r\n{body}");
    let serving = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = BufReader::new(stream);
        let (mut line, mut len) = (String::new(), 0);
        while line != "\r\n" {
            line.clear();
            stream.read_line(&mut line).await.unwrap();
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                len = value.trim().parse().unwrap();
            }
        }
        let mut request = vec![0; len];
        stream.read_exact(&mut request).await.unwrap();
        stream.write_all(answer.as_bytes()).await.unwrap();
        String::from_utf8(request).unwrap()
    });
    let builder = Client::builder(service(), ProtocolKind::JsonRpc);
    (builder, url, serving)
}

const ERROR: &str = r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"m"},"id":null}"#;

#[tokio::test]
async fn responses_to_notifications() {
    for (status, body, cut, expected) in [
        (200, "", 0, None),
        (202, "", 0, None),
        (204, "", 0, None),
        // Some servers answer notifications too.
        (200, "null", 0, None),
        (200, &*sum(2, "null"), 0, None),
        (200, ERROR, 0, Some(CallErrorKind::Fault)),
        (400, ERROR, 0, Some(CallErrorKind::Fault)),
        (201, "", 0, Some(CallErrorKind::Protocol)),
        (500, "", 0, Some(CallErrorKind::Protocol)),
        (503, "later", 0, Some(CallErrorKind::Protocol)),
        (200, "hello", 0, Some(CallErrorKind::Decode)),
        (200, "", 1, Some(CallErrorKind::Disconnected)),
    ] {
        let (builder, url, serving) = answered(status, body, cut).await;
        let client = builder.connect(&url).unwrap();
        let found = within(client.notify("Add", number(1))).await;
        let kind = found.as_ref().err().map(CallError::kind);
        assert_eq!(kind, expected, "{status} {body}: {found:?}");
        assert_eq!(within(serving).await.unwrap(), add(1, ""));
    }
}

#[tokio::test]
async fn responses_to_batches() {
    let missing = |text: &str| {
        let text = format!("cannot decode the response: {text}");
        Err((CallErrorKind::Decode, text))
    };
    let null = || Err((CallErrorKind::Fault, "m".to_owned()));
    let [one, two] = [sum(1, "1"), sum(2, "2")];
    let list = |responses: &[&str]| format!("[{}]", responses.join(","));
    for (body, expected) in [
        (list(&[&one, &two]), [Ok(1), Ok(2)]),
        (list(&[&two, &one]), [Ok(1), Ok(2)]),
        (list(&[&two]), [missing("no response has the id 1"), Ok(2)]),
        (
            list(&[&two, &two, &one]),
            [Ok(1), missing("several responses have the id 2")],
        ),
        (
            list(&[&sum(9, "9"), &two]),
            [
                missing("no response has the id 1, but one has the unknown id 9"),
                Ok(2),
            ],
        ),
        (list(&[ERROR, &two]), [null(), Ok(2)]),
        // What is not an object answers no call.
        (list(&["null", &two, "7", &one]), [Ok(1), Ok(2)]),
        (
            list(&[&two, "null"]),
            [missing("no response has the id 1"), Ok(2)],
        ),
    ] {
        let (builder, url, serving) = answered(200, &body, 0).await;
        let client = builder.connect(&url).unwrap();
        let calls = [("Add", number(1)), ("Add", number(2))];
        let results = within(client.call_batch(calls)).await.unwrap();
        let mut found: Vec<_> = results.iter().map(outcome).collect();
        for (found, expected) in found.iter_mut().zip(&expected) {
            if let (Err((_, found)), Err((CallErrorKind::Fault, message))) = (found, expected) {
                assert!(found.contains(message), "{found}");
                found.clone_from(message);
            }
        }
        assert_eq!(found, expected, "{body}");
        let request = within(serving).await.unwrap();
        assert_eq!(request, list(&[&add(1, "1"), &add(2, "2")]));
    }
    for (status, body, cut, expected) in [
        (200, ERROR, 0, CallErrorKind::Fault),
        (400, ERROR, 0, CallErrorKind::Fault),
        (200, &one, 0, CallErrorKind::Protocol),
        (503, "[later", 0, CallErrorKind::Protocol),
        (200, "", 0, CallErrorKind::Decode),
        (204, "", 0, CallErrorKind::Protocol),
        (200, &format!("[{one},"), 0, CallErrorKind::Decode),
        (200, &format!("[{one},"), 5, CallErrorKind::Disconnected),
    ] {
        let (builder, url, _serving) = answered(status, body, cut).await;
        let client = builder.connect(&url).unwrap();
        let calls = [("Add", number(1)), ("Add", number(2))];
        let error = within(client.call_batch(calls)).await.unwrap_err();
        assert_eq!(error.kind(), expected, "{status} {body}: {error}");
    }
}

/// Limits count for the whole response.
#[tokio::test]
async fn limits_of_responses_to_batches() {
    let body = format!("[{},{}]", sum(1, "1"), sum(2, "2"));
    let (builder, url, _serving) = answered(200, &body, 0).await;
    let limits = Limits::DEFAULT.with_bytes(body.len() - 1);
    let client = builder.limits(limits).connect(&url).unwrap();
    let calls = || [("Add", number(1)), ("Add", number(2))];
    let error = within(client.call_batch(calls())).await.unwrap_err();
    assert!(error.to_string().contains("Limits::bytes"), "{error}");
    let many = vec!["1"; 100].join(",");
    let list =
        |id: u32| format!(r#"{{"jsonrpc":"2.0","result":{{"document":[{many}]}},"id":{id}}}"#);
    let deep = format!("[{},{},{}]", list(1), list(2), list(3));
    let (builder, url, _serving) = answered(200, &deep, 0).await;
    let client = builder.limits(Limits::DEFAULT.with_items(250));
    let client = client.connect(&url).unwrap();
    let call = |_| ("DocumentPayload", Map::new());
    let error = within(client.call_batch([1, 2, 3].map(call))).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("Limits::items"), "{error}");
}

#[tokio::test]
async fn both_sides_at_another_path() {
    let protocol = || Box::new(JsonRpc::new(service().service()).with_path("/api/rpc"));
    let site = Site::start(builder().custom_protocol(protocol())).await;
    let client = site.client_with(ProtocolKind::RestJson1, |builder| {
        builder.custom_protocol(protocol())
    });
    let input = r#"{"left":1,"right":2}"#;
    assert_eq!(client.call("Add", input).await.unwrap(), r#"{"sum":3}"#);
}

/// Of a message with too many calls none runs. Calls after too many results do not run.
#[tokio::test]
async fn limits_of_messages() {
    let limits = Limits::DEFAULT.with_calls(3).with_bytes(500);
    let site = Site::start(json_rpc().limits(limits)).await;
    let list = |count: usize| format!("[{}]", vec![call("Nothing", "[]", "1"); count].join(","));
    assert_eq!(responses(&post(&site, &list(3)).await).len(), 3);
    let reply = post(&site, &list(4)).await;
    assert!(
        reply
            .text()
            .starts_with(r#"{"jsonrpc":"2.0","error":{"code":-32600"#)
    );
    let reply = post(&site, &format!("[{}]", " ".repeat(600))).await;
    assert!(
        reply.text().contains("RequestEntityTooLarge"),
        "{}",
        reply.text()
    );
    let large =
        dynamic(|_: Map, _: Context| async move { Ok(Map::from_iter([("how", "x".repeat(400))])) });
    let site = Site::start(json_rpc().limits(limits).operation("Fail", large)).await;
    let list = [fail("", "1"), fail("", "2"), fail("", "3")].join(",");
    let found = responses(&post(&site, &format!("[{list}]")).await);
    let codes: Vec<i64> = found.iter().map(|(_, code, _)| *code).collect();
    assert_eq!(codes, [0, 0, -32000]);
    assert!(found[2].2.contains("not called"), "{found:?}");
    // Invalid calls after too many results say so too.
    let list = [fail("", "1"), fail("", "2"), call("None", "[]", "3")].join(",");
    let found = responses(&post(&site, &format!("[{list}]")).await);
    let codes: Vec<i64> = found.iter().map(|(_, code, _)| *code).collect();
    assert_eq!(codes, [0, 0, -32000]);
    assert!(found[2].2.contains("not called"), "{found:?}");
}

/// The calls of a message share its deadline.
#[tokio::test]
async fn deadlines() {
    let timeouts = Timeouts::DEFAULT.with_handler(Duration::from_millis(150));
    let site = Site::start(json_rpc().timeouts(timeouts)).await;
    let list = [add(1, "1"), fail("slow", "2"), add(2, "3"), add(3, "")].join(",");
    let reply = post(&site, &format!("[{list}]")).await;
    let responses = responses(&reply);
    assert_eq!(responses.len(), 3);
    let [one, two, three] = &responses[..] else {
        panic!("{responses:?}");
    };
    assert_eq!(one.1, 0);
    assert!(two.2.contains("took too long"), "{two:?}");
    assert!(three.2.contains("before the call started"), "{three:?}");
    // The header of the caller counts too.
    let headers = [JSON, ("polywire-timeout-ms", "20")];
    let reply = site
        .send(request("POST /jsonrpc", &headers, fail("slow", "1")))
        .await;
    assert!(reply.text().contains("took too long"), "{}", reply.text());
    assert_eq!(reply.status, 200);
}

/// Layers around calls see each call, in order.
#[tokio::test]
async fn layers_see_each_call() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let layer = layer_fn(move |inner: CallService| {
        let log = Arc::clone(&log);
        service_fn(move |call: Call| {
            log.lock().unwrap().push(call.operation().name().to_owned());
            inner.clone().oneshot(call)
        })
    });
    let site = Site::start(json_rpc().call_layer(layer)).await;
    let list = [
        add(1, "1"),
        call("Nothing", "[]", ""),
        call("None", "[]", "2"),
        add(1, ""),
    ]
    .join(",");
    post(&site, &format!("[{list}]")).await;
    assert_eq!(*seen.lock().unwrap(), ["Add", "Nothing", "Add"]);
}

/// A message counts as many times as it has calls.
#[tokio::test]
async fn rates_count_calls() {
    let (per_second, burst) = (NonZeroU32::MIN, NonZeroU32::new(2).unwrap());
    let site = Site::start(json_rpc().rate_per_caller(per_second, burst, |_| Some(()))).await;
    let list = [add(1, "1"), add(2, "2"), add(3, "3")].join(",");
    let responses = responses(&post(&site, &format!("[{list}]")).await);
    let codes: Vec<i64> = responses.iter().map(|(_, code, _)| *code).collect();
    assert_eq!(codes, [0, 0, -32000], "{responses:?}");
}

/// Large parameters are decoded on the pool, and large batches are split there.
#[tokio::test]
async fn large_messages() {
    let site = Site::start(json_rpc()).await;
    let note = "n".repeat(100_000);
    let large = |id: &str| call("Add", &format!(r#"[1,2,"{note}"]"#), id);
    let list = format!("[{},{},{}]", large("1"), add(1, "2"), large("3"));
    let reply = post(&site, &list).await;
    assert_eq!(responses(&reply).len(), 3);
    assert!(reply.body.len() > 200_000);
    let calls = vec![add(1, "1"); 1000].join(",");
    assert_eq!(
        responses(&post(&site, &format!("[{calls}]")).await).len(),
        1000
    );
}

/// Web pages of other origins cannot call without asking the server first.
#[tokio::test]
async fn web_pages() {
    let site = Site::start(json_rpc().cross_origin(CrossOrigin::new())).await;
    for media_type in ["text/plain", "application/x-www-form-urlencoded", ""] {
        let headers = [("content-type", media_type)];
        let reply = site
            .send(request("POST /jsonrpc", &headers, add(1, "1")))
            .await;
        assert_eq!(reply.status, 415, "{media_type}");
        assert!(reply.text().contains("-32600"), "{}", reply.text());
    }
    let headers = [JSON, ("origin", "https://example.com")];
    let reply = site
        .send(request("POST /jsonrpc", &headers, add(1, "1")))
        .await;
    assert_eq!(reply.status, 403);
    assert!(reply.text().ends_with("\"id\":null}"), "{}", reply.text());
    let reply = site.send(request("GET /jsonrpc", &[], "")).await;
    assert_eq!((reply.status, reply.header("allow")), (405, Some("POST")));
}
