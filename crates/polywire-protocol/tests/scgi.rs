//! SCGI: round trips in pieces of any size, and the positions of errors.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use http::{HeaderName, HeaderValue, Method};
use polywire_protocol::scgi::{
    HEAD_LIMIT, Request, RequestReader, Response, ResponseReader, Variables, write_request,
    write_response,
};
use polywire_schema::{Error, ErrorKind, LimitKind};
use proptest::prelude::*;

fn block(variables: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in variables {
        block.extend_from_slice(format!("{name}\0{value}\0").as_bytes());
    }
    [format!("{}:", block.len()).as_bytes(), &block, b","].concat()
}

/// A request with the two required variables, and others.
fn with(more: &[(&str, &str)]) -> Vec<u8> {
    block(&[&[("CONTENT_LENGTH", "0"), ("SCGI", "1")], more].concat())
}

fn read(bytes: &[u8]) -> Result<Request, Error> {
    let mut reader = RequestReader::new(HEAD_LIMIT);
    let found = reader.feed(bytes)?;
    found.ok_or_else(|| reader.ended())
}

fn read_response(bytes: &[u8]) -> Result<Response, Error> {
    let mut reader = ResponseReader::new(HEAD_LIMIT);
    let found = reader.feed(bytes)?;
    found.ok_or_else(|| reader.ended())
}

/// A request of nginx, with its order of variables.
#[test]
fn a_request_of_nginx() {
    let mut bytes = block(&[
        ("CONTENT_LENGTH", "5"),
        ("SCGI", "1"),
        ("REQUEST_METHOD", "PUT"),
        ("REQUEST_URI", "/a%20b/c?x=1&y=%C3%A9"),
        ("QUERY_STRING", "x=1&y=%C3%A9"),
        ("CONTENT_TYPE", "application/json"),
        ("DOCUMENT_URI", "/a b/c"),
        ("SERVER_PROTOCOL", "HTTP/2.0"),
        ("HTTPS", "on"),
        ("REMOTE_ADDR", "2001:db8::7"),
        ("REMOTE_PORT", "51234"),
        ("SERVER_NAME", "_"),
        ("HTTP_HOST", "example.org"),
        ("HTTP_X_AMZ_TARGET", "A.B"),
        ("HTTP_CONTENT_LENGTH", "77"),
        ("HTTP_TRANSFER_ENCODING", "chunked"),
        ("HTTP_CONNECTION", "close"),
    ]);
    bytes.extend_from_slice(b"hello, and more that nobody counted");
    let request = read(&bytes).unwrap();
    assert_eq!(request.length, 5);
    assert_eq!(request.body_start, "hello");
    let head = request.head;
    assert_eq!(head.method, Method::PUT);
    assert_eq!(head.uri, "/a%20b/c?x=1&y=%C3%A9");
    let headers: Vec<(&str, &str)> = head
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
        .collect();
    assert_eq!(
        headers,
        [
            ("content-length", "5"),
            ("content-type", "application/json"),
            ("host", "example.org"),
            ("x-amz-target", "A.B"),
        ]
    );
    let variables = head.extensions.get::<Variables>().unwrap();
    assert_eq!(variables.get("SERVER_PROTOCOL"), Some("HTTP/2.0"));
    assert_eq!(variables.get("DOCUMENT_URI"), Some("/a b/c"));
    assert_eq!(
        variables.remote().unwrap().to_string(),
        "[2001:db8::7]:51234"
    );
    assert!(variables.is_https());
    assert_eq!(variables.all().count(), 17);
}

/// A request of scripts that call rTorrent.
#[test]
fn the_shortest_request() {
    let request = read(&with(&[])).unwrap();
    assert_eq!(request.head.method, Method::POST);
    assert_eq!(request.head.uri, "/RPC2");
    assert_eq!((request.length, request.body_start.len()), (0, 0));
    let variables = request.head.extensions.get::<Variables>().unwrap();
    assert_eq!((variables.remote(), variables.is_https()), (None, false));
}

