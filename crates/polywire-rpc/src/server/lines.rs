//! JSON-RPC over byte streams: one message per line, in both directions.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_TYPE, HOST};
use http::{HeaderValue, Method, Request, Response, StatusCode, Uri, request};
use http_body_util::{BodyExt, Full};
use polywire_protocol::{Fault, FaultKind, JsonRpc, ProtocolKind, ServerProtocol};
use polywire_schema::Body;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::task::JoinSet;
use tower::ServiceExt;

use super::Server;
use super::batch::Joined;
use super::body::CountedLength;
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
    /// stream are in progress at once, and their responses are in the order in which they are ready. A line that is longer than
    /// [`Limits::bytes`](polywire_schema::Limits::bytes), or takes longer than [`Timeouts::body`](super::Timeouts) from its
    /// first byte to its end, gets an error with the id null. Dropping the future cancels the calls.
    ///
    /// If a layer or a limit rejects a message, each of its calls that has an id gets the error with this id: that of a
    /// response of JSON-RPC, otherwise the one that belongs to the status, such as an overload for 429 and 503. If the calls
    /// of the message cannot be found, there is one error, with the id null. Layers around HTTP requests that change a
    /// response must keep its extensions, and its body on one line: any other response counts as a rejection by the layer,
    /// although the calls may have run.
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
        let mut lines = LineReader::new(Box::pin(read), limit).with_timeout(time);
        // The memory of an incomplete line.
        let new_reservation = || MemoryReservation::nothing(Arc::clone(&self.app.engine.memory));
        let mut held = new_reservation();
        let mut messages = JoinSet::new();
        let mut is_open = true;
        while is_open || !messages.is_empty() {
            if messages.len() == MESSAGES {
                lines.restart_timeout();
            }
            tokio::select! {
                line = lines.next(|len| held.grow(len)), if is_open && messages.len() < MESSAGES => {
                    let mut held = std::mem::replace(&mut held, new_reservation());
                    // A line that arrives with one read is not counted while it is read.
                    let line = match line? {
                        Line::Text(line) if !held.grow(line.len()) => Line::TooLong,
                        line => line,
                    };
                    let fault = match line {
                        Line::End => {
                            is_open = false;
                            continue;
                        }
                        Line::Text(line) if line.trim_ascii().is_empty() => continue,
                        Line::Text(line) => {
                            let message = LineMessage { line, held, peer: peer.clone() };
                            messages.spawn(message.answer(self.clone(), endpoint.clone()));
                            continue;
                        }
                        Line::TooLong => {
                            let message = format!("the line is longer than {limit} bytes, or than the memory that is left");
                            Fault::new(FaultKind::TooLarge, message)
                        }
                        Line::TooSlow => {
                            let message = format!("the line did not arrive within {} s", time.as_secs_f64());
                            Fault::new(FaultKind::RequestTimeout, message)
                        }
                    };
                    send(&mut write, protocol.encode_other(&fault).into_body(), time).await?;
                    lines.restart_timeout();
                }
                Some(answer) = messages.join_next() => {
                    // A task fails only if it panics, and panics of handlers are caught before.
                    let answer = answer.unwrap_or_else(|error| protocol.encode_other(&Fault::internal(error)).into_body());
                    send(&mut write, answer, time).await?;
                    // Nothing was read while the response was written.
                    lines.restart_timeout();
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
}

/// A message that is in progress.
struct LineMessage {
    line: Bytes,
    /// The memory of the line, until the response is known.
    held: MemoryReservation,
    peer: Peer,
}

impl LineMessage {
    /// The line that answers this one; empty if there is none.
    async fn answer(self, server: Server, endpoint: Endpoint) -> Bytes {
        let Self {
            line,
            held: _held,
            peer,
        } = self;
        let (mut head, ()) = Request::new(()).into_parts();
        head.method = Method::POST;
        head.uri = endpoint.uri;
        let json = HeaderValue::from_static("application/json");
        head.headers.insert(CONTENT_TYPE, json);
        if let Some(host) = endpoint.host {
            head.headers.insert(HOST, host);
        }
        let mut request = Request::from_parts(head.clone(), Full::new(line.clone()));
        let extensions = request.extensions_mut();
        extensions.insert(peer);
        extensions.insert(CountedLength(line.len()));
        let response = match server.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        let has_ids = response.extensions().get::<Joined>().is_some();
        let (parts, body) = response.into_parts();
        let rejection = match body
            .collect()
            .await
            .map(http_body_util::Collected::to_bytes)
        {
            Ok(body) if has_ids && is_line(&body) => return body,
            Ok(body) => JsonRpc::error_without_id(&Body::new(body), &server.app.engine.limits)
                .ok_or_else(|| rejected(parts.status)),
            Err(error) => Err(Fault::internal(error)),
        };
        server.reject(&head, line, rejection)
    }
}

/// Whether a layer left the response of a message as it was: nothing, or JSON on one line.
fn is_line(body: &[u8]) -> bool {
    body.is_empty() || matches!(body.first(), Some(b'{' | b'[')) && !body.contains(&b'\n')
}

/// The fault of a message that a layer around HTTP requests answered.
#[cold]
fn rejected(status: StatusCode) -> Fault {
    let message = format!("a layer answered with status {status}");
    match FaultKind::from_status(status) {
        FaultKind::Internal => Fault::internal(message),
        kind => Fault::new(kind, message),
    }
}

impl Server {
    /// The response to a message in which each call has the same error. Its id is null if the message cannot be split.
    #[cold]
    fn reject(&self, head: &request::Parts, line: Bytes, rejection: Result<Bytes, Fault>) -> Bytes {
        let Ok((_, protocol)) = self.endpoint_of_lines() else {
            return Bytes::new();
        };
        let engine = &self.app.engine;
        let encode = |fault| engine.fault_in(protocol, None, &fault).into_body();
        let error = rejection.unwrap_or_else(encode);
        let Ok(batch) = protocol.split(head, line, &engine.limits) else {
            return error;
        };
        // The error of a layer is repeated for each call.
        let error = match error.len().saturating_mul(batch.calls.len()) > engine.limits.bytes() {
            true => encode(Fault::internal(
                "a layer answered with a response that is too long",
            )),
            false => error,
        };
        let calls = batch.calls.iter();
        let responses = calls.map(|call| call.id.as_ref().map(|_| Response::new(error.clone())));
        protocol.join(&batch, responses.collect()).into_body()
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
    // One write, so that the line is not split over two packets.
    let mut line = line
        .try_into_mut()
        .unwrap_or_else(|line| BytesMut::from(&*line));
    line.extend_from_slice(b"\n");
    let write = async {
        stream.write_all(&line).await?;
        stream.flush().await
    };
    match tokio::time::timeout(time, write).await {
        Ok(written) => written,
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }
}
