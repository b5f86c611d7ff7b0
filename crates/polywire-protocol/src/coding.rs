//! Bodies of requests that came compressed.

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, HeaderValue, request};
use polywire_schema::{Location, Operation};

use crate::gzip::{GzipError, decompress_gzip};
use crate::media::trim_whitespace;
use crate::{Fault, FaultKind};

/// Server: undoes gzip, the content coding of RFC 9110, section 8.4.1.3, if the
/// body of a request has it, and takes it off the header. `None` if there is
/// nothing to undo: no coding, or one that is not known here, which protocols
/// refuse.
///
/// An operation whose input has the header `Content-Encoding` as a member gets
/// its body as it came, since what the header says is then a property of the
/// data, unless `@requestCompression` is on it too. `operation` is `None` where
/// the body has to be read to know it: no protocol that routes so has members
/// in headers.
///
/// `grows` is asked after each further piece, of 64 KiB at most, with how long the
/// body has become: this is where limits are enforced.
///
/// # Errors
///
/// What `grows` says; or the body is not what the header says.
pub fn decode_content(
    operation: Option<Operation<'_>>,
    head: &mut request::Parts,
    body: &Bytes,
    grows: &mut dyn FnMut(usize) -> Result<(), Fault>,
) -> Result<Option<Bytes>, Fault> {
    if body.is_empty() || !head.headers.contains_key(CONTENT_ENCODING) {
        return Ok(None);
    }
    if operation.is_some_and(|operation| !is_undone(operation)) {
        return Ok(None);
    }
    let Some(rest) = without_gzip(&head.headers) else {
        return Ok(None);
    };
    let decoded = decompress_gzip(body, grows).map_err(|error| match error {
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

fn is_undone(operation: Operation<'_>) -> bool {
    let mut encodings = operation.request_compression();
    encodings.any(|encoding| encoding.eq_ignore_ascii_case("gzip")) || !has_own_coding(operation)
}

/// Whether what the header `Content-Encoding` says is a member of the input, and
/// so nobody's business but the handler's.
pub(crate) fn has_own_coding(operation: Operation<'_>) -> bool {
    operation.input().members().any(|member| {
        member.location() == Location::Header
            && member
                .location_name()
                .eq_ignore_ascii_case("content-encoding")
    })
}

/// The codings before gzip, if that is the last one.
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
