//! Compression and checksums of requests, for clients of all protocols.

use std::io::Write as _;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, HeaderName, HeaderValue};
use md5::{Digest as _, Md5};
use polywire_schema::{
    Blob, ByteStream, Error, ErrorKind, Member, MemberFlags, Operation, OperationFlags, ShapeKind,
};
use polywire_text::base64;

use crate::{PayloadStream, gzip_stream};

const CONTENT_MD5: HeaderName = HeaderName::from_static("content-md5");

/// Options for [`finish_request`].
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
    /// The size in bytes from which bodies of operations with `@requestCompression` are compressed.
    /// Streams are compressed at any size. `None`: never.
    pub compress_from: Option<usize>,
}

impl RequestOptions {
    /// Compresses bodies of 10,240 bytes or more.
    pub const DEFAULT: Self = Self {
        compress_from: Some(10_240),
    };

    /// Sets the size in bytes from which bodies are compressed. `None`: never.
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

/// For clients: applies traits of operations to a request that
/// [`encode_input`](crate::ClientProtocol::encode_input) or
/// [`join_calls`](crate::ClientProtocol::join_calls) has written. A trait applies if any of the
/// operations that the request calls has it.
///
/// - `@requestCompression`: compresses the body with gzip, if the trait lists it, and appends
///   `gzip` to the `Content-Encoding` of the input. A [stream](PayloadStream) is compressed while it
///   is sent, unless it has `@requiresLength`
///   (<https://smithy.io/2.0/spec/behavior-traits.html#requestcompression-trait>).
/// - `@httpChecksumRequired`: sets `Content-MD5` to the checksum of the body as it is sent, unless
///   the request has a checksum header
///   (<https://smithy.io/2.0/spec/http-bindings.html#httpchecksumrequired-trait>).
///
/// # Errors
///
/// The `Content-Encoding` of the input is not text, or a [stream](PayloadStream) needs a checksum.
pub fn finish_request(
    operations: &[Operation<'_>],
    request: &mut http::Request<Bytes>,
    options: &RequestOptions,
) -> Result<(), Error> {
    let mut each = operations.iter();
    if let Some(min_size) = options.compress_from
        && each.any(|operation| should_compress(*operation, request, min_size))
    {
        compress(request)?;
    }
    let mut each = operations.iter();
    if each.any(|operation| operation.has(OperationFlags::CHECKSUM_REQUIRED))
        && !has_checksum(request.headers())
    {
        if request.extensions().get::<PayloadStream>().is_some() {
            return Err(Error::new(ErrorKind::Unwritable)
                .in_format("HTTP")
                .expected(
                    "bytes in memory or a checksum header, because of `@httpChecksumRequired`",
                )
                .found("a stream"));
        }
        let mut text = Vec::with_capacity(24);
        base64::push(&mut text, &Md5::digest(request.body()));
        // Base64 is visible ASCII and therefore a valid header value.
        if let Ok(value) = HeaderValue::from_bytes(&text) {
            request.headers_mut().insert(CONTENT_MD5, value);
        }
    }
    Ok(())
}

fn should_compress(
    operation: Operation<'_>,
    request: &http::Request<Bytes>,
    min_size: usize,
) -> bool {
    let mut encodings = operation.request_compression();
    if !encodings.any(|encoding| encoding.eq_ignore_ascii_case("gzip")) {
        return false;
    }
    let len = request.body().len();
    let mut members = operation.input().members();
    let is_stream = |member: &Member<'_>| {
        member.has(MemberFlags::STREAMING) && member.target().kind() == ShapeKind::Blob
    };
    match members.find(is_stream) {
        // The length of a compressed stream is not known.
        Some(member) if member.has(MemberFlags::REQUIRES_LENGTH) => false,
        Some(_) => len > 0 || request.extensions().get::<PayloadStream>().is_some(),
        None => len >= min_size,
    }
}

fn compress(request: &mut http::Request<Bytes>) -> Result<(), Error> {
    match request.extensions_mut().remove::<PayloadStream>() {
        None => *request.body_mut() = gzip(request.body())?,
        Some(PayloadStream(stream)) => {
            let stream = match stream.as_blob() {
                // It keeps its length, and can be sent again.
                Some(blob) => ByteStream::from(Blob::from(gzip(blob.as_bytes())?)),
                None => gzip_stream::compressed(stream),
            };
            request.extensions_mut().insert(PayloadStream(stream));
        }
    }
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
    // The texts come from header values, so joining them is valid too.
    if let Ok(value) = HeaderValue::try_from(encodings) {
        headers.insert(CONTENT_ENCODING, value);
    }
    // The length has changed. The transport sets the header again.
    headers.remove(CONTENT_LENGTH);
    Ok(())
}

fn gzip(bytes: &[u8]) -> Result<Bytes, Error> {
    let buffer = Vec::with_capacity(bytes.len() / 2);
    let mut encoder = GzEncoder::new(buffer, Compression::default());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    let internal = |reason: std::io::Error| {
        Error::new(ErrorKind::Internal)
            .expected("a vector to write to")
            .found(reason.to_string())
    };
    Ok(Bytes::from(written.map_err(internal)?))
}

/// Returns whether a header contains a checksum of the body.
fn has_checksum(headers: &HeaderMap) -> bool {
    let is_checksum = |name: &HeaderName| {
        let name = name.as_str();
        name == CONTENT_MD5.as_str() || name.starts_with("x-amz-checksum-")
    };
    headers.keys().any(is_checksum)
}
