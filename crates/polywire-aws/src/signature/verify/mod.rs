//! Verifying the signature of a request.

mod headers;
mod region;

use std::time::Duration;

use polywire_text::Timestamp;

use super::canonical::{Canonical, Content};
use super::error::{ErrorKind, Form};
use super::head::parameter;
use super::{
    PathRule, Payload, Settings, SignatureError, SignedRequest, SigningKey, VerifiedRequest,
};
use region::is_match;

/// The largest difference between the times of client and server: 15 minutes, as AWS has it.
pub const DEFAULT_MAX_SKEW: Duration = Duration::from_secs(15 * 60);

/// What a server requires of signatures.
///
/// ```
/// use polywire_aws::signature::{
///     Credentials, KeyCache, Payload, Settings, SignedRequest, SigningTime, Verifier, sign_request,
/// };
/// use polywire_text::Timestamp;
///
/// let credentials = Credentials::new("AKIDEXAMPLE", "secret");
/// let now = Timestamp::new(1_440_938_160, 0);
/// let time = SigningTime::new(now).unwrap();
/// let mut keys = KeyCache::default();
///
/// // The client.
/// let request = http::Request::get("https://bucket.example.com/key").body(()).unwrap();
/// let (mut parts, ()) = request.into_parts();
/// let key = keys.key(&credentials, time, "us-east-1", "s3");
/// sign_request(&mut parts, Payload::of(b""), &key, &Settings::S3, time)?;
///
/// // The server.
/// let verifier = Verifier::s3().with_region("us-east-1");
/// let signed = SignedRequest::parse(&parts)?;
/// assert_eq!(signed.access_key_id(), "AKIDEXAMPLE");
/// let key = keys.key_for(&signed, &credentials);
/// let verified = verifier.verify(&signed, &key, now, None)?;
/// assert_eq!(verified.payload(), Payload::of(b""));
/// # Ok::<(), polywire_aws::signature::SignatureError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Verifier {
    is_s3: bool,
    /// Empty: any.
    services: Vec<String>,
    region: Option<String>,
    path: PathRule,
    max_skew: Duration,
    accepts_unsigned_payload: bool,
    requires_signed_token: bool,
}

impl Verifier {
    /// The rules of Amazon S3, for its signing names: the path as it is sent, and
    /// `x-amz-content-sha256` required in header form, where payloads may be unsigned.
    #[must_use]
    pub fn s3() -> Self {
        let services = ["s3", "s3express", "s3-object-lambda", "s3-outposts"];
        Self {
            is_s3: true,
            services: services.map(String::from).to_vec(),
            region: None,
            path: Settings::S3.path,
            max_skew: DEFAULT_MAX_SKEW,
            accepts_unsigned_payload: true,
            requires_signed_token: true,
        }
    }

    /// The rules of another service: normal paths, and signed payloads.
    #[must_use]
    pub fn new(signing_name: &str) -> Self {
        Self {
            is_s3: false,
            services: vec![signing_name.to_owned()],
            region: None,
            path: Settings::STANDARD.path,
            max_skew: DEFAULT_MAX_SKEW,
            accepts_unsigned_payload: false,
            requires_signed_token: true,
        }
    }

    /// Accepts these signing names. An empty list accepts any.
    #[must_use]
    pub fn with_services(mut self, signing_names: &[&str]) -> Self {
        self.services = signing_names
            .iter()
            .map(|name| (*name).to_owned())
            .collect();
        self
    }

    /// Accepts only requests that are signed for this region. The default is any.
    #[must_use]
    pub fn with_region(mut self, region: &str) -> Self {
        self.region = Some(region.to_owned());
        self
    }

    /// Changes how paths become canonical.
    #[must_use]
    pub fn with_path_rule(mut self, path: PathRule) -> Self {
        self.path = path;
        self
    }

    /// Changes the largest difference between the times of client and server. The default is
    /// [`DEFAULT_MAX_SKEW`].
    #[must_use]
    pub fn with_max_skew(mut self, max_skew: Duration) -> Self {
        self.max_skew = max_skew;
        self
    }

