//! Errors of bodies, as S3 names them.

use std::fmt;

use http::HeaderName;

use super::ChunkedError;
use crate::checksum::Mismatch;

/// Where a client sent a checksum of its body.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ChecksumSource {
    /// The header `Content-MD5`.
    ContentMd5,
    /// The header `x-amz-content-sha256`.
    ContentSha256,
    /// A header `x-amz-checksum-*`.
    Header,
    /// A trailer `x-amz-checksum-*`.
    Trailer,
}

/// Why a body, or what its head says about it, is rejected.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BodyError {
    /// `BadDigest`: the data does not have the checksum in `Content-MD5` or `x-amz-checksum-*`.
    BadDigest {
        /// Where the checksum was sent.
        source: ChecksumSource,
        /// What was sent, and what the data has.
        mismatch: Box<Mismatch>,
    },
    /// `XAmzContentSHA256Mismatch`: the data does not have the hash in `x-amz-content-sha256`.
    ContentSha256Mismatch(Box<Mismatch>),
    /// The body is not valid `aws-chunked`.
    Chunked(ChunkedError),
    /// `InvalidDigest`: `Content-MD5` is not the base64 of 16 bytes.
    InvalidDigest,
    /// `IncompleteBody`: the data is shorter or longer than the head says.
    IncompleteBody {
        /// The number of bytes in the head.
        expected: u64,
        /// The number of bytes found; up to here, if it is larger.
        found: u64,
    },
    /// `MalformedTrailerError`: the declared checksum is missing in the trailers, or cannot be read.
    MalformedTrailer {
        /// What was expected, as a noun phrase.
        expected: &'static str,
    },
    /// `InvalidArgument`: `x-amz-content-sha256` is neither a hash nor a known constant.
    InvalidContentSha256,
    /// `InvalidRequest`: a header cannot be read, or contradicts another one.
    InvalidRequest {
        /// The name of the header, in lower case.
        header: String,
        /// What was expected, as a noun phrase.
        expected: &'static str,
    },
}

impl BodyError {
    #[cold]
    pub(super) fn invalid_header(header: &HeaderName, expected: &'static str) -> Self {
        Self::InvalidRequest {
            header: header.as_str().to_owned(),
            expected,
        }
    }

    /// The error code of S3.
    ///
    /// ```
    /// assert_eq!(polywire_aws::chunked::BodyError::InvalidDigest.code(), "InvalidDigest");
    /// ```
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::BadDigest { .. } => "BadDigest",
            Self::ContentSha256Mismatch(_) => "XAmzContentSHA256Mismatch",
            Self::Chunked(error) => error.code(),
            Self::InvalidDigest => "InvalidDigest",
            Self::IncompleteBody { .. } => "IncompleteBody",
            Self::MalformedTrailer { .. } => "MalformedTrailerError",
            Self::InvalidContentSha256 => "InvalidArgument",
            Self::InvalidRequest { .. } => "InvalidRequest",
        }
    }

    /// The HTTP status of S3: 403 for signatures, else 400.
    #[must_use]
    pub const fn status(&self) -> u16 {
        match self {
            Self::Chunked(error) => error.status(),
            _ => 400,
        }
    }
}

impl From<ChunkedError> for BodyError {
    fn from(error: ChunkedError) -> Self {
        Self::Chunked(error)
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadDigest { source, mismatch } => {
                let Mismatch { expected, computed } = **mismatch;
                let name = match source {
                    ChecksumSource::ContentMd5 => "content-md5",
                    ChecksumSource::ContentSha256 => "x-amz-content-sha256",
                    ChecksumSource::Header | ChecksumSource::Trailer => {
                        expected.algorithm().header_name()
                    }
                };
                write!(f, "the body has the checksum {computed}, expected {expected} as in {name}")
            }
            Self::ContentSha256Mismatch(mismatch) => {
                let Mismatch { expected, computed } = **mismatch;
                let (expected, computed) = (expected.to_hex(), computed.to_hex());
                write!(
                    f,
                    "the body has the SHA-256 {computed}, expected {expected} as in x-amz-content-sha256"
                )
            }
            Self::Chunked(error) => error.fmt(f),
            Self::InvalidDigest => f.write_str("content-md5: expected the base64 of 16 bytes"),
            Self::IncompleteBody { expected, found } => {
                write!(f, "the body has {found} bytes, expected {expected}")
            }
            Self::MalformedTrailer { expected } => write!(f, "trailers: expected {expected}"),
            Self::InvalidContentSha256 => f.write_str(
                "x-amz-content-sha256: expected UNSIGNED-PAYLOAD, a value STREAMING-..., or a SHA-256 of 64 \
                 lower-case hexadecimal digits",
            ),
            Self::InvalidRequest { header, expected } => write!(f, "{header}: expected {expected}"),
        }
    }
}

impl std::error::Error for BodyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Chunked(error) => Some(error),
            _ => None,
        }
    }
}
