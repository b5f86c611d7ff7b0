//! Errors of the framing.

use std::fmt;

/// A body that is not valid `aws-chunked`: an offset in the encoded body, and what is wrong there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ChunkedError {
    /// The offset in the encoded body, in bytes.
    pub offset: u64,
    /// What is wrong.
    pub kind: ChunkedErrorKind,
}

/// What is wrong with a body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ChunkedErrorKind {
    /// A byte in or between chunks that the grammar does not allow.
    Chunk {
        /// What was expected, as a noun phrase.
        expected: &'static str,
    },
    /// A byte in the trailers that the grammar does not allow, or a trailer that is undeclared, repeated or missing.
    Trailer {
        /// What was expected, as a noun phrase.
        expected: &'static str,
    },
    /// The body ended too early.
    Truncated {
        /// What was expected, as a noun phrase.
        expected: &'static str,
    },
    /// The body has bytes after its end.
    TrailingData,
    /// A chunk is larger than the limit.
    ChunkSize {
        /// The size of the chunk in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The chunks together do not have the length in `x-amz-decoded-content-length`.
    Length {
        /// The length in the header, in bytes.
        declared: u64,
        /// The length of the chunks up to here, in bytes.
        found: u64,
    },
    /// The trailers have more bytes, or are more, than the limit.
    TrailerLimit,
    /// The signature of a chunk is wrong. All data since the start of this chunk is not authentic.
    ChunkSignature,
    /// The signature of the trailers is wrong.
    TrailerSignature,
}

impl ChunkedError {
    #[cold]
    pub(super) const fn new(offset: u64, kind: ChunkedErrorKind) -> Self {
        Self { offset, kind }
    }

    /// The error code of S3.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self.kind {
            ChunkedErrorKind::Chunk { .. } | ChunkedErrorKind::TrailingData => "InvalidRequest",
            ChunkedErrorKind::Trailer { .. } | ChunkedErrorKind::TrailerLimit => {
                "MalformedTrailerError"
            }
            ChunkedErrorKind::Truncated { .. } | ChunkedErrorKind::Length { .. } => {
                "IncompleteBody"
            }
            ChunkedErrorKind::ChunkSize { .. } => "InvalidChunkSizeError",
            ChunkedErrorKind::ChunkSignature | ChunkedErrorKind::TrailerSignature => {
                "SignatureDoesNotMatch"
            }
        }
    }

    /// The HTTP status of S3: 403 for signatures, else 400.
    #[must_use]
    pub const fn status(&self) -> u16 {
        match self.kind {
            ChunkedErrorKind::ChunkSignature | ChunkedErrorKind::TrailerSignature => 403,
            _ => 400,
        }
    }
}

impl fmt::Display for ChunkedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ChunkedErrorKind::Chunk { expected } | ChunkedErrorKind::Trailer { expected } => {
                write!(f, "aws-chunked: expected {expected}")?;
            }
            ChunkedErrorKind::Truncated { expected } => {
                write!(f, "aws-chunked: the body ended, expected {expected}")?;
            }
            ChunkedErrorKind::TrailingData => {
                write!(f, "aws-chunked: expected the end of the body")?;
            }
            ChunkedErrorKind::ChunkSize { size, limit } => {
                write!(
                    f,
                    "aws-chunked: chunk of {size} bytes, expected at most {limit}"
                )?;
            }
            ChunkedErrorKind::Length { declared, found } => write!(
                f,
                "aws-chunked: {found} bytes of data, expected {declared} as in x-amz-decoded-content-length"
            )?,
            ChunkedErrorKind::TrailerLimit => {
                write!(f, "aws-chunked: expected fewer or shorter trailers")?;
            }
            ChunkedErrorKind::ChunkSignature => {
                write!(f, "aws-chunked: the signature of the chunk does not match")?;
            }
            ChunkedErrorKind::TrailerSignature => {
                write!(
                    f,
                    "aws-chunked: the signature of the trailers does not match"
                )?;
            }
        }
        write!(f, " at byte {}", self.offset)
    }
}

impl std::error::Error for ChunkedError {}