    /// Whether to accept `UNSIGNED-PAYLOAD` and `STREAMING-UNSIGNED-PAYLOAD-TRAILER`.
    #[must_use]
    pub fn with_unsigned_payload(mut self, accept: bool) -> Self {
        self.accepts_unsigned_payload = accept;
        self
    }

    /// For services whose clients add the session token after signing, such as AWS IoT: whether
    /// requests are accepted whose signature does not cover it. A presigned URL must not cover it
    /// then.
    #[must_use]
    pub fn with_unsigned_session_token(mut self, accept: bool) -> Self {
        self.requires_signed_token = !accept;
        self
    }

    /// Verifies a request.
    ///
    /// `key` is the key for this request: see [`SignedRequest::signing_key`]. `now` is the time of
    /// the server. `body_hash` is the SHA-256 of the body if the server has read it already. It is
    /// required if [`SignedRequest::payload`] is `None`, except for S3. Without it, the server must
    /// call [`VerifiedRequest::check_body`] after it has read the body.
    ///
    /// # Errors
    ///
    /// The signature is for another scope or time, does not cover a required header, or does not
    /// match; the session token is wrong; the credentials are expired; the hash of the body is not the
    /// signed one.
    pub fn verify(
        &self,
        request: &SignedRequest<'_>,
        key: &SigningKey,
        now: Timestamp,
        body_hash: Option<&[u8; 32]>,
    ) -> Result<VerifiedRequest, SignatureError> {
        self.check(request, key, now, body_hash)
            .map_err(|error| error.in_form(request.form))
    }

    fn check(
        &self,
        request: &SignedRequest<'_>,
        key: &SigningKey,
        now: Timestamp,
        body_hash: Option<&[u8; 32]>,
    ) -> Result<VerifiedRequest, SignatureError> {
        self.check_scope(request)?;
        self.check_time(request, now)?;
        let headers = self.signed_headers(request)?;
        let payload = self.payload(request, body_hash)?;
        check_key(request, key)?;

        let without_signature = [parameter::SIGNATURE];
        let without_token = [parameter::SIGNATURE, parameter::SECURITY_TOKEN];
        let canonical = Canonical::new(
            &Content {
                method: request.head.method,
                path: request.head.path,
                path_rule: self.path,
                query: request.head.query,
                query_without: match request.form {
                    Form::Header => &[],
                    Form::Query if self.requires_signed_token => &without_signature,
                    Form::Query => &without_token,
                },
                query_with: &[],
                headers: &headers,
                payload: payload.text(&mut [0; 64]),
            },
            request.algorithm,
            request.time,
            &request.scope,
        );
        if !key.verify(canonical.string_to_sign(), &request.signature) {
            return Err(SignatureError::mismatch(
                canonical.request().to_vec(),
                canonical.string_to_sign().to_vec(),
            ));
        }
        // After the signature, so that only the owner of the key learns about the session.
        let credentials = key.credentials();
        if !credentials.has_session_token(request.session_token()) {
            return Err(SignatureError::new(
                ErrorKind::InvalidToken,
                "The security token included in the request is invalid.",
            ));
        }
        if credentials.is_expired(now) {
            let message = "The security token included in the request is expired.";
            return Err(SignatureError::new(ErrorKind::ExpiredToken, message));
        }
        let verified = VerifiedRequest::new(request, key, payload, self.max_skew);
        if let Some(hash) = body_hash {
            verified.check_body(hash)?;
        }
        Ok(verified)
    }

