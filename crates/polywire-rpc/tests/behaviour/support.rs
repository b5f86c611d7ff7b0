//! The test service, a server for it, and two kinds of callers: the client of this crate, and raw
//! sockets.

use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire_model::Loader;
use polywire_protocol::{Fault, FaultKind, ProtocolKind};
use polywire_rpc::{
    CallError, Client, ClientBuilder, RunningServer, Server, ServerBuilder, ServiceHandle, dynamic,
};
use polywire_schema::{Encode, Limits, Map, Schema, Value, decode_structure};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// The three wire protocols under test.
pub(crate) const WIRES: [ProtocolKind; 3] = [
    ProtocolKind::RestJson1,
    ProtocolKind::RpcV2Cbor,
    ProtocolKind::XmlRpc,
];

/// A timeout that is only reached if an operation hangs, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Awaits a future; panics after a timeout.
pub(crate) async fn within<F: Future>(future: F) -> F::Output {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(output) => output,
        Err(_) => panic!("still waiting after {PATIENCE:?}"),
    }
}

pub(crate) fn service() -> ServiceHandle {
    static SERVICE: LazyLock<ServiceHandle> = LazyLock::new(|| {
        let text = include_str!("wire.smithy");
        let assembled = Loader::new().add_text("wire.smithy", text).assemble();
        let model = match assembled {
            Ok(assembled) => assembled.model,
            Err(error) => panic!("{error}"),
        };
        let schemas = model.schemas("example.wire#Wire").unwrap().unwrap();
        ServiceHandle::new(Arc::new(schemas), 0)
    });
    SERVICE.clone()
}

/// A server on which most operations return their input.
pub(crate) fn builder() -> ServerBuilder {
    let mut builder = Server::builder(service());
    for operation in service().service().operations() {
        builder = builder.operation(
            operation.name(),
            dynamic(|input: Map, _| async move { Ok(input) }),
        );
    }
    builder
        .operation("Add", dynamic(|input, _| async move { Ok(add(&input)) }))
        .operation(
            "Create",
            dynamic(|mut input: Map, _| async move {
                input.insert("id", 7);
                Ok(input)
            }),
        )
        .operation("Nothing", dynamic(|_, _| async { Ok(()) }))
        .operation("Fail", dynamic(|input, _| fail(input)))
}

fn add(input: &Map) -> Map {
    let number = |name: &str| input.get(name).and_then(Value::as_i64).unwrap();
    let mut output = Map::from_iter([("sum", number("left") + number("right"))]);
    if let Some(note) = input.get("note") {
        output.insert("note", note.clone());
    }
    output
}

/// A text in internal errors that no reply may contain.
pub(crate) const SECRET: &str = "the password of the database";

async fn fail(input: Map) -> Result<Map, Fault> {
    let how = input.get("how").and_then(Value::as_str).unwrap_or_default();
    let message = ("message", Value::from("there is no such thing"));
    match how {
        "not at all" => Ok(input),
        "not there" => {
            let rest = [("kind", Value::from("city")), ("count", Value::from(3))];
            let details = std::iter::once(message).chain(rest).collect();
            Err(Fault::modelled("example.wire#NotThere", details))
        }
        "no details" => Err(Fault::modelled("example.wire#NotThere", Map::new())),
        "busy" => {
            let details = [
                ("message", Value::from("later")),
                ("retryAfter", Value::from(30)),
            ];
            Err(Fault::modelled(
                "example.wire#Busy",
                details.into_iter().collect(),
            ))
        }
        "unknown shape" => {
            let details = Map::from_iter([("message", SECRET)]);
            Err(Fault::modelled("example.elsewhere#Surprise", details))
        }
        "wrong details" => {
            let details = Map::from_iter([("count", SECRET)]);
            Err(Fault::modelled("example.wire#NotThere", details))
        }
        "wrong output" => Ok(Map::from_iter([("how", 5)])),
        "internal" => Err(Fault::internal(SECRET)),
        "invalid" => Err(Fault::new(FaultKind::Invalid, "not like this")),
        "panic" => panic!("{SECRET}"),
        "late panic" => {
            tokio::task::yield_now().await;
            panic!("{SECRET}")
        }
        "slow" => std::future::pending().await,
        "soon" => {
            tokio::time::sleep(Duration::from_millis(100)).await;
            Ok(input)
        }
        other => panic!("no way to fail {other}"),
    }
}

