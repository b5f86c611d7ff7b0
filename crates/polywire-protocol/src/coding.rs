//! Decompression of request bodies.

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, HeaderValue, request};
use polywire_schema::{Location, Operation};

use crate::gzip::{GzipError, decompress_gzip};
use crate::media::trim_whitespace;
use crate::{Fault, FaultKind};

/// For servers: decompresses the body of a request if its last content coding is gzip (RFC 9110,
/// section 8.4.1.3), and removes gzip from `Content-Encoding`. Returns `None` if the body is not
/// compressed, or with a coding other than gzip, which protocols reject later.
///
/// If a member of the input is bound to `Content-Encoding`, the coding is a property of the data
/// and the body is not changed, unless the operation has `@requestCompression`. `operation` is
/// `None` if the protocol finds the operation in the body. These protocols have no members in
/// headers.
///
/// `check` is called with the length of the output so far after each piece of at most 64 KiB. It
/// enforces limits.
///
/// # Errors
///
/// `check` failed, or the body is not valid gzip.
pub fn decode_content(
    operation: Option<Operation<'_>>,
    head: &mut request::Parts,
    body: &Bytes,
    check: &mut dyn FnMut(usize) -> Result<(), Fault>,
) -> Result<Option<Bytes>, Fault> {
    if body.is_empty() || !head.headers.contains_key(CONTENT_ENCODING) {
        return Ok(None);
    }
    if operation.is_some_and(|operation| !decodes_gzip(operation)) {
        return Ok(None);
    }
    let Some(rest) = without_gzip(&head.headers) else {
        return Ok(None);
    };
    let decoded = decompress_gzip(body, check).map_err(|error| match error {
        GzipError::Limit(fault) => fault,
        GzipError::Malformed(error) => {
            let message = format!("expected a body in gzip: {error}");
            Fault::new(FaultKind::Malformed, message).with_source(error)
        }
    })?;
    match rest {
        Some(rest) => head.headers.insert(CONTENT_ENCODING, rest),
        None => head.headers.remove(CONTENT_ENCODING),
    };
    head.headers.remove(CONTENT_LENGTH);
    Ok(Some(Bytes::from(decoded)))
}

/// Returns whether servers decompress the gzip bodies of an operation: unless a member of the input is bound to
/// `Content-Encoding`, which then describes what the handler gets, and `@requestCompression` does not list gzip.
#[must_use]
pub fn decodes_gzip(operation: Operation<'_>) -> bool {
    let mut encodings = operation.request_compression();
    encodings.any(|encoding| encoding.eq_ignore_ascii_case("gzip")) || !has_own_coding(operation)
}

/// Returns whether a member of the input is bound to `Content-Encoding`, so that the handler
/// decodes the body.
pub(crate) fn has_own_coding(operation: Operation<'_>) -> bool {
    operation.input().members().any(|member| {
        member.location() == Location::Header
            && member
                .location_name()
                .eq_ignore_ascii_case("content-encoding")
    })
}

/// Returns the codings before gzip. `None` if the last coding is not gzip.
fn without_gzip(headers: &HeaderMap) -> Option<Option<HeaderValue>> {
    let mut codings = Vec::new();
    for value in headers.get_all(CONTENT_ENCODING) {
        let parts = value.to_str().ok()?.split(',').map(trim_whitespace);
        codings.extend(parts.filter(|coding| !coding.is_empty()));
    }
    let is_gzip =
        |coding: &str| coding.eq_ignore_ascii_case("gzip") || coding.eq_ignore_ascii_case("x-gzip");
    if !is_gzip(codings.pop()?) {
        return None;
    }
    match codings.is_empty() {
        true => Some(None),
        false => HeaderValue::try_from(codings.join(", ")).ok().map(Some),
    }
}
