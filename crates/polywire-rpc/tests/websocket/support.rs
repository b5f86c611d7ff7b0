//! Test servers, and raw peers that read and write WebSocket frames.

use std::net::SocketAddr;
use std::time::Duration;

use polywire_rpc::websocket::{WebSocket, WebSocketEndpoint, WebSocketLimits};
use polywire_rpc::{Methods, RunningServer, Server, ServerBuilder};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// Upper bound for anything that must end, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Awaits a future. Panics if it takes longer than `PATIENCE`.
pub(crate) async fn within<F: Future>(future: F) -> F::Output {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(output) => output,
        Err(_) => panic!("still waiting after {PATIENCE:?}"),
    }
}

pub(crate) fn builder() -> ServerBuilder {
    Server::methods(Methods::new())
}

pub(crate) async fn listen(builder: ServerBuilder) -> RunningServer {
    let server = builder.build().unwrap();
    server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap()
}

/// A server with this endpoint at `/`.
pub(crate) async fn serve(endpoint: impl Into<WebSocketEndpoint>) -> RunningServer {
    listen(builder().websocket("/", endpoint)).await
}

pub(crate) fn url(running: &RunningServer) -> String {
    format!("ws://{}/", running.address())
}

/// Echoes each message.
pub(crate) async fn echo(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        if socket.send(message).await.is_err() {
            break;
        }
    }
}

pub(crate) fn echo_with(limits: WebSocketLimits) -> WebSocketEndpoint {
    WebSocketEndpoint::new(echo).limits(limits)
}

/// A valid upgrade request without its final empty line.
pub(crate) const ASK: &str = "GET / HTTP/1.1\r\n\
    Host: localhost\r\n\
    Upgrade: websocket\r\n\
    Connection: Upgrade\r\n\
    Sec-WebSocket-Version: 13\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/// A raw connection.
pub(crate) struct Raw {
    pub(crate) stream: TcpStream,
    buffer: Vec<u8>,
}

/// A frame: its first byte (FIN, RSV bits and opcode) and its payload.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Frame {
    pub(crate) first: u8,
    pub(crate) payload: Vec<u8>,
}

pub(crate) const TEXT: u8 = 0x81;
pub(crate) const BINARY: u8 = 0x82;
pub(crate) const CLOSE: u8 = 0x88;
pub(crate) const PING: u8 = 0x89;
pub(crate) const PONG: u8 = 0x8a;

impl Frame {
    pub(crate) fn new(first: u8, payload: impl AsRef<[u8]>) -> Self {
        let payload = payload.as_ref().to_vec();
        Self { first, payload }
    }

    /// The code and the reason of a close frame.
    pub(crate) fn close(&self) -> (u16, &str) {
        assert_eq!(self.first, CLOSE, "{self:?}");
        let code = u16::from_be_bytes([self.payload[0], self.payload[1]]);
        (code, std::str::from_utf8(&self.payload[2..]).unwrap())
    }
}

/// The bytes of a masked frame, as clients send it.
pub(crate) fn masked(first: u8, payload: impl AsRef<[u8]>) -> Vec<u8> {
    let payload = payload.as_ref();
    let mask = [7, 200, 0, 33];
    let mut bytes = head(first, 0x80, payload.len());
    bytes.extend(mask);
    bytes.extend(payload.iter().zip(mask.iter().cycle()).map(|(a, b)| a ^ b));
    bytes
}

/// The bytes of an unmasked frame, as servers send it.
pub(crate) fn unmasked(first: u8, payload: impl AsRef<[u8]>) -> Vec<u8> {
    let payload = payload.as_ref();
    let mut bytes = head(first, 0, payload.len());
    bytes.extend(payload);
    bytes
}

/// The header of a frame, without the masking key.
pub(crate) fn head(first: u8, mask: u8, len: usize) -> Vec<u8> {
    let mut bytes = vec![first];
    match len {
        0..126 => bytes.push(mask | len as u8),
        126..65_536 => {
            bytes.push(mask | 126);
            bytes.extend((len as u16).to_be_bytes());
        }
        _ => {
            bytes.push(mask | 127);
            bytes.extend((len as u64).to_be_bytes());
        }
    }
    bytes
}