/// Decoded paths of CGI become request targets.
#[test]
fn paths_in_several_variables() {
    let uri = |more: &[(&str, &str)]| read(&with(more)).unwrap().head.uri.to_string();
    assert_eq!(
        uri(&[
            ("SCRIPT_NAME", "/app"),
            ("PATH_INFO", "/a b/é%?#"),
            ("QUERY_STRING", "q=1")
        ]),
        "/app/a%20b/%C3%A9%25%3F%23?q=1"
    );
    assert_eq!(
        uri(&[("PATH_INFO", "/RPC2"), ("QUERY_STRING", "")]),
        "/RPC2"
    );
    assert_eq!(uri(&[("REQUEST_URI", ""), ("SCRIPT_NAME", "/x")]), "/x");
    let host = read(&with(&[("SERVER_NAME", "example.org")])).unwrap();
    assert_eq!(host.head.headers["host"], "example.org");
}

#[test]
fn invalid_requests() {
    let cases: [(&[u8], usize, ErrorKind, &str); 17] = [
        (b"", 0, ErrorKind::Truncated, "a request"),
        (b"12", 2, ErrorKind::Truncated, "length"),
        (
            b"12:CONTENT",
            10,
            ErrorKind::Truncated,
            "16 bytes of a head",
        ),
        (b"POST /RPC2 HTTP/1.1\r\n", 0, ErrorKind::Syntax, "digits"),
        (b":", 0, ErrorKind::Syntax, "digits"),
        (b"012:", 1, ErrorKind::Syntax, "digits"),
        (b"-1:", 0, ErrorKind::Syntax, "digits"),
        (b"1 :", 1, ErrorKind::Syntax, "digits"),
        (b"0:,", 2, ErrorKind::Syntax, "CONTENT_LENGTH"),
        (
            b"70000:",
            0,
            ErrorKind::Limit(LimitKind::Bytes(HEAD_LIMIT)),
            "shorter",
        ),
        (
            b"99999999999999999999999",
            0,
            ErrorKind::Limit(LimitKind::Bytes(HEAD_LIMIT)),
            "shorter",
        ),
        (b"17:CONTENT_LENGTH\x000\x00;", 20, ErrorKind::Syntax, "`,`"),
        (
            b"17:CONTENT_LENGTH\x000\x00,",
            3,
            ErrorKind::Missing,
            "SCGI",
        ),
        (
            b"16:CONTENT_LENGTH\x000,",
            19,
            ErrorKind::Syntax,
            "zero byte",
        ),
        (b"14:CONTENT_LENGTH,", 17, ErrorKind::Syntax, "zero byte"),
        (
            b"7:SCGI\x001\x00,",
            2,
            ErrorKind::Syntax,
            "CONTENT_LENGTH before",
        ),
        (b"2:\x00\x00,", 2, ErrorKind::Syntax, "the name"),
    ];
    for (bytes, offset, kind, expected) in cases {
        let error = read(bytes).unwrap_err();
        let text = format!("{}: {error}", bytes.escape_ascii());
        assert_eq!(
            (error.offset(), error.kind()),
            (Some(offset), kind),
            "{text}"
        );
        assert!(error.what_was_expected().contains(expected), "{text}");
        assert!(error.to_string().contains("SCGI"), "{text}");
    }
}

#[test]
fn invalid_variables() {
    let error = |variables: &[(&str, &str)]| read(&block(variables)).unwrap_err();
    let twice = error(&[
        ("CONTENT_LENGTH", "0"),
        ("SCGI", "1"),
        ("X", "1"),
        ("X", "2"),
    ]);
    assert_eq!(
        (twice.kind(), twice.offset()),
        (ErrorKind::Duplicate, Some(31))
    );
    let length = ("CONTENT_LENGTH", "0");
    let version = error(&[length, ("SCGI", "2")]);
    assert_eq!(
        (version.kind(), version.offset()),
        (ErrorKind::Syntax, Some(25))
    );
    for bad in ["", "-1", "+1", "1x", " 1", "99999999999999999999999"] {
        let error = error(&[("CONTENT_LENGTH", bad), ("SCGI", "1")]);
        assert_eq!(error.kind(), ErrorKind::InvalidValue, "{bad}");
        assert_eq!(error.offset(), Some(18), "{bad}");
    }
    for (name, value) in [
        ("REQUEST_METHOD", "GET /"),
        ("REQUEST_URI", "no path"),
        ("REQUEST_URI", "example.org"),
        ("SCRIPT_NAME", "*x"),
        ("HTTP_A", "line\nfeed"),
        ("CONTENT_TYPE", "\r"),
        ("HTTP_", ""),
        ("HTTP_A:B", ""),
    ] {
        let error = error(&[length, ("SCGI", "1"), (name, value)]);
        let offset = error.offset().unwrap();
        assert!(offset >= 27, "{name}: {error}");
    }
}

