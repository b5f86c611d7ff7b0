//! The authenticator of signed requests.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{Extensions, HeaderMap, Version, request};
use polywire_aws::signature::{
    ErrorDialect, ErrorKind, KeyCache, RequestHead, SignatureError, SignedRequest, VerifiedRequest,
    Verifier,
};
use polywire_protocol::Fault;
use polywire_text::Timestamp;
use sha2::{Digest as _, Sha256};

use super::KeyStore;
use crate::auth::{AuthError, Authentication, Authenticator, CallHead, Identity};
use crate::server::OriginalUri;

/// Accepts callers that sign their requests with AWS Signature Version 4 or 4A.
///
/// The name of the [`Identity`] is the access key id. Its extensions contain the [`VerifiedRequest`]. A call without a
/// valid signature ends with the error of AWS, in the protocol of the call: `AccessDenied` or `SignatureDoesNotMatch` of
/// S3, `InvalidSignatureException` of services with JSON, and so on.
///
/// If the head has no hash of the body, as with most services except S3, the signature is verified when the body has been
/// read, before the handler starts. So the server also needs the [`BodyDecoder`](super::BodyDecoder):
/// [`install`](super::install) adds both.
///
/// The layers of a server must not change the method, the URI or signed headers of a request before this. A layer that
/// changes the URI puts the original one into the extensions of the request, as [`OriginalUri`].
#[derive(Clone)]
pub struct SignatureAuthenticator(Arc<Inner>);

struct Inner {
    verifier: Verifier,
    is_s3: bool,
    keys: Box<dyn KeyStore>,
    /// Derived keys of the latest requests.
    cache: Mutex<KeyCache>,
    accepts_anonymous: bool,
}

/// The caller whose request is not signed.
const ANONYMOUS: &str = "anonymous";

impl SignatureAuthenticator {
    /// Verifies requests as Amazon S3 does.
    pub fn s3(keys: impl KeyStore) -> Self {
        Self::new(Verifier::s3(), true, keys)
    }

    /// Verifies requests as the other services of AWS do. `signing_name` is that of `@aws.auth#sigv4`; it is part of the
    /// signature.
    pub fn service(signing_name: &str, keys: impl KeyStore) -> Self {
        Self::new(Verifier::new(signing_name), false, keys)
    }

    fn new(verifier: Verifier, is_s3: bool, keys: impl KeyStore) -> Self {
        Self(Arc::new(Inner {
            verifier,
            is_s3,
            keys: Box::new(keys),
            cache: Mutex::default(),
            accepts_anonymous: false,
        }))
    }

    fn change(self, change: impl FnOnce(&mut Inner)) -> Self {
        // Setters are called before the authenticator is cloned. If it was cloned, nothing is changed.
        let mut inner = self.0;
        match Arc::get_mut(&mut inner) {
            Some(own) => change(own),
            None => tracing::error!("settings of an authenticator that is in use are not changed"),
        }
        Self(inner)
    }

    /// Accepts only signatures for this region. Default: any.
    #[must_use]
    pub fn with_region(self, region: &str) -> Self {
        self.change(|inner| inner.verifier = inner.verifier.clone().with_region(region))
    }

    /// Sets the maximum difference between the clocks of client and server. Default: 15 minutes.
    #[must_use]
    pub fn with_max_skew(self, skew: Duration) -> Self {
        self.change(|inner| inner.verifier = inner.verifier.clone().with_max_skew(skew))
    }

    /// Sets whether requests without a signature are accepted, with the name `anonymous`. Default: no.
    #[must_use]
    pub fn with_anonymous(self, accepted: bool) -> Self {
        self.change(|inner| inner.accepts_anonymous = accepted)
    }

    /// The store of access keys.
    #[must_use]
    pub fn keys(&self) -> &dyn KeyStore {
        &*self.0.keys
    }

    /// Whether the signature covers a hash of the body that is not in the head, so that it can only be verified when the body
    /// has been read. Requests to S3 always have the hash.
    pub(super) fn needs_body(&self, request: &SignedRequest<'_>) -> bool {
        !self.0.is_s3 && request.payload().is_none()
    }