impl Raw {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        Self {
            stream: TcpStream::connect(address).await.unwrap(),
            buffer: Vec::new(),
        }
    }

    /// A connection with a small receive buffer, requested as 16 KiB.
    pub(crate) async fn connect_narrow(address: SocketAddr) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(16_384).unwrap();
        Self {
            stream: socket.connect(address).await.unwrap(),
            buffer: Vec::new(),
        }
    }

    /// A connection that has been upgraded.
    pub(crate) async fn open(running: &RunningServer) -> Self {
        Self::connect(running.address()).await.upgraded().await
    }

    pub(crate) async fn upgraded(mut self) -> Self {
        self.send(format!("{ASK}\r\n")).await;
        let head = self.head().await;
        assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
        self
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        within(self.stream.write_all(bytes.as_ref())).await.unwrap();
    }

    /// Reads more bytes. Returns false at the end of the stream.
    async fn read_more(&mut self) -> bool {
        within(self.stream.read_buf(&mut self.buffer))
            .await
            .unwrap()
            > 0
    }

    /// Reads the head of an HTTP response, including the empty line.
    pub(crate) async fn head(&mut self) -> String {
        loop {
            let end = self.buffer.windows(4).position(|four| four == b"\r\n\r\n");
            if let Some(end) = end {
                let head = self.buffer.drain(..end + 4).collect();
                return String::from_utf8(head).unwrap();
            }
            assert!(self.read_more().await, "no whole head");
        }
    }

    /// Reads an HTTP response with a Content-Length. Returns its head and its body.
    pub(crate) async fn answer(&mut self) -> (String, String) {
        let head = self.head().await;
        let lower = head.to_ascii_lowercase();
        let (_, length) = lower.split_once("content-length: ").unwrap();
        let length: usize = length.split_once("\r\n").unwrap().0.parse().unwrap();
        while self.buffer.len() < length {
            assert!(self.read_more().await, "no whole body");
        }
        let body = self.buffer.drain(..length).collect();
        (head, String::from_utf8(body).unwrap())
    }

    /// The next frame, or `None` at the end of the stream.
    pub(crate) async fn frame(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.take() {
                return Some(frame);
            }
            if !self.read_more().await {
                assert!(self.buffer.is_empty(), "half of a frame");
                return None;
            }
        }
    }

    fn take(&mut self) -> Option<Frame> {
        let all = &self.buffer;
        let (first, second) = (*all.first()?, *all.get(1)?);
        assert_eq!(second & 0x80, 0, "a server masks nothing");
        let (at, len) = match second {
            126 => (
                4,
                u16::from_be_bytes(all.get(2..4)?.try_into().unwrap()) as usize,
            ),
            127 => (
                10,
                u64::from_be_bytes(all.get(2..10)?.try_into().unwrap()) as usize,
            ),
            len => (2, len as usize),
        };
        let payload = all.get(at..at + len)?.to_vec();
        self.buffer.drain(..at + len);
        Some(Frame { first, payload })
    }

    /// Asserts that the connection ends without another frame.
    pub(crate) async fn ends(&mut self) {
        assert_eq!(self.frame().await, None);
    }
}

/// The server side of a raw connection.
impl Raw {
    pub(crate) fn of(stream: TcpStream) -> Self {
        Self {
            stream,
            buffer: Vec::new(),
        }
    }

    /// Reads an upgrade request. Returns the value for Sec-WebSocket-Accept.
    pub(crate) async fn accept_of_request(&mut self) -> String {
        let head = self.head().await;
        let mut lines = head.lines().filter_map(|line| line.split_once(": "));
        let key = lines.find(|(name, _)| name.eq_ignore_ascii_case("sec-websocket-key"));
        let (_, key) = key.unwrap();
        tungstenite::handshake::derive_accept_key(key.as_bytes())
    }

    pub(crate) async fn accept_upgrade(&mut self) {
        let accept = self.accept_of_request().await;
        let answer = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Accept: {accept}\r\n\r\n"
        );
        self.send(answer).await;
    }
}
