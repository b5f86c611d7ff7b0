//! Scripted servers.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;

/// A received request.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    /// Index of the connection, from 0.
    pub(crate) connection: usize,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// Number of reads that it took.
    pub(crate) reads: usize,
}

impl ReceivedRequest {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (own, value) = line.split_once(": ")?;
            own.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    pub(crate) fn line(&self) -> &str {
        self.head.lines().next().unwrap()
    }

    pub(crate) fn body(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

/// The reaction to a request.
pub(crate) enum Action {
    /// Write these bytes and wait for the next request.
    Answer(Vec<u8>),
    /// Write these bytes and close.
    AnswerAndClose(Vec<u8>),
    /// Send no reply.
    Silence,
}

/// A running scripted server.
pub(crate) struct ScriptedServer {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<ReceivedRequest>>>,
    closed: Arc<AtomicUsize>,
}

impl ScriptedServer {
    /// Starts a server. `script` gets each request with its index over all connections, and
    /// returns the reaction.
    pub(crate) async fn start(
        script: impl Fn(usize, &ReceivedRequest) -> Action + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (script, list) = (Arc::new(script), seen.clone());
        let closed = Arc::new(AtomicUsize::new(0));
        let count = closed.clone();
        tokio::spawn(async move {
            for connection in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                let served = serve(stream, connection, script.clone(), list.clone());
                let count = count.clone();
                tokio::spawn(async move {
                    served.await;
                    count.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
        Self {
            address,
            seen,
            closed,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/RPC2", self.address)
    }

    /// How many connections the server has closed.
    pub(crate) fn closed(&self) -> usize {
        self.closed.load(Ordering::SeqCst)
    }

    pub(crate) fn seen(&self) -> Vec<ReceivedRequest> {
        self.seen.lock().unwrap().clone()
    }
}

/// Serves one connection from a script.
pub(crate) async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    connection: usize,
    script: Arc<impl Fn(usize, &ReceivedRequest) -> Action>,
    list: Arc<Mutex<Vec<ReceivedRequest>>>,
) {
    while let Some(seen) = read(&mut stream, connection).await {
        let nth = {
            let mut list = list.lock().unwrap();
            list.push(seen.clone());
            list.len() - 1
        };
        match script(nth, &seen) {
            Action::Answer(bytes) => {
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            Action::AnswerAndClose(bytes) => {
                let _ = stream.write_all(&bytes).await;
                let _ = stream.shutdown().await;
                return;
            }
            Action::Silence => std::future::pending().await,
        }
    }
}

async fn read(stream: &mut (impl AsyncRead + Unpin), connection: usize) -> Option<ReceivedRequest> {
    let mut bytes = Vec::new();
    let mut reads = 0;
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        bytes.reserve(64 * 1024);
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        reads += 1;
    };
    let mut body = bytes.split_off(end);
    let mut seen = ReceivedRequest {
        connection,
        head: String::from_utf8(bytes).unwrap(),
        body: Vec::new(),
        reads,
    };
    let length = seen.header("content-length");
    let length: usize = length.map_or(0, |length| length.parse().unwrap());
    while body.len() < length {
        body.reserve(64 * 1024);
        if stream.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
        seen.reads += 1;
    }
    seen.body = body;
    Some(seen)
}

/// An HTTP response with a status, additional headers and a body.
pub(crate) fn http(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

/// A response with this result, which is XML.
pub(crate) fn result(value: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\r\n<methodResponse><params><param><value>{value}</value></param>\
         </params></methodResponse>"
    )
}

/// A response with this fault.
pub(crate) fn fault(code: i64, text: &str) -> String {
    format!(
        "<methodResponse><fault><value><struct><member><name>faultCode</name><value><int>{code}\
         </int></value></member><member><name>faultString</name><value><string>{text}</string>\
         </value></member></struct></value></fault></methodResponse>"
    )
}

pub(crate) fn ok(value: &str) -> Action {
    Action::Answer(http("200 OK", "Content-Type: text/xml\r\n", result(value)))
}
