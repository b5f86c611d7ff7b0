//! Rejects requests that hyper accepts although they violate the specification of HTTP.
//!
//! A proxy may interpret such a request in another way than this server: with another host, or with another end. Then
//! access rules of the proxy could be bypassed.

use http::header::{HOST, TRANSFER_ENCODING};
use http::{HeaderMap, StatusCode, Version, request};

use super::HttpResponse;
use super::connection::close_after;
use super::mount::host_len;
use super::response::text;

/// Returns an error response if a request is malformed. `in_chunks` tells whether hyper reads the body in chunks, because
/// `chunked` is the last transfer coding.
#[inline]
pub(super) fn check(head: &request::Parts, in_chunks: bool) -> Result<(), Box<HttpResponse>> {
    check_host(head)
        .and_then(|()| match in_chunks {
            true => check_coding(&head.headers),
            false => Ok(()),
        })
        .map_err(|problem| response(head.version, problem))
}

/// The response to a request that is rejected for another reason. If the request is malformed too, the connection closes
/// after the response.
#[cold]
pub(super) fn refused(
    head: &request::Parts,
    in_chunks: bool,
    mut response: Box<HttpResponse>,
) -> Box<HttpResponse> {
    if check(head, in_chunks).is_err() && head.version < Version::HTTP_2 {
        close_after(&mut response);
    }
    response
}