/// A running server.
pub(crate) struct Site {
    running: Option<RunningServer>,
    address: SocketAddr,
}

impl Site {
    pub(crate) async fn start(builder: ServerBuilder) -> Self {
        let server = builder.build().unwrap();
        Self::of(server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap())
    }

    /// Wraps a server that is already running.
    pub(crate) fn of(running: RunningServer) -> Self {
        Self {
            address: running.address(),
            running: Some(running),
        }
    }

    /// A running server with the settings of [`builder`].
    pub(crate) async fn plain() -> Self {
        Self::start(builder()).await
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn client(&self, kind: ProtocolKind) -> Caller {
        self.client_with(kind, |builder| builder)
    }

    pub(crate) fn client_with(
        &self,
        kind: ProtocolKind,
        set: impl FnOnce(ClientBuilder) -> ClientBuilder,
    ) -> Caller {
        let builder = set(Client::builder(service(), kind));
        Caller(builder.connect(&self.url()).unwrap())
    }

    pub(crate) async fn open(&self) -> Socket {
        Socket {
            stream: TcpStream::connect(self.address).await.unwrap(),
            buffer: Vec::new(),
        }
    }

    /// Connects without yielding to the server.
    pub(crate) fn open_at_once(&self) -> Socket {
        let stream = std::net::TcpStream::connect(self.address).unwrap();
        stream.set_nonblocking(true).unwrap();
        Socket {
            stream: TcpStream::from_std(stream).unwrap(),
            buffer: Vec::new(),
        }
    }

    /// A connection with a small receive buffer.
    pub(crate) async fn open_narrow(&self) -> Socket {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(16_384).unwrap();
        Socket {
            stream: socket.connect(self.address).await.unwrap(),
            buffer: Vec::new(),
        }
    }

    /// Sends one request on a new connection and returns the reply.
    pub(crate) async fn send(&self, request: impl AsRef<[u8]>) -> Reply {
        let mut socket = self.open().await;
        socket.write(request).await;
        socket.reply().await
    }

    /// Asserts that the server still serves calls on every wire.
    pub(crate) async fn assert_still_serving(&self) {
        for kind in WIRES {
            let client = self.client(kind);
            let answer = client.call("Add", r#"{"left": 2, "right": 3}"#).await;
            assert_eq!(answer.unwrap(), r#"{"sum":5}"#, "{kind}");
        }
    }

    /// Stops the server and waits for its end.
    pub(crate) async fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            within(running.shutdown()).await;
        }
    }

    /// Returns the running server, for shutdown in another task.
    pub(crate) fn into_running(mut self) -> RunningServer {
        self.running.take().unwrap()
    }
}

/// A client with inputs and outputs as JSON.
#[derive(Clone)]
pub(crate) struct Caller(pub(crate) Client);

impl Caller {
    pub(crate) async fn call(&self, operation: &str, input: &str) -> Result<String, CallError> {
        let service = service();
        let shapes = service.find_operation(operation).unwrap();
        let output = within(self.0.call(operation, read(shapes.input(), input))).await?;
        Ok(write(shapes.output(), &output))
    }

