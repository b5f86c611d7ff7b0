//! The canonical request, and the string to sign.
//!
//! ```text
//! canonical request = method LF path LF query LF
//!                     *( name ":" value LF ) LF
//!                     names LF payload
//! string to sign    = algorithm LF time LF scope LF hex(SHA-256(canonical request))
//! ```
//!
//! Specification: "Create a signed AWS API request", AWS Identity and Access Management user guide.

use std::borrow::Cow;
use std::ops::Range;

use polywire_text::hex;
use polywire_text::percent::{self, Plus};
use smallvec::SmallVec;

use super::hash::{sha256, to_hex};
use super::{Algorithm, Scope, SigningTime};

/// How the path becomes part of the canonical request.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct PathRule {
    /// Percent-encode the path as it is sent once more, so that `%20` becomes `%2520`. Otherwise
    /// escapes stay, and only other characters are encoded: `$` becomes `%24`, as in the examples of
    /// S3. Clients of S3 that send such characters without an escape must sign the escape.
    pub double_encode: bool,
    /// Remove empty segments and the segments `.` and `..`, RFC 3986, section 5.2.4.
    pub normalize: bool,
}

impl PathRule {
    /// The rule of Amazon S3, whose keys may contain `//` and `..`.
    pub const S3: Self = Self {
        double_encode: false,
        normalize: false,
    };
    /// The rule of all other services.
    pub const STANDARD: Self = Self {
        double_encode: true,
        normalize: true,
    };
}

/// A header with a lower-case name.
#[derive(Clone, Copy)]
pub(super) struct Header<'a> {
    /// The first eight bytes of the name, in big-endian order: comparing them first decides most
    /// comparisons.
    prefix: u64,
    pub(super) name: &'a str,
    pub(super) value: &'a [u8],
}

impl<'a> Header<'a> {
    pub(super) fn new(name: &'a str, value: &'a [u8]) -> Self {
        let mut prefix = [0; 8];
        let len = name.len().min(8);
        prefix[..len].copy_from_slice(&name.as_bytes()[..len]);
        Self {
            prefix: u64::from_be_bytes(prefix),
            name,
            value,
        }
    }
}

/// Headers in the order of their names.
pub(super) type Headers<'a> = SmallVec<[Header<'a>; 24]>;

/// Sorts by name. Values of the same name keep their order.
pub(super) fn sort_headers(headers: &mut [Header<'_>]) {
    headers.sort_by(|a, b| a.prefix.cmp(&b.prefix).then_with(|| a.name.cmp(b.name)));
}

/// A canonical request and a string to sign, in one buffer.
pub(super) struct Canonical {
    buffer: Vec<u8>,
    names: Range<usize>,
    /// Where the canonical request ends and the string to sign begins.
    end: usize,
}

/// What the canonical request consists of.
pub(super) struct Content<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) path_rule: PathRule,
    pub(super) query: &'a str,
    /// Parameters that are not part of the canonical request.
    pub(super) query_without: &'a [&'a str],
    /// Encoded parameters that are not part of `query`.
    pub(super) query_with: &'a [(&'a str, &'a str)],
    pub(super) headers: &'a [Header<'a>],
    pub(super) payload: &'a str,
}

impl Canonical {
    pub(super) fn new(
        content: &Content<'_>,
        algorithm: Algorithm,
        time: SigningTime,
        scope: &Scope,
    ) -> Self {
        let headers = content.headers.iter();
        let headers: usize = headers
            .map(|header| 2 * header.name.len() + header.value.len() + 3)
            .sum();
        // Enough for most requests. Encoded characters and parameters of presigned URLs may need
        // more.
        let capacity = content.method.len()
            + content.path.len()
            + content.query.len()
            + headers
            + content.payload.len()
            + scope.as_str().len()
            + 480;
        let mut buffer = Vec::with_capacity(capacity);
        buffer.extend_from_slice(content.method.as_bytes());
        buffer.push(b'\n');
        push_path(&mut buffer, content.path, content.path_rule);
        buffer.push(b'\n');
        push_query(&mut buffer, content);
        buffer.push(b'\n');
        let names = push_headers(&mut buffer, content.headers);
        buffer.push(b'\n');
        buffer.extend_from_slice(content.payload.as_bytes());
        let end = buffer.len();
        let hash = to_hex(&sha256(&buffer));
        for line in [algorithm.name(), time.as_str(), scope.as_str()] {
            buffer.extend_from_slice(line.as_bytes());
            buffer.push(b'\n');
        }
        buffer.extend_from_slice(&hash);
        Self { buffer, names, end }
    }

