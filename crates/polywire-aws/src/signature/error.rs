//! Errors of signing and of verification, with the codes that AWS services answer.

use std::fmt;

use super::{Algorithm, Payload};

/// Why a request cannot be signed, or why its signature was rejected.
///
/// Texts contain no secrets, no session tokens and no signatures that the server computed.
#[derive(Clone)]
pub struct SignatureError(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    form: Form,
    message: String,
    canonical_request: Vec<u8>,
    string_to_sign: Vec<u8>,
    headers_not_signed: Vec<String>,
}

/// Where a request has its signature.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Form {
    /// In the header `Authorization`.
    #[default]
    Header,
    /// In the parameters `X-Amz-*` of the query: a presigned URL.
    Query,
}

/// The kind of a [`SignatureError`].
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request has signatures in the header and in the query.
    BothForms,
    /// The caller of `verify` must pass the hash of the body, because the head does not have it.
    BodyHashRequired,
    /// A header or parameter of the signature occurs twice.
    Duplicate,
    /// The presigned URL is expired.
    Expired,
    /// The session is expired.
    ExpiredToken,
    /// Access key id or session token have characters that a header cannot have.
    InvalidCredentials,
    /// The lifetime of a presigned URL is zero or more than seven days.
    InvalidExpiry,
    /// `x-amz-content-sha256` is neither a keyword nor a hash, or is not accepted.
    InvalidPayloadHash,
    /// The session token does not belong to the access key.
    InvalidToken,
    /// `Authorization`, or a parameter of a presigned URL, cannot be read, or is incomplete.
    Malformed,
    /// The signature does not match.
    Mismatch,
    /// The request has no signature.
    Missing,
    /// The request has no date, or one that cannot be read.
    MissingDate,
    /// `x-amz-content-sha256` is missing.
    MissingPayloadHash,
    /// The date of the presigned URL is in the future.
    NotYetValid,
    /// The body has another hash than `x-amz-content-sha256` says.
    PayloadMismatch,
    /// The instant has no form `YYYYMMDDTHHMMSSZ`.
    TimeOutOfRange,
    /// The times of client and server differ too much.
    TooSkewed,
    /// The access key does not exist.
    UnknownAccessKey,
    /// Headers that must be signed are not signed.
    UnsignedHeaders,
    /// The algorithm is not AWS4-HMAC-SHA256 or, with the feature `sigv4a`, AWS4-ECDSA-P256-SHA256.
    UnsupportedAlgorithm,
    /// A key of another version, day, region or service was passed.
    WrongKey,
    /// The signature is for another region, service or day.
    WrongScope,
}

/// How a service names errors.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ErrorDialect {
    /// Amazon S3.
    S3,
    /// Services with awsJson and rpcv2Cbor: codes end in `Exception`, the status is 400.
    AwsJson,
    /// Services with restJson1: codes end in `Exception`, the status is 403.
    RestJson,
    /// Services with awsQuery, ec2Query and restXml, except S3.
    Query,
}

