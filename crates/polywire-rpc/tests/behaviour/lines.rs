//! JSON-RPC over byte streams: one message per line.

use std::convert::Infallible;
use std::io;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Response, StatusCode};
use polywire_codec::json;
use polywire_protocol::{Fault, FaultKind, ProtocolKind};
use polywire_rpc::server::{HeadService, HttpRequest, HttpResponse, HttpService, Peer, RoutedCall};
use polywire_rpc::{
    CallError, CallErrorKind, Client, ClientBuilder, Server, ServerBuilder, Timeouts, dynamic,
};
use polywire_schema::{Limits, Map, Value};
use tokio::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, duplex,
};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tower::ServiceExt;
use tower::layer::layer_fn;
use tower_http::limit::RequestBodyLimitLayer;

use crate::support::{Caller, builder, service, within};

const ADD: &str = r#"{"left":1,"right":2}"#;

fn json_rpc() -> ServerBuilder {
    builder().protocol(ProtocolKind::JsonRpc)
}

/// Serves one end of a stream, and returns the other.
fn serve(server: Server) -> (DuplexStream, JoinHandle<io::Result<()>>) {
    let (own, other) = duplex(1024);
    let serving = tokio::spawn(async move { server.serve_lines(other, Peer::unix(None)).await });
    (own, serving)
}

fn client_of(stream: DuplexStream, set: impl FnOnce(ClientBuilder) -> ClientBuilder) -> Caller {
    let builder = set(Client::builder(service(), ProtocolKind::JsonRpc));
    Caller(builder.connect_lines(stream).unwrap())
}

fn client(server: ServerBuilder) -> (Caller, JoinHandle<io::Result<()>>) {
    let (stream, serving) = serve(server.build().unwrap());
    (client_of(stream, |builder| builder), serving)
}

fn call(method: &str, params: &str, id: &str) -> String {
    let id = match id {
        "" => String::new(),
        id => format!(",\"id\":{id}"),
    };
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}{id}}}"#)
}

/// Sends text, closes the write half, and returns all lines of the server.
async fn answers(server: ServerBuilder, text: &str) -> Vec<String> {
    answers_of(server.build().unwrap(), text).await
}

