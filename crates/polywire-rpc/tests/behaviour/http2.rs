//! HTTP/2 at the frame level: requests and replies on a raw socket.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Site, within};

const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const ACK: u8 = 1;

/// A frame (RFC 9113, section 4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// Headers as literals without indexing (RFC 7541, section 6.2.2).
fn block(headers: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in headers {
        block.push(0);
        for text in [name, value] {
            block.push(u8::try_from(text.len()).unwrap());
            block.extend(text.as_bytes());
        }
    }
    block
}

struct Connection(TcpStream);

impl Connection {
    async fn open(site: &Site) -> Self {
        let mut stream = TcpStream::connect(site.address()).await.unwrap();
        let mut start = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        start.extend(frame(SETTINGS, 0, 0, &[]));
        stream.write_all(&start).await.unwrap();
        Self(stream)
    }

    async fn write(&mut self, frame: &[u8]) {
        self.0.write_all(frame).await.unwrap();
    }

    /// The kind, flags, stream and payload of the next frame; `None` at the end of the connection.
    async fn next(&mut self) -> Option<(u8, u8, u32, Vec<u8>)> {
        let mut head = [0; 9];
        within(self.0.read_exact(&mut head)).await.ok()?;
        let [a, b, c, kind, flags, ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        within(self.0.read_exact(&mut payload)).await.ok()?;
        let stream = u32::from_be_bytes(head[5..].try_into().unwrap());
        Some((kind, flags, stream, payload))
    }

    /// The status of the response on a stream, or the error code of RST_STREAM or GOAWAY.
    async fn status(&mut self, on: u32) -> Result<u16, u32> {
        let code = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().unwrap());
        loop {
            match self.next().await.expect("a response, not the end") {
                (HEADERS, _, stream, block) if stream == on => {
                    return Ok(match block[..] {
                        // Indexed fields of the static table (RFC 7541, appendix A).
                        [0x88, ..] => 200,
                        [0x8c, ..] => 400,
                        _ => panic!("{block:02x?}"),
                    });
                }
                (RST_STREAM, _, stream, payload) if stream == on => return Err(code(&payload)),
                (GOAWAY, _, _, payload) => return Err(code(&payload[4..8])),
                (SETTINGS, 0, ..) => self.write(&frame(SETTINGS, ACK, 0, &[])).await,
                _ => {}
            }
        }
    }
}

/// The number of control frames, which cost a peer nothing, is limited (RFC 9113, section 10.5).
#[tokio::test]
async fn floods_of_control_frames() {
    let site = Site::plain().await;
    for (name, one) in [
        ("SETTINGS", frame(SETTINGS, 0, 0, &[])),
        ("PING", frame(PING, 0, 0, &[0; 8])),
        ("answers to PING", frame(PING, ACK, 0, &[0; 8])),
        ("PRIORITY", frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 1])),
        ("WINDOW_UPDATE", frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1])),
        ("unknown", frame(0x42, 0, 0, &[])),
    ] {
        let stream = Connection::open(&site).await.0;
        let (mut read, mut write) = stream.into_split();
        let drain = tokio::spawn(async move {
            let mut bytes = vec![0; 65_536];
            // Until the connection is closed or reset.
            while read.read(&mut bytes).await.is_ok_and(|count| count > 0) {}
        });
        // The server closes the connection long before it has read 1,000,000 frames.
        let flood = async {
            let many = one.repeat(1_000);
            for _ in 0..1_000 {
                if write.write_all(&many).await.is_err() {
                    return true;
                }
            }
            false
        };
        assert!(within(flood).await, "{name}");
        within(drain).await.unwrap();
    }
    site.assert_still_serving().await;
}

/// Calls raise the limit for control frames: 100 control frames per call are accepted.
#[tokio::test]
async fn control_frames_between_calls() {
    let site = Site::plain().await;
    let mut connection = Connection::open(&site).await;
    let headers = [
        (":method", "GET"),
        (":scheme", "http"),
        (":path", "/status/200"),
        (":authority", "x"),
    ];
    let flags = END_STREAM | END_HEADERS;
    for call in 0..100 {
        let mut bytes = frame(PING, 0, 0, &[0; 8]).repeat(50);
        bytes.extend(frame(HEADERS, flags, 2 * call + 1, &block(&headers)));
        bytes.extend(frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]).repeat(50));
        connection.write(&bytes).await;
        assert_eq!(connection.status(2 * call + 1).await, Ok(200));
    }
}

/// RFC 9113, section 8.3.1: a request whose header Host names another host than `:authority`
/// is malformed.
#[tokio::test]
async fn hosts() {
    let site = Site::plain().await;
    let mut connection = Connection::open(&site).await;
    let mut stream = 1;
    for (authority, hosts, status) in [
        (Some("x"), &[][..], 200),
        (Some("x"), &["x"], 200),
        (Some("x:80"), &["X"], 200),
        (None, &["x"], 200),
        (Some("x"), &["y"], 400),
        (Some("x"), &[""], 400),
        (Some("x"), &["x:81"], 400),
        (Some("x"), &["x", "x"], 400),
        (None, &["x", "x"], 400),
        (Some("u@x"), &[], 400),
        (Some("x"), &["x/"], 400),
    ] {
        let mut headers = vec![
            (":method", "GET"),
            (":scheme", "http"),
            (":path", "/status/200"),
        ];
        headers.extend(authority.map(|authority| (":authority", authority)));
        headers.extend(hosts.iter().map(|host| ("host", *host)));
        let flags = END_STREAM | END_HEADERS;
        let request = frame(HEADERS, flags, stream, &block(&headers));
        connection.write(&request).await;
        let found = connection.status(stream).await;
        assert_eq!(found, Ok(status), "{authority:?} {hosts:?}");
        stream += 2;
    }
}
