//! Calls at, one below and one above each limit, over real connections. A call above the limit
//! gets a fault that names the limit and its setting. An HTTP connection stays usable.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use polywire_codec::xmlrpc;
use polywire_rpc::methods::Methods;
use polywire_rpc::{RunningServer, Server};
use polywire_schema::{Blob, Limits, Map, Value};
use serde::de::IgnoredAny;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::processes::within;

/// Methods that receive their parameters as values, as a serde type, and ignored.
const METHODS: [&str; 3] = ["values", "typed", "ignored"];

async fn listen(limits: Limits) -> RunningServer {
    let methods = Methods::new()
        .values("values", |_, _| async { Ok(Value::from(true)) })
        .method("typed", |_: (Value,)| async { true })
        .method("ignored", |_: (IgnoredAny,)| async { true })
        .introspection(true)
        .cbor("Sample");
    let server = Server::methods(methods).limits(limits).build().unwrap();
    server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap()
}

/// A client connection for consecutive requests.
struct Caller(TcpStream);

impl Caller {
    async fn new(running: &RunningServer) -> Self {
        Self(TcpStream::connect(running.address()).await.unwrap())
    }

    /// Sends a request. Returns the result, or the code and the text of the fault.
    async fn send(&mut self, head: &str, body: &[u8]) -> Result<Value, (i64, String)> {
        let head = format!("POST /RPC2 HTTP/1.1\r\nHost: x\r\n{head}\r\n");
        let request = [head.as_bytes(), body].concat();
        within(self.0.write_all(&request)).await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"</methodResponse>") {
            let count = within(self.0.read_buf(&mut answer)).await.unwrap();
            assert!(count > 0, "{}", answer.escape_ascii());
        }
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        let read = xmlrpc::read_response(body, &Limits::DEFAULT).unwrap();
        read.map_err(|fault| {
            let text = fault["faultString"].as_str().unwrap().to_owned();
            (fault["faultCode"].as_i64().unwrap(), text)
        })
    }

    async fn post(&mut self, body: &[u8]) -> Result<Value, (i64, String)> {
        let head = format!("Content-Length: {}\r\n", body.len());
        self.send(&head, body).await
    }
}

/// Calls each method with a parameter one below, at and one above a limit.
async fn check<T: TryInto<usize>>(
    limits: Limits,
    limit: T,
    parameter: impl Fn(usize) -> Value,
    named: &str,
) {
    let running = listen(limits).await;
    let mut caller = Caller::new(&running).await;
    let limit = limit.try_into().ok().unwrap();
    for method in METHODS {
        let mut call = async |size| {
            let body = xmlrpc::write_call(method, &[parameter(size)]).unwrap();
            caller.post(&body).await
        };
        assert_eq!(call(limit - 1).await, Ok(Value::from(true)), "{method}");
        assert_eq!(call(limit).await, Ok(Value::from(true)), "{method}");
        let (code, text) = call(limit + 1).await.unwrap_err();
        assert_eq!(code, -32600, "{method}: {text}");
        assert!(text.contains(named), "{method}: {text}");
        // The connection stays usable.
        assert_eq!(call(limit).await, Ok(Value::from(true)), "{method}");
    }
    running.shutdown().await;
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(Value::from(1), |inner, level| match level % 2 {
        0 => Value::from(vec![inner]),
        _ => Map::from_iter([("a", inner)]).into(),
    })
}

#[tokio::test]
async fn calls_above_the_depth_limit_get_a_fault() {
    let default = Limits::DEFAULT;
    check(
        default,
        default.depth(),
        nested,
        "64 levels (Limits::depth)",
    )
    .await;
    let five = default.with_depth(5);
    check(five, 5_u32, nested, "5 levels (Limits::depth)").await;
}

/// The parameter itself counts as an item, so a limit of 101 allows 100 items in it.
#[tokio::test]
async fn calls_above_the_items_limit_get_a_fault() {
    let limits = Limits::DEFAULT.with_items(101);
    let named = "101 items and entries (Limits::items)";
    let items = |count| Value::from(vec![Value::from(1); count]);
    check(limits, 100_u32, items, named).await;
    let members = |count| {
        let member = |at| (format!("m{at}"), Value::from(1));
        Value::Map((0..count).map(member).collect())
    };
    check(limits, 100_u32, members, named).await;
}