impl SignatureError {
    #[cold]
    pub(super) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            form: Form::Header,
            message: message.into(),
            canonical_request: Vec::new(),
            string_to_sign: Vec::new(),
            headers_not_signed: Vec::new(),
        }))
    }

    pub(super) fn in_form(mut self, form: Form) -> Self {
        self.0.form = form;
        self
    }

    pub(super) fn malformed_chunk_signature() -> Self {
        Self::new(
            ErrorKind::Mismatch,
            "a chunk signature has the wrong length or alphabet",
        )
    }

    pub(super) fn chunk_mismatch(string_to_sign: &[u8]) -> Self {
        Self::mismatch(Vec::new(), string_to_sign.to_vec())
    }

    pub(super) fn mismatch(canonical_request: Vec<u8>, string_to_sign: Vec<u8>) -> Self {
        let mut error = Self::new(
            ErrorKind::Mismatch,
            "The request signature we calculated does not match the signature you provided. \
             Check your key and signing method.",
        );
        error.0.canonical_request = canonical_request;
        error.0.string_to_sign = string_to_sign;
        error
    }

    pub(super) fn unsigned_headers(headers: Vec<String>) -> Self {
        let mut error = Self::new(
            ErrorKind::UnsignedHeaders,
            format!(
                "headers of the request are not signed: {}",
                headers.join(", ")
            ),
        );
        error.0.headers_not_signed = headers;
        error
    }

    pub(super) fn wrong_key(algorithm: Algorithm) -> Self {
        let message = format!("a key of {} is needed", algorithm.name());
        Self::new(ErrorKind::WrongKey, message)
    }

    pub(super) fn time_out_of_range() -> Self {
        Self::new(ErrorKind::TimeOutOfRange, "the year is not 0 to 9999")
    }

    /// The error for an access key id that the key store does not have.
    #[must_use]
    pub fn unknown_access_key() -> Self {
        Self::new(
            ErrorKind::UnknownAccessKey,
            "The access key id does not exist in our records.",
        )
    }

    /// The error for a body whose SHA-256 is not the one of `x-amz-content-sha256`.
    #[must_use]
    pub fn payload_mismatch(claimed: Payload, body: Payload) -> Self {
        Self::new(
            ErrorKind::PayloadMismatch,
            format!("x-amz-content-sha256 is {claimed}, but the SHA-256 of the body is {body}"),
        )
    }

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Where the request has its signature.
    #[must_use]
    pub fn form(&self) -> Form {
        self.0.form
    }

    /// For [`ErrorKind::Mismatch`]: the canonical request of the server, which S3 answers in
    /// `CanonicalRequest`. Empty for other errors, and for chunks.
    #[must_use]
    pub fn canonical_request(&self) -> &[u8] {
        &self.0.canonical_request
    }

    /// For [`ErrorKind::Mismatch`]: the string to sign of the server, which S3 answers in
    /// `StringToSign`. Empty for other errors.
    #[must_use]
    pub fn string_to_sign(&self) -> &[u8] {
        &self.0.string_to_sign
    }

    /// For [`ErrorKind::UnsignedHeaders`]: the names, which S3 answers in `HeadersNotSigned`.
    #[must_use]
    pub fn headers_not_signed(&self) -> &[String] {
        &self.0.headers_not_signed
    }

    /// The code of the error.
    ///
    /// | kind | S3 | awsQuery | awsJson, restJson1 |
    /// |---|---|---|---|
    /// | `Missing` | AccessDenied | MissingAuthenticationToken | MissingAuthenticationTokenException |
    /// | `BothForms` | InvalidArgument | IncompleteSignature | IncompleteSignatureException |
    /// | `Malformed`, `Duplicate`, `InvalidExpiry` | AuthorizationHeaderMalformed or AuthorizationQueryParametersError | IncompleteSignature | IncompleteSignatureException |
    /// | `MissingDate` | AccessDenied | IncompleteSignature | IncompleteSignatureException |
    /// | `UnsupportedAlgorithm` | InvalidRequest | IncompleteSignature | IncompleteSignatureException |
    /// | `WrongScope` | as `Malformed` | SignatureDoesNotMatch | InvalidSignatureException |
    /// | `UnknownAccessKey` | InvalidAccessKeyId | InvalidClientTokenId | UnrecognizedClientException |
    /// | `InvalidToken` | InvalidToken | InvalidClientTokenId | UnrecognizedClientException |
    /// | `ExpiredToken` | ExpiredToken | ExpiredToken | ExpiredTokenException |
    /// | `TooSkewed` | RequestTimeTooSkewed | SignatureDoesNotMatch | InvalidSignatureException |
    /// | `Expired`, `NotYetValid`, `UnsignedHeaders` | AccessDenied | SignatureDoesNotMatch | InvalidSignatureException |
    /// | `MissingPayloadHash` | InvalidRequest | SignatureDoesNotMatch | InvalidSignatureException |
    /// | `InvalidPayloadHash` | InvalidArgument | SignatureDoesNotMatch | InvalidSignatureException |
    /// | `PayloadMismatch` | XAmzContentSHA256Mismatch | SignatureDoesNotMatch | InvalidSignatureException |
    /// | `Mismatch` | SignatureDoesNotMatch | SignatureDoesNotMatch | InvalidSignatureException |
    /// | mistakes of the server | InternalError | InternalFailure | InternalFailure |
    #[must_use]
    pub fn code(&self, dialect: ErrorDialect) -> &'static str {
        self.answer(dialect).0
    }

    /// The HTTP status of the error.
    #[must_use]
    pub fn status(&self, dialect: ErrorDialect) -> http::StatusCode {
        self.answer(dialect).1
    }

    fn answer(&self, dialect: ErrorDialect) -> (&'static str, http::StatusCode) {
        use http::StatusCode as Status;
        let kind = self.0.kind;
        if matches!(
            kind,
            ErrorKind::BodyHashRequired
                | ErrorKind::InvalidCredentials
                | ErrorKind::TimeOutOfRange
                | ErrorKind::WrongKey
        ) {
            let code = match dialect {
                ErrorDialect::S3 => "InternalError",
                _ => "InternalFailure",
            };
            return (code, Status::INTERNAL_SERVER_ERROR);
        }
        if dialect == ErrorDialect::S3 {
            return self.s3_answer();
        }
        // Codes without and with `Exception`, and the status of services with awsQuery.
        let (query, json, status) = match kind {
            ErrorKind::Missing => (
                "MissingAuthenticationToken",
                "MissingAuthenticationTokenException",
                403,
            ),
            ErrorKind::BothForms
            | ErrorKind::Duplicate
            | ErrorKind::InvalidExpiry
            | ErrorKind::Malformed
            | ErrorKind::MissingDate
            | ErrorKind::UnsupportedAlgorithm => {
                ("IncompleteSignature", "IncompleteSignatureException", 400)
            }
            ErrorKind::UnknownAccessKey | ErrorKind::InvalidToken => {
                ("InvalidClientTokenId", "UnrecognizedClientException", 403)
            }
            ErrorKind::ExpiredToken => ("ExpiredToken", "ExpiredTokenException", 403),
            _ => ("SignatureDoesNotMatch", "InvalidSignatureException", 403),
        };
        match (dialect, status) {
            (ErrorDialect::AwsJson, _) => (json, Status::BAD_REQUEST),
            (ErrorDialect::RestJson, _) => (json, Status::FORBIDDEN),
            (_, 400) => (query, Status::BAD_REQUEST),
            _ => (query, Status::FORBIDDEN),
        }
    }

    fn s3_answer(&self) -> (&'static str, http::StatusCode) {
        use http::StatusCode as Status;
        match self.0.kind {
            ErrorKind::Missing
            | ErrorKind::MissingDate
            | ErrorKind::Expired
            | ErrorKind::NotYetValid
            | ErrorKind::UnsignedHeaders => ("AccessDenied", Status::FORBIDDEN),
            ErrorKind::TooSkewed => ("RequestTimeTooSkewed", Status::FORBIDDEN),
            ErrorKind::UnknownAccessKey => ("InvalidAccessKeyId", Status::FORBIDDEN),
            ErrorKind::ExpiredToken => ("ExpiredToken", Status::BAD_REQUEST),
            ErrorKind::InvalidToken => ("InvalidToken", Status::BAD_REQUEST),
            ErrorKind::BothForms | ErrorKind::InvalidPayloadHash => {
                ("InvalidArgument", Status::BAD_REQUEST)
            }
            ErrorKind::UnsupportedAlgorithm | ErrorKind::MissingPayloadHash => {
                ("InvalidRequest", Status::BAD_REQUEST)
            }

            ErrorKind::PayloadMismatch => ("XAmzContentSHA256Mismatch", Status::BAD_REQUEST),
            ErrorKind::Malformed
            | ErrorKind::Duplicate
            | ErrorKind::InvalidExpiry
            | ErrorKind::WrongScope => match self.0.form {
                Form::Header => ("AuthorizationHeaderMalformed", Status::BAD_REQUEST),
                Form::Query => ("AuthorizationQueryParametersError", Status::BAD_REQUEST),
            },
            _ => ("SignatureDoesNotMatch", Status::FORBIDDEN),
        }
    }
}

impl fmt::Debug for SignatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignatureError")
            .field("kind", &self.0.kind)
            .field("form", &self.0.form)
            .field("message", &self.0.message)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for SignatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for SignatureError {}
