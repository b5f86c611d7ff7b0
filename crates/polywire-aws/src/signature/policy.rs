//! The signature of a form upload to S3: a `POST` request with a policy.
//!
//! The string to sign is the field `policy`, which is JSON in base64. This module verifies that the
//! policy is genuine; the server must check its expiration and conditions against the form.
//!
//! Specification: "Authenticating requests in browser-based uploads using POST", Amazon S3 API
//! reference.

use polywire_text::Timestamp;
use polywire_text::base64;

use super::error::ErrorKind;
use super::parse::parse_credential;
use super::verify::check_skew;
use super::{
    Algorithm, Credentials, DEFAULT_MAX_SKEW, MAX_EXPIRY, Scope, Signature, SignatureError,
    SigningKey, SigningTime,
};

/// The largest length of the field `policy`, in bytes. S3 limits the fields before the file to 20
/// KB.
pub const MAX_POLICY: usize = 20 * 1024;

/// The fields of a form that sign it.
///
/// Field names are not case-sensitive; the server passes the values.
///
/// ```
/// use polywire_aws::signature::{Credentials, FormPolicy, SigningKey, SigningTime};
///
/// let credentials = Credentials::new("AKIDEXAMPLE", "secret");
/// let time = SigningTime::parse("20151229T000000Z").unwrap();
/// let key = SigningKey::derive(&credentials, time.date(), "us-east-1", "s3");
/// let policy = "eyJleHBpcmF0aW9uIjoiMjAxNS0xMi0zMFQxMjowMDowMC4wMDBaIiwiY29uZGl0aW9ucyI6W119";
/// let signature = key.sign(policy.as_bytes());
/// let form = FormPolicy {
///     policy,
///     algorithm: "AWS4-HMAC-SHA256",
///     credential: "AKIDEXAMPLE/20151229/us-east-1/s3/aws4_request",
///     date: "20151229T000000Z",
///     signature: signature.as_str(),
///     security_token: None,
/// }
/// .parse()?;
/// let key = form.signing_key(&credentials);
/// let now = polywire_text::Timestamp::new(time.seconds(), 0);
/// let policy = form.verify(&key, Some("us-east-1"), now)?;
/// assert_eq!(policy, br#"{"expiration":"2015-12-30T12:00:00.000Z","conditions":[]}"#);
/// # Ok::<(), polywire_aws::signature::SignatureError>(())
/// ```
#[derive(Clone, Copy)]
pub struct FormPolicy<'a> {
    /// The field `policy`: base64, as it is in the form.
    pub policy: &'a str,
    /// The field `x-amz-algorithm`.
    pub algorithm: &'a str,
    /// The field `x-amz-credential`.
    pub credential: &'a str,
    /// The field `x-amz-date`.
    pub date: &'a str,
    /// The field `x-amz-signature`.
    pub signature: &'a str,
    /// The field `x-amz-security-token`.
    pub security_token: Option<&'a str>,
}

/// A form whose signature was read, but not verified yet.
#[derive(Clone)]
pub struct SignedForm<'a> {
    policy: &'a str,
    access_key_id: &'a str,
    scope: Scope,
    time: SigningTime,
    signature: Signature,
    security_token: Option<&'a str>,
}

impl<'a> FormPolicy<'a> {
    /// Reads the fields.
    ///
    /// # Errors
    ///
    /// A field cannot be read, the algorithm is not AWS4-HMAC-SHA256, or the policy is longer than
    /// [`MAX_POLICY`].
    pub fn parse(self) -> Result<SignedForm<'a>, SignatureError> {
        let malformed = |what: &str| SignatureError::new(ErrorKind::Malformed, what);
        if self.algorithm != Algorithm::V4.name() {
            let message = "x-amz-algorithm must be AWS4-HMAC-SHA256";
            return Err(SignatureError::new(
                ErrorKind::UnsupportedAlgorithm,
                message,
            ));
        }
        if self.policy.len() > MAX_POLICY {
            return Err(malformed("the policy is longer than 20480 bytes"));
        }
        let (access_key_id, scope) = parse_credential(Algorithm::V4, self.credential)?;
        let time = SigningTime::parse(self.date)
            .ok_or_else(|| malformed("x-amz-date must have the format YYYYMMDDTHHMMSSZ"))?;
        if time.date() != scope.date() {
            return Err(SignatureError::new(
                ErrorKind::WrongScope,
                "the date of x-amz-credential is not that of x-amz-date",
            ));
        }
        let signature = Signature::parse(Algorithm::V4, self.signature.as_bytes())
            .ok_or_else(|| malformed("x-amz-signature must be 64 lower-case hexadecimal digits"))?;
        Ok(SignedForm {
            policy: self.policy,
            access_key_id,
            scope,
            time,
            signature,
            security_token: self.security_token,
        })
    }
}

impl SignedForm<'_> {
    /// The access key id, to look up the credentials.
    #[must_use]
    pub fn access_key_id(&self) -> &str {
        self.access_key_id
    }

    /// Day, region and service of the signature.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Derives the key for this form from the credentials of its access key id.
    #[must_use]
    pub fn signing_key(&self, credentials: &Credentials) -> SigningKey {
        let scope = &self.scope;
        SigningKey::derive(credentials, scope.date(), scope.region(), scope.service())
    }

    /// Verifies the signature, the service `s3`, and the region if there is one. Returns the policy,
    /// which is JSON if the client made no mistake.
    ///
    /// A policy has its own expiration, so `x-amz-date` may be up to seven days in the past.
    ///
    /// # Errors
    ///
    /// The form is signed for another scope, `x-amz-date` is in the future or too old, the signature or the
    /// session token does not match, the credentials are expired, or the policy is not base64.
    pub fn verify(
        &self,
        key: &SigningKey,
        region: Option<&str>,
        now: Timestamp,
    ) -> Result<Vec<u8>, SignatureError> {
        let error = |kind, what: &str| SignatureError::new(kind, what);
        let scope = &self.scope;
        if scope.service() != "s3" || region.is_some_and(|region| region != scope.region()) {
            let message = format!("x-amz-credential is for the wrong scope {scope}");
            return Err(SignatureError::new(ErrorKind::WrongScope, message));
        }
        if *key.scope() != *scope || key.credentials().access_key_id() != self.access_key_id {
            return Err(error(
                ErrorKind::WrongKey,
                "the key is for another scope or access key",
            ));
        }
        let time = Timestamp::new(self.time.seconds(), 0);
        if time > now {
            check_skew(time, now, DEFAULT_MAX_SKEW)?;
        } else if now.duration_since(time).is_none_or(|age| age > MAX_EXPIRY) {
            return Err(error(ErrorKind::Expired, "Request has expired"));
        }
        if !key.verify(self.policy.as_bytes(), &self.signature) {
            let string_to_sign = self.policy.as_bytes().to_vec();
            return Err(SignatureError::mismatch(Vec::new(), string_to_sign));
        }
        let token = self.security_token.map(str::as_bytes);
        if !key.credentials().has_session_token(token) {
            return Err(error(
                ErrorKind::InvalidToken,
                "The provided token is malformed.",
            ));
        }
        if key.credentials().is_expired(now) {
            return Err(error(
                ErrorKind::ExpiredToken,
                "The provided token has expired.",
            ));
        }
        let policy = base64::decode(self.policy.as_bytes())
            .map_err(|_| error(ErrorKind::Malformed, "the policy is not base64"))?;
        Ok(policy.to_vec())
    }
}
