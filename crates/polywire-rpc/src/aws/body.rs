//! The filter of request bodies.

use std::sync::{Arc, OnceLock};

use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, request};
use polywire_aws::chunked::{
    AnySignature, BodyChecksums, BodyError, BodyReader, ChunkAuthenticator, DecoderOptions,
    Framing, without_aws_chunked,
};
use polywire_aws::signature::{EventVerifier, Payload, VerifiedRequest};
use polywire_protocol::Fault;
use polywire_schema::{Operation, OperationFlags};

use super::SignatureAuthenticator;
use super::decoding::{Checks, DecodedBody, DeferredSignature};
use super::events::VerifiedEvents;
use crate::auth::Identity;
use crate::server::{BodyFilter, FilteredHead, HttpBody};

const CONTENT_SHA256: HeaderName = HeaderName::from_static("x-amz-content-sha256");
const DECODED_LENGTH: HeaderName = HeaderName::from_static("x-amz-decoded-content-length");
const SDK_ALGORITHM: HeaderName = HeaderName::from_static("x-amz-sdk-checksum-algorithm");
const SIGNED_EVENTS: &str = "STREAMING-AWS4-HMAC-SHA256-EVENTS";
const CHECKSUM_PREFIX: &str = "x-amz-checksum-";

/// Decodes and checks the bodies of requests of AWS clients:
///
/// - decodes the content encoding `aws-chunked` in all forms, and checks the signatures of chunks and trailers
/// - checks `x-amz-content-sha256`, `Content-MD5`, and the checksums in headers `x-amz-checksum-*` or in trailers
/// - takes the messages of event streams out of their signed messages, and checks their signatures
/// - verifies signatures that cover the hash of a body that the head does not have, if an authenticator is set
///
/// The handler gets the decoded body, with a `Content-Length` and a `Content-Encoding` that describe it, and can find the
/// computed checksums in [`ReceivedChecksums`]. A body that fails a check ends with an error: `BadDigest`,
/// `SignatureDoesNotMatch`, `IncompleteBody`, `XAmzContentSHA256Mismatch`, `InvalidDigest`, `MalformedTrailerError`, ...
///
/// A [streaming](crate::streaming) handler gets bytes before all checks were made. It must commit nothing before the end of
/// the stream.
///
/// Without an authenticator, signatures of chunks are not checked.
#[derive(Clone, Debug, Default)]
pub struct BodyDecoder {
    authenticator: Option<SignatureAuthenticator>,
}

/// The checksums of the body of a request: [`Context::extensions`](crate::Context::extensions) has it if a
/// [`BodyDecoder`] reads the body. Empty until the body was read to its end.
#[derive(Clone, Debug, Default)]
pub struct ReceivedChecksums(pub(super) Arc<OnceLock<BodyChecksums>>);

impl ReceivedChecksums {
    /// The checksums that were computed, after the body was read.
    #[must_use]
    pub fn get(&self) -> Option<&BodyChecksums> {
        self.0.get()
    }
}

impl BodyDecoder {
    /// Creates a decoder that does not verify signatures.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Verifies signatures with the keys of this authenticator.
    #[must_use]
    pub fn with_authenticator(mut self, authenticator: SignatureAuthenticator) -> Self {
        self.authenticator = Some(authenticator);
        self
    }

    /// What checks the signatures of chunks. It accepts all if there are none, or if there is no authenticator.
    fn chunk_authenticator(
        &self,
        framing: Option<Framing>,
        identity: Option<&Identity>,
    ) -> Result<Box<dyn ChunkAuthenticator + Send + Sync>, Fault> {
        if self.authenticator.is_none() || !framing.is_some_and(Framing::is_signed) {
            return Ok(Box::new(AnySignature));
        }
        let verified = identity.and_then(|own| own.extensions().get::<VerifiedRequest>());
        match verified.and_then(VerifiedRequest::chunk_verifier) {
            Some(verifier) => Ok(Box::new(verifier)),
            None => Err(unsigned_request(
                "The chunks are signed, but the request is not.",
            )),
        }
    }
}

impl BodyFilter for BodyDecoder {
    fn applies(&self, head: &request::Parts, identity: Option<&Identity>) -> bool {
        let is_unverified =
            || identity.is_some_and(|own| own.is_claimed() || signed_hash(own).is_some());
        let is_checked = |(name, value): (&HeaderName, &HeaderValue)| match name.as_str() {
            "content-md5" | "x-amz-trailer" | "x-amz-decoded-content-length" => true,
            "x-amz-content-sha256" => value != "UNSIGNED-PAYLOAD",
            "content-encoding" => value
                .as_bytes()
                .windows(11)
                .any(|part| part == b"aws-chunked"),
            name => name.starts_with(CHECKSUM_PREFIX),
        };
        head.headers.iter().any(is_checked) || is_unverified()
    }

    fn verifies_callers(&self) -> bool {
        self.authenticator.is_some()
    }

