//! Reading and writing the head of CGI responses.

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, LOCATION, TRANSFER_ENCODING};
use http::{HeaderName, HeaderValue, StatusCode, response};
use polywire_schema::{Error, ErrorKind, LimitKind};

use super::{error, shown};

/// The head of a response, and the part of the body that has arrived with it.
#[derive(Debug)]
pub struct Response {
    /// Status and headers.
    pub head: response::Parts,
    /// The length of the body in bytes. `None` if the body ends with the connection.
    pub length: Option<u64>,
    /// The start of the body. Bytes after the body are discarded.
    pub body_start: Bytes,
}

/// Reads the head of a response.
///
/// Lines can end with a line feed alone. A status line of HTTP, such as `HTTP/1.1 200 OK`, is
/// accepted instead of the header `Status`.
#[derive(Debug)]
pub struct ResponseReader {
    limit: usize,
    bytes: Vec<u8>,
    /// The offset up to which the end of the head has been searched.
    searched: usize,
}

impl ResponseReader {
    /// Creates a reader. A head can have at most `limit` bytes.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self {
            limit,
            bytes: Vec::new(),
            searched: 0,
        }
    }

    /// Adds bytes of the response. Returns `None` until the head is complete. Do not use the reader
    /// after it has returned a head or an error.
    ///
    /// # Errors
    ///
    /// The bytes are not the head of a CGI response, or the head exceeds the limit.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Option<Response>, Error> {
        self.bytes.extend_from_slice(bytes);
        let Some((len, end)) = self.end() else {
            if self.bytes.len() > self.limit {
                return Err(self.too_long());
            }
            return Ok(None);
        };
        if end > self.limit {
            return Err(self.too_long());
        }
        let mut bytes = std::mem::take(&mut self.bytes);
        let body_start = bytes.split_off(end);
        response(&bytes[..len], body_start).map(Some)
    }

    /// Returns the error for a connection that was closed before the head was complete.
    #[must_use]
    pub fn ended(&self) -> Error {
        let expected = match self.bytes.len() {
            0 => "a response",
            _ => "the empty line after the head",
        };
        error(ErrorKind::Truncated, self.bytes.len(), expected)
    }

    fn too_long(&self) -> Error {
        let kind = ErrorKind::Limit(LimitKind::Bytes(self.limit));
        error(kind, self.limit, "a shorter head")
    }

    /// Returns the length of the head without and with the empty line.
    fn end(&mut self) -> Option<(usize, usize)> {
        let found = (self.searched..self.bytes.len()).find_map(|at| {
            if self.bytes[at] != b'\n' {
                return None;
            }
            match self.bytes[at + 1..] {
                [b'\n', ..] => Some((at + 1, at + 2)),
                [b'\r', b'\n', ..] => Some((at + 1, at + 3)),
                _ => None,
            }
        });
        // The last two bytes can be the start of the end.
        self.searched = self.bytes.len().saturating_sub(2);
        found
    }
}

fn response(bytes: &[u8], mut body_start: Vec<u8>) -> Result<Response, Error> {
    let (mut head, ()) = http::Response::new(()).into_parts();
    let mut status = None;
    let mut at = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let offset = at;
        at += line.len();
        let line = line.trim_ascii_end();
        if offset == 0 && line.starts_with(b"HTTP/") {
            let rest = line
                .iter()
                .position(|byte| *byte == b' ')
                .unwrap_or(line.len());
            status = Some(code(&line[rest..], offset + rest)?);
            continue;
        }
        let Some(colon) = line.iter().position(|byte| *byte == b':') else {
            let invalid = error(ErrorKind::Syntax, offset, "a header, `Name: value`");
            return Err(invalid.found(shown(line)));
        };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"Status") {
            if status.is_some() {
                return Err(error(ErrorKind::Duplicate, offset, "one status"));
            }
            status = Some(code(value, offset + colon + 1)?);
            continue;
        }
        let name = HeaderName::from_bytes(name).map_err(|_| {
            error(ErrorKind::Syntax, offset, "the name of a header").found(shown(name))
        })?;
        let value = HeaderValue::from_bytes(value).map_err(|_| {
            let invalid = error(ErrorKind::InvalidValue, offset, "the value of a header");
            invalid.found(shown(value))
        })?;
        if name == CONTENT_LENGTH && head.headers.contains_key(&name) {
            return Err(error(ErrorKind::Duplicate, offset, "one Content-Length"));
        }
        head.headers.append(name, value);
    }
    let is_redirect = head.headers.contains_key(LOCATION);
    let default = if is_redirect {
        StatusCode::FOUND
    } else {
        StatusCode::OK
    };
    head.status = status.unwrap_or(default);
    let length = match head.headers.get(CONTENT_LENGTH) {
        None => None,
        Some(value) => {
            let digits = value.as_bytes();
            let length = Some(digits).filter(|digits| digits.iter().all(u8::is_ascii_digit));
            let length = length.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
            Some(length.ok_or_else(|| {
                error(
                    ErrorKind::InvalidValue,
                    0,
                    "a number of bytes in Content-Length",
                )
                .found(shown(digits))
            })?)
        }
    };
    let length: Option<u64> = length;
    if let Some(length) = length {
        body_start.truncate(usize::try_from(length).unwrap_or(usize::MAX));
    }
    Ok(Response {
        head,
        length,
        body_start: body_start.into(),
    })
}

/// Parses the code of a status such as `200 OK`.
fn code(text: &[u8], offset: usize) -> Result<StatusCode, Error> {
    let code = text.trim_ascii();
    let end = code.iter().position(|byte| *byte == b' ');
    let code = &code[..end.unwrap_or(code.len())];
    StatusCode::from_bytes(code).map_err(|_| {
        error(ErrorKind::InvalidValue, offset, "a status of three digits").found(shown(text))
    })
}

/// Appends the head of a response to `out`. `length` is the length of the body in bytes; a body of
/// unknown length ends with the connection.
pub fn write_response(head: &response::Parts, length: Option<u64>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"Status: ");
    out.extend_from_slice(head.status.as_str().as_bytes());
    out.push(b' ');
    let reason = head.status.canonical_reason().unwrap_or("Unknown");
    out.extend_from_slice(reason.as_bytes());
    out.extend_from_slice(b"\r\n");
    for (name, value) in &head.headers {
        if [CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING].contains(name) {
            continue;
        }
        out.extend_from_slice(name.as_str().as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    if let Some(length) = length {
        out.extend_from_slice(format!("Content-Length: {length}\r\n").as_bytes());
    }
    out.extend_from_slice(b"\r\n");
}
