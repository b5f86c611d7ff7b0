//! S3's errors. Its model lists few of them, and none with a message, so all are named faults.
//!
//! Codes, status codes and messages are those of
//! <https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html>.

use std::io;

use http::StatusCode;
use polywire::protocol::Fault;

/// Why an operation failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Error {
    /// With the reason.
    AccessDenied(&'static str),
    BadDigest,
    BadRequest(&'static str),
    BucketAlreadyOwnedByYou,
    BucketNotEmpty,
    EntityTooLarge,
    EntityTooSmall,
    IllegalVersioningConfiguration,
    IncompleteBody,
    /// Use [`Error::internal`], which reports the reason.
    Internal,
    /// There is no space left on the disk.
    InsufficientStorage,
    InvalidAccessKeyId,
    InvalidArgument(&'static str),
    InvalidBucketName,
    InvalidDigest,
    InvalidPart,
    InvalidPartNumber,
    InvalidPartOrder,
    InvalidPolicyDocument(&'static str),
    InvalidRange,
    InvalidRequest(&'static str),
    InvalidTag(&'static str),
    KeyTooLong,
    MalformedPostRequest(&'static str),
    MalformedXml,
    MethodNotAllowed,
    NoSuchBucket,
    NoSuchKey,
    NoSuchTagSet,
    NoSuchUpload,
    NoSuchVersion,
    /// In a response to HEAD, which has no body with a code.
    NotFound,
    NotImplemented(&'static str),
    NotModified,
    /// The object changed while it was read.
    OperationAborted,
    PreconditionFailed,
    RequestTimeout,
    SignatureDoesNotMatch,
    SlowDown,
}

impl Error {
    /// Reports the reason on standard error, and returns the error that the client gets instead.
    #[allow(clippy::print_stderr, reason = "an example without a log")]
    #[allow(
        clippy::needless_pass_by_value,
        reason = "callers have made the text for this"
    )]
    pub(crate) fn internal(reason: String) -> Self {
        eprintln!("object-store: {reason}");
        Self::Internal
    }

    /// The error of a failed read or write.
    pub(crate) fn from_io(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::InsufficientStorage,
            _ => Self::internal(error.to_string()),
        }
    }

    /// The code, the status and the message.
    #[must_use]
    pub const fn facts(self) -> (&'static str, u16, &'static str) {
        match self {
            Self::AccessDenied(why) => ("AccessDenied", 403, why),
            Self::BadDigest => (
                "BadDigest",
                400,
                "The Content-MD5 you specified did not match what we received.",
            ),
            Self::BadRequest(why) => ("BadRequest", 400, why),
            Self::BucketAlreadyOwnedByYou => (
                "BucketAlreadyOwnedByYou",
                409,
                "Your previous request to create the named bucket succeeded and you already own it.",
            ),
            Self::BucketNotEmpty => (
                "BucketNotEmpty",
                409,
                "The bucket you tried to delete is not empty",
            ),
            Self::EntityTooLarge => (
                "EntityTooLarge",
                400,
                "Your proposed upload exceeds the maximum allowed size",
            ),
            Self::EntityTooSmall => (
                "EntityTooSmall",
                400,
                "Your proposed upload is smaller than the minimum allowed size",
            ),
            Self::IllegalVersioningConfiguration => (
                "IllegalVersioningConfigurationException",
                400,
                "The Versioning element must be specified",
            ),
            Self::IncompleteBody => (
                "IncompleteBody",
                400,
                "The request body terminated unexpectedly",
            ),
            Self::Internal => (
                "InternalError",
                500,
                "We encountered an internal error. Please try again.",
            ),
            Self::InsufficientStorage => (
                "InsufficientStorage",
                507,
                "There is no space left on the disk of the store.",
            ),
            Self::InvalidAccessKeyId => (
                "InvalidAccessKeyId",
                403,
                "The AWS Access Key Id you provided does not exist in our records.",
            ),
            Self::SignatureDoesNotMatch => (
                "SignatureDoesNotMatch",
                403,
                "The request signature we calculated does not match the signature you provided. Check your key and signing method.",
            ),
            Self::InvalidArgument(what) => ("InvalidArgument", 400, what),
            Self::InvalidBucketName => (
                "InvalidBucketName",
                400,
                "The specified bucket is not valid.",
            ),
            Self::InvalidDigest => (
                "InvalidDigest",
                400,
                "The Content-MD5 you specified is not valid.",
            ),
            Self::InvalidPart => (
                "InvalidPart",
                400,
                "One or more of the specified parts could not be found.  The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.",
            ),
            Self::InvalidPartNumber => (
                "InvalidPartNumber",
                416,
                "The requested partnumber is not satisfiable",
            ),
            Self::InvalidPartOrder => (
                "InvalidPartOrder",
                400,
                "The list of parts was not in ascending order. Parts must be ordered by part number.",
            ),
            Self::InvalidPolicyDocument(why) => ("InvalidPolicyDocument", 400, why),
            Self::InvalidRange => (
                "InvalidRange",
                416,
                "The requested range is not satisfiable",
            ),
            Self::InvalidRequest(what) => ("InvalidRequest", 400, what),
            Self::InvalidTag(what) => ("InvalidTag", 400, what),
            Self::KeyTooLong => ("KeyTooLongError", 400, "Your key is too long"),
            Self::MalformedPostRequest(why) => ("MalformedPOSTRequest", 400, why),
            Self::MalformedXml => (
                "MalformedXML",
                400,
                "The XML you provided was not well-formed or did not validate against our published schema",
            ),
            Self::MethodNotAllowed => (
                "MethodNotAllowed",
                405,
                "The specified method is not allowed against this resource.",
            ),
            Self::NoSuchBucket => ("NoSuchBucket", 404, "The specified bucket does not exist"),
            Self::NoSuchKey => ("NoSuchKey", 404, "The specified key does not exist."),
            Self::NoSuchTagSet => ("NoSuchTagSet", 404, "The TagSet does not exist"),
            Self::NoSuchUpload => (
                "NoSuchUpload",
                404,
                "The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.",
            ),
            Self::NoSuchVersion => (
                "NoSuchVersion",
                404,
                "The specified version does not exist.",
            ),
            Self::NotFound => ("NotFound", 404, "Not Found"),
            Self::NotImplemented(what) => ("NotImplemented", 501, what),
            Self::NotModified => ("NotModified", 304, "Not Modified"),
            Self::OperationAborted => (
                "OperationAborted",
                409,
                "A conflicting conditional operation is currently in progress against this resource. Please try again.",
            ),
            Self::PreconditionFailed => (
                "PreconditionFailed",
                412,
                "At least one of the pre-conditions you specified did not hold",
            ),
            Self::SlowDown => ("SlowDown", 503, "Please reduce your request rate."),
            Self::RequestTimeout => (
                "RequestTimeout",
                400,
                "Your socket connection to the server was not read from or written to within the timeout period.",
            ),
        }
    }

    /// The error in a response to HEAD, in which what is missing is `NotFound`.
    #[must_use]
    pub const fn headed(self) -> Self {
        match self {
            Self::NoSuchBucket | Self::NoSuchKey | Self::NoSuchVersion => Self::NotFound,
            other => other,
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        let (code, status, message) = error.facts();
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
        Self::named(status, code, message)
    }
}
