//! SCGI connections from web servers or from clients of rTorrent. One request per connection.

use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use http::{Method, Request, StatusCode};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use polywire_protocol::scgi;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf};
use tokio::sync::{oneshot, watch};

use super::connection::stop_and_wait;
use super::connection_stream::ConnectionStream;
use super::http_service::boxed;
use super::response::text;
use super::{HttpResponse, Server};
use crate::peer::{Peer, PeerDetails};

/// Serves SCGI on a connection.
pub(super) async fn connection(
    server: Server,
    mut stream: ConnectionStream,
    peer: Peer,
    stopped: watch::Receiver<bool>,
) {
    let time = server.app.timeouts.head;
    let head = tokio::select! {
        biased;
        head = tokio::time::timeout(time, read_head(&mut stream)) => head,
        () = stop_and_wait(stopped) => return,
    };
    let (response, is_head) = match head {
        // The peer has sent nothing.
        Ok(Ok(None)) => return,
        Ok(Ok(Some(request))) => {
            let is_head = request.head.method == Method::HEAD;
            let half_close = server.app.half_close;
            let (read, mut write) = tokio::io::split(stream);
            let (read, returned) = BodyStream::new(read);
            let response = tokio::select! {
                biased;
                response = answer(server, read, request, &peer) => response,
                () = ended(returned), if !half_close => {
                    tracing::debug!(?peer, "the client has disconnected, so its call is cancelled");
                    return;
                }
            };
            if let Err(error) = respond(&mut write, response, is_head, time).await {
                tracing::debug!(?peer, %error, "a connection ended early");
            }
            return;
        }
        Ok(Err(HeadError::Malformed(message))) => (text(StatusCode::BAD_REQUEST, message), false),
        Ok(Err(HeadError::Io(error))) => {
            tracing::debug!(?peer, %error, "a connection ended early");
            return;
        }
        Err(_) => {
            let message = format!("the head did not arrive within {} s\n", time.as_secs_f64());
            (text(StatusCode::REQUEST_TIMEOUT, message), false)
        }
    };
    let ended = respond(&mut stream, response, is_head, time).await;
    tracing::debug!(?peer, ?ended, "a connection without a request");
}

/// The error of reading a head.
enum HeadError {
    Malformed(String),
    Io(io::Error),
}

async fn read_head(stream: &mut ConnectionStream) -> Result<Option<scgi::Request>, HeadError> {
    let mut reader = scgi::RequestReader::new(scgi::HEAD_LIMIT);
    let mut buffer = BytesMut::with_capacity(4096);
    let mut any = false;
    loop {
        buffer.clear();
        let count = stream.read_buf(&mut buffer).await.map_err(HeadError::Io)?;
        let request = match count {
            0 if !any => return Ok(None),
            0 => Err(reader.ended()),
            _ => reader.feed(&buffer),
        };
        any = true;
        match request {
            Ok(None) => {}
            Ok(Some(request)) => return Ok(Some(request)),
            Err(error) => return Err(HeadError::Malformed(format!("{error}\n"))),
        }
    }
}

/// The read half of a connection while a body is read. Sent to the receiver when this is dropped.
struct BodyStream<R: AsyncRead> {
    read: Option<R>,
    sender: Option<oneshot::Sender<R>>,
}

impl<R: AsyncRead> BodyStream<R> {
    fn new(read: R) -> (Self, oneshot::Receiver<R>) {
        let (sender, receiver) = oneshot::channel();
        let own = Self {
            read: Some(read),
            sender: Some(sender),
        };
        (own, receiver)
    }
}

impl<R: AsyncRead> Drop for BodyStream<R> {
    fn drop(&mut self) {
        if let (Some(read), Some(sender)) = (self.read.take(), self.sender.take()) {
            // Fails if nothing waits for it.
            let _ = sender.send(read);
        }
    }
}

/// Returns when the client closes the connection after its request. Never returns if the client sends more data.
async fn ended<R: AsyncRead + Unpin>(returned: oneshot::Receiver<R>) {
    if let Ok(mut read) = returned.await
        && let Ok(0) | Err(_) = read.read(&mut [0]).await
    {
        return;
    }
    std::future::pending::<()>().await;
}

async fn answer(
    server: Server,
    read: BodyStream<ReadHalf<ConnectionStream>>,
    request: scgi::Request,
    peer: &Peer,
) -> HttpResponse {
    let scgi::Request {
        mut head,
        length,
        body_start,
    } = request;
    let variables = head.extensions.get::<scgi::Variables>();
    let peer = client(peer, variables, server.app.trust_remote_scgi);
    head.extensions.insert(peer.clone());
    let remaining = length - body_start.len() as u64;
    let body = IncomingBody {
        read,
        prefix: body_start,
        remaining,
        buffer: BytesMut::new(),
    };
    let body = boxed(body);
    let (answer, in_flight) = server.answer_any(Request::from_parts(head, body), peer);
    answer.await.map(|body| body.with_guard(in_flight))
}