    pub(super) fn request(&self) -> &[u8] {
        &self.buffer[..self.end]
    }

    pub(super) fn string_to_sign(&self) -> &[u8] {
        &self.buffer[self.end..]
    }

    /// The names of the signed headers, separated by semicolons.
    pub(super) fn names(&self) -> &[u8] {
        &self.buffer[self.names.clone()]
    }
}

fn push_path(out: &mut Vec<u8>, path: &str, rule: PathRule) {
    let path = if rule.normalize {
        normalize(path)
    } else {
        Cow::Borrowed(path)
    };
    if path.is_empty() {
        out.push(b'/');
    } else if rule.double_encode {
        percent::push_bytes(out, path.as_bytes(), &percent::PATH);
    } else {
        push_with_escapes(out, path.as_bytes());
    }
}

/// Encodes a path that may be encoded already. Escapes stay, in upper case; those of unreserved
/// characters are decoded. A `%` without two digits is a percent sign.
///
/// `%2F` stays, so that a path has the same canonical form only as paths that mean the same.
fn push_with_escapes(out: &mut Vec<u8>, path: &[u8]) {
    let mut pieces = path.split(|byte| *byte == b'%');
    percent::push_bytes(out, pieces.next().unwrap_or_default(), &percent::PATH);
    for piece in pieces {
        let mut escaped = [0];
        let digits = piece.get(..2).unwrap_or_default();
        if hex::decode_to_slice(digits, &mut escaped, hex::Case::Any).is_ok() {
            percent::push_bytes(out, &escaped, &percent::UNRESERVED);
            percent::push_bytes(out, &piece[2..], &percent::PATH);
        } else {
            out.extend_from_slice(b"%25");
            percent::push_bytes(out, piece, &percent::PATH);
        }
    }
}

/// Removes empty segments, `.` and `..`. `..` at the root has no effect.
fn normalize(path: &str) -> Cow<'_, str> {
    let special = |pair: &[u8]| pair[0] == b'/' && matches!(pair[1], b'/' | b'.');
    if path.starts_with('/') && !path.as_bytes().windows(2).any(special) {
        return Cow::Borrowed(path);
    }
    let mut normal = String::with_capacity(path.len() + 1);
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => normal.truncate(normal.rfind('/').unwrap_or(0)),
            _ => {
                normal.push('/');
                normal.push_str(segment);
            }
        }
    }
    let is_folder = matches!(path.rsplit('/').next(), Some("" | "." | ".."));
    if normal.is_empty() || is_folder {
        normal.push('/');
    }
    Cow::Owned(normal)
}

/// Appends the parameters in the order of their encoded names, then of their encoded values.
fn push_query(out: &mut Vec<u8>, content: &Content<'_>) {
    if content.query.is_empty() && content.query_with.is_empty() {
        return;
    }
    // Each parameter as `name=value`, and the place of `=`.
    let mut scratch = Vec::with_capacity(content.query.len() + 16);
    let mut parameters: SmallVec<[(Range<usize>, usize); 16]> = SmallVec::new();
    for parameter in content
        .query
        .split('&')
        .filter(|parameter| !parameter.is_empty())
    {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let start = scratch.len();
        push_component(&mut scratch, name.as_bytes());
        let is_without = |without: &&str| scratch[start..] == *without.as_bytes();
        if content.query_without.iter().any(is_without) {
            scratch.truncate(start);
            continue;
        }
        let equals = scratch.len();
        scratch.push(b'=');
        push_component(&mut scratch, value.as_bytes());
        parameters.push((start..scratch.len(), equals));
    }
    for (name, value) in content.query_with {
        let start = scratch.len();
        scratch.extend_from_slice(name.as_bytes());
        let equals = scratch.len();
        scratch.push(b'=');
        scratch.extend_from_slice(value.as_bytes());
        parameters.push((start..scratch.len(), equals));
    }
    parameters.sort_by_key(|(range, equals)| {
        (&scratch[range.start..*equals], &scratch[*equals..range.end])
    });
    for (at, (range, _)) in parameters.into_iter().enumerate() {
        if at > 0 {
            out.push(b'&');
        }
        out.extend_from_slice(&scratch[range]);
    }
}