    /// Verifies the signature of a request. `body` is the SHA-256 of its body, if that has been read.
    pub(super) async fn verify(
        &self,
        head: &request::Parts,
        body: Option<&[u8; 32]>,
    ) -> Result<VerifiedRequest, Fault> {
        let inner = &*self.0;
        let fault = |error: &SignatureError| self.fault(error, &head.headers);
        let request = SignedRequest::parse(signed_head(head)).map_err(|error| fault(&error))?;
        let found = inner.keys.credentials(request.access_key_id()).await;
        let credentials = found
            .map_err(Fault::internal)?
            .ok_or_else(|| fault(&SignatureError::unknown_access_key()))?;
        let key = {
            let mut cache = inner.cache.lock().unwrap_or_else(PoisonError::into_inner);
            cache.key_for(&request, &credentials)
        };
        let verified = inner.verifier.verify(&request, &key, now(), body);
        verified.map_err(|error| fault(&error))
    }

    /// The fault with the code and the status that the service would use.
    pub(super) fn fault(&self, error: &SignatureError, headers: &HeaderMap) -> Fault {
        let dialect = match self.0.is_s3 {
            true => ErrorDialect::S3,
            false => dialect_of(headers),
        };
        Fault::named(
            error.status(dialect),
            error.code(dialect),
            error.to_string(),
        )
    }
}

impl Authenticator for SignatureAuthenticator {
    fn authenticate(&self, head: &CallHead<'_>) -> Authentication {
        let Some(head) = head.request() else {
            return Err(AuthError::MissingCredentials).into();
        };
        let mut body: Option<[u8; 32]> = None;
        let rejected = |fault: Fault| Err(AuthError::Fault(Box::new(fault)));
        match SignedRequest::parse(signed_head(head)) {
            Err(error) if error.kind() == ErrorKind::Missing && self.0.accepts_anonymous => {
                return Ok(Identity::new(ANONYMOUS)).into();
            }
            Err(error) => return rejected(self.fault(&error, &head.headers)).into(),
            // Verified by the `BodyDecoder`.
            Ok(request) if self.needs_body(&request) && !has_no_body(head) => {
                let name = request.access_key_id();
                return Ok(Identity::claimed(name, Extensions::new())).into();
            }
            Ok(request) if self.needs_body(&request) => body = Some(Sha256::digest(b"").into()),
            Ok(_) => {}
        }
        let (own, head) = (self.clone(), head.clone());
        Authentication::pending(async move {
            match own.verify(&head, body.as_ref()).await {
                Ok(verified) => {
                    let name = verified.access_key_id().to_owned();
                    let mut extensions = Extensions::new();
                    extensions.insert(verified);
                    Ok(Identity::with_extensions(name, extensions))
                }
                Err(fault) => Err(AuthError::Fault(Box::new(fault))),
            }
        })
    }
}

/// Whether it is certain from the head that a request has no body (RFC 9112, section 6.3).
fn has_no_body(head: &request::Parts) -> bool {
    let length = head.headers.get(CONTENT_LENGTH);
    head.version < Version::HTTP_2
        && length.is_none_or(|length| length == "0")
        && !head.headers.contains_key(TRANSFER_ENCODING)
}

/// The head as the client has signed it.
fn signed_head(head: &request::Parts) -> RequestHead<'_> {
    let mut signed = RequestHead::from(head);
    if let Some(OriginalUri(uri)) = head.extensions.get() {
        signed.path = uri.path();
        signed.query = uri.query().unwrap_or_default();
    }
    signed
}

/// How a service other than S3 writes errors: by the protocol of the request.
fn dialect_of(headers: &HeaderMap) -> ErrorDialect {
    let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let content_type = value("content-type").unwrap_or_default();
    if value("smithy-protocol").is_some() || content_type.starts_with("application/x-amz-json") {
        return ErrorDialect::AwsJson;
    }
    match content_type.starts_with("application/x-www-form-urlencoded") {
        true => ErrorDialect::Query,
        false => ErrorDialect::RestJson,
    }
}

/// The time of the system clock. The start of 1970 if the clock is before it.
pub(super) fn now() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp::new(since.as_secs().cast_signed(), since.subsec_nanos())
}

impl fmt::Debug for SignatureAuthenticator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignatureAuthenticator")
            .field("verifier", &self.0.verifier)
            .finish_non_exhaustive()
    }
}
