//! What clients add to a request whatever its protocol: compression and
//! checksums.

use std::io::Write as _;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, HeaderName, HeaderValue};
use md5::{Digest as _, Md5};
use polywire_schema::{Error, ErrorKind, MemberFlags, Operation, OperationFlags};
use polywire_text::base64;

const CONTENT_MD5: HeaderName = HeaderName::from_static("content-md5");

/// What a client wants done to its requests.
///
/// ```
/// use polywire_protocol::RequestOptions;
///
/// let options = RequestOptions::default();
/// assert_eq!(options.compress_from, Some(10_240));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RequestOptions {
    /// From how many bytes on the body of an operation with
    /// `@requestCompression` is compressed; streams are whatever their length.
    /// `None`: never.
    pub compress_from: Option<usize>,
}

impl RequestOptions {
    /// Bodies of 10,240 bytes and more are compressed.
    pub const DEFAULT: Self = Self {
        compress_from: Some(10_240),
    };

    /// Sets from how many bytes on bodies are compressed, or that none are.
    #[must_use]
    pub const fn with_compress_from(mut self, bytes: Option<usize>) -> Self {
        self.compress_from = bytes;
        self
    }
}

impl Default for RequestOptions {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Client: does to a request what traits of its operation ask for, once its
/// protocol has written it with
/// [`encode_input`](crate::ClientProtocol::encode_input).
///
/// - `@requestCompression`: the body is compressed by the first encoding that is
///   known here, which is gzip, and the encoding is added behind those that the
///   input gives
///   (<https://smithy.io/2.0/spec/behavior-traits.html#requestcompression-trait>).
/// - `@httpChecksumRequired`: the header `Content-MD5` has the checksum of the
///   body as it is sent, unless there is a header with a checksum already
///   (<https://smithy.io/2.0/spec/http-bindings.html#httpchecksumrequired-trait>).
///
/// # Errors
///
/// What the input gives as `Content-Encoding` is no text.
pub fn finish_request(
    operation: Operation<'_>,
    request: &mut http::Request<Bytes>,
    options: &RequestOptions,
) -> Result<(), Error> {
    if options
        .compress_from
        .is_some_and(|least| is_compressed(operation, request, least))
    {
        compress(request)?;
    }
    if operation.has(OperationFlags::CHECKSUM_REQUIRED) && !has_checksum(request.headers()) {
        let mut text = Vec::with_capacity(24);
        base64::push(&mut text, &Md5::digest(request.body()));
        // Base64 is visible ASCII.
        if let Ok(value) = HeaderValue::from_bytes(&text) {
            request.headers_mut().insert(CONTENT_MD5, value);
        }
    }
    Ok(())
}

fn is_compressed(operation: Operation<'_>, request: &http::Request<Bytes>, least: usize) -> bool {
    let mut encodings = operation.request_compression();
    if !encodings.any(|encoding| encoding.eq_ignore_ascii_case("gzip")) {
        return false;
    }
    let len = request.body().len();
    let streams = || {
        let mut members = operation.input().members();
        members.any(|member| member.has(MemberFlags::STREAMING))
    };
    len >= least || (len > 0 && streams())
}

fn compress(request: &mut http::Request<Bytes>) -> Result<(), Error> {
    let body = request.body();
    let space = Vec::with_capacity(body.len() / 2);
    let mut encoder = GzEncoder::new(space, Compression::default());
    let written = encoder.write_all(body).and_then(|()| encoder.finish());
    let internal = |reason: std::io::Error| {
        Error::new(ErrorKind::Internal)
            .expected("a vector to write to")
            .found(reason.to_string())
    };
    *request.body_mut() = Bytes::from(written.map_err(internal)?);
    let headers = request.headers_mut();
    let mut encodings = String::new();
    for value in headers.get_all(CONTENT_ENCODING) {
        let text = value.to_str().map_err(|_| {
            Error::new(ErrorKind::Unwritable)
                .in_format("HTTP")
                .expected("a list of encodings in the header content-encoding")
                .found(format!("{value:?}"))
        })?;
        encodings.push_str(text);
        encodings.push_str(", ");
    }
    encodings.push_str("gzip");
    // Texts of headers with a comma between them.
    if let Ok(value) = HeaderValue::try_from(encodings) {
        headers.insert(CONTENT_ENCODING, value);
    }
    // The length is another one now; whoever sends the request will say it.
    headers.remove(CONTENT_LENGTH);
    Ok(())
}

/// Whether somebody has put a checksum of the body into the head.
fn has_checksum(headers: &HeaderMap) -> bool {
    let is_checksum = |name: &HeaderName| {
        let name = name.as_str();
        name == CONTENT_MD5.as_str() || name.starts_with("x-amz-checksum-")
    };
    headers.keys().any(is_checksum)
}