    fn check_scope(&self, request: &SignedRequest<'_>) -> Result<(), SignatureError> {
        let error = |message: String| Err(SignatureError::new(ErrorKind::WrongScope, message));
        let scope = &request.scope;
        if scope.date() != request.time.date() {
            let message = "the date of Credential is not that of the request";
            return error(format!("{message}: {} and {}", scope.date(), request.time));
        }
        if !self.services.is_empty() && !self.services.iter().any(|name| name == scope.service()) {
            return error(format!(
                "Credential should be scoped to the correct service: expected '{}', got '{}'",
                self.services[0],
                scope.service(),
            ));
        }
        let Some(region) = &self.region else {
            return Ok(());
        };
        let (signed, matches) = match &request.region_set {
            None => (scope.region(), scope.region() == region),
            Some(set) => {
                let mut regions = set.split(',').map(str::trim_ascii);
                (&**set, regions.any(|pattern| is_match(pattern, region)))
            }
        };
        if matches {
            return Ok(());
        }
        error(format!(
            "the region '{signed}' is wrong; expecting '{region}'"
        ))
    }

    fn check_time(
        &self,
        request: &SignedRequest<'_>,
        now: Timestamp,
    ) -> Result<(), SignatureError> {
        let time = Timestamp::new(request.time.seconds(), 0);
        let expires = match (request.form, request.expires) {
            (Form::Query, Some(expires)) => expires,
            (Form::Query, None) if self.is_s3 => {
                let message = "the parameter X-Amz-Expires is missing";
                return Err(SignatureError::new(ErrorKind::Malformed, message));
            }
            _ => return check_skew(time, now, self.max_skew),
        };
        let age = i128::from(now.seconds()) - i128::from(time.seconds());
        if -age > i128::from(self.max_skew.as_secs()) {
            return Err(SignatureError::new(
                ErrorKind::NotYetValid,
                "Request is not yet valid",
            ));
        }
        if age >= i128::from(expires.as_secs()) {
            return Err(SignatureError::new(
                ErrorKind::Expired,
                "Request has expired",
            ));
        }
        Ok(())
    }

    fn payload(
        &self,
        request: &SignedRequest<'_>,
        body_hash: Option<&[u8; 32]>,
    ) -> Result<Payload, SignatureError> {
        let payload = match (request.payload, request.form) {
            (Some(payload), _) => payload,
            (None, Form::Query) if self.is_s3 => return Ok(Payload::Unsigned),
            (None, Form::Header) if self.is_s3 => {
                let message = "Missing required header for this request: x-amz-content-sha256";
                return Err(SignatureError::new(ErrorKind::MissingPayloadHash, message));
            }
            (None, _) => Payload::Sha256(*body_hash.ok_or_else(|| {
                let message = "the hash of the body is needed to verify the signature";
                SignatureError::new(ErrorKind::BodyHashRequired, message)
            })?),
        };
        let of_another_version = payload
            .chunk_algorithm()
            .is_some_and(|algorithm| algorithm != request.algorithm);
        if of_another_version || !payload.is_signed() && !self.accepts_unsigned_payload {
            let message = format!("x-amz-content-sha256 must not be {payload} for this request");
            return Err(SignatureError::new(ErrorKind::InvalidPayloadHash, message));
        }
        Ok(payload)
    }
}

/// Whether the key is the one for this request. A mistake of the server if it is not.
fn check_key(request: &SignedRequest<'_>, key: &SigningKey) -> Result<(), SignatureError> {
    if key.algorithm() == request.algorithm
        && *key.scope() == request.scope
        && key.credentials().access_key_id() == request.access_key_id
    {
        return Ok(());
    }
    let message = format!(
        "the key is for {}/{}, but the signature is for {}/{}",
        key.credentials().access_key_id(),
        key.scope(),
        request.access_key_id,
        request.scope,
    );
    Err(SignatureError::new(ErrorKind::WrongKey, message))
}

/// Rejects a time that differs from `now` by more than `max_skew`.
pub(super) fn check_skew(
    time: Timestamp,
    now: Timestamp,
    max_skew: Duration,
) -> Result<(), SignatureError> {
    // In seconds, because request times have no fraction.
    let difference = time.seconds().abs_diff(now.seconds());
    if difference > max_skew.as_secs() {
        return Err(SignatureError::new(
            ErrorKind::TooSkewed,
            "The difference between the request time and the server's time is too large.",
        ));
    }
    Ok(())
}
