//! SCGI: each request has a connection of its own. The request is a netstring of headers and a body, and the response is
//! that of a CGI program.
//!
//! [`polywire_protocol::scgi`] has the encoding. A response ends after `Content-Length` bytes, or with the connection.

use std::pin::pin;

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderValue, Request, Response};
use polywire_protocol::PayloadStream;
use polywire_protocol::scgi::{HEAD_LIMIT, ResponseReader, write_request};
use polywire_schema::Error;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::dial::Dialer;
use super::stream::Stream;
use super::transport::too_large;
use super::{Step, TransportError};
use crate::call::CallTimeout;

pub(super) async fn exchange(
    dialer: &Dialer,
    request: Request<Bytes>,
    limit: usize,
    timeout: CallTimeout,
) -> Result<Response<Bytes>, TransportError> {
    if request.extensions().get::<PayloadStream>().is_some() {
        let reason = "a stream cannot be sent over SCGI: collect its bytes first";
        return Err(dialer.error(Step::Write).because(reason));
    }
    let mut address = None;
    let answer = async {
        let message = message(request).map_err(|error| {
            let failure = dialer.error(Step::Write);
            failure.with_source(error)
        })?;
        let mut stream = dialer.connect().await?;
        let to = address.insert(stream.known.address.clone());
        let failed = |step| dialer.error(step).at(&**to);
        let written = stream.write_all(&message).await;
        // A server may respond and close before it has read the whole body.
        read(&mut stream, limit).await.map_err(|broken| {
            let error = failed(Step::Read);
            match (broken, written) {
                (ReadError::Silent, Err(source)) => failed(Step::Write).with_source(source),
                (ReadError::Silent, Ok(())) => {
                    error.because("the server closed the connection before its answer had come")
                }
                (ReadError::Short, _) => {
                    error.because("the server closed the connection before its answer was whole")
                }
                (ReadError::Head(source), _) => error
                    .invalid_response()
                    .because("what came is no answer of a CGI program")
                    .with_source(source),
                (ReadError::TooLarge, _) => too_large(error, limit),
                (ReadError::Io(source), _) => error.with_source(source),
            }
        })
    };
    let answer = {
        // Pinned here, so that the inner future holds a pointer instead of a copy.
        let answer = pin!(answer);
        timeout.timeout(answer).await
    };
    match answer {
        Some(answer) => answer,
        None => {
            let step = match &address {
                Some(_) => Step::Read,
                None => Step::Connect,
            };
            let error = dialer.error(step).past_deadline(timeout.total());
            Err(error.at(address.unwrap_or_default()))
        }
    }
}

/// Encodes the head and the body of a request.
fn message(request: Request<Bytes>) -> Result<Vec<u8>, Error> {
    let (mut head, body) = request.into_parts();
    let authority = head.uri.authority().map(|authority| authority.as_str());
    if let Some(Ok(host)) = authority.map(HeaderValue::from_str) {
        head.headers.entry(HOST).or_insert(host);
    }
    let mut message = Vec::with_capacity(512 + body.len());
    write_request(&head, body.len() as u64, &mut message)?;
    message.extend_from_slice(&body);
    Ok(message)
}

/// Why a response could not be read.
enum ReadError {
    /// The server closed the connection without a byte.
    Silent,
    /// The server closed the connection within the body.
    Short,
    /// The body is longer than the limit.
    TooLarge,
    Head(Error),
    Io(std::io::Error),
}

impl From<std::io::Error> for ReadError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads a response whose body has at most `limit` bytes.
async fn read(stream: &mut Stream, limit: usize) -> Result<Response<Bytes>, ReadError> {
    let mut reader = ResponseReader::new(HEAD_LIMIT);
    let mut piece = Vec::with_capacity(8192);
    let mut silent = true;
    let response = loop {
        piece.clear();
        if stream.read_buf(&mut piece).await? == 0 {
            return Err(match silent {
                true => ReadError::Silent,
                false => ReadError::Head(reader.ended()),
            });
        }
        silent = false;
        if let Some(response) = reader.feed(&piece).map_err(ReadError::Head)? {
            break response;
        }
    };
    // A server that keeps the connection open has sent the length.
    let length = response.length.map(usize::try_from);
    let length = length.map(|length| length.unwrap_or(usize::MAX));
    let most = length.unwrap_or(limit.saturating_add(1));
    if most > limit.saturating_add(1) {
        return Err(ReadError::TooLarge);
    }
    let mut body = Vec::from(response.body_start);
    while body.len() < most {
        let room = (most - body.len()) as u64;
        if (&mut *stream).take(room).read_buf(&mut body).await? == 0 {
            match length {
                Some(_) => return Err(ReadError::Short),
                None => break,
            }
        }
    }
    if body.len() > limit {
        return Err(ReadError::TooLarge);
    }
    Ok(Response::from_parts(response.head, body.into()))
}
