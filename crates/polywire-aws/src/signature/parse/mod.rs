//! Reading the signature of a request: `Authorization`, or the query of a presigned URL.
//!
//! ```text
//! authorization  = algorithm SP field "," field "," field         fields in any order
//! field          = "Credential=" credential / "SignedHeaders=" names / "Signature=" 1*hexdigit
//! credential     = access-key-id "/" scope
//! names          = name *( ";" name )            lower case, strictly ascending
//! ```

mod fields;
mod header;
mod query;

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use super::error::{ErrorKind, Form};
use super::head::AUTHORIZATION;
use super::{
    Algorithm, Credentials, Payload, RequestHead, Scope, Signature, SignatureError, SigningKey,
    SigningTime,
};
pub(super) use fields::{parse_credential, split_once};
use fields::{single, unsupported};
use header::parse_header;
use query::{Parameters, parse_query};

/// A request whose signature was read, but not verified yet.
///
/// A server looks up the access key id, which may take time, and then calls
/// [`Verifier::verify`](super::Verifier::verify).
#[derive(Clone)]
pub struct SignedRequest<'a> {
    pub(super) head: RequestHead<'a>,
    pub(super) form: Form,
    pub(super) algorithm: Algorithm,
    pub(super) access_key_id: Cow<'a, str>,
    pub(super) scope: Scope,
    pub(super) time: SigningTime,
    /// Lower case, strictly ascending.
    pub(super) signed_headers: Cow<'a, str>,
    pub(super) signature: Signature,
    pub(super) payload: Option<Payload>,
    pub(super) session_token: Option<Cow<'a, [u8]>>,
    pub(super) region_set: Option<Cow<'a, str>>,
    pub(super) expires: Option<Duration>,
}

impl<'a> SignedRequest<'a> {
    /// Reads the signature.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Missing`] if there is none: servers may accept such a request as anonymous. Other
    /// kinds if it cannot be read, is incomplete, or exceeds a limit: 8 KiB for `Authorization`, 128
    /// bytes for the access key id, 128 signed headers, 16 KiB for the session token.
    pub fn parse(head: impl Into<RequestHead<'a>>) -> Result<Self, SignatureError> {
        let head = head.into();
        let parameters = Parameters::collect(head.query)?;
        let authorization = single(head.headers, &AUTHORIZATION)?;
        match (authorization, parameters.is_signature()) {
            (Some(_), true) => Err(SignatureError::new(
                ErrorKind::BothForms,
                "the request has an Authorization header and a signature in the query",
            )),
            (Some(authorization), false) => parse_header(head, authorization),
            (None, true) => parse_query(head, parameters).map_err(|e| e.in_form(Form::Query)),
            (None, false) if parameters.is_version_2 => Err(unsupported().in_form(Form::Query)),
            (None, false) => Err(SignatureError::new(
                ErrorKind::Missing,
                "the request is not signed",
            )),
        }
    }

    /// The access key id, to look up the credentials.
    #[must_use]
    pub fn access_key_id(&self) -> &str {
        &self.access_key_id
    }

    /// The version of the signature.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Where the signature is.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    /// The day, region and service that the client has signed for. The service of the test double
    /// that has several on one port.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The session token of temporary credentials. Do not log it.
    #[must_use]
    pub fn session_token(&self) -> Option<&[u8]> {
        self.session_token.as_deref()
    }

    /// The time of the request.
    #[must_use]
    pub fn time(&self) -> SigningTime {
        self.time
    }

    /// The payload, if the head has it. `None`: the signature covers the hash of the body, so the
    /// server must have read the body before it verifies; or S3's default for presigned URLs,
    /// [`Payload::Unsigned`].
    #[must_use]
    pub fn payload(&self) -> Option<Payload> {
        self.payload
    }

    /// Derives the key for this request from the credentials of its access key id. Servers that
    /// verify many requests use [`KeyCache::key_for`](super::KeyCache::key_for).
    #[must_use]
    pub fn signing_key(&self, credentials: &Credentials) -> SigningKey {
        let scope = &self.scope;
        match self.algorithm {
            #[cfg(feature = "sigv4a")]
            Algorithm::V4a => {
                let region_set = self.region_set.as_deref().unwrap_or_default();
                SigningKey::derive_v4a(credentials, scope.date(), region_set, scope.service())
            }
            _ => SigningKey::derive(credentials, scope.date(), scope.region(), scope.service()),
        }
    }
}

impl fmt::Debug for SignedRequest<'_> {
    /// Without signature and session token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignedRequest")
            .field("head", &self.head)
            .field("form", &self.form)
            .field("algorithm", &self.algorithm)
            .field("access_key_id", &self.access_key_id)
            .field("scope", &self.scope)
            .field("time", &self.time)
            .field("signed_headers", &self.signed_headers)
            .field("payload", &self.payload)
            .field("expires", &self.expires)
            .finish_non_exhaustive()
    }
}