    /// Returns the fault of a call that fails.
    pub(crate) async fn fault(&self, operation: &str, input: &str) -> Fault {
        let error = self.call(operation, input).await.unwrap_err();
        let fault = error.into_fault();
        fault.unwrap_or_else(|other| panic!("expected a fault, not {other:?}"))
    }
}

/// Reads a structure from JSON in the human-readable profile.
pub(crate) fn read(shape: Schema<'_>, json: &str) -> Map {
    let mut map = Map::new();
    let mut decoder =
        JsonDecoder::from_str(json, JsonProfile::HUMAN, &Limits::DEFAULT.with_depth(1_000))
            .unwrap();
    decode_structure(&mut map, shape.root(), &mut decoder).unwrap();
    decoder.finish().unwrap();
    map
}

/// Converts `json` to the form that [`write`] produces for the output of an operation.
pub(crate) fn output(operation: &str, json: &str) -> String {
    let service = service();
    let shape = service.find_operation(operation).unwrap().output();
    write(shape, &Value::Map(read(shape, json)))
}

/// Writes a structure as JSON in the human-readable profile, with members in the order of the
/// model.
pub(crate) fn write(shape: Schema<'_>, value: &Value) -> String {
    let mut encoder = JsonEncoder::new(JsonProfile::HUMAN, Vec::new());
    value.encode(shape.root(), &mut encoder);
    String::from_utf8(encoder.finish().unwrap()).unwrap()
}

/// A raw connection for arbitrary bytes.
pub(crate) struct Socket<S = TcpStream> {
    stream: S,
    buffer: Vec<u8>,
}

/// A reply on a raw connection.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (own, value) = line.split_once(':')?;
            own.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// All values of a header.
    pub(crate) fn headers(&self, name: &str) -> Vec<&str> {
        let lines = self.head.lines().skip(1);
        let pairs = lines.filter_map(|line| line.split_once(':'));
        pairs
            .filter(|(own, _)| own.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
            .collect()
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// The status, the error name or fault code, and the message of an error reply in a protocol.
    pub(crate) fn error(&self, kind: ProtocolKind) -> (u16, String, String) {
        let (name, message) = match kind {
            ProtocolKind::RestJson1 => {
                assert_eq!(self.header("content-type"), Some("application/json"));
                let body = polywire_codec::json::read_value(self.text()).unwrap();
                let name = self.header("x-amzn-errortype").unwrap_or_default();
                (name.to_owned(), body["message"].as_str().map(str::to_owned))
            }
            ProtocolKind::RpcV2Cbor => {
                assert_eq!(self.header("content-type"), Some("application/cbor"));
                assert_eq!(self.header("smithy-protocol"), Some("rpc-v2-cbor"));
                let body = polywire_codec::cbor::read_value(&self.body).unwrap();
                let name = body["__type"].as_str().unwrap_or_default();
                (name.to_owned(), body["message"].as_str().map(str::to_owned))
            }
            _ => {
                assert_eq!(self.header("content-type"), Some("text/xml"));
                let fault = polywire_codec::xmlrpc::read_response(self.text(), &Limits::DEFAULT);
                let fault = fault.unwrap().unwrap_err();
                let code = fault["faultCode"].as_i64().unwrap();
                let message = fault["faultString"].as_str();
                (code.to_string(), message.map(str::to_owned))
            }
        };
        (self.status, name, message.unwrap_or_default())
    }
}

impl Socket {
    /// Writes a few bytes without yielding to the server.
    pub(crate) fn write_at_once(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        let socket = socket2::SockRef::from(&self.stream);
        assert_eq!(socket.send(bytes).unwrap(), bytes.len());
    }
}

impl Socket {
    /// Makes the connection reset instead of close when it is dropped.
    pub(crate) fn reset(&self) {
        let socket = socket2::SockRef::from(&self.stream);
        socket.set_linger(Some(Duration::ZERO)).unwrap();
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Socket<S> {
    /// Wraps an established connection.
    pub(crate) const fn over(stream: S) -> Self {
        Self {
            stream,
            buffer: Vec::new(),
        }
    }

    /// Writes bytes. Ignores errors, because the server may close the connection after an early
    /// reply.
    pub(crate) async fn write(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = within(self.stream.write_all(bytes.as_ref())).await;
    }

    /// Writes bytes; panics if the server does not accept all of them.
    pub(crate) async fn write_all(&mut self, bytes: impl AsRef<[u8]>) {
        within(self.stream.write_all(bytes.as_ref())).await.unwrap();
    }

    /// Closes the write half. The read half stays open.
    pub(crate) async fn end(&mut self) {
        let _ = within(self.stream.shutdown()).await;
    }

    pub(crate) async fn reply(&mut self) -> Reply {
        self.try_reply().await.expect("a reply, not the end")
    }

    /// The next reply; `None` if the connection ends before it.
    pub(crate) async fn try_reply(&mut self) -> Option<Reply> {
        self.read_reply(false).await
    }

    /// The reply to a HEAD request: only the head.
    pub(crate) async fn head_reply(&mut self) -> Reply {
        self.read_reply(true).await.expect("a reply, not the end")
    }

    async fn read_reply(&mut self, head_only: bool) -> Option<Reply> {
        let end = loop {
            let end = self.buffer.windows(4).position(|four| four == b"\r\n\r\n");
            match end {
                Some(end) => break end + 4,
                None if self.fill().await => {}
                None => {
                    assert!(self.buffer.is_empty(), "the head of a reply broke off");
                    return None;
                }
            }
        };
        let head: Vec<u8> = self.buffer.drain(..end).collect();
        let head = String::from_utf8(head).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut reply = Reply {
            status,
            head,
            body: Vec::new(),
        };
        if head_only {
            return Some(reply);
        }
        let length = reply.header("content-length").unwrap_or("0");
        let length: usize = length.parse().unwrap();
        while self.buffer.len() < length {
            assert!(self.fill().await, "the body of a reply broke off");
        }
        reply.body = self.buffer.drain(..length).collect();
        Some(reply)
    }

    /// Reads and discards all bytes until the connection ends; returns their number.
    pub(crate) async fn drain(&mut self) -> usize {
        let mut count = 0;
        loop {
            count += self.buffer.len();
            self.buffer.clear();
            if !self.fill().await {
                return count;
            }
        }
    }

    /// All bytes until the connection ends, as text.
    pub(crate) async fn raw(&mut self) -> String {
        while self.fill().await {}
        String::from_utf8(std::mem::take(&mut self.buffer)).unwrap()
    }

    /// Whether the server closes the connection without sending more bytes.
    pub(crate) async fn ends(&mut self) -> bool {
        self.buffer.is_empty() && !self.fill().await
    }

    /// Reads bytes into the buffer; false at the end.
    async fn fill(&mut self) -> bool {
        match within(self.stream.read_buf(&mut self.buffer)).await {
            Ok(count) => count > 0,
            // A reset ends the connection too.
            Err(_) => false,
        }
    }
}

/// A request. The content type of a body is JSON unless a header sets it.
pub(crate) fn request(line: &str, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut text = format!("{line} HTTP/1.1\r\nHost: localhost\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if !body.is_empty() {
        text.push_str(&format!("Content-Length: {}\r\n", body.len()));
        let typed = |(name, _): &(&str, &str)| name.eq_ignore_ascii_case("content-type");
        if !headers.iter().any(typed) {
            text.push_str("Content-Type: application/json\r\n");
        }
    }
    text.push_str("\r\n");
    let mut request = text.into_bytes();
    request.extend_from_slice(body);
    request
}

/// A call with a raw body, with the head of a protocol.
pub(crate) fn post(
    kind: ProtocolKind,
    path: &str,
    operation: &str,
    body: impl AsRef<[u8]>,
) -> Vec<u8> {
    let (line, headers) = head_of(kind, path, operation);
    request(&line, &headers, body)
}

/// The request line and the headers of a call.
pub(crate) fn head_of(
    kind: ProtocolKind,
    path: &str,
    operation: &str,
) -> (String, Vec<(&'static str, &'static str)>) {
    match kind {
        ProtocolKind::RestJson1 => (
            format!("POST {path}"),
            vec![("Content-Type", "application/json")],
        ),
        ProtocolKind::RpcV2Cbor => (
            format!("POST /service/Wire/operation/{operation}"),
            vec![
                ("Smithy-Protocol", "rpc-v2-cbor"),
                ("Content-Type", "application/cbor"),
                ("Accept", "application/cbor"),
            ],
        ),
        _ => ("POST /RPC2".to_owned(), vec![("Content-Type", "text/xml")]),
    }
}

/// A call of an operation with a JSON input, encoded for a protocol. `path` is the path in
/// restJson1.
pub(crate) fn call_of(kind: ProtocolKind, path: &str, operation: &str, input: &str) -> Vec<u8> {
    let value = polywire_codec::json::read_value(input).unwrap();
    let body = match kind {
        ProtocolKind::RestJson1 => input.as_bytes().to_vec(),
        ProtocolKind::RpcV2Cbor => polywire_codec::cbor::write_value(&value).unwrap(),
        _ => polywire_codec::xmlrpc::write_call(operation, &[value]).unwrap(),
    };
    post(kind, path, operation, body)
}
