//! The algorithms and their names.

use std::fmt;
use std::str::FromStr;

use super::ChecksumError;

/// The header that carries an MD5 of the body in requests without `@httpChecksum`, RFC 1864.
pub const CONTENT_MD5: &str = "content-md5";

const HEADER_PREFIX: &str = "x-amz-checksum-";

/// A checksum algorithm of the trait `aws.protocols#httpChecksum`.
///
/// ```
/// use polywire_aws::checksum::Algorithm;
///
/// let algorithm: Algorithm = "CRC64NVME".parse()?;
/// assert_eq!(algorithm.header_name(), "x-amz-checksum-crc64nvme");
/// assert_eq!(algorithm.len(), 8);
/// # Ok::<(), polywire_aws::checksum::ChecksumError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Algorithm {
    /// CRC-32/ISO-HDLC: that of zlib and Ethernet. What AWS clients send by default.
    Crc32,
    /// CRC-32/ISCSI, Castagnoli's polynomial, RFC 3720.
    Crc32c,
    /// CRC-64/NVME. What S3 stores by default.
    Crc64Nvme,
    /// MD5, RFC 1321.
    Md5,
    /// SHA-1, FIPS 180-4.
    Sha1,
    /// SHA-256, FIPS 180-4.
    Sha256,
    /// SHA-512, FIPS 180-4.
    Sha512,
}

impl Algorithm {
    /// All algorithms, fastest first: the order in which [`ResponseChecksum`](super::ResponseChecksum) selects.
    pub const ALL: [Self; 7] = [
        Self::Crc64Nvme,
        Self::Crc32c,
        Self::Crc32,
        Self::Sha1,
        Self::Sha256,
        Self::Sha512,
        Self::Md5,
    ];

    /// The name in models and in `x-amz-sdk-checksum-algorithm`, in upper case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Crc32 => "CRC32",
            Self::Crc32c => "CRC32C",
            Self::Crc64Nvme => "CRC64NVME",
            Self::Md5 => "MD5",
            Self::Sha1 => "SHA1",
            Self::Sha256 => "SHA256",
            Self::Sha512 => "SHA512",
        }
    }

    /// The name of the header or trailer, in lower case. For MD5 this is `x-amz-checksum-md5`; see also
    /// [`CONTENT_MD5`].
    #[must_use]
    pub const fn header_name(self) -> &'static str {
        match self {
            Self::Crc32 => "x-amz-checksum-crc32",
            Self::Crc32c => "x-amz-checksum-crc32c",
            Self::Crc64Nvme => "x-amz-checksum-crc64nvme",
            Self::Md5 => "x-amz-checksum-md5",
            Self::Sha1 => "x-amz-checksum-sha1",
            Self::Sha256 => "x-amz-checksum-sha256",
            Self::Sha512 => "x-amz-checksum-sha512",
        }
    }

    /// The number of bytes of a checksum, before base64.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no checksum is empty")]
    pub const fn len(self) -> usize {
        match self {
            Self::Crc32 | Self::Crc32c => 4,
            Self::Crc64Nvme => 8,
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha256 => 32,
            Self::Sha512 => 64,
        }
    }

    /// The number of base64 characters of a checksum, with padding.
    ///
    /// ```
    /// assert_eq!(polywire_aws::checksum::Algorithm::Sha256.text_len(), 44);
    /// ```
    #[must_use]
    pub const fn text_len(self) -> usize {
        polywire_text::base64::STANDARD.encoded_len(self.len())
    }

    /// Whether the checksum of two parts together can be computed from their checksums and lengths.
    #[must_use]
    pub const fn is_crc(self) -> bool {
        matches!(self, Self::Crc32 | Self::Crc32c | Self::Crc64Nvme)
    }

    /// The algorithm of a model's name. Ignores the case of ASCII letters, as S3 does.
    ///
    /// ```
    /// use polywire_aws::checksum::Algorithm;
    ///
    /// assert_eq!(Algorithm::from_name("sha256"), Some(Algorithm::Sha256));
    /// assert_eq!(Algorithm::from_name("SHA-256"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|algorithm| algorithm.name().eq_ignore_ascii_case(name))
    }

    /// The algorithm of a header or trailer `x-amz-checksum-*`, in any case.
    ///
    /// ```
    /// use polywire_aws::checksum::Algorithm;
    ///
    /// assert_eq!(Algorithm::from_header_name("X-Amz-Checksum-Crc32"), Some(Algorithm::Crc32));
    /// assert_eq!(Algorithm::from_header_name("x-amz-checksum-type"), None);
    /// ```
    #[must_use]
    pub fn from_header_name(name: &str) -> Option<Self> {
        let prefix = name.get(..HEADER_PREFIX.len())?;
        if !prefix.eq_ignore_ascii_case(HEADER_PREFIX) {
            return None;
        }
        Self::from_name(&name[HEADER_PREFIX.len()..])
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = ChecksumError;

    fn from_str(name: &str) -> Result<Self, ChecksumError> {
        Self::from_name(name).ok_or(ChecksumError::UnknownAlgorithm)
    }
}
