//! A server of HTTP by hand.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What the server does with a request.
pub(crate) enum Reply {
    /// A status and a body.
    Body(u16, String),
    /// The connection is closed.
    Close,
    /// The bytes of a whole response.
    Raw(String),
    /// No answer.
    Silence,
}

pub(crate) struct Endpoint {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

/// The head, in lower case except for its first line, and the body.
type Request = (String, Vec<u8>);

impl Endpoint {
    /// Starts a server. `reply` gets a request, whose headers are in lower case, and its number from 0.
    pub(crate) async fn start(
        reply: impl Fn(&str, usize) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let (log, reply) = (Arc::clone(&requests), Arc::new(reply));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (log, reply) = (Arc::clone(&log), Arc::clone(&reply));
                tokio::spawn(async move {
                    let mut bytes = Vec::new();
                    while !bytes.ends_with(b"\r\n\r\n") {
                        bytes.push(stream.read_u8().await?);
                    }
                    let text = String::from_utf8(bytes).unwrap();
                    let (line, headers) = text.split_once("\r\n").unwrap();
                    let headers = headers.to_ascii_lowercase();
                    let body = match headers.contains("transfer-encoding: chunked") {
                        true => read_chunks(&mut stream).await?,
                        false => {
                            let length = headers.split("content-length: ").nth(1);
                            let length = length.and_then(|text| text.lines().next()?.parse().ok());
                            let mut body = vec![0; length.unwrap_or(0)];
                            stream.read_exact(&mut body).await?;
                            body
                        }
                    };
                    let head = format!("{line}\r\n{headers}");
                    let text = format!("{head}{}", String::from_utf8_lossy(&body));
                    let number = {
                        let mut log = log.lock().unwrap();
                        log.push((head, body));
                        log.len() - 1
                    };
                    match reply(&text, number) {
                        Reply::Body(status, body) => {
                            let length = body.len();
                            let text = format!(
                                "HTTP/1.1 {status} Status\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
                            );
                            stream.write_all(text.as_bytes()).await?;
                        }
                        Reply::Close => {}
                        Reply::Raw(text) => stream.write_all(text.as_bytes()).await?,
                        Reply::Silence => tokio::time::sleep(Duration::from_secs(60)).await,
                    }
                    Ok::<_, std::io::Error>(())
                });
            }
        });
        Self { url, requests }
    }

    /// All requests.
    pub(crate) fn requests(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        let text = |(head, body): &Request| format!("{head}{}", String::from_utf8_lossy(body));
        requests.iter().map(text).collect()
    }

    /// The last request.
    pub(crate) fn last(&self) -> Request {
        self.requests.lock().unwrap().last().unwrap().clone()
    }
}

/// Reads a body in chunks (RFC 9112, section 7.1), without trailers.
async fn read_chunks(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            line.push(stream.read_u8().await?);
        }
        let size = String::from_utf8(line).unwrap();
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        let start = body.len();
        body.resize(start + size + 2, 0);
        stream.read_exact(&mut body[start..]).await?;
        body.truncate(start + size);
        if size == 0 {
            return Ok(body);
        }
    }
}