/// The client: the one in the variables of the web server if it is trusted, otherwise the peer itself.
fn client(peer: &Peer, variables: Option<&scgi::Variables>, from_elsewhere: bool) -> Peer {
    let variables = variables.filter(|_| from_elsewhere || peer.is_local());
    let remote = variables.and_then(scgi::Variables::remote);
    Peer::new(PeerDetails {
        address: remote.or(peer.address()),
        // The web server passes no more than the address.
        local: remote.is_none() && peer.is_unix(),
        credentials: peer.credentials().filter(|_| remote.is_none()),
        #[cfg(feature = "tls")]
        tls: None,
        encrypted: variables.is_some_and(scgi::Variables::is_https),
    })
}

async fn respond<W: AsyncWrite + Unpin>(
    stream: &mut W,
    response: HttpResponse,
    is_head: bool,
    time: Duration,
) -> io::Result<()> {
    let (head, mut body) = response.into_parts();
    let length = body.size_hint().exact();
    let mut bytes = Vec::with_capacity(512);
    scgi::write_response(&head, length, &mut bytes);
    while !is_head && let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(io::Error::other)?.into_data() else {
            continue;
        };
        // The head and the first piece are one write.
        bytes.extend_from_slice(&data);
        write(stream, &bytes, time).await?;
        bytes.clear();
    }
    write(stream, &bytes, time).await?;
    tokio::time::timeout(time, stream.shutdown()).await?
}

/// Writes all bytes. Each write may take `time`.
async fn write<W>(stream: &mut W, mut bytes: &[u8], time: Duration) -> io::Result<()>
where
    W: AsyncWrite + Unpin,
{
    while !bytes.is_empty() {
        let written = tokio::time::timeout(time, stream.write(bytes)).await??;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[written..];
    }
    Ok(())
}

/// The body of a request.
struct IncomingBody<R: AsyncRead> {
    read: BodyStream<R>,
    /// The part of the body that was read with the head.
    prefix: Bytes,
    /// Unread bytes.
    remaining: u64,
    buffer: BytesMut,
}

/// The maximum number of bytes of one read.
const MAX_READ: u64 = 16 * 1024;

impl<R: AsyncRead + Unpin> Body for IncomingBody<R> {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if !self.prefix.is_empty() {
            let prefix = std::mem::take(&mut self.prefix);
            return Poll::Ready(Some(Ok(Frame::data(prefix))));
        }
        if self.remaining == 0 {
            return Poll::Ready(None);
        }
        let count = usize::try_from(self.remaining.min(MAX_READ)).unwrap_or(usize::MAX);
        let Self { read, buffer, .. } = &mut *self;
        // `None` only in `drop`.
        let Some(read) = &mut read.read else {
            return Poll::Ready(None);
        };
        buffer.reserve(count);
        let mut target = (&mut *buffer).limit(count);
        // The future has no state, so each poll can create a new one.
        let len = ready!(pin!(read.read_buf(&mut target)).poll(context))?;
        if len == 0 {
            let text = format!("the body lacks {} bytes", self.remaining);
            self.remaining = 0;
            let error = io::Error::new(io::ErrorKind::UnexpectedEof, text);
            return Poll::Ready(Some(Err(error)));
        }
        self.remaining -= len as u64;
        let data = self.buffer.split().freeze();
        Poll::Ready(Some(Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.prefix.is_empty() && self.remaining == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.prefix.len() as u64 + self.remaining)
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    /// A web server on another machine is trusted only with `trust_remote_scgi`.
    #[test]
    fn variables_are_trusted_only_from_local_web_servers() {
        let block = "CONTENT_LENGTH|0|SCGI|1|REMOTE_ADDR|127.0.0.1|HTTPS|on|".replace('|', "\0");
        let request = format!("{}:{block},", block.len());
        let mut reader = scgi::RequestReader::new(scgi::HEAD_LIMIT);
        let head = reader.feed(request.as_bytes()).unwrap().unwrap().head;
        let variables = head.extensions.get::<scgi::Variables>();
        let peer = |address: &str| Peer::from(address.parse::<SocketAddr>().unwrap());
        for (web_server, from_elsewhere, trusted) in [
            (peer("192.0.2.1:5000"), false, false),
            (peer("192.0.2.1:5000"), true, true),
            (peer("127.0.0.1:5000"), false, true),
            (Peer::unix(None), false, true),
        ] {
            let client = client(&web_server, variables, from_elsewhere);
            let case = format!("{web_server:?} {from_elsewhere}");
            assert_eq!(client.is_encrypted(), trusted, "{case}");
            let address = client.address().unwrap().ip().to_string();
            let ip = if trusted { "127.0.0.1" } else { "192.0.2.1" };
            assert_eq!(address, ip, "{case}");
            assert_eq!(client.is_local(), trusted, "{case}");
        }
    }
}
