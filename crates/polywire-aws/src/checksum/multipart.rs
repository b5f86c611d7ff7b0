//! Checksums and ETags of multipart uploads.
//!
//! S3 has two kinds. COMPOSITE is the checksum of the concatenated checksums (bytes, not text) of the parts, followed by
//! `-` and the number of parts. FULL_OBJECT is the checksum of the whole object; only CRCs can be computed so from the
//! parts. See "Checking object integrity" in the user guide of Amazon S3.

use std::fmt;
use std::str::FromStr;

use super::{Algorithm, Checksum, ChecksumError, Hasher};

/// S3 accepts part numbers 1 to 10,000.
const MAX_PARTS: u32 = 10_000;

/// The kind of checksum of a multipart upload: the value of `x-amz-checksum-type`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ChecksumType {
    /// A checksum of the checksums of the parts: [`CompositeChecksum`].
    Composite,
    /// The checksum of the object: [`FullObjectChecksum`].
    FullObject,
}

impl ChecksumType {
    /// The name in the header.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Composite => "COMPOSITE",
            Self::FullObject => "FULL_OBJECT",
        }
    }

    /// The kind of this name, in upper case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Composite, Self::FullObject]
            .into_iter()
            .find(|kind| kind.name() == name)
    }

    /// The kind that S3 uses if an upload names only an algorithm.
    ///
    /// ```
    /// use polywire_aws::checksum::{Algorithm, ChecksumType};
    ///
    /// assert_eq!(ChecksumType::default_of(Algorithm::Crc32), ChecksumType::Composite);
    /// assert_eq!(ChecksumType::default_of(Algorithm::Crc64Nvme), ChecksumType::FullObject);
    /// ```
    #[must_use]
    pub const fn default_of(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Crc64Nvme => Self::FullObject,
            _ => Self::Composite,
        }
    }

    /// Whether S3 supports this kind with `algorithm`: FULL_OBJECT takes a CRC, and CRC64NVME has no COMPOSITE.
    #[must_use]
    pub const fn supports(self, algorithm: Algorithm) -> bool {
        match self {
            Self::Composite => !matches!(algorithm, Algorithm::Crc64Nvme),
            Self::FullObject => algorithm.is_crc(),
        }
    }
}

/// A checksum of the checksums of parts: `base64-N`.
///
/// ```
/// use polywire_aws::checksum::{Algorithm, Checksum, CompositeChecksum};
///
/// let parts = [&b"first"[..], b"second"].map(|part| Checksum::of(Algorithm::Sha256, part));
/// let composite = CompositeChecksum::of_parts(Algorithm::Sha256, &parts)?;
/// assert_eq!(composite.parts(), 2);
/// let text = composite.to_string();
/// assert!(text.ends_with("=-2"));
/// assert_eq!(CompositeChecksum::parse(Algorithm::Sha256, &text)?, composite);
/// # Ok::<(), polywire_aws::checksum::ChecksumError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct CompositeChecksum {
    checksum: Checksum,
    parts: u32,
}

impl CompositeChecksum {
    /// The composite of the checksums of all parts, in the order of the parts.
    ///
    /// # Errors
    ///
    /// [`ChecksumError::PartCount`] unless there are 1 to 10,000 parts, and [`ChecksumError::WrongAlgorithm`] if a
    /// part has another algorithm.
    pub fn of_parts(algorithm: Algorithm, parts: &[Checksum]) -> Result<Self, ChecksumError> {
        let mut hasher = Hasher::new(algorithm);
        for part in parts {
            if part.algorithm() != algorithm {
                let expected = "a checksum of the algorithm of the upload";
                return Err(ChecksumError::WrongAlgorithm {
                    found: part.algorithm(),
                    expected,
                });
            }
            hasher.update(part.as_bytes());
        }
        Ok(Self {
            checksum: hasher.finish(),
            parts: part_count(parts.len())?,
        })
    }

    /// Reads `base64-N`, N without leading zeros.
    ///
    /// # Errors
    ///
    /// Those of [`Checksum::parse`] for the part before `-`, and [`ChecksumError::PartCount`] if there is no `-`, or
    /// N is not a number from 1 to 10,000.
    pub fn parse(algorithm: Algorithm, text: &str) -> Result<Self, ChecksumError> {
        let (checksum, parts) = text.rsplit_once('-').ok_or(ChecksumError::PartCount)?;
        let checksum = Checksum::parse(algorithm, checksum)?;
        Ok(Self {
            checksum,
            parts: parse_part_count(parts)?,
        })
    }

    /// The checksum, without the number of parts.
    #[must_use]
    pub const fn checksum(&self) -> &Checksum {
        &self.checksum
    }

    /// The number of parts, 1 to 10,000.
    #[must_use]
    pub const fn parts(&self) -> u32 {
        self.parts
    }
}

impl fmt::Display for CompositeChecksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.checksum, self.parts)
    }
}