#[tokio::test]
async fn strings_and_names_above_the_string_limit_get_a_fault() {
    let limits = Limits::DEFAULT.with_string(300);
    let named = "300 bytes (Limits::string)";
    let text = |length| Value::from("a".repeat(length));
    check(limits, 300_usize, text, named).await;
    let escaped = |length: usize| Value::from("&".repeat(length));
    check(limits, 300_usize, escaped, named).await;
    let name = |length| Map::from_iter([("a".repeat(length), Value::from(1))]).into();
    check(limits, 300_usize, name, named).await;
}

/// The string limit applies to the base64 text: 4 bytes for each 3 bytes of a blob.
#[tokio::test]
async fn blobs_above_the_string_limit_get_a_fault() {
    let limits = Limits::DEFAULT.with_string(300);
    let blob = |threes: usize| Value::Blob(Blob::from(vec![b'a'; threes * 3]));
    check(limits, 75_usize, blob, "300 bytes (Limits::string)").await;
}

/// CBOR has the same limits and the same error texts.
#[tokio::test]
async fn cbor_calls_above_a_limit_are_rejected() {
    let limits = Limits::DEFAULT.with_bytes(2_000).with_string(300);
    let running = listen(limits).await;
    // The parameters are an array, which counts as a level.
    let deep = |levels| nested(levels - 1);
    let text = |length| Value::from("a".repeat(length));
    let long = |length: usize| {
        let parts = vec![text(200); 9];
        // Each text has a header of 2 bytes, and each of the two arrays has a header of 1
        // byte.
        let remaining = length - 9 * 202 - 4;
        Value::List([parts, vec![text(remaining)]].concat())
    };
    type Way<'a> = (usize, &'a dyn Fn(usize) -> Value, &'a str);
    let ways: [Way<'_>; 3] = [
        (64, &deep, "64 levels (Limits::depth)"),
        (300, &text, "300 bytes (Limits::string)"),
        (2_000, &long, "2000 bytes (Limits::bytes)"),
    ];
    for method in METHODS {
        for (limit, parameter, named) in ways {
            for (size, expected) in [(limit - 1, ""), (limit, ""), (limit + 1, named)] {
                let body =
                    polywire_codec::cbor::write_value(&vec![parameter(size)].into()).unwrap();
                if limit == 2_000 {
                    assert_eq!(body.len(), size);
                }
                let head = format!(
                    "POST /service/Sample/operation/{method} HTTP/1.1\r\nHost: x\r\n\
                     Smithy-Protocol: rpc-v2-cbor\r\nConnection: close\r\n\
                     Content-Length: {}\r\n\r\n",
                    body.len()
                );
                let mut stream = TcpStream::connect(running.address()).await.unwrap();
                within(stream.write_all(&[head.as_bytes(), &body].concat()))
                    .await
                    .unwrap();
                let mut answer = Vec::new();
                within(stream.read_to_end(&mut answer)).await.unwrap();
                let answer = String::from_utf8_lossy(&answer);
                let is_good = answer.starts_with("HTTP/1.1 200 OK\r\n");
                assert_eq!(is_good, expected.is_empty(), "{method}: {answer}");
                assert!(answer.contains(expected), "{method}: {answer}");
            }
        }
    }
    running.shutdown().await;
}

/// A call with a body of exactly this length.
fn body(method: &str, length: usize) -> Vec<u8> {
    let with = |text: usize| {
        let text = Value::from("a".repeat(text));
        xmlrpc::write_call(method, &[text]).unwrap()
    };
    let body = with(length - with(0).len());
    assert_eq!(body.len(), length);
    body
}

