//! Errors of checksums.

use std::fmt;

use polywire_text::Malformed;

use super::{Algorithm, Checksum};

/// A checksum that was sent with data, and the one that the data has. Neither is secret.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Mismatch {
    /// The checksum that was sent.
    pub expected: Checksum,
    /// The checksum of the data.
    pub computed: Checksum,
}

/// Why a checksum could not be read, combined or confirmed.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ChecksumError {
    /// The name is not that of a supported algorithm.
    UnknownAlgorithm,
    /// The text is not base64, or has a wrong form.
    Malformed {
        /// The algorithm of the checksum.
        algorithm: Algorithm,
        /// Where and what was expected.
        cause: Malformed,
    },
    /// The checksum has the wrong number of bytes.
    Length {
        /// The algorithm of the checksum.
        algorithm: Algorithm,
        /// The number of bytes found.
        found: usize,
    },
    /// The checksum does not belong to the data.
    Mismatch(Box<Mismatch>),
    /// The algorithm cannot be used so: a hash cannot be combined, or the checksum is of another algorithm.
    WrongAlgorithm {
        /// The algorithm found.
        found: Algorithm,
        /// What was expected, as a noun phrase.
        expected: &'static str,
    },
    /// A multipart upload has no part, more than 10,000, or more bytes than 64 bits can count.
    PartCount,
}

impl fmt::Display for ChecksumError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownAlgorithm => {
                f.write_str("expected a checksum algorithm: ")?;
                for (index, algorithm) in Algorithm::ALL.into_iter().enumerate() {
                    let separator = if index == 0 { "" } else { ", " };
                    write!(f, "{separator}{algorithm}")?;
                }
                Ok(())
            }
            Self::Malformed { algorithm, cause } => write!(f, "{algorithm} checksum: {cause}"),
            Self::Length { algorithm, found } => {
                write!(
                    f,
                    "{algorithm} checksum: expected {} bytes, found {found}",
                    algorithm.len()
                )
            }
            Self::Mismatch(mismatch) => {
                let Mismatch { expected, computed } = **mismatch;
                let algorithm = expected.algorithm();
                write!(
                    f,
                    "{algorithm} checksum: the data has {computed}, expected {expected}"
                )
            }
            Self::WrongAlgorithm { found, expected } => {
                write!(f, "{found} checksum: expected {expected}")
            }
            Self::PartCount => f.write_str("expected 1 to 10000 parts of at most 2^64-1 bytes"),
        }
    }
}

impl std::error::Error for ChecksumError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Malformed { cause, .. } => Some(cause),
            _ => None,
        }
    }
}
