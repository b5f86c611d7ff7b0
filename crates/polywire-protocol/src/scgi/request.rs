//! Reading and writing the head of SCGI requests.

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, request};
use polywire_schema::{Error, ErrorKind, LimitKind};

use super::{Variables, error, shown};

/// The head of a request, and the part of the body that has arrived with it.
#[derive(Debug)]
pub struct Request {
    /// Method, target and headers of the HTTP request. The extensions contain the [`Variables`].
    /// Without `REQUEST_METHOD`, the method is `POST`, and without a path, it is `/RPC2`, because
    /// only XML-RPC clients omit them. The version is always HTTP/1.1; that of the HTTP request is
    /// in `SERVER_PROTOCOL`.
    pub head: request::Parts,
    /// The length of the body in bytes: `CONTENT_LENGTH`.
    pub length: u64,
    /// The start of the body. Bytes after the body are discarded.
    pub body_start: Bytes,
}

/// Reads the head of a request.
#[derive(Debug)]
pub struct RequestReader {
    limit: usize,
    bytes: Vec<u8>,
}

impl RequestReader {
    /// Creates a reader. The variables of a head can have at most `limit` bytes.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self {
            limit,
            bytes: Vec::new(),
        }
    }

    /// Adds bytes of the request. Returns `None` until the head is complete. Do not use the reader
    /// after it has returned a head or an error.
    ///
    /// # Errors
    ///
    /// The bytes are not the head of an SCGI request, or the head exceeds the limit. The offsets of
    /// errors are those in the request.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Option<Request>, Error> {
        self.bytes.extend_from_slice(bytes);
        let Some((start, len)) = self.netstring()? else {
            return Ok(None);
        };
        let Some(comma) = self.bytes.get(start + len) else {
            return Ok(None);
        };
        if *comma != b',' {
            let invalid = error(ErrorKind::Syntax, start + len, "`,` after the variables");
            return Err(invalid.found(shown(&[*comma])));
        }
        let mut bytes = std::mem::take(&mut self.bytes);
        let body_start = bytes.split_off(start + len + 1);
        bytes.truncate(start + len);
        let variables = Variables::read(bytes.split_off(start), start)?;
        request(variables, start, body_start).map(Some)
    }

    /// Returns the error for a connection that was closed before the head was complete.
    #[must_use]
    pub fn ended(&self) -> Error {
        let expected = match self.netstring() {
            _ if self.bytes.is_empty() => "a request".to_owned(),
            Ok(Some((start, len))) => format!("{} bytes of a head", start + len + 1),
            _ => "the length of the head".to_owned(),
        };
        error(ErrorKind::Truncated, self.bytes.len(), expected)
    }

    /// Returns offset and length of the variables, when the length has arrived.
    fn netstring(&self) -> Result<Option<(usize, usize)>, Error> {
        let mut len = 0usize;
        for (at, byte) in self.bytes.iter().enumerate() {
            match byte {
                b'0'..=b'9' if at == 0 || len > 0 => {
                    let digit = usize::from(byte - b'0');
                    len = len.saturating_mul(10).saturating_add(digit);
                    if len > self.limit {
                        let kind = ErrorKind::Limit(LimitKind::Bytes(self.limit));
                        return Err(error(kind, 0, "a shorter head"));
                    }
                }
                b':' if at > 0 => return Ok(Some((at + 1, len))),
                _ => {
                    let expected = "the length of the head in digits, and `:`";
                    let invalid = error(ErrorKind::Syntax, at, expected);
                    return Err(invalid.found(shown(&self.bytes[at..])));
                }
            }
        }
        Ok(None)
    }
}

/// Builds a request from its variables.
fn request(variables: Variables, base: usize, mut body_start: Vec<u8>) -> Result<Request, Error> {
    let invalid = |name: &str, expected: &'static str| {
        let at = base + variables.value_offset(name).unwrap_or_default();
        let found = shown(variables.bytes(name).unwrap_or_default());
        error(ErrorKind::InvalidValue, at, expected).found(found)
    };
    let length = variables.bytes("CONTENT_LENGTH").unwrap_or_default();
    let length: u64 = Some(length)
        .filter(|digits| digits.iter().all(u8::is_ascii_digit))
        .and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok())
        .ok_or_else(|| invalid("CONTENT_LENGTH", "a number of bytes"))?;
    let (mut head, ()) = http::Request::new(()).into_parts();
    head.method = match variables.bytes("REQUEST_METHOD") {
        None => Method::POST,
        Some(method) => {
            Method::from_bytes(method).map_err(|_| invalid("REQUEST_METHOD", "a method"))?
        }
    };
    head.uri = uri(&variables).map_err(|name| invalid(name, "a path"))?;
    for (at, (variable, value)) in variables.with_offsets() {
        let name = match variable {
            b"CONTENT_LENGTH" => CONTENT_LENGTH,
            b"CONTENT_TYPE" if !value.is_empty() => CONTENT_TYPE,
            _ => match variable.strip_prefix(b"HTTP_") {
                Some(name) => header_name(name).ok_or_else(|| {
                    let invalid = error(ErrorKind::Syntax, base + at, "the name of a header");
                    invalid.found(shown(name))
                })?,
                None => continue,
            },
        };
        // Type and length have variables of their own, and the other two headers are about the
        // connection to the web server.
        let skipped = [CONTENT_TYPE, CONTENT_LENGTH, CONNECTION, TRANSFER_ENCODING];
        if variable.starts_with(b"HTTP_") && skipped.contains(&name) {
            continue;
        }
        let value = HeaderValue::from_bytes(value).map_err(|_| {
            let at = base + at + variable.len() + 1;
            error(ErrorKind::InvalidValue, at, "the value of a header").found(shown(value))
        })?;
        head.headers.append(name, value);
    }
    if !head.headers.contains_key(HOST)
        && let Some(name) = variables.bytes("SERVER_NAME")
        && let Ok(name) = HeaderValue::from_bytes(name)
    {
        head.headers.insert(HOST, name);
    }
    body_start.truncate(usize::try_from(length).unwrap_or(usize::MAX));
    head.extensions.insert(variables);
    Ok(Request {
        head,
        length,
        body_start: body_start.into(),
    })
}