/// Combines the CRCs of parts into the CRC of the object. Add the parts in their order.
///
/// ```
/// use polywire_aws::checksum::{Algorithm, Checksum, FullObjectChecksum};
///
/// let mut object = FullObjectChecksum::new(Algorithm::Crc64Nvme)?;
/// object.add(&Checksum::of(Algorithm::Crc64Nvme, b"1234"), 4)?;
/// object.add(&Checksum::of(Algorithm::Crc64Nvme, b"56789"), 5)?;
/// assert_eq!(object.len(), 9);
/// assert_eq!(object.finish(), Checksum::of(Algorithm::Crc64Nvme, b"123456789"));
/// # Ok::<(), polywire_aws::checksum::ChecksumError>(())
/// ```
#[derive(Clone, Debug)]
pub struct FullObjectChecksum {
    checksum: Checksum,
    len: u64,
}

impl FullObjectChecksum {
    /// The checksum of an object of no bytes.
    ///
    /// # Errors
    ///
    /// [`ChecksumError::WrongAlgorithm`] if `algorithm` is not a CRC.
    pub fn new(algorithm: Algorithm) -> Result<Self, ChecksumError> {
        if !algorithm.is_crc() {
            let expected = "a CRC, which can be combined";
            return Err(ChecksumError::WrongAlgorithm {
                found: algorithm,
                expected,
            });
        }
        Ok(Self {
            checksum: Checksum::of(algorithm, b""),
            len: 0,
        })
    }

    /// Adds the next part: its checksum, and its length in bytes.
    ///
    /// # Errors
    ///
    /// [`ChecksumError::WrongAlgorithm`] if the part has another algorithm, and [`ChecksumError::PartCount`] if the
    /// object is longer than 2^64-1 bytes. The state is unchanged.
    pub fn add(&mut self, part: &Checksum, len: u64) -> Result<(), ChecksumError> {
        let total = self.len.checked_add(len).ok_or(ChecksumError::PartCount)?;
        self.checksum = self.checksum.combine(part, len)?;
        self.len = total;
        Ok(())
    }

    /// The number of bytes of all parts.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether the parts have no bytes.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The checksum of the object.
    #[must_use]
    pub fn finish(self) -> Checksum {
        self.checksum
    }
}

/// The ETag of a multipart upload: the hexadecimal MD5 of the MD5s of the parts, `-`, and the number of parts; without
/// quotation marks.
///
/// ```
/// use polywire_aws::checksum::{Algorithm, Checksum, MultipartETag};
///
/// let parts = [&b"first"[..], b"second"].map(|part| Checksum::of(Algorithm::Md5, part));
/// let etag = MultipartETag::of_parts(&parts)?;
/// assert_eq!(etag.to_string(), "018d78427d06dd29caa19b06085b7e7e-2");
/// assert_eq!(etag.to_string().parse::<MultipartETag>()?, etag);
/// # Ok::<(), polywire_aws::checksum::ChecksumError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct MultipartETag(CompositeChecksum);

impl MultipartETag {
    /// The ETag of parts with these MD5s, in the order of the parts.
    ///
    /// # Errors
    ///
    /// Those of [`CompositeChecksum::of_parts`].
    pub fn of_parts(parts: &[Checksum]) -> Result<Self, ChecksumError> {
        CompositeChecksum::of_parts(Algorithm::Md5, parts).map(Self)
    }

    /// The number of parts, 1 to 10,000.
    #[must_use]
    pub const fn parts(&self) -> u32 {
        self.0.parts
    }
}

impl FromStr for MultipartETag {
    type Err = ChecksumError;

    /// Reads `hex-N`: 32 lower-case digits, and N without leading zeros.
    fn from_str(text: &str) -> Result<Self, ChecksumError> {
        let (digits, parts) = text.rsplit_once('-').ok_or(ChecksumError::PartCount)?;
        let algorithm = Algorithm::Md5;
        if digits.len() != 2 * algorithm.len() {
            return Err(ChecksumError::Length {
                algorithm,
                found: digits.len() / 2,
            });
        }
        let bytes = polywire_text::hex::decode(digits.as_bytes(), polywire_text::hex::Case::Lower)
            .map_err(|cause| ChecksumError::Malformed { algorithm, cause })?;
        let checksum = Checksum::from_bytes(algorithm, &bytes)?;
        Ok(Self(CompositeChecksum {
            checksum,
            parts: parse_part_count(parts)?,
        }))
    }
}

impl fmt::Display for MultipartETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.0.checksum.to_hex(), self.0.parts)
    }
}

fn part_count(parts: usize) -> Result<u32, ChecksumError> {
    match u32::try_from(parts) {
        Ok(parts @ 1..=MAX_PARTS) => Ok(parts),
        _ => Err(ChecksumError::PartCount),
    }
}

/// One to five digits, the first of which is not 0: `str::parse` alone would accept `+1`.
fn parse_part_count(text: &str) -> Result<u32, ChecksumError> {
    let canonical = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    let parts = text
        .parse()
        .ok()
        .filter(|_| canonical)
        .ok_or(ChecksumError::PartCount)?;
    part_count(parts)
}