/// Appends a name or value of a query in its one canonical encoding. `+` is a space, as in forms. A
/// `%` without two digits is a percent sign.
fn push_component(out: &mut Vec<u8>, component: &[u8]) {
    let decoded = percent::decode_bytes(component, Plus::Space);
    let decoded = decoded.unwrap_or(Cow::Borrowed(component));
    percent::push_bytes(out, &decoded, &percent::UNRESERVED);
}

/// Appends the lines of the headers, an empty line and the names. Returns the place of the names.
/// Values of the same name become one value, separated by commas.
fn push_headers(out: &mut Vec<u8>, headers: &[Header<'_>]) -> Range<usize> {
    let mut previous = "";
    for Header { name, value, .. } in headers {
        if *name == previous {
            out.push(b',');
        } else {
            if !previous.is_empty() {
                out.push(b'\n');
            }
            out.extend_from_slice(name.as_bytes());
            out.push(b':');
            previous = name;
        }
        push_header_value(out, value);
    }
    out.extend_from_slice(b"\n\n");
    let start = out.len();
    previous = "";
    for Header { name, .. } in headers {
        if *name != previous {
            if !previous.is_empty() {
                out.push(b';');
            }
            out.extend_from_slice(name.as_bytes());
            previous = name;
        }
    }
    start..out.len()
}

/// Appends a value without white space at the ends, and with single spaces inside.
fn push_header_value(out: &mut Vec<u8>, value: &[u8]) {
    let mut rest = value.trim_ascii();
    // A space is never the last byte, so there is a byte after each.
    let mut from = 0;
    while let Some(at) = memchr::memchr(b' ', &rest[from..]) {
        let end = from + at + 1;
        if rest[end] == b' ' {
            out.extend_from_slice(&rest[..end]);
            let spaces = rest[end..].iter().take_while(|byte| **byte == b' ').count();
            rest = &rest[end + spaces..];
            from = 0;
        } else {
            from = end;
        }
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(path: &str, rule: PathRule) -> String {
        let mut out = Vec::new();
        push_path(&mut out, path, rule);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn path_of_s3() {
        for (sent, canonical) in [
            ("", "/"),
            ("/a//b/../c%2Fd%20e", "/a//b/../c%2Fd%20e"),
            ("/a b(1)%4", "/a%20b%281%29%254"),
            ("/%7e%c3%41%2f", "/~%C3A%2F"),
            ("/%C3%BC/ü", "/%C3%BC/%C3%BC"),
        ] {
            assert_eq!(path(sent, PathRule::S3), canonical);
        }
    }

    #[test]
    fn path_of_other_services() {
        for (sent, canonical) in [
            ("", "/"),
            ("//a//b/./c/../d/", "/a/b/d/"),
            ("/../..", "/"),
            ("/a/..", "/"),
            ("/a/b/..", "/a/"),
            ("/.a/..b", "/.a/..b"),
            ("/a%20b", "/a%2520b"),
        ] {
            assert_eq!(path(sent, PathRule::STANDARD), canonical);
        }
    }

    #[test]
    fn header_values() {
        let value = |value: &str| {
            let mut out = Vec::new();
            push_header_value(&mut out, value.as_bytes());
            String::from_utf8(out).unwrap()
        };
        assert_eq!(value("  a   b\tc  "), "a b\tc");
        assert_eq!(value("\"a   b\""), "\"a b\"");
        assert_eq!(value("a  \tb\t  c"), "a \tb\t c");
        assert_eq!(value(" "), "");
    }
}