#[test]
fn unsupported_header_names() {
    let request = http::Request::post("/")
        .header("a_b", "1")
        .body(())
        .unwrap();
    let error = write_request(&request.into_parts().0, 0, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unwritable);
    // Several values of a header are joined.
    let request = http::Request::get("/x?y").header("a", "1").header("a", "2");
    let request = request.header("cookie", "c=1").header("cookie", "d=2");
    let mut bytes = Vec::new();
    write_request(&request.body(()).unwrap().into_parts().0, 0, &mut bytes).unwrap();
    let headers = read(&bytes).unwrap().head.headers;
    assert_eq!(headers["a"], "1, 2");
    assert_eq!(headers["cookie"], "c=1; d=2");
}

#[test]
fn responses() {
    // Responses of rTorrent, with a body only, with bare line feeds, and with a status line of
    // HTTP.
    let response = read_response(
        b"Status: 200 OK\r\nContent-Type: text/xml\r\nContent-Length: 5\r\n\r\nhello more",
    );
    let response = response.unwrap();
    assert_eq!(
        (response.head.status.as_u16(), response.length),
        (200, Some(5))
    );
    assert_eq!(response.body_start, "hello");
    let response = read_response(b"Content-Type: text/plain\n\nrest").unwrap();
    assert_eq!(
        (response.head.status.as_u16(), response.length),
        (200, None)
    );
    assert_eq!(response.body_start, "rest");
    let response = read_response(b"HTTP/1.1 404 Not Found\r\nA: b\r\n\r\n").unwrap();
    assert_eq!(response.head.status, 404);
    assert_eq!(response.head.headers["a"], "b");
    let response = read_response(b"Location: /there\r\n\r\n").unwrap();
    assert_eq!(response.head.status, 302);
    let response = read_response(b"status:503\r\n\r\n").unwrap();
    assert_eq!(response.head.status, 503);
}

#[test]
fn invalid_responses() {
    let cases: [(&[u8], usize, ErrorKind); 10] = [
        (b"", 0, ErrorKind::Truncated),
        (b"Status: 200 OK\r\n", 16, ErrorKind::Truncated),
        (b"<html>\r\n\r\n", 0, ErrorKind::Syntax),
        (b"Status: OK\r\n\r\n", 7, ErrorKind::InvalidValue),
        (b"Status: 20\r\n\r\n", 7, ErrorKind::InvalidValue),
        (b"HTTP/1.1\r\n\r\n", 8, ErrorKind::InvalidValue),
        (
            b"Status: 200\r\nStatus: 200\r\n\r\n",
            13,
            ErrorKind::Duplicate,
        ),
        (b"A: 1\r\n: 2\r\n\r\n", 6, ErrorKind::Syntax),
        (
            b"Content-Length: 1\r\nContent-Length: 1\r\n\r\n",
            19,
            ErrorKind::Duplicate,
        ),
        (b"Content-Length: +1\r\n\r\n", 0, ErrorKind::InvalidValue),
    ];
    for (bytes, offset, kind) in cases {
        let error = read_response(bytes).unwrap_err();
        let text = format!("{}: {error}", bytes.escape_ascii());
        assert_eq!(
            (error.offset(), error.kind()),
            (Some(offset), kind),
            "{text}"
        );
    }
    // A head without an end is rejected at the limit.
    let mut reader = ResponseReader::new(1_000);
    let error = (0..20).find_map(|_| reader.feed(&[b'a'; 100]).err());
    assert_eq!(
        error.unwrap().kind(),
        ErrorKind::Limit(LimitKind::Bytes(1_000))
    );
}

/// The result for bytes in pieces.
fn in_pieces<T>(
    bytes: &[u8],
    ends: &[prop::sample::Index],
    mut feed: impl FnMut(&[u8]) -> Result<Option<T>, Error>,
) -> Option<Result<(T, usize), Error>> {
    let mut ends: Vec<usize> = ends.iter().map(|end| end.index(bytes.len() + 1)).collect();
    ends.push(bytes.len());
    ends.sort_unstable();
    let mut from = 0;
    for end in ends {
        match feed(&bytes[from..end]) {
            Ok(None) => from = end,
            Ok(Some(found)) => return Some(Ok((found, end))),
            Err(error) => return Some(Err(error)),
        }
    }
    None
}