fn chunked(body: &[u8]) -> (String, Vec<u8>) {
    let mut chunks = Vec::new();
    for part in body.chunks(100) {
        write!(chunks, "{:x}\r\n", part.len()).unwrap();
        chunks.extend_from_slice(part);
        chunks.extend_from_slice(b"\r\n");
    }
    chunks.extend_from_slice(b"0\r\n\r\n");
    ("Transfer-Encoding: chunked\r\n".to_owned(), chunks)
}

fn zipped(body: &[u8]) -> (String, Vec<u8>) {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).unwrap();
    let body = encoder.finish().unwrap();
    let length = body.len();
    let head = format!("Content-Encoding: gzip\r\nContent-Length: {length}\r\n");
    (head, body)
}

fn plain(body: &[u8]) -> (String, Vec<u8>) {
    let head = format!("Content-Length: {}\r\n", body.len());
    (head, body.to_vec())
}

#[tokio::test]
async fn bodies_above_the_bytes_limit_get_a_fault() {
    const LIMIT: usize = 1_000;
    let running = listen(Limits::DEFAULT.with_bytes(LIMIT)).await;
    let mut caller = Caller::new(&running).await;
    for way in [plain, chunked, zipped] {
        for method in METHODS {
            let mut call = async |length| {
                let (head, body) = way(&body(method, length));
                caller.send(&head, &body).await
            };
            assert_eq!(call(LIMIT - 1).await, Ok(Value::from(true)));
            assert_eq!(call(LIMIT).await, Ok(Value::from(true)));
            let (code, text) = call(LIMIT + 1).await.unwrap_err();
            assert_eq!(code, -32600, "{text}");
            assert!(text.contains("1000 bytes (Limits::bytes)"), "{text}");
            assert_eq!(call(LIMIT).await, Ok(Value::from(true)));
        }
    }
    running.shutdown().await;
}

#[tokio::test]
async fn scgi_bodies_above_the_bytes_limit_are_rejected() {
    const LIMIT: usize = 1_000;
    let methods = Methods::new().values("values", |_, _| async { Ok(Value::from(true)) });
    let server = Server::methods(methods).limits(Limits::DEFAULT.with_bytes(LIMIT));
    let any_port = "127.0.0.1:0".parse().unwrap();
    let running = server.build().unwrap().listen_scgi(any_port).await.unwrap();
    for (length, expected) in [
        (LIMIT - 1, "<boolean>1</boolean>"),
        (LIMIT, "<boolean>1</boolean>"),
        (LIMIT + 1, "1000 bytes (Limits::bytes)"),
    ] {
        let head = format!("CONTENT_LENGTH\0{length}\0SCGI\x001\0");
        let head = format!("{}:{head},", head.len());
        let request = [head.as_bytes(), &body("values", length)].concat();
        let mut stream = TcpStream::connect(running.address()).await.unwrap();
        within(stream.write_all(&request)).await.unwrap();
        let mut answer = String::new();
        within(stream.read_to_string(&mut answer)).await.unwrap();
        assert!(answer.contains(expected), "{answer}");
    }
    running.shutdown().await;
}

#[tokio::test]
async fn multicalls_above_the_calls_limit_get_a_fault() {
    const LIMIT: usize = 7;
    let running = listen(Limits::DEFAULT.with_calls(7)).await;
    let mut caller = Caller::new(&running).await;
    let mut call = async |count| {
        let one = Map::from_iter([
            ("methodName", Value::from("values")),
            ("params", Value::List(vec![])),
        ]);
        let calls = Value::List(vec![Value::Map(one); count]);
        let body = xmlrpc::write_call("system.multicall", &[calls]).unwrap();
        caller.post(&body).await
    };
    let each = Value::from(vec![Value::from(true)]);
    assert_eq!(
        call(LIMIT - 1).await,
        Ok(vec![each.clone(); LIMIT - 1].into())
    );
    assert_eq!(call(LIMIT).await, Ok(vec![each.clone(); LIMIT].into()));
    let (code, text) = call(LIMIT + 1).await.unwrap_err();
    assert_eq!(code, -32600, "{text}");
    assert!(text.contains("7 calls in one (Limits::calls)"), "{text}");
    assert_eq!(call(LIMIT).await, Ok(vec![each; LIMIT].into()));
    running.shutdown().await;
}
