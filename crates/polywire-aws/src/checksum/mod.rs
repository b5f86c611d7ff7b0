//! Checksums of bodies: algorithms, values in headers and trailers, checksums of multipart uploads, and the rules of
//! the trait `aws.protocols#httpChecksum`.
//!
//! | algorithm | header or trailer | bytes | full-object multipart |
//! |---|---|--:|---|
//! | CRC32 (ISO-HDLC) | `x-amz-checksum-crc32` | 4 | yes |
//! | CRC32C (Castagnoli) | `x-amz-checksum-crc32c` | 4 | yes |
//! | CRC64NVME | `x-amz-checksum-crc64nvme` | 8 | yes |
//! | MD5 | `x-amz-checksum-md5`, and the header `Content-MD5` | 16 | no |
//! | SHA1 | `x-amz-checksum-sha1` | 20 | no |
//! | SHA256 | `x-amz-checksum-sha256` | 32 | no |
//! | SHA512 | `x-amz-checksum-sha512` | 64 | no |
//!
//! The text of a checksum is the standard base64 of its bytes, most significant byte first. The XXHASH algorithms of S3
//! are not implemented.
//!
//! - [`Hasher`] computes a [`Checksum`] of bytes that arrive in pieces.
//! - [`CompositeChecksum`] and [`FullObjectChecksum`] are the two kinds of checksum of a multipart upload;
//!   [`MultipartETag`] is its ETag.
//! - [`RequestChecksum`] selects what a client sends, and [`ResponseChecksum`] what it checks.
//!
//! None of these checksums is secret, so comparisons do not take constant time. CRCs, MD5 and SHA-1 detect accidents;
//! they do not stop an attacker.
//!
//! ```
//! use polywire_aws::checksum::{Algorithm, Checksum, Hasher};
//!
//! let mut hasher = Hasher::new(Algorithm::Crc32c);
//! hasher.update(b"12345");
//! hasher.update(b"6789");
//! let checksum = hasher.finish();
//! assert_eq!(checksum.to_string(), "4waSgw==");
//! assert_eq!(checksum.algorithm().header_name(), "x-amz-checksum-crc32c");
//!
//! let header = Checksum::parse(Algorithm::Crc32c, "4waSgw==")?;
//! header.verify(b"123456789")?;
//! assert!(header.verify(b"123456780").is_err());
//! # Ok::<(), polywire_aws::checksum::ChecksumError>(())
//! ```

mod algorithm;
mod error;
mod hasher;
mod multipart;
mod selection;
mod value;

pub use algorithm::{Algorithm, CONTENT_MD5};
pub use error::{ChecksumError, Mismatch};
pub use hasher::Hasher;
pub use multipart::{ChecksumType, CompositeChecksum, FullObjectChecksum, MultipartETag};
pub use selection::{
    BodySigning, Calculation, ChecksumLocation, RequestChecksum, RequestContext, RequestRule,
    ResponseChecksum,
};
pub use value::Checksum;
