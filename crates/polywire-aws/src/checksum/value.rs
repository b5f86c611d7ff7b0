//! Values of checksums.

use std::fmt;

use crc_fast::CrcAlgorithm;
use polywire_text::{base64, hex};

use super::{Algorithm, ChecksumError, Hasher, Mismatch};

/// The longest checksum: SHA-512.
const CAPACITY: usize = 64;

/// A checksum and its algorithm. `Copy`, without an allocation.
///
/// `Display` and [`parse`](Self::parse) use standard base64 with padding, as headers and trailers do.
///
/// ```
/// use polywire_aws::checksum::{Algorithm, Checksum};
///
/// let checksum = Checksum::of(Algorithm::Crc32, b"123456789");
/// assert_eq!(checksum.as_bytes(), [0xcb, 0xf4, 0x39, 0x26]);
/// assert_eq!(checksum.to_string(), "y/Q5Jg==");
/// assert_eq!(checksum.to_hex(), "cbf43926");
/// assert_eq!(Checksum::parse(Algorithm::Crc32, "y/Q5Jg==")?, checksum);
/// # Ok::<(), polywire_aws::checksum::ChecksumError>(())
/// ```
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub struct Checksum {
    algorithm: Algorithm,
    /// Zero from `algorithm.len()` on, so that equality may compare all of it.
    bytes: [u8; CAPACITY],
}

impl Checksum {
    /// The checksum of `data`.
    #[must_use]
    pub fn of(algorithm: Algorithm, data: &[u8]) -> Self {
        let mut hasher = Hasher::new(algorithm);
        hasher.update(data);
        hasher.finish()
    }

    /// A checksum of these bytes, most significant byte first.
    ///
    /// # Errors
    ///
    /// [`ChecksumError::Length`] unless there are [`Algorithm::len`] bytes.
    pub fn from_bytes(algorithm: Algorithm, bytes: &[u8]) -> Result<Self, ChecksumError> {
        if bytes.len() != algorithm.len() {
            return Err(ChecksumError::Length {
                algorithm,
                found: bytes.len(),
            });
        }
        Ok(Self::from_digest(algorithm, bytes))
    }

    /// Reads the value of a header or trailer: standard base64 with padding, nothing before or after it.
    ///
    /// ```
    /// use polywire_aws::checksum::{Algorithm, Checksum};
    ///
    /// let error = Checksum::parse(Algorithm::Crc32, "y/Q5J!==").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "CRC32 checksum: expected base64 (A-Z a-z 0-9 + / and = padding) at byte 5"
    /// );
    /// let error = Checksum::parse(Algorithm::Sha1, "y/Q5Jg==").unwrap_err();
    /// assert_eq!(error.to_string(), "SHA1 checksum: expected 20 bytes, found 4");
    /// ```
    ///
    /// # Errors
    ///
    /// [`ChecksumError::Malformed`] if the text is not base64, and [`ChecksumError::Length`] if its length does not
    /// fit the algorithm.
    pub fn parse(algorithm: Algorithm, text: &str) -> Result<Self, ChecksumError> {
        // The length is checked first: a header of a megabyte must not be decoded into memory.
        if text.len() > base64::STANDARD.encoded_len(CAPACITY) {
            return Err(ChecksumError::Length {
                algorithm,
                found: text.len() / 4 * 3,
            });
        }
        let decoded = base64::STANDARD
            .decode(text.as_bytes())
            .map_err(|cause| ChecksumError::Malformed { algorithm, cause })?;
        Self::from_bytes(algorithm, &decoded)
    }

    /// The algorithm.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The bytes, most significant byte first; as many as [`Algorithm::len`] says.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.algorithm.len()]
    }

    /// The bytes in lower-case hexadecimal: the form of `x-amz-content-sha256`, and of ETags for MD5.
    #[must_use]
    pub fn to_hex(&self) -> String {
        let mut digits = [0; 2 * CAPACITY];
        let digits = hex::encode_to_slice(self.as_bytes(), &mut digits).map_or(&[][..], |out| out);
        digits.iter().map(|&digit| char::from(digit)).collect()
    }

    /// Compares with the checksum of `data`.
    ///
    /// # Errors
    ///
    /// [`ChecksumError::Mismatch`] if they differ.
    pub fn verify(&self, data: &[u8]) -> Result<(), ChecksumError> {
        self.expect(&Self::of(self.algorithm, data))
    }

    /// Compares with a checksum that was computed from the data.
    ///
    /// # Errors
    ///
    /// [`ChecksumError::Mismatch`] if they differ, also in their algorithms.
    pub fn expect(&self, computed: &Self) -> Result<(), ChecksumError> {
        if self == computed {
            return Ok(());
        }
        Err(ChecksumError::Mismatch(Box::new(Mismatch {
            expected: *self,
            computed: *computed,
        })))
    }

    /// The checksum of the data of `self` followed by the data of `next`, which has `next_len` bytes. The time
    /// depends on the logarithm of `next_len`.
    ///
    /// ```
    /// use polywire_aws::checksum::{Algorithm, Checksum};
    ///
    /// let first = Checksum::of(Algorithm::Crc64Nvme, b"1234");
    /// let second = Checksum::of(Algorithm::Crc64Nvme, b"56789");
    /// let whole = first.combine(&second, 5)?;
    /// assert_eq!(whole, Checksum::of(Algorithm::Crc64Nvme, b"123456789"));
    /// # Ok::<(), polywire_aws::checksum::ChecksumError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ChecksumError::WrongAlgorithm`] if `self` is not a CRC, or `next` is of another algorithm.
    pub fn combine(&self, next: &Self, next_len: u64) -> Result<Self, ChecksumError> {
        let crc = match self.algorithm {
            Algorithm::Crc32 => CrcAlgorithm::Crc32IsoHdlc,
            Algorithm::Crc32c => CrcAlgorithm::Crc32Iscsi,
            Algorithm::Crc64Nvme => CrcAlgorithm::Crc64Nvme,
            found => {
                let expected = "a CRC, which can be combined";
                return Err(ChecksumError::WrongAlgorithm { found, expected });
            }
        };
        if next.algorithm != self.algorithm {
            let expected = "a checksum of the algorithm of the first part";
            return Err(ChecksumError::WrongAlgorithm {
                found: next.algorithm,
                expected,
            });
        }
        let combined = crc_fast::checksum_combine(crc, self.number(), next.number(), next_len);
        Ok(Self::from_crc(self.algorithm, combined))
    }

    /// A CRC in the low bits of a number.
    pub(super) fn from_crc(algorithm: Algorithm, crc: u64) -> Self {
        let bytes = crc.to_be_bytes();
        Self::from_digest(
            algorithm,
            &bytes[bytes.len() - algorithm.len().min(bytes.len())..],
        )
    }

    /// `digest` has `algorithm.len()` bytes.
    pub(super) fn from_digest(algorithm: Algorithm, digest: &[u8]) -> Self {
        debug_assert_eq!(digest.len(), algorithm.len());
        let mut bytes = [0; CAPACITY];
        bytes[..digest.len()].copy_from_slice(digest);
        Self { algorithm, bytes }
    }

    fn number(&self) -> u64 {
        self.as_bytes()
            .iter()
            .fold(0, |number, &byte| number << 8 | u64::from(byte))
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        base64::STANDARD.push_str(&mut text, self.as_bytes());
        f.write_str(&text)
    }
}

impl fmt::Debug for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Checksum({} {self})", self.algorithm)
    }
}
