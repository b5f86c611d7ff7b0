//! JSON-RPC over byte streams: one message per line, in both directions.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::{HeaderValue, Request, Response, StatusCode, Uri, request};
use http_body_util::{BodyExt, Full};
use polywire_protocol::{Fault, FaultKind, ProtocolKind, ServerProtocol};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::task::JoinSet;
use tower::ServiceExt;

use super::Server;
use crate::call::memory::MemoryReservation;
use crate::lines::{Line, LineReader};
use crate::peer::Peer;

/// The number of messages of a stream that are in progress at once. While there are as many, no further ones are read.
const MESSAGES: usize = 64;

/// Where messages go: the endpoint of the protocol on the server.
#[derive(Clone)]
struct Endpoint {
    uri: Uri,
    host: Option<HeaderValue>,
}

impl Server {
    /// Serves JSON-RPC over a byte stream, such as standard input and output, a pipe, or a connection. Each line is a
    /// message, in UTF-8. Returns at the end of the stream, once all responses are written.
    ///
    /// Messages take the path of HTTP requests of `peer`, with all layers, limits and authenticators. Up to 64 messages of a
    /// stream are in progress at once, and their responses are in the order in which they are ready. A line that is longer
    /// than [`Limits::bytes`](polywire_schema::Limits::bytes) gets an error. Dropping the future cancels the calls.
    ///
    /// ```
    /// use polywire_protocol::ProtocolKind;
    /// use polywire_rpc::server::Peer;
    /// use polywire_rpc::{Server, ServerBuilder};
    /// use tokio::net::TcpStream;
    ///
    /// async fn serve(
    ///     builder: ServerBuilder,
    ///     stream: TcpStream,
    /// ) -> Result<(), Box<dyn std::error::Error>> {
    ///     let server = builder.protocol(ProtocolKind::JsonRpc).build()?;
    ///     server.serve_lines(stream, Peer::unix(None)).await?;
    ///     Ok(())
    /// }
    /// # let _ = serve;
    /// ```
    ///
    /// # Errors
    ///
    /// The server does not offer JSON-RPC, the stream fails, or its peer does not read a response within
    /// [`Timeouts::body`](super::Timeouts).
    pub async fn serve_lines<S>(&self, stream: S, peer: Peer) -> io::Result<()>
    where
        S: AsyncRead + AsyncWrite,
    {
        let (endpoint, protocol) = self.endpoint_of_lines()?;
        let limit = self.app.engine.limits.bytes();
        let time = self.app.timeouts.body;
        let (read, write) = tokio::io::split(stream);
        let mut write = std::pin::pin!(write);
        let mut lines = LineReader::new(Box::pin(read), limit);
        // The memory of an incomplete line. That of a complete one is counted as a body of HTTP.
        let new_reservation = || MemoryReservation::nothing(Arc::clone(&self.app.engine.memory));
        let mut held = new_reservation();
        let mut messages = JoinSet::new();
        let mut is_open = true;
        while is_open || !messages.is_empty() {
            tokio::select! {
                line = lines.next(|len| held.grow(len)), if is_open && messages.len() < MESSAGES => {
                    match line? {
                        Line::End => is_open = false,
                        Line::TooLong => {
                            let message = format!("the line is longer than {limit} bytes, or than the memory that is left");
                            let fault = Fault::new(FaultKind::TooLarge, message);
                            send(&mut write, protocol.encode_other(&fault).into_body(), time).await?;
                        }
                        Line::Text(line) if line.trim_ascii().is_empty() => {}
                        Line::Text(line) => {
                            let call = self.clone().answer_line(endpoint.clone(), line, peer.clone());
                            messages.spawn(call);
                        }
                    }
                    held = new_reservation();
                }
                Some(answer) = messages.join_next() => {
                    // A task fails only if it panics, and panics of handlers are caught before.
                    let answer = answer.unwrap_or_else(|error| Err(Fault::internal(error)));
                    let answer = answer.unwrap_or_else(|fault| protocol.encode_other(&fault).into_body());
                    send(&mut write, answer, time).await?;
                }
            }
        }
        write.shutdown().await
    }

    fn endpoint_of_lines(&self) -> io::Result<(Endpoint, &dyn ServerProtocol)> {
        let mut mounts = self.mounts();
        let found = mounts.find(|(_, protocol)| protocol.kind() == ProtocolKind::JsonRpc);
        let Some((mount, protocol)) = found else {
            let message = "the server does not offer JSON-RPC";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        };
        let uri = format!(
            "{}{}",
            mount.path_prefix(),
            protocol.endpoint().unwrap_or("/")
        );
        // A wildcard does not match the domain itself, so a label takes its place.
        let host = mount.host_name().map(|name| name.replacen('*', "lines", 1));
        let invalid = |error: http::Error| io::Error::new(io::ErrorKind::InvalidInput, error);
        let endpoint = Endpoint {
            uri: uri
                .parse()
                .map_err(|error| invalid(http::Error::from(error)))?,
            host: host
                .map(HeaderValue::try_from)
                .transpose()
                .map_err(|error| invalid(http::Error::from(error)))?,
        };
        Ok((endpoint, protocol))
    }

    /// The line that answers a line; empty if there is none.
    async fn answer_line(
        self,
        endpoint: Endpoint,
        line: Bytes,
        peer: Peer,
    ) -> Result<Bytes, Fault> {
        let mut request = Request::new(Full::new(line.clone()));
        *request.method_mut() = http::Method::POST;
        *request.uri_mut() = endpoint.uri;
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(host) = endpoint.host {
            headers.insert(HOST, host);
        }
        request.extensions_mut().insert(peer);
        let (head, body) = request.into_parts();
        let request = Request::from_parts(head.clone(), body);
        let response = match self.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        let status = response.status();
        let body = response.into_body().collect().await;
        let body = body.map_err(Fault::internal)?.to_bytes();
        let is_message = matches!(body.first(), Some(b'{' | b'[')) && !body.contains(&b'\n');
        match status {
            StatusCode::OK if is_message || body.is_empty() => Ok(body),
            // Rejected by its head, without the ids of the calls.
            _ if is_message => Ok(self.reject(&head, line, &body).unwrap_or(body)),
            // Of a layer around HTTP requests.
            _ => {
                let reason = format!("a layer answered with status {status}");
                Err(Fault::internal(reason))
            }
        }
    }

    /// The response to a line in which each call has the same response.
    #[cold]
    fn reject(&self, head: &request::Parts, line: Bytes, response: &Bytes) -> Option<Bytes> {
        let (_, protocol) = self.endpoint_of_lines().ok()?;
        let batch = protocol.split(head, line, &self.app.engine.limits).ok()?;
        let calls = batch.calls.iter();
        let responses = calls.map(|call| call.id.as_ref().map(|_| Response::new(response.clone())));
        let joined = protocol.join(&batch, responses.collect());
        Some(joined.into_body())
    }
}

/// Writes a line, unless it is empty.
async fn send(
    stream: &mut (impl AsyncWrite + Unpin),
    line: Bytes,
    time: Duration,
) -> io::Result<()> {
    if line.is_empty() {
        return Ok(());
    }
    let write = async {
        stream.write_all(&line).await?;
        stream.write_all(b"\n").await?;
        stream.flush().await
    };
    match tokio::time::timeout(time, write).await {
        Ok(written) => written,
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }
}