prop_compose! {
    fn headers()(
        headers in prop::collection::btree_map("[a-z][a-z0-9-]{0,12}", "[!-~]([ -~]{0,20}[!-~])?", 0..8),
    ) -> Vec<(HeaderName, HeaderValue)> {
        let own = ["connection", "content-length", "transfer-encoding", "status", "location", "host"];
        let mut headers = headers;
        headers.retain(|name, _| !own.contains(&name.as_str()));
        let parse = |(name, value): (String, String)| (name.parse().unwrap(), value.parse().unwrap());
        headers.into_iter().map(parse).collect()
    }
}

proptest! {
    #[test]
    fn requests_come_back(
        method in "[A-Z]{1,8}",
        target in "/[a-z0-9/]{0,20}(\\?[a-z=&]{0,10})?",
        headers in headers(),
        body in prop::collection::vec(any::<u8>(), 0..40),
        ends in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let mut request = http::Request::builder().method(&*method).uri(&*target);
        request.headers_mut().unwrap().extend(headers);
        let (head, ()) = request.body(()).unwrap().into_parts();
        let mut bytes = Vec::new();
        write_request(&head, body.len() as u64, &mut bytes).unwrap();
        let start = bytes.len();
        bytes.extend_from_slice(&body);
        let mut reader = RequestReader::new(HEAD_LIMIT);
        let (found, end) = in_pieces(&bytes, &ends, |piece| reader.feed(piece)).unwrap().unwrap();
        prop_assert_eq!(found.head.method.as_str(), method);
        prop_assert_eq!(found.head.uri.to_string(), target);
        let mut all = head.headers;
        all.insert("content-length", body.len().into());
        prop_assert_eq!(found.head.headers, all);
        prop_assert_eq!(found.length, body.len() as u64);
        prop_assert_eq!(&found.body_start[..], &body[..end - start]);
    }

    #[test]
    fn responses_come_back(
        status in 200u16..600,
        headers in headers(),
        body in prop::collection::vec(any::<u8>(), 0..40),
        ends in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let mut response = http::Response::builder().status(status);
        response.headers_mut().unwrap().extend(headers);
        let (head, ()) = response.body(()).unwrap().into_parts();
        let mut bytes = Vec::new();
        write_response(&head, Some(body.len() as u64), &mut bytes);
        let start = bytes.len();
        bytes.extend_from_slice(&body);
        let mut reader = ResponseReader::new(HEAD_LIMIT);
        let (found, end) = in_pieces(&bytes, &ends, |piece| reader.feed(piece)).unwrap().unwrap();
        prop_assert_eq!(found.head.status, head.status);
        let mut all = head.headers;
        all.insert("content-length", body.len().into());
        prop_assert_eq!(found.head.headers, all);
        prop_assert_eq!(&found.body_start[..], &body[..end - start]);
    }

    /// The result does not depend on the pieces, and nothing panics.
    #[test]
    fn pieces_change_nothing(
        noise in prop::collection::vec(any::<u8>(), 0..60),
        cut in any::<prop::sample::Index>(),
        change in any::<(prop::sample::Index, u8)>(),
        ends in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let good = with(&[("REQUEST_URI", "/x"), ("HTTP_A", "b"), ("REMOTE_ADDR", "::1")]);
        let mut changed = good.clone();
        let at = change.0.index(changed.len());
        changed[at] = change.1;
        let part = good[..cut.index(good.len())].to_vec();
        for bytes in [noise, changed, part] {
            let mut reader = RequestReader::new(100);
            let pieces = in_pieces(&bytes, &ends, |piece| reader.feed(piece));
            let mut whole = RequestReader::new(100);
            let whole = whole.feed(&bytes);
            match (pieces, whole) {
                (None, Ok(None)) => {}
                (Some(Ok((one, _))), Ok(Some(other))) => {
                    prop_assert_eq!(one.head.headers, other.head.headers);
                }
                (Some(Err(one)), Err(other)) => {
                    prop_assert_eq!((one.offset(), one.kind()), (other.offset(), other.kind()));
                }
                (one, other) => prop_assert!(false, "{one:?} is not {other:?}"),
            }
            let mut reader = ResponseReader::new(100);
            let pieces = in_pieces(&bytes, &ends, |piece| reader.feed(piece));
            let whole = ResponseReader::new(100).feed(&bytes);
            prop_assert_eq!(pieces.is_none(), matches!(whole, Ok(None)));
        }
    }
}
