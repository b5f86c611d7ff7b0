//! S3's errors, by its own names. Its model lists hardly any of them, and none
//! with a message, so all go out as named faults.
//!
//! <https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html>

use http::StatusCode;
use polywire::protocol::Fault;

/// Why an operation failed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Error {
    BadDigest,
    BucketAlreadyOwnedByYou,
    BucketNotEmpty,
    EntityTooLarge(&'static str),
    EntityTooSmall,
    InsufficientStorage,
    InvalidArgument(&'static str),
    InvalidBucketName,
    InvalidDigest,
    InvalidPart,
    InvalidPartOrder,
    InvalidRange,
    InvalidRequest(&'static str),
    KeyTooLong,
    MalformedXml,
    NoSuchBucket,
    NoSuchKey,
    NoSuchUpload,
    /// To `HEAD`, whose answer has no body to say more.
    NotFound,
    NotImplemented(&'static str),
    NotModified,
    PreconditionFailed,
}

impl Error {
    /// The code, the status and the message.
    #[must_use]
    pub const fn facts(self) -> (&'static str, u16, &'static str) {
        match self {
            Self::BadDigest => ("BadDigest", 400, "The body is not what Content-MD5 says."),
            Self::BucketAlreadyOwnedByYou => (
                "BucketAlreadyOwnedByYou",
                409,
                "There is such a bucket, and it is yours.",
            ),
            Self::BucketNotEmpty => ("BucketNotEmpty", 409, "The bucket holds objects."),
            Self::EntityTooLarge(why) => ("EntityTooLarge", 400, why),
            Self::EntityTooSmall => (
                "EntityTooSmall",
                400,
                "A part other than the last is too small.",
            ),
            Self::InsufficientStorage => (
                "InsufficientStorage",
                507,
                "The store holds as much as it may.",
            ),
            Self::InvalidArgument(what) => ("InvalidArgument", 400, what),
            Self::InvalidBucketName => ("InvalidBucketName", 400, "No bucket has such a name."),
            Self::InvalidDigest => ("InvalidDigest", 400, "Content-MD5 is no MD5 sum."),
            Self::InvalidPart => (
                "InvalidPart",
                400,
                "A part was not uploaded, or has another ETag.",
            ),
            Self::InvalidPartOrder => (
                "InvalidPartOrder",
                400,
                "The parts are not in the order of their numbers.",
            ),
            Self::InvalidRange => ("InvalidRange", 416, "The object has no such range."),
            Self::InvalidRequest(what) => ("InvalidRequest", 400, what),
            Self::KeyTooLong => ("KeyTooLongError", 400, "The key has more than 1024 bytes."),
            Self::MalformedXml => ("MalformedXML", 400, "The document is not what is expected."),
            Self::NoSuchBucket => ("NoSuchBucket", 404, "There is no such bucket."),
            Self::NoSuchKey => ("NoSuchKey", 404, "There is no such object."),
            Self::NoSuchUpload => ("NoSuchUpload", 404, "There is no such upload."),
            Self::NotFound => ("NotFound", 404, "Not found."),
            Self::NotImplemented(what) => ("NotImplemented", 501, what),
            Self::NotModified => ("NotModified", 304, "Not modified."),
            Self::PreconditionFailed => (
                "PreconditionFailed",
                412,
                "A condition of the request does not hold.",
            ),
        }
    }

    /// As an answer to `HEAD` has it: what is not there is `NotFound`.
    #[must_use]
    pub const fn headed(self) -> Self {
        match self {
            Self::NoSuchBucket | Self::NoSuchKey => Self::NotFound,
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