/// The status and the text of the response.
type Problem = (StatusCode, &'static str);

const NO_HOST: Problem = (
    StatusCode::BAD_REQUEST,
    "A request of HTTP/1.1 needs the header Host (RFC 9112, section 3.2).\n",
);
const SECOND_HOST: Problem = (
    StatusCode::BAD_REQUEST,
    "The request has more than one Host header.\n",
);
const INVALID_HOST: Problem = (
    StatusCode::BAD_REQUEST,
    "Invalid Host header: expected HOST or HOST:PORT.\n",
);
const INVALID_AUTHORITY: Problem = (
    StatusCode::BAD_REQUEST,
    "Invalid :authority: expected HOST or HOST:PORT.\n",
);
const INVALID_TARGET: Problem = (
    StatusCode::BAD_REQUEST,
    "Invalid host in the request target: expected HOST or HOST:PORT.\n",
);
const OTHER_HOST: Problem = (
    StatusCode::BAD_REQUEST,
    "The header Host and :authority name different hosts (RFC 9113, section 8.3.1).\n",
);
const UNCERTAIN: Problem = (
    StatusCode::BAD_REQUEST,
    "The request before had trailers, behind which a connection is not used again.\n",
);
const CHUNKED_TWICE: Problem = (
    StatusCode::BAD_REQUEST,
    "Transfer-Encoding lists `chunked` more than once.\n",
);
const UNKNOWN_CODING: Problem = (
    StatusCode::NOT_IMPLEMENTED,
    "The only transfer coding that this server knows is chunked (RFC 9112, section 6.1).\n",
);

/// The response to a request if it is not certain where the request begins.
#[cold]
pub(super) fn uncertain(version: Version) -> Box<HttpResponse> {
    response(version, UNCERTAIN)
}

/// RFC 9112, section 3.2: 400 for "any HTTP/1.1 request message that lacks a Host header field
/// and to any request message that contains more than one Host header field line or a Host
/// header field with an invalid field value".
fn check_host(head: &request::Parts) -> Result<(), Problem> {
    let authority = head.uri.authority();
    // RFC 9110, section 4.2.4: a user before the host is an error.
    if authority.is_some_and(|authority| !is_host(authority.as_str().as_bytes())) {
        return Err(match head.version {
            Version::HTTP_2 => INVALID_AUTHORITY,
            _ => INVALID_TARGET,
        });
    }
    // To compare a few standard names is cheaper than to hash this one.
    let mut hosts = head.headers.iter().filter(|(name, _)| **name == HOST);
    let Some((_, host)) = hosts.next() else {
        return match head.version {
            Version::HTTP_11 => Err(NO_HOST),
            _ => Ok(()),
        };
    };
    if hosts.next().is_some() {
        return Err(SECOND_HOST);
    }
    // Bytes that are not ASCII are not part of a host.
    if !is_host(host.as_bytes()) {
        return Err(INVALID_HOST);
    }
    match authority {
        // RFC 9113, section 8.3.1: a request is malformed "if it contains a Host header field
        // that identifies an entity that differs from the entity in the ":authority"
        // pseudo-header field". In HTTP/1 the target counts, and Host is ignored (RFC 9112,
        // section 3.2.2).
        Some(authority) if head.version == Version::HTTP_2 => {
            let scheme = head.uri.scheme_str();
            // It is ASCII, as checked above.
            match host.to_str() {
                Ok(host) if is_same(scheme, authority.as_str(), host) => Ok(()),
                _ => Err(OTHER_HOST),
            }
        }
        _ => Ok(()),
    }
}

/// Whether a text is `uri-host [ ":" port ]` (RFC 9110, section 7.2; RFC 3986, section 3.2.2).
/// The host may be empty.
fn is_host(authority: &[u8]) -> bool {
    let (host, port) = authority.split_at(host_len(authority));
    let is_port = match port.split_first() {
        Some((colon, port)) => *colon == b':' && port.iter().all(u8::is_ascii_digit),
        None => true,
    };
    let literal = host
        .strip_prefix(b"[")
        .and_then(|host| host.strip_suffix(b"]"));
    is_port
        && match literal {
            Some(literal) => {
                let mut bytes = literal.iter();
                bytes.all(|byte| *byte == b':' || is_of_name(*byte))
            }
            // Without a branch per byte.
            None => host.iter().fold(true, |all, byte| all & is_of_name(*byte)),
        }
}

/// Whether a byte is one of `unreserved`, `sub-delims` and the percent sign of `pct-encoded`.
fn is_of_name(byte: u8) -> bool {
    const TABLE: [bool; 256] = {
        let mut table = [false; 256];
        let mut byte = 0;
        while byte < 256 {
            table[byte] = (byte as u8).is_ascii_alphanumeric();
            byte += 1;
        }
        let others = b"-._~%!$&'()*+,;=";
        let mut index = 0;
        while index < others.len() {
            table[others[index] as usize] = true;
            index += 1;
        }
        table
    };
    TABLE[usize::from(byte)]
}

/// Whether two authorities are the same after normalisation (RFC 3986, section 6.2): of case,
/// and of the port, which may be left out if it is that of the scheme.
fn is_same(scheme: Option<&str>, left: &str, right: &str) -> bool {
    let parts = |authority| {
        let (host, port) = str::split_at(authority, host_len(authority.as_bytes()));
        let port = match (port.trim_start_matches(':').trim_start_matches('0'), scheme) {
            ("", Some("http")) => "80",
            ("", Some("https")) => "443",
            (port, _) => port,
        };
        (host, port)
    };
    let ((left, left_port), (right, right_port)) = (parts(left), parts(right));
    left.eq_ignore_ascii_case(right) && left_port == right_port
}

/// RFC 9112, section 6.1: "A sender MUST NOT apply the chunked transfer coding more than once",
/// and a server responds with 501 to "a transfer coding it does not understand".
#[cold]
fn check_coding(headers: &HeaderMap) -> Result<(), Problem> {
    let mut chunked = false;
    for value in headers.get_all(TRANSFER_ENCODING) {
        for coding in value.as_bytes().split(|byte| *byte == b',') {
            // A list may have empty elements (RFC 9110, section 5.6.1.2).
            match coding.trim_ascii() {
                b"" => {}
                coding if !coding.eq_ignore_ascii_case(b"chunked") => return Err(UNKNOWN_CODING),
                _ if chunked => return Err(CHUNKED_TWICE),
                _ => chunked = true,
            }
        }
    }
    Ok(())
}

/// An error response. The connection closes after it, because the start of the next request is not certain.
#[cold]
fn response(version: Version, (status, words): Problem) -> Box<HttpResponse> {
    let mut response = text(status, words);
    if version < Version::HTTP_2 {
        close_after(&mut response);
    }
    Box::new(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_host() {
        for host in [
            "",
            ":",
            "a",
            "a:",
            "a:8080",
            "A-b.c_d~",
            "127.0.0.1:1",
            "[::1]",
            "[::1]:80",
            "[v1.a:b]",
            "a%2Db",
            "*",
        ] {
            assert!(is_host(host.as_bytes()), "{host}");
        }
        for host in [
            "a:b", "a:1:2", "::1", "u@a", "u:p@a", "a/", "a?", "a#", "a b", " a", "[::1", "::1]",
            "[a]b", "[[a]]", "a\\", "<a>", "a\"", "é",
        ] {
            assert!(!is_host(host.as_bytes()), "{host}");
        }
    }

    #[test]
    fn equal_hosts() {
        for (scheme, left, right, same) in [
            (Some("http"), "a", "A", true),
            (Some("http"), "a:80", "a", true),
            (Some("http"), "a:080", "a:", true),
            (Some("https"), "a:443", "a", true),
            (Some("https"), "a:80", "a", false),
            (Some("http"), "[::A]:1", "[::a]:1", true),
            (None, "a:80", "a", false),
            (Some("http"), "a", "b", false),
            (Some("http"), "a:1", "a:2", false),
            (Some("http"), "a", "", false),
        ] {
            assert_eq!(is_same(scheme, left, right), same, "{left} {right}");
        }
    }
}