/// Builds the target of the request. The error is the name of the invalid variable.
fn uri(variables: &Variables) -> Result<Uri, &'static str> {
    let text = |name| variables.bytes(name).filter(|value| !value.is_empty());
    if let Some(target) = text("REQUEST_URI") {
        let uri = Uri::try_from(target).ok();
        // Allow `*` of OPTIONS, but not a host without a path.
        let uri = uri.filter(|uri| uri.path().starts_with('/') || target == b"*");
        return uri.ok_or("REQUEST_URI");
    }
    let mut target = Vec::new();
    for name in ["SCRIPT_NAME", "PATH_INFO"] {
        // The web server has decoded these values. Encode the characters that are not valid in a
        // path.
        for byte in text(name).unwrap_or_default() {
            match byte {
                b'?' | b'#' | b'%' | b'"' | b'<' | b'>' | b'`' | b'{' | b'}' | ..=0x20 | 0x7f.. => {
                    target.extend_from_slice(format!("%{byte:02X}").as_bytes());
                }
                _ => target.push(*byte),
            }
        }
    }
    if target.is_empty() {
        target.extend_from_slice(b"/RPC2");
    }
    if let Some(query) = text("QUERY_STRING") {
        target.push(b'?');
        target.extend_from_slice(query);
    }
    let uri = Uri::try_from(target).ok();
    uri.filter(|uri| uri.path().starts_with('/'))
        .ok_or("SCRIPT_NAME")
}

/// Converts the name of a variable to a header name: `CONTENT_MD5` to `content-md5`.
fn header_name(variable: &[u8]) -> Option<HeaderName> {
    let name: Vec<u8> = variable
        .iter()
        .map(|byte| if *byte == b'_' { b'-' } else { *byte })
        .collect();
    HeaderName::from_bytes(&name).ok()
}

/// Appends the head of a request to `out`. The caller writes the body of `length` bytes after it.
///
/// # Errors
///
/// The name of a header contains `_`, which SCGI cannot distinguish from `-`.
pub fn write_request(head: &request::Parts, length: u64, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut block = Vec::with_capacity(256);
    let mut put = |name: &[u8], value: &[u8]| {
        block.extend_from_slice(name);
        block.push(0);
        block.extend_from_slice(value);
        block.push(0);
    };
    put(b"CONTENT_LENGTH", length.to_string().as_bytes());
    put(b"SCGI", b"1");
    put(b"REQUEST_METHOD", head.method.as_str().as_bytes());
    let target = head.uri.path_and_query().map_or("/", |all| all.as_str());
    put(b"REQUEST_URI", target.as_bytes());
    put(b"SCRIPT_NAME", b"");
    put(b"PATH_INFO", head.uri.path().as_bytes());
    put(b"QUERY_STRING", head.uri.query().unwrap_or("").as_bytes());
    put(b"SERVER_PROTOCOL", b"HTTP/1.1");
    for name in head.headers.keys() {
        if [CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING].contains(name) {
            continue;
        }
        let value = joined(&head.headers, name);
        if *name == CONTENT_TYPE {
            put(b"CONTENT_TYPE", &value);
            continue;
        }
        if name.as_str().contains('_') {
            let error = Error::new(ErrorKind::Unwritable).in_format("SCGI");
            let error = error.expected("header names without `_`");
            return Err(error.found(name.as_str().to_owned()));
        }
        let variable = name.as_str().replace('-', "_").to_ascii_uppercase();
        put(format!("HTTP_{variable}").as_bytes(), &value);
    }
    out.extend_from_slice(block.len().to_string().as_bytes());
    out.push(b':');
    out.extend_from_slice(&block);
    out.push(b',');
    Ok(())
}

/// Joins the values of a header.
fn joined(headers: &HeaderMap, name: &HeaderName) -> Vec<u8> {
    let separator: &[u8] = if *name == http::header::COOKIE {
        b"; "
    } else {
        b", "
    };
    let values: Vec<&[u8]> = headers
        .get_all(name)
        .iter()
        .map(HeaderValue::as_bytes)
        .collect();
    values.join(separator)
}