    fn filter(&self, request: FilteredHead<'_>, body: HttpBody) -> Result<HttpBody, Fault> {
        let FilteredHead {
            head,
            operation,
            identity,
        } = request;
        if head
            .headers
            .get(CONTENT_SHA256)
            .is_some_and(|value| value == SIGNED_EVENTS)
        {
            let verifier = self.event_verifier(identity)?;
            return Ok(HttpBody::new(VerifiedEvents::new(body, verifier)));
        }
        let framing = framing(&head.headers)?;
        let authenticator = self.chunk_authenticator(framing, identity)?;
        let options = DecoderOptions {
            // Clients of MinIO write them.
            line_feed_trailers: true,
            ..DecoderOptions::default()
        };
        let reader = match operation.is_none_or(describes_body) {
            true => BodyReader::new(&head.headers, authenticator, &options),
            false => BodyReader::new(&without_checksums(&head.headers), authenticator, &options),
        };
        let checks = Checks {
            reader: Some(reader.map_err(|error| fault(&error))?),
            signature: self.deferred(head, identity),
            hash: identity.and_then(signed_hash),
            checksums: ReceivedChecksums::default(),
        };
        head.extensions.insert(checks.checksums.clone());
        if framing.is_some() {
            describe_decoded(&mut head.headers);
        }
        let len = head.headers.get(CONTENT_LENGTH);
        let len = len.and_then(|value| value.to_str().ok()?.parse().ok());
        Ok(HttpBody::new(DecodedBody::new(body, checks, len)))
    }
}

impl BodyDecoder {
    /// What checks the messages of a signed event stream. `None` if there is no authenticator.
    fn event_verifier(&self, identity: Option<&Identity>) -> Result<Option<EventVerifier>, Fault> {
        if self.authenticator.is_none() {
            return Ok(None);
        }
        let verified = identity.and_then(|own| own.extensions().get::<VerifiedRequest>());
        match verified.and_then(VerifiedRequest::event_verifier) {
            Some(verifier) => Ok(Some(verifier)),
            None => Err(unsigned_request(
                "The events are signed, but the request is not.",
            )),
        }
    }

    /// The signature to verify when the body has been read, if the authenticator could not.
    fn deferred(
        &self,
        head: &request::Parts,
        identity: Option<&Identity>,
    ) -> Option<DeferredSignature> {
        identity.filter(|own| own.is_claimed())?;
        Some(DeferredSignature {
            authenticator: self.authenticator.clone()?,
            head: Box::new(head.clone()),
        })
    }
}

/// The request whose signature covers the hash of the body, as of presigned URLs.
fn signed_hash(identity: &Identity) -> Option<VerifiedRequest> {
    let verified = identity.extensions().get::<VerifiedRequest>();
    let has_hash = |own: &&VerifiedRequest| matches!(own.payload(), Payload::Sha256(_));
    verified.filter(has_hash).cloned()
}

fn unsigned_request(message: &str) -> Fault {
    Fault::named(StatusCode::FORBIDDEN, "AccessDenied", message)
}

/// The framing of the body. `None` if it is not in `aws-chunked`.
fn framing(headers: &HeaderMap) -> Result<Option<Framing>, Fault> {
    let value = headers
        .get(CONTENT_SHA256)
        .and_then(|value| value.to_str().ok());
    let framing = value.and_then(Framing::from_content_sha256);
    let codings = headers.get_all(CONTENT_ENCODING).iter();
    let mut codings = codings.filter_map(|value| value.to_str().ok());
    let is_chunked = codings.any(|value| {
        let mut codings = value.split(',');
        codings.any(|coding| coding.trim().eq_ignore_ascii_case("aws-chunked"))
    });
    if is_chunked && framing.is_none() {
        let message = "content-encoding is aws-chunked: expected the form of the chunks in x-amz-content-sha256";
        return Err(Fault::named(
            StatusCode::BAD_REQUEST,
            "InvalidRequest",
            message,
        ));
    }
    Ok(framing)
}

/// Whether headers `x-amz-checksum-*` of the operation describe the body of the request. With CompleteMultipartUpload
/// they describe the object.
fn describes_body(operation: Operation<'_>) -> bool {
    let checksum = operation.http_checksum();
    checksum.is_some_and(|checksum| checksum.request_algorithm_member.is_some())
        || operation.has(OperationFlags::CHECKSUM_REQUIRED)
        || operation.has(OperationFlags::HTTP_CHECKSUM_REQUIRED)
}

fn without_checksums(headers: &HeaderMap) -> HeaderMap {
    let is_kept = |(name, _): &(&HeaderName, &HeaderValue)| {
        !name.as_str().starts_with(CHECKSUM_PREFIX) && *name != SDK_ALGORITHM
    };
    let kept = headers.iter().filter(is_kept);
    kept.map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Changes the headers of a body in `aws-chunked` to those of the decoded one.
fn describe_decoded(headers: &mut HeaderMap) {
    let codings = headers.get_all(CONTENT_ENCODING).iter();
    let codings: Vec<&str> = codings.filter_map(|value| value.to_str().ok()).collect();
    let rest = without_aws_chunked(&codings.join(","));
    match rest.and_then(|rest| HeaderValue::try_from(rest).ok()) {
        Some(rest) => headers.insert(CONTENT_ENCODING, rest),
        None => headers.remove(CONTENT_ENCODING),
    };
    match headers.get(DECODED_LENGTH).cloned() {
        Some(len) => headers.insert(CONTENT_LENGTH, len),
        None => headers.remove(CONTENT_LENGTH),
    };
}

pub(super) fn fault(error: &BodyError) -> Fault {
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::BAD_REQUEST);
    Fault::named(status, error.code(), error.to_string())
}
