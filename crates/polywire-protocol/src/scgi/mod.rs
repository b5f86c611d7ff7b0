//! SCGI: HTTP requests as web servers hand them on, over a connection each.
//!
//! A request is a netstring of variables and a body; a response is that of CGI.
//! rTorrent is called so, and nginx, Apache and lighttpd call so.
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
//! (A dot stands for a zero byte.) Both halves are here, for servers and for
//! clients. Readers are fed bytes as they arrive, whatever the pieces, and say
//! when the head is whole.
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
//! let request = reader.feed(&bytes)?.expect("a whole head");
//! assert_eq!(request.head.uri, "/RPC2");
//! assert_eq!(request.length, 4);
//! assert_eq!(request.body_start, "body");
//!
//! let mut reader = scgi::ResponseReader::new(scgi::HEAD_LIMIT);
//! assert!(reader.feed(b"Status: 200 OK\r\nContent-")?.is_none());
//! let response = reader.feed(b"Length: 2\r\n\r\nhi")?.expect("a whole head");
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

/// How many bytes a head may have where nothing else is said: 64 KiB, several
/// times what web servers take themselves.
pub const HEAD_LIMIT: usize = 64 * 1024;

#[cold]
fn error(kind: ErrorKind, offset: usize, expected: impl Into<Cow<'static, str>>) -> Error {
    Error::new(kind)
        .in_format("SCGI")
        .at_offset(offset)
        .expected(expected)
}

/// Bytes for an error: what they say, not more than a line of it.
fn shown(bytes: &[u8]) -> String {
    let bytes = &bytes[..bytes.len().min(32)];
    format!("`{}`", bytes.escape_ascii())
}
