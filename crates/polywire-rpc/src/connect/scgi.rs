//! SCGI: a request is a netstring of headers and a body, an answer that of a CGI program.
//!
//! <https://python.ca/scgi/protocol.txt>. One connection a request: the end of the answer
//! is the end of the connection, or where `Content-Length` says.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout_at;

use super::dial::Dialer;
use super::stream::Stream;
use super::transport::{Deadline, too_large};
use super::url::Endpoint;
use super::{Step, TransportError};

/// The longest head of an answer.
const HEAD: usize = 64 * 1024;

pub(super) async fn exchange(
    dialer: &Dialer,
    endpoint: &Endpoint,
    request: &Request<Bytes>,
    limit: usize,
    deadline: Deadline,
) -> Result<Response<Bytes>, TransportError> {
    let mut address = None;
    let answer = async {
        let mut stream = dialer.connect().await?;
        let to = address.insert(stream.known.address.clone());
        let failed = |step, error: std::io::Error| {
            TransportError::new(endpoint.shown(), step)
                .at(&**to)
                .with_source(error)
        };
        let message = message(request);
        let written = stream.write_all(&message).await;
        // A server may have answered, and closed, before it took the whole body.
        let whole = match read(&mut stream, limit).await {
            Ok(whole) if !whole.is_empty() => whole,
            Ok(whole) => match written {
                Ok(()) => whole,
                Err(error) => return Err(failed(Step::Write, error)),
            },
            Err(error) => return Err(failed(Step::Read, error)),
        };
        let read = |reason: &str| {
            let error = TransportError::new(endpoint.shown(), Step::Read);
            error.at(&**to).because(reason)
        };
        if whole.is_empty() {
            let reason = "the server closed the connection before its answer had come";
            return Err(read(reason));
        }
        let response = answer(&Bytes::from(whole)).map_err(read)?;
        if response.body().len() > limit {
            return Err(too_large(read(""), limit));
        }
        Ok(response)
    };
    match timeout_at(deadline.at, answer).await {
        Ok(answer) => answer,
        Err(_) => {
            let step = match &address {
                Some(_) => Step::Read,
                None => Step::Connect,
            };
            let error = TransportError::new(endpoint.shown(), step).past_deadline(deadline.total);
            Err(error.at(address.unwrap_or_default()))
        }
    }
}

/// Reads to the end of the answer: at most the limit of a body, one byte more, and a head.
async fn read(stream: &mut Stream, limit: usize) -> std::io::Result<Vec<u8>> {
    let most = limit.saturating_add(HEAD);
    let mut whole = Vec::with_capacity(4096);
    let mut end = None;
    loop {
        let room = most.saturating_add(1) - whole.len();
        let count = (&mut *stream)
            .take(room as u64)
            .read_buf(&mut whole)
            .await?;
        if count == 0 {
            return Ok(whole);
        }
        if end.is_none()
            && let Some(at) = head_end(&whole)
        {
            let length = headers(&whole[..at]).ok().and_then(|(_, headers)| {
                let length = headers.get(CONTENT_LENGTH)?.to_str().ok()?;
                length.trim().parse::<usize>().ok()
            });
            // Servers that keep the connection open have said how much comes.
            end = length.map(|length| at.saturating_add(length));
        }
        if end.is_some_and(|end| whole.len() >= end) || whole.len() > most {
            return Ok(whole);
        }
    }
}

/// The request: the headers in a netstring, `CONTENT_LENGTH` first, and the body.
fn message(request: &Request<Bytes>) -> Vec<u8> {
    let mut head = Vec::with_capacity(512);
    let mut add = |name: &[u8], value: &[u8]| {
        // No NUL can be in either: headers and URLs refuse it.
        head.extend_from_slice(name);
        head.push(0);
        head.extend_from_slice(value);
        head.push(0);
    };
    let uri = request.uri();
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    add(
        b"CONTENT_LENGTH",
        request.body().len().to_string().as_bytes(),
    );
    add(b"SCGI", b"1");
    add(b"REQUEST_METHOD", request.method().as_str().as_bytes());
    add(b"REQUEST_URI", target.as_bytes());
    add(b"PATH_INFO", uri.path().as_bytes());
    add(b"QUERY_STRING", uri.query().unwrap_or_default().as_bytes());
    add(b"SERVER_PROTOCOL", b"HTTP/1.1");
    let host = uri.authority().map_or("", |authority| authority.as_str());
    add(b"HTTP_HOST", host.as_bytes());
    for (name, value) in request.headers() {
        if name == CONTENT_LENGTH {
            continue;
        }
        let mut key = name.as_str().to_ascii_uppercase().replace('-', "_");
        if name != CONTENT_TYPE {
            key.insert_str(0, "HTTP_");
        }
        add(key.as_bytes(), value.as_bytes());
    }
    let mut message = format!("{}:", head.len()).into_bytes();
    message.reserve(head.len() + 1 + request.body().len());
    message.extend_from_slice(&head);
    message.push(b',');
    message.extend_from_slice(request.body());
    message
}

