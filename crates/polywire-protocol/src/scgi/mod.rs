//! SCGI: the protocol with which a web server forwards HTTP requests to an application, with one
//! connection per request.
//!
//! A request is a netstring of variables and a body. A response is a CGI response. Clients of
//! rTorrent use SCGI directly; nginx, Apache and lighttpd use it to forward requests.
//! Specification: <https://python.ca/scgi/protocol.txt>.
//!
//! ```text
//! 70:CONTENT_LENGTH·27·SCGI·1·REQUEST_METHOD·POST·REQUEST_URI·/RPC2·,the body of 27 bytes, no more
//!
//! Status: 200 OK
//! Content-Type: text/xml
//! Content-Length: 3
//!
//! ...
//! ```
//!
//! A dot represents a zero byte. The module contains readers and writers for both sides. Readers
//! accept the bytes of a head in pieces of any size, and return the head when it is complete.
//!
//! ```
//! use polywire_protocol::scgi;
//!
//! let request = http::Request::post("/RPC2").header("content-type", "text/xml");
//! let (head, ()) = request.body(())?.into_parts();
//! let mut bytes = Vec::new();
//! scgi::write_request(&head, 4, &mut bytes)?;
//! bytes.extend_from_slice(b"body");
//!
//! let mut reader = scgi::RequestReader::new(scgi::HEAD_LIMIT);
//! let request = reader.feed(&bytes)?.expect("a complete head");
//! assert_eq!(request.head.uri, "/RPC2");
//! assert_eq!(request.length, 4);
//! assert_eq!(request.body_start, "body");
//!
//! let mut reader = scgi::ResponseReader::new(scgi::HEAD_LIMIT);
//! assert!(reader.feed(b"Status: 200 OK\r\nContent-")?.is_none());
//! let response = reader.feed(b"Length: 2\r\n\r\nhi")?.expect("a complete head");
//! assert_eq!(response.head.status, 200);
//! assert_eq!((response.length, &response.body_start[..]), (Some(2), &b"hi"[..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod request;
mod response;
mod variables;

use std::borrow::Cow;

use polywire_schema::{Error, ErrorKind};

pub use request::{Request, RequestReader, write_request};
pub use response::{Response, ResponseReader, write_response};
pub use variables::Variables;

/// The default limit for the size of a head: 64 KiB, several times the limits of web servers.
pub const HEAD_LIMIT: usize = 64 * 1024;

#[cold]
fn error(kind: ErrorKind, offset: usize, expected: impl Into<Cow<'static, str>>) -> Error {
    Error::new(kind)
        .in_format("SCGI")
        .at_offset(offset)
        .expected(expected)
}

/// Formats bytes for an error, at most 32 of them.
fn shown(bytes: &[u8]) -> String {
    let bytes = &bytes[..bytes.len().min(32)];
    format!("`{}`", bytes.escape_ascii())
}