async fn answers_of(server: Server, text: &str) -> Vec<String> {
    let (stream, serving) = serve(server);
    let (mut read, mut write) = tokio::io::split(stream);
    let text = text.to_owned();
    let writing = tokio::spawn(async move {
        write.write_all(text.as_bytes()).await.unwrap();
        write.shutdown().await.unwrap();
    });
    let mut answer = String::new();
    within(read.read_to_string(&mut answer)).await.unwrap();
    within(writing).await.unwrap();
    within(serving).await.unwrap().unwrap();
    assert!(answer.is_empty() || answer.ends_with('\n'), "{answer}");
    answer.lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn each_line_is_a_message() {
    let sum = |id: &str| format!(r#"{{"jsonrpc":"2.0","result":{{"sum":3}},"id":{id}}}"#);
    let add = |id: &str| call("Add", ADD, id);
    for (text, expected) in [
        (String::new(), vec![]),
        ("\n \r\n\n".to_owned(), vec![]),
        (format!("{}\n", add("1")), vec![sum("1")]),
        // The last line may have no end.
        (add("1"), vec![sum("1")]),
        (format!("\r\n{}\r\n", add("\"x\"")), vec![sum("\"x\"")]),
        (format!("{}\n", add("")), vec![]),
        (
            format!("[{},{}]\n", add("1"), add("2")),
            vec![format!("[{},{}]", sum("1"), sum("2"))],
        ),
    ] {
        assert_eq!(answers(json_rpc(), &text).await, expected, "{text}");
    }
    let text = format!("{{\n{}\n\u{e4}\n", add("1"));
    let mut lines = answers(json_rpc(), &text).await;
    lines.sort();
    assert_eq!(lines.len(), 3);
    assert!(
        lines[0].contains("-32700") && lines[1].contains("-32700"),
        "{lines:?}"
    );
    assert_eq!(lines[2], sum("1"));
}

/// A call that takes long does not hold back the others.
#[tokio::test]
async fn answers_come_when_they_are_ready() {
    let (soon, nothing) = (call("Fail", r#"["soon"]"#, "1"), call("Nothing", "[]", "2"));
    let lines = answers(json_rpc(), &format!("{soon}\n{nothing}\n")).await;
    assert!(lines[0].ends_with("\"id\":2}"), "{lines:?}");
    assert!(lines[1].ends_with("\"id\":1}"), "{lines:?}");
    // More than are in progress at once.
    let many: Vec<String> = (0..300)
        .map(|id| call("Fail", r#"["soon"]"#, &id.to_string()))
        .collect();
    assert_eq!(answers(json_rpc(), &many.join("\n")).await.len(), 300);
}

#[tokio::test]
async fn lines_that_are_too_long() {
    let limits = Limits::DEFAULT.with_bytes(100);
    let add = call("Add", ADD, "1");
    let text = format!("{}\n{add}\n{}", "x".repeat(5000), "y".repeat(5000));
    let lines = answers(json_rpc().limits(limits), &text).await;
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!(
        lines
            .iter()
            .filter(|line| line.contains("RequestEntityTooLarge"))
            .count(),
        2
    );
    assert_eq!(
        lines
            .iter()
            .filter(|line| line.contains("\"sum\":3"))
            .count(),
        1
    );
}

#[tokio::test]
async fn without_the_protocol_nothing_is_served() {
    let (_stream, serving) = serve(builder().build().unwrap());
    let error = within(serving).await.unwrap().unwrap_err();
    assert!(
        error.to_string().contains("does not offer JSON-RPC"),
        "{error}"
    );
    let (own, _other) = duplex(64);
    let other = Client::builder(service(), ProtocolKind::RpcV2Json).connect_lines(own);
    let error = other.unwrap_err().to_string();
    assert_eq!(error, "rpcv2Json cannot be used over a stream of lines");
}

/// At any mount.
#[tokio::test]
async fn mounts() {
    for mount in ["/api", "//rpc.test", "//*.rpc.test/api"] {
        let mount = mount.parse().unwrap();
        let (client, _) = client(builder().protocol_at(mount, ProtocolKind::JsonRpc));
        assert_eq!(client.call("Add", ADD).await.unwrap(), r#"{"sum":3}"#);
    }
}

#[tokio::test]
async fn a_client_has_several_calls_in_flight() {
    let (client, serving) = client(json_rpc());
    let calls = (0..200).map(|number| {
        let client = client.clone();
        tokio::spawn(async move {
            match number % 4 {
                0 => {
                    let fault = client.fault("Fail", r#"{"how":"not there"}"#).await;
                    assert_eq!(fault.shape(), "example.wire#NotThere");
                    assert_eq!(
                        fault.details().get("count").and_then(Value::as_i64),
                        Some(3)
                    );
                }
                1 => {
                    let answer = client.call("Fail", r#"{"how":"soon"}"#).await;
                    assert_eq!(answer.unwrap(), r#"{"how":"soon"}"#);
                }
                2 => {
                    let fault = client.fault("Fail", r#"{"how":"panic"}"#).await;
                    assert_eq!(fault.kind(), FaultKind::Internal);
                }
                _ => {
                    let input = format!(r#"{{"left":{number},"right":1}}"#);
                    let answer = client.call("Add", &input).await.unwrap();
                    assert_eq!(answer, format!(r#"{{"sum":{}}}"#, number + 1));
                }
            }
        })
    });
    let calls: Vec<_> = calls.collect();
    for call in calls {
        within(call).await.unwrap();
    }
    // The stream ends with the client.
    drop(client);
    within(serving).await.unwrap().unwrap();
}

/// Calls that are rejected before they are read get the error, although several are in flight.
#[tokio::test]
async fn rejected_calls() {
    let (per_second, burst) = (NonZeroU32::MIN, NonZeroU32::new(1).unwrap());
    let (client, _) = client(json_rpc().rate_per_caller(per_second, burst, |_| Some(())));
    let slow = client.clone();
    let slow = tokio::spawn(async move { slow.call("Fail", r#"{"how":"soon"}"#).await });
    tokio::time::sleep(Duration::from_millis(20)).await;
    let (one, two) = tokio::join!(client.fault("Add", ADD), client.fault("Add", ADD));
    for fault in [one, two] {
        assert_eq!(fault.kind(), FaultKind::Overloaded, "{fault}");
    }
    within(slow).await.unwrap().unwrap();
}

/// An error of a whole message.
const ERROR: &[u8] = br#"{"jsonrpc":"2.0","error":{"code":7,"message":"m"},"id":null}"#;

/// An error of a whole message, in another form than that of our servers.
const OTHER_ERROR: &str =
    "{\n \"id\": null,\n \"error\": {\"message\": \"m\", \"code\": 7},\n \"jsonrpc\": \"2.0\"\n}";

/// The code and id of each response on a line.
fn errors(line: &str) -> Vec<(i64, Value)> {
    let value = json::read_value(line).unwrap();
    let responses = match &value {
        Value::List(responses) => responses.clone(),
        one => vec![one.clone()],
    };
    let error = |response: &Value| {
        assert_eq!(response["jsonrpc"].as_str(), Some("2.0"), "{line}");
        let code = response["error"]["code"].as_i64().unwrap_or_default();
        (code, response["id"].clone())
    };
    responses.iter().map(error).collect()
}

/// Each call with an id gets the error of its message, whether a layer or the server rejected it.
#[tokio::test]
async fn rejected_messages_keep_their_ids() {
    let shed = |status: u16, text: &str| {
        let text = Bytes::from(text.to_owned());
        let inner = move |_: HttpService| {
            let text = text.clone();
            tower::service_fn(move |_: HttpRequest| {
                let mut response = HttpResponse::new(text.clone().into());
                *response.status_mut() = StatusCode::from_u16(status).unwrap();
                std::future::ready(Ok::<_, Infallible>(response))
            })
        };
        json_rpc().http_layer(layer_fn(inner))
    };
    let one_point_zero = String::from_utf8_lossy(ERROR).replace("2.0", "1.0");
    let of_a_call = String::from_utf8_lossy(ERROR).replace("null", "1");
    // The response has the results, but not its extensions.
    let rebuilding =
        json_rpc().http_layer(layer_fn(|inner: HttpService| {
            tower::service_fn(move |request: HttpRequest| {
                let inner = inner.clone();
                async move {
                    Ok::<_, Infallible>(Response::new(inner.oneshot(request).await?.into_body()))
                }
            })
        }));
    let head = |answer: fn() -> Result<Response<Bytes>, Fault>| {
        let inner =
            move |_: HeadService| tower::service_fn(move |_: RoutedCall| async move { answer() });
        json_rpc().head_layer(layer_fn(inner))
    };
    let cases = [
        (
            json_rpc().http_layer(RequestBodyLimitLayer::new(20)),
            -32000,
        ),
        (shed(503, "later"), -32000),
        (shed(503, r#"[{"error":1,"id":null}]"#), -32000),
        (shed(500, "oops"), -32603),
        // Objects, but not of JSON-RPC 2.0.
        (shed(429, r#"{"error":"too many requests"}"#), -32000),
        (shed(503, r#"{"error":{"code":7},"id":null}"#), -32000),
        (shed(503, &one_point_zero), -32000),
        // Errors of JSON-RPC in another form than ours, and of one call.
        (shed(429, OTHER_ERROR), 7),
        (shed(200, &of_a_call), 7),
        (rebuilding, -32603),
        (shed(200, "{}"), -32603),
        (shed(200, ""), -32603),
        (shed(200, r#"{"a":null}"#), -32603),
        (shed(200, r#"x,"id":null}"#), -32603),
        (shed(200, r#"{"error":1,"id":null,"x":1}"#), -32603),
        (
            head(|| Err(Fault::new(FaultKind::Overloaded, "later"))),
            -32000,
        ),
        (head(|| Err(Fault::internal("why"))), -32603),
        (head(|| panic!("why")), -32603),
        (head(|| Ok(Response::new(Bytes::from_static(ERROR)))), 7),
        (
            json_rpc().timeouts(Timeouts::DEFAULT.with_handler(Duration::ZERO)),
            -32000,
        ),
    ];
    let mut without_ids = Vec::new();
    for (server, code) in cases {
        let server = server.build().unwrap();
        for (message, ids) in [
            (call("Add", ADD, "1"), vec![Value::from(1)]),
            (call("Add", ADD, ""), vec![]),
            (
                format!(
                    "[{},{},7,{}]",
                    call("Add", ADD, "\"x\""),
                    call("Add", ADD, ""),
                    call("None", "[]", "2")
                ),
                vec!["x".into(), Value::Null, 2.into()],
            ),
        ] {
            let lines = answers_of(server.clone(), &message).await;
            let found: Vec<_> = lines.iter().flat_map(|line| errors(line)).collect();
            let mut expected: Vec<_> = ids.into_iter().map(|id| (code, id)).collect();
            // Of a message that was split, each call has its own error.
            if found.len() == 3 && found[1].0 == -32600 {
                expected[1].0 = -32600;
                expected[2].0 = -32601;
            }
            assert_eq!(found, expected, "{lines:?}");
        }
        // Without ids there is one error: of the layer, or of the message.
        let lines = answers_of(server, "{").await;
        assert_eq!(lines.len(), 1);
        let (found, id) = errors(&lines[0])[0].clone();
        without_ids.push((code, found));
        assert_eq!(id, Value::Null);
    }
    without_ids.retain(|(code, found)| code != found);
    // These layers pass the message on: the limit of bodies, the rebuilt response, and the time of
    // handlers.
    let parse_error = -32700;
    assert_eq!(
        without_ids,
        [
            (-32000, parse_error),
            (-32603, parse_error),
            (-32000, parse_error)
        ]
    );
}

/// A line that does not end is discarded. Its memory is free again.
#[tokio::test]
async fn slow_lines() {
    let timeouts = Timeouts::DEFAULT.with_body(Duration::from_millis(50));
    let (stream, serving) = serve(json_rpc().timeouts(timeouts).build().unwrap());
    let (read, mut write) = tokio::io::split(stream);
    let mut read = BufReader::new(read).lines();
    write.write_all(b"{\"jsonrpc\"").await.unwrap();
    let line = within(read.next_line()).await.unwrap().unwrap();
    assert!(line.contains("RequestTimeout"), "{line}");
    assert!(line.ends_with("\"id\":null}"), "{line}");
    let rest = format!(":\"2.0\"}}\n{}\n", call("Add", ADD, "1"));
    write.write_all(rest.as_bytes()).await.unwrap();
    let line = within(read.next_line()).await.unwrap().unwrap();
    assert!(line.contains("\"sum\":3"), "{line}");
    // Between lines any time may pass.
    tokio::time::sleep(Duration::from_millis(200)).await;
    write.shutdown().await.unwrap();
    assert_eq!(within(read.next_line()).await.unwrap(), None);
    within(serving).await.unwrap().unwrap();
}

/// The memory of a message is counted once, from its line to its response, also if a layer waits before it reads the body.
#[tokio::test]
async fn memory_of_messages() {
    const LEN: usize = 300_000;
    let gate = Arc::new(Semaphore::new(0));
    let waiting = Arc::clone(&gate);
    let layer = layer_fn(move |inner: HttpService| {
        let waiting = Arc::clone(&waiting);
        tower::service_fn(move |request: HttpRequest| {
            let (waiting, inner) = (Arc::clone(&waiting), inner.clone());
            async move {
                drop(waiting.acquire().await);
                inner.oneshot(request).await
            }
        })
    });
    let handler_gate = Arc::new(Semaphore::new(0));
    let waiting = Arc::clone(&handler_gate);
    let handler = dynamic(move |_: Map, _| {
        let waiting = Arc::clone(&waiting);
        async move {
            drop(waiting.acquire().await);
            Ok(())
        }
    });
    let server = json_rpc().operation("Nothing", handler).http_layer(layer);
    let limits = Limits::DEFAULT.with_bytes(LEN * 3 / 2);
    let server = server.limits(limits).body_memory(LEN * 3 / 2);
    let server = server.build().unwrap();
    let (stream, _serving) = serve(server.clone());
    let (read, mut write) = tokio::io::split(stream);
    let mut read = BufReader::new(read).lines();
    let message = call("Nothing", "{}", "1").replace("{}", &format!("{{{}}}", " ".repeat(LEN)));
    let taken = || usize::try_from(server.frame_stats().memory).unwrap();
    write
        .write_all(format!("{message}\n").as_bytes())
        .await
        .unwrap();
    // The next line is read, so the first one is a message.
    write.write_all(b"x").await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(taken() >= LEN - 64 * 1024, "{}", taken());
    write.write_all(b"\n").await.unwrap();
    // For a second one there is not enough.
    write
        .write_all(format!("{message}\n").as_bytes())
        .await
        .unwrap();
    let line = within(read.next_line()).await.unwrap().unwrap();
    assert!(line.contains("memory"), "{line}");
    // The layer lets it pass: it is counted once, until the handler is done.
    gate.add_permits(1);
    tokio::time::sleep(Duration::from_millis(50)).await;
    let range = LEN - 64 * 1024..LEN + LEN / 8;
    assert!(range.contains(&taken()), "{}", taken());
    handler_gate.add_permits(1);
    for _ in 0..2 {
        within(read.next_line()).await.unwrap().unwrap();
    }
    while taken() > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Counts the writes to a stream.
struct Counted(DuplexStream, Arc<Mutex<Vec<usize>>>);

impl tokio::io::AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut tokio::io::ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.0).poll_write(context, bytes);
        if let Poll::Ready(Ok(len)) = &written {
            self.1.lock().unwrap().push(*len);
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

#[tokio::test]
async fn a_response_is_one_write() {
    let server = json_rpc().build().unwrap();
    let (mut own, other) = duplex(10_000);
    let writes = Arc::<Mutex<Vec<usize>>>::default();
    let counted = Counted(other, Arc::clone(&writes));
    let serving = tokio::spawn(async move { server.serve_lines(counted, Peer::unix(None)).await });
    let text = format!("{}\n{{\n", call("Add", ADD, "1"));
    own.write_all(text.as_bytes()).await.unwrap();
    own.shutdown().await.unwrap();
    let mut answer = String::new();
    within(own.read_to_string(&mut answer)).await.unwrap();
    within(serving).await.unwrap().unwrap();
    let mut lines: Vec<usize> = answer.split_inclusive('\n').map(str::len).collect();
    let mut writes = writes.lock().unwrap().clone();
    lines.sort_unstable();
    writes.sort_unstable();
    assert_eq!(writes, lines);
}

/// The end of the connection ends all calls, and those that follow.
#[tokio::test]
async fn closing_ends_pending_calls() {
    let (stream, serving) = serve(json_rpc().build().unwrap());
    let client = client_of(stream, |builder| builder);
    let pending = (0..3).map(|_| {
        let client = client.clone();
        tokio::spawn(async move { client.call("Fail", r#"{"how":"slow"}"#).await })
    });
    let pending: Vec<_> = pending.collect();
    tokio::time::sleep(Duration::from_millis(20)).await;
    serving.abort();
    for call in pending {
        let error = within(call).await.unwrap().unwrap_err();
        assert_eq!(error.kind(), CallErrorKind::Disconnected, "{error}");
        assert!(!error.is_unstarted());
    }
    let error = client.call("Add", ADD).await.unwrap_err();
    assert_eq!(error.kind(), CallErrorKind::Connect, "{error}");
    assert!(error.is_unstarted());
}

#[tokio::test]
async fn deadlines_of_a_client() {
    let (stream, _serving) = serve(json_rpc().build().unwrap());
    let client = client_of(stream, |builder| {
        builder.deadline(Duration::from_millis(50))
    });
    let error = client.call("Fail", r#"{"how":"slow"}"#).await.unwrap_err();
    assert_eq!(error.kind(), CallErrorKind::Deadline, "{error}");
    // A response that comes late is ignored.
    let error = client.call("Fail", r#"{"how":"soon"}"#).await.unwrap_err();
    assert_eq!(error.kind(), CallErrorKind::Deadline, "{error}");
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(client.call("Add", ADD).await.unwrap(), r#"{"sum":3}"#);
}

/// A server by hand: what a client makes of its lines.
#[tokio::test]
async fn servers_of_others() {
    for (lines, expected) in [
        // Blank lines, notifications of the server and responses to other calls are ignored.
        (
            "\r\n{\"jsonrpc\":\"2.0\",\"method\":\"log\"}\n{\"jsonrpc\":\"2.0\",\"result\":{},\"id\":9}\n{\"jsonrpc\":\"2.0\",\"result\":{\"sum\":7},\"id\":1}\n",
            Ok(r#"{"sum":7}"#),
        ),
        (
            "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"m\"},\"id\":null}\n",
            Err(CallErrorKind::Fault),
        ),
        (
            "{\"jsonrpc\":\"2.0\",\"result\":[],\"id\":1}\n",
            Err(CallErrorKind::Decode),
        ),
        ("hello\n", Err(CallErrorKind::Disconnected)),
        ("[]\n", Err(CallErrorKind::Disconnected)),
        // What is not an object answers no call.
        (
            "[null]\n[7,{\"jsonrpc\":\"2.0\",\"result\":{\"sum\":8},\"id\":9}]\n{\"jsonrpc\":\"2.0\",\"result\":{\"sum\":7},\"id\":1}\n",
            Ok(r#"{"sum":7}"#),
        ),
        ("", Err(CallErrorKind::Disconnected)),
        ("{\"jsonrpc\":\"2.0\",", Err(CallErrorKind::Disconnected)),
    ] {
        let (own, other) = duplex(1024);
        let client = client_of(own, |builder| builder);
        let server = tokio::spawn(async move {
            let mut stream = BufReader::new(other);
            let mut call = String::new();
            stream.read_line(&mut call).await.unwrap();
            assert_eq!(
                call,
                "{\"jsonrpc\":\"2.0\",\"method\":\"Add\",\"params\":{\"left\":1,\"right\":2},\"id\":1}\n"
            );
            stream.write_all(lines.as_bytes()).await.unwrap();
        });
        match (client.call("Add", ADD).await, expected) {
            (Ok(output), Ok(expected)) => assert_eq!(output, expected, "{lines}"),
            (Err(error), Err(expected)) => assert_eq!(error.kind(), expected, "{lines}: {error}"),
            (found, _) => panic!("{lines}: {found:?}"),
        }
        within(server).await.unwrap();
    }
    // A line that is too long ends the connection, and a call that is too long is not sent.
    let (own, mut other) = duplex(1024);
    let client = client_of(own, |builder| {
        builder.limits(Limits::DEFAULT.with_bytes(150))
    });
    let note = format!(r#"{{"left":1,"right":2,"note":"{}"}}"#, "n".repeat(200));
    let error = client.call("Add", &note).await.unwrap_err();
    assert_eq!(error.kind(), CallErrorKind::Encode, "{error}");
    let call = tokio::spawn(async move { client.call("Add", ADD).await });
    within(other.write_all(&[b' '; 200])).await.unwrap();
    let error = within(call).await.unwrap().unwrap_err();
    assert!(
        error.to_string().contains("longer than 150 bytes"),
        "{error}"
    );
}

/// A client, and a server by hand.
struct Pair {
    client: Caller,
    lines: tokio::io::Lines<BufReader<tokio::io::ReadHalf<DuplexStream>>>,
    write: tokio::io::WriteHalf<DuplexStream>,
}

impl Pair {
    fn new(buffer: usize) -> Self {
        let (own, other) = duplex(buffer);
        let (read, write) = tokio::io::split(other);
        Self {
            client: client_of(own, |builder| builder),
            lines: BufReader::new(read).lines(),
            write,
        }
    }

    fn call(&self) -> JoinHandle<Result<String, CallError>> {
        let client = self.client.clone();
        tokio::spawn(async move { client.call("Add", ADD).await })
    }

    /// The id of the next call.
    async fn id(&mut self) -> i64 {
        let line = within(self.lines.next_line()).await.unwrap().unwrap();
        json::read_value(&line).unwrap()["id"].as_i64().unwrap()
    }

    async fn send(&mut self, line: &str) {
        let line = format!("{line}\n");
        self.write.write_all(line.as_bytes()).await.unwrap();
    }

    async fn answer(&mut self, id: i64) {
        let line = format!(r#"{{"jsonrpc":"2.0","result":{{"sum":{id}}},"id":{id}}}"#);
        self.send(&line).await;
    }
}

/// An error with the id null belongs to the only call in flight. Dropped calls are in flight until their response arrives.
#[tokio::test]
async fn errors_without_an_id() {
    let error = std::str::from_utf8(ERROR).unwrap();
    let mut pair = Pair::new(10_000);
    let dropped = pair.call();
    assert_eq!(pair.id().await, 1);
    dropped.abort();
    assert!(dropped.await.unwrap_err().is_cancelled());
    let second = pair.call();
    assert_eq!(pair.id().await, 2);
    // Of either call.
    pair.send(error).await;
    pair.answer(2).await;
    assert_eq!(within(second).await.unwrap().unwrap(), r#"{"sum":2}"#);
    pair.answer(1).await;
    // Nor do calls of the server matter.
    pair.send(r#"{"jsonrpc":"2.0","method":"m","id":3}"#).await;
    let third = pair.call();
    assert_eq!(pair.id().await, 3);
    pair.send(r#"{"jsonrpc":"2.0","method":"m","result":{},"id":3}"#)
        .await;
    pair.send(error).await;
    let fault = within(third).await.unwrap().unwrap_err();
    assert_eq!(fault.kind(), CallErrorKind::Fault, "{fault}");
    // Of two calls.
    let both = [pair.call(), pair.call()];
    let ids = [pair.id().await, pair.id().await];
    pair.send(error).await;
    for id in ids {
        pair.answer(id).await;
    }
    for call in both {
        within(call).await.unwrap().unwrap();
    }
    // The error of a dropped call.
    let dropped = pair.call();
    assert_eq!(pair.id().await, 6);
    dropped.abort();
    assert!(dropped.await.unwrap_err().is_cancelled());
    pair.send(error).await;
    let last = pair.call();
    assert_eq!(pair.id().await, 7);
    pair.send(error).await;
    let fault = within(last).await.unwrap().unwrap_err();
    assert_eq!(fault.kind(), CallErrorKind::Fault, "{fault}");
}

/// After a notification, an error with the id null could belong to it.
#[tokio::test]
async fn errors_without_an_id_after_a_notification() {
    let mut pair = Pair::new(10_000);
    let call = pair.call();
    assert_eq!(pair.id().await, 1);
    pair.client.0.notify("Add", Map::new()).await.unwrap();
    let notification = within(pair.lines.next_line()).await.unwrap().unwrap();
    assert!(!notification.contains("\"id\""), "{notification}");
    pair.send(std::str::from_utf8(ERROR).unwrap()).await;
    pair.answer(1).await;
    assert_eq!(within(call).await.unwrap().unwrap(), r#"{"sum":1}"#);
}

/// A call that is dropped before it was written is not sent, and is not in flight.
#[tokio::test]
async fn dropped_calls_are_not_sent() {
    // Shorter than a call, so that the first one blocks the others.
    let mut pair = Pair::new(16);
    let mut calls = Vec::new();
    for _ in 0..4 {
        calls.push(pair.call());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for dropped in [2, 1] {
        let call = calls.remove(dropped);
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
    }
    assert_eq!((pair.id().await, pair.id().await), (1, 4));
    pair.answer(1).await;
    within(calls.remove(0)).await.unwrap().unwrap();
    pair.send(std::str::from_utf8(ERROR).unwrap()).await;
    let fault = within(calls.remove(0)).await.unwrap().unwrap_err();
    assert_eq!(fault.kind(), CallErrorKind::Fault, "{fault}");
}

/// The inputs of calls of `Add`.
fn adds(count: i64) -> Vec<(&'static str, Map)> {
    let input = |left: i64| Map::from_iter([("left", left), ("right", 1)]);
    (0..count).map(|left| ("Add", input(left))).collect()
}

/// The sum of each call, or the text of its error.
fn sums(results: &[Result<Value, CallError>]) -> Vec<Result<i64, String>> {
    let sum = |result: &Result<Value, CallError>| match result {
        Ok(output) => Ok(output["sum"].as_i64().unwrap()),
        Err(error) => Err(error.to_string()),
    };
    results.iter().map(sum).collect()
}

#[tokio::test]
async fn a_client_sends_notifications_and_batches() {
    let count = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&count);
    let handler = dynamic(move |_: Map, _| {
        *counted.lock().unwrap() += 1;
        async { Ok(()) }
    });
    let (Caller(client), serving) = client(json_rpc().operation("Nothing", handler));
    let tasks = (0..50).map(|number| {
        let client = client.clone();
        tokio::spawn(async move {
            client.notify("Nothing", Map::new()).await.unwrap();
            let results = client.call_batch(adds(number)).await.unwrap();
            assert_eq!(sums(&results), (1..=number).map(Ok).collect::<Vec<_>>());
            let input = Map::from_iter([("left", number), ("right", 1)]);
            let output = client.call("Add", input).await.unwrap();
            assert_eq!(output["sum"].as_i64(), Some(number + 1));
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        within(task).await.unwrap();
    }
    // All notifications that were written run.
    drop(client);
    within(serving).await.unwrap().unwrap();
    assert_eq!(*count.lock().unwrap(), 50);
}

impl Pair {
    fn batch(&self, count: i64) -> JoinHandle<Result<Vec<Result<Value, CallError>>, CallError>> {
        let Caller(client) = self.client.clone();
        tokio::spawn(async move { client.call_batch(adds(count)).await })
    }

    fn notify(&self) -> JoinHandle<Result<(), CallError>> {
        let Caller(client) = self.client.clone();
        tokio::spawn(async move { client.notify("Nothing", Map::new()).await })
    }

    /// The ids of the next batch.
    async fn ids(&mut self) -> Vec<i64> {
        let line = within(self.lines.next_line()).await.unwrap().unwrap();
        let calls = json::read_value(&line).unwrap();
        let calls = calls.as_list().unwrap().iter();
        calls.map(|call| call["id"].as_i64().unwrap()).collect()
    }

    /// Answers with a list, whose sums are the ids.
    async fn answers(&mut self, ids: &[i64]) {
        let response = |id| format!(r#"{{"jsonrpc":"2.0","result":{{"sum":{id}}},"id":{id}}}"#);
        let responses: Vec<String> = ids.iter().map(response).collect();
        self.send(&format!("[{}]", responses.join(","))).await;
    }
}

#[tokio::test]
async fn responses_to_batches() {
    let mut pair = Pair::new(10_000);
    let (call, batch) = (pair.call(), pair.batch(2));
    assert_eq!(pair.id().await, 1);
    assert_eq!(pair.ids().await, [2, 3]);
    let other = pair.batch(3);
    assert_eq!(pair.ids().await, [4, 5, 6]);
    // Lists of other ids, and calls of the server.
    pair.answers(&[7, 8]).await;
    pair.send(r#"[{"jsonrpc":"2.0","method":"m","id":2},{"jsonrpc":"2.0","method":"m"}]"#)
        .await;
    pair.answers(&[9, 6, 4, 4]).await;
    let missing = |text: &str| Err(format!("cannot decode the response: {text}"));
    let expected = [
        missing("several responses have the id 4"),
        missing("no response has the id 5, but one has the unknown id 9"),
        Ok(6),
    ];
    let results = within(other).await.unwrap().unwrap();
    assert_eq!(sums(&results), expected);
    pair.answers(&[3, 2]).await;
    let results = within(batch).await.unwrap().unwrap();
    assert_eq!(sums(&results), [Ok(2), Ok(3)]);
    pair.answer(1).await;
    within(call).await.unwrap().unwrap();
    // One error for the only batch in flight, with and without a list around it.
    let error = std::str::from_utf8(ERROR).unwrap();
    let batch = pair.batch(2);
    assert_eq!(pair.ids().await, [7, 8]);
    pair.send(error).await;
    let fault = within(batch).await.unwrap().unwrap_err();
    assert_eq!(fault.kind(), CallErrorKind::Fault, "{fault}");
    let batch = pair.batch(1);
    assert_eq!(pair.ids().await, [9]);
    pair.send(&format!("[{error}]")).await;
    let results = within(batch).await.unwrap().unwrap();
    assert_eq!(
        results[0].as_ref().unwrap_err().kind(),
        CallErrorKind::Fault
    );
    // The list and the calls do not match.
    let (call, batch) = (pair.call(), pair.batch(2));
    assert_eq!(pair.id().await, 10);
    assert_eq!(pair.ids().await, [11, 12]);
    pair.answers(&[10]).await;
    let error = within(call).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), CallErrorKind::Decode, "{error}");
    pair.answer(12).await;
    let error = within(batch).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), CallErrorKind::Protocol, "{error}");
    // Truncated.
    let batch = pair.batch(2);
    assert_eq!(pair.ids().await, [13, 14]);
    pair.send("[{\"jsonrpc\":\"2.0\",\"result\":{},\"id\":13},")
        .await;
    let error = within(batch).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), CallErrorKind::Disconnected, "{error}");
    assert!(error.to_string().contains("is not a response"), "{error}");
}

/// A batch that was dropped is one call in flight until its response arrives.
#[tokio::test]
async fn dropped_batches() {
    let error = std::str::from_utf8(ERROR).unwrap();
    let mut pair = Pair::new(10_000);
    let dropped = pair.batch(3);
    assert_eq!(pair.ids().await, [1, 2, 3]);
    dropped.abort();
    assert!(dropped.await.unwrap_err().is_cancelled());
    let call = pair.call();
    assert_eq!(pair.id().await, 4);
    // Of either.
    pair.send(error).await;
    pair.answers(&[3, 1, 2]).await;
    // Now of the call.
    pair.send(error).await;
    let fault = within(call).await.unwrap().unwrap_err();
    assert_eq!(fault.kind(), CallErrorKind::Fault, "{fault}");
}

/// A notification is done when it is written. It is no call in flight.
#[tokio::test]
async fn notifications_are_written() {
    let expected = r#"{"jsonrpc":"2.0","method":"Nothing","params":{}}"#;
    // Shorter than a line.
    let mut pair = Pair::new(16);
    let (first, second) = (pair.notify(), pair.notify());
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert!(!first.is_finished());
    // One that was dropped before it was written is not sent.
    second.abort();
    assert!(second.await.unwrap_err().is_cancelled());
    let call = pair.call();
    let line = within(pair.lines.next_line()).await.unwrap().unwrap();
    assert!(
        expected == line || expected.replace(",\"params\":{}", "") == line,
        "{line}"
    );
    within(first).await.unwrap().unwrap();
    assert_eq!(pair.id().await, 1);
    pair.answer(1).await;
    within(call).await.unwrap().unwrap();
    // The connection ends before the line is written, and after that.
    let Pair {
        client,
        lines,
        write,
    } = pair;
    let notify = |client: &Caller| {
        let Caller(client) = client.clone();
        tokio::spawn(async move { client.notify("Nothing", Map::new()).await })
    };
    let cut = notify(&client);
    tokio::time::sleep(Duration::from_millis(20)).await;
    drop((lines, write));
    let error = within(cut).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), CallErrorKind::Disconnected, "{error}");
    assert_ne!(error.to_string(), "disconnected: the connection is closed");
    let error = within(notify(&client)).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), CallErrorKind::Connect, "{error}");
    // Too long, or too slow.
    let (own, _other) = duplex(16);
    let Caller(client) = client_of(own, |builder| {
        let limits = Limits::DEFAULT.with_bytes(200);
        builder.limits(limits).deadline(Duration::from_millis(50))
    });
    let long = Map::from_iter([("how", "x".repeat(200))]);
    let error = client.notify("Fail", long).await.unwrap_err();
    assert_eq!(error.kind(), CallErrorKind::Encode, "{error}");
    let error = within(client.notify("Nothing", Map::new())).await;
    assert_eq!(error.unwrap_err().kind(), CallErrorKind::Deadline);
    let error = within(client.call_batch(adds(5))).await.unwrap_err();
    assert_eq!(error.kind(), CallErrorKind::Encode, "{error}");
}