/// Where the head ends: behind an empty line.
fn head_end(bytes: &[u8]) -> Option<usize> {
    let mut start = 0;
    while let Some(at) = bytes[start..].iter().position(|byte| *byte == b'\n') {
        let line = &bytes[start..start + at];
        start += at + 1;
        if line.is_empty() || line == b"\r" {
            return Some(start);
        }
    }
    None
}

fn headers(head: &[u8]) -> Result<(StatusCode, HeaderMap), &'static str> {
    const HEADER: &str = "what came is no answer of a CGI program";
    let mut status = StatusCode::OK;
    let mut headers = HeaderMap::new();
    for line in head.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            break;
        }
        let colon = line.iter().position(|byte| *byte == b':').ok_or(HEADER)?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"status") {
            let code = value.get(..3).ok_or(HEADER)?;
            status = StatusCode::from_bytes(code).map_err(|_| HEADER)?;
            continue;
        }
        let name = HeaderName::from_bytes(name).map_err(|_| HEADER)?;
        let value = HeaderValue::from_bytes(value).map_err(|_| HEADER)?;
        headers.append(name, value);
    }
    Ok((status, headers))
}

fn answer(whole: &Bytes) -> Result<Response<Bytes>, &'static str> {
    let end = head_end(&whole[..whole.len().min(HEAD)])
        .ok_or("the head of the answer does not end, or is no answer of a CGI program")?;
    let (status, headers) = headers(&whole[..end])?;
    let mut body = whole.slice(end..);
    if let Some(length) = headers.get(CONTENT_LENGTH) {
        let length = length
            .to_str()
            .ok()
            .and_then(|length| length.trim().parse().ok());
        let length: usize = length.ok_or("the answer's Content-Length is no number")?;
        if body.len() < length {
            return Err("the server closed the connection before its answer was whole");
        }
        body.truncate(length);
    }
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_netstrings() {
        let request = Request::post("http://h:1/RPC2?a=1")
            .header("content-type", "text/xml")
            .header("x-own", "1")
            .body(Bytes::from_static(b"<x/>"))
            .unwrap();
        let message = message(&request);
        let text = String::from_utf8(message).unwrap();
        let (length, rest) = text.split_once(':').unwrap();
        let (head, body) = rest.split_at(length.parse().unwrap());
        assert_eq!(body, ",<x/>");
        assert!(head.starts_with("CONTENT_LENGTH\x004\x00SCGI\x001\x00"));
        for part in [
            "\x00REQUEST_URI\x00/RPC2?a=1\x00",
            "\x00CONTENT_TYPE\x00text/xml\x00",
            "\x00HTTP_X_OWN\x001\x00",
        ] {
            assert!(head.contains(part), "{part:?} in {head:?}");
        }
    }

    #[test]
    fn answers_have_heads() {
        let read = |text: &'static str| answer(&Bytes::from_static(text.as_bytes()));
        let response = read("Status: 404 Not Found\r\nContent-Length: 2\r\n\r\nabc").unwrap();
        assert_eq!(response.status(), 404);
        assert_eq!(&response.body()[..], b"ab");
        let response = read("Content-Type: text/xml\n\nabc").unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(&response.body()[..], b"abc");
        for wrong in [
            "",
            "abc",
            "Status: x\r\n\r\n",
            "a b: c\n\n",
            "Content-Length: 9\n\nabc",
        ] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }
}
