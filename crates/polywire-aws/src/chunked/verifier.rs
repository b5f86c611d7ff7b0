//! Checks data against everything that the head and the trailers say about it.

use http::HeaderMap;
use http::header::CONTENT_LENGTH;

use super::{BodyError, ChecksumSource, Framing, Trailers, headers};
use crate::checksum::{Algorithm, CONTENT_MD5, Checksum, Hasher, Mismatch};

/// Headers that begin as checksums do, but are none.
const OTHER_HEADERS: [&str; 3] = [
    "x-amz-checksum-algorithm",
    "x-amz-checksum-mode",
    "x-amz-checksum-type",
];
/// Values of `x-amz-content-sha256` that say nothing about the data. Events are signed one by one.
const UNCHECKED: [&str; 3] = [
    "STREAMING-AWS4-ECDSA-P256-SHA256-EVENTS",
    "STREAMING-AWS4-HMAC-SHA256-EVENTS",
    "UNSIGNED-PAYLOAD",
];
const HEADER_PREFIX: &str = "x-amz-checksum-";

/// Checks the data of a request incrementally against `Content-MD5`, a header or trailer `x-amz-checksum-*`,
/// `x-amz-content-sha256`, and the length. An algorithm that several checks need is computed once.
///
/// A store can have further algorithms computed: [`compute`](Self::compute).
///
/// ```
/// use polywire_aws::checksum::Algorithm;
/// use polywire_aws::chunked::BodyVerifier;
///
/// let mut headers = http::HeaderMap::new();
/// headers.insert("content-md5", "XUFAKrxLKna5cZ2REBfFkg==".parse()?);
/// let mut verifier = BodyVerifier::from_headers(&headers)?;
/// verifier.compute(Algorithm::Crc64Nvme);
/// verifier.update(b"hel")?;
/// verifier.update(b"lo")?;
/// let checksums = verifier.finish()?;
/// assert_eq!(checksums.len(), 5);
/// assert_eq!(checksums.get(Algorithm::Crc64Nvme).unwrap().to_string(), "M3eFcAZSQlc=");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct BodyVerifier {
    hashers: Vec<Hasher>,
    expectations: Vec<Expectation>,
    /// The checksum that the trailers have to contain.
    trailer: Option<Algorithm>,
    trailers_seen: bool,
    expected_len: Option<u64>,
    len: u64,
}

#[derive(Clone, Copy, Debug)]
struct Expectation {
    source: ChecksumSource,
    checksum: Checksum,
}

impl BodyVerifier {
    /// A verifier that expects nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A verifier of what the head of a request says about its body. The length is that in
    /// `x-amz-decoded-content-length` if `x-amz-content-sha256` names a [`Framing`], else that in `Content-Length`.
    ///
    /// Not for operations whose headers `x-amz-checksum-*` are about an object instead of the body, such as
    /// CompleteMultipartUpload.
    ///
    /// # Errors
    ///
    /// [`BodyError::InvalidDigest`] for `Content-MD5`, [`BodyError::InvalidContentSha256`] for
    /// `x-amz-content-sha256`, and [`BodyError::InvalidRequest`] if another header cannot be read, has an algorithm
    /// that is not supported, or if there is more than one checksum in headers `x-amz-checksum-*` and `x-amz-trailer`
    /// together, a trailer without a framing that has trailers, or `x-amz-sdk-checksum-algorithm` without a checksum.
    pub fn from_headers(headers: &HeaderMap) -> Result<Self, BodyError> {
        let mut verifier = Self::new();
        let framing = verifier.read_content_sha256(headers)?;
        verifier.read_content_md5(headers)?;
        verifier.read_checksum_headers(headers)?;
        verifier.read_declared_trailers(headers, framing)?;
        verifier.read_sdk_algorithm(headers)?;
        let length = match framing {
            Some(_) => headers::DECODED_LENGTH,
            None => CONTENT_LENGTH,
        };
        verifier.expected_len = headers::length(headers, &length)?;
        Ok(verifier)
    }

    /// Also computes this checksum; call it before the first [`update`](Self::update).
    pub fn compute(&mut self, algorithm: Algorithm) {
        if !self
            .hashers
            .iter()
            .any(|hasher| hasher.algorithm() == algorithm)
        {
            self.hashers.push(Hasher::new(algorithm));
        }
    }

    /// Also expects this checksum; call it before the first [`update`](Self::update).
    pub fn expect(&mut self, source: ChecksumSource, checksum: Checksum) {
        self.compute(checksum.algorithm());
        self.expectations.push(Expectation { source, checksum });
    }

    /// Also expects this number of bytes.
    pub fn expect_len(&mut self, len: u64) {
        self.expected_len = Some(len);
    }

    /// Adds data.
    ///
    /// # Errors
    ///
    /// [`BodyError::IncompleteBody`] as soon as there is more data than expected.
    pub fn update(&mut self, data: &[u8]) -> Result<(), BodyError> {
        self.len = self.len.saturating_add(data.len() as u64);
        if let Some(expected) = self.expected_len.filter(|&expected| expected < self.len) {
            return Err(BodyError::IncompleteBody {
                expected,
                found: self.len,
            });
        }
        for hasher in &mut self.hashers {
            hasher.update(data);
        }
        Ok(())
    }

    /// Reads the checksum in the trailers.
    ///
    /// # Errors
    ///
    /// [`BodyError::MalformedTrailer`] if the declared checksum is missing or cannot be read, and if the trailers
    /// contain another one, which would not be checked.
    pub fn trailers(&mut self, trailers: &Trailers) -> Result<(), BodyError> {
        for (name, value) in trailers.iter() {
            if !name.starts_with(HEADER_PREFIX) {
                continue;
            }
            let algorithm = Algorithm::from_header_name(name);
            let Some(algorithm) = algorithm.filter(|_| algorithm == self.trailer) else {
                let expected = "only the checksum that x-amz-trailer declares";
                return Err(BodyError::MalformedTrailer { expected });
            };
            let checksum =
                Checksum::parse(algorithm, value).map_err(|_| BodyError::MalformedTrailer {
                    expected: "the base64 of a checksum of its length",
                })?;
            self.expectations.push(Expectation {
                source: ChecksumSource::Trailer,
                checksum,
            });
            self.trailers_seen = true;
        }
        self.check_trailers_seen()
    }

    /// Compares everything, and returns the checksums that were computed.
    ///
    /// # Errors
    ///
    /// In this order: [`BodyError::IncompleteBody`], [`BodyError::MalformedTrailer`] if the declared trailer has not
    /// come, [`BodyError::ContentSha256Mismatch`] and [`BodyError::BadDigest`].
    pub fn finish(self) -> Result<BodyChecksums, BodyError> {
        if let Some(expected) = self.expected_len.filter(|&expected| expected != self.len) {
            return Err(BodyError::IncompleteBody {
                expected,
                found: self.len,
            });
        }
        self.check_trailers_seen()?;
        let computed: Vec<Checksum> = self.hashers.into_iter().map(Hasher::finish).collect();
        let mut checksums = BodyChecksums {
            computed,
            sent: None,
            len: self.len,
        };
        for Expectation {
            source,
            checksum: expected,
        } in self.expectations
        {
            let computed = checksums.get(expected.algorithm());
            // Each expectation has a hasher; without one, nothing could be confirmed.
            let Some(computed) = computed.copied() else {
                return Err(BodyError::MalformedTrailer {
                    expected: "a declared checksum",
                });
            };
            if computed != expected {
                let mismatch = Box::new(Mismatch { expected, computed });
                return Err(match source {
                    ChecksumSource::ContentSha256 => BodyError::ContentSha256Mismatch(mismatch),
                    _ => BodyError::BadDigest { source, mismatch },
                });
            }
            if matches!(source, ChecksumSource::Header | ChecksumSource::Trailer) {
                checksums.sent = Some(expected);
            }
        }
        Ok(checksums)
    }

    fn read_content_sha256(&mut self, headers: &HeaderMap) -> Result<Option<Framing>, BodyError> {
        let value = headers::single(headers, &headers::CONTENT_SHA256)
            .map_err(|_| BodyError::InvalidContentSha256)?;
        let Some(value) = value else { return Ok(None) };
        let framing = Framing::from_content_sha256(value);
        if framing.is_some() || UNCHECKED.contains(&value) {
            return Ok(framing);
        }
        let bytes = polywire_text::hex::decode(value.as_bytes(), polywire_text::hex::Case::Lower)
            .map_err(|_| BodyError::InvalidContentSha256)?;
        let checksum = Checksum::from_bytes(Algorithm::Sha256, &bytes)
            .map_err(|_| BodyError::InvalidContentSha256)?;
        self.expect(ChecksumSource::ContentSha256, checksum);
        Ok(None)
    }

    fn read_content_md5(&mut self, headers: &HeaderMap) -> Result<(), BodyError> {
        let name = http::HeaderName::from_static(CONTENT_MD5);
        let value = headers::single(headers, &name).map_err(|_| BodyError::InvalidDigest)?;
        if let Some(value) = value {
            let checksum = Checksum::parse(Algorithm::Md5, value);
            let checksum = checksum.map_err(|_| BodyError::InvalidDigest)?;
            self.expect(ChecksumSource::ContentMd5, checksum);
        }
        Ok(())
    }

    fn read_checksum_headers(&mut self, headers: &HeaderMap) -> Result<(), BodyError> {
        let mut found = false;
        for name in headers.keys() {
            if !name.as_str().starts_with(HEADER_PREFIX) || OTHER_HEADERS.contains(&name.as_str()) {
                continue;
            }
            if found {
                return Err(BodyError::invalid_header(
                    name,
                    "one header x-amz-checksum-*",
                ));
            }
            found = true;
            let algorithm = Algorithm::from_header_name(name.as_str()).ok_or_else(|| {
                BodyError::invalid_header(name, "a checksum algorithm that is supported")
            })?;
            let value = headers::single(headers, name)?.unwrap_or_default();
            let checksum = Checksum::parse(algorithm, value).map_err(|_| {
                BodyError::invalid_header(name, "the base64 of a checksum of its length")
            })?;
            self.expect(ChecksumSource::Header, checksum);
        }
        Ok(())
    }

    fn read_declared_trailers(
        &mut self,
        headers: &HeaderMap,
        framing: Option<Framing>,
    ) -> Result<(), BodyError> {
        let name = &headers::TRAILER;
        let Some(declared) = headers::declared_trailers(headers)? else {
            return Ok(());
        };
        if !framing.is_some_and(Framing::has_trailer) {
            let expected = "an x-amz-content-sha256 that ends with -TRAILER";
            return Err(BodyError::invalid_header(name, expected));
        }
        for trailer in declared {
            let algorithm = Algorithm::from_header_name(&trailer)
                .ok_or_else(|| BodyError::invalid_header(name, "checksums that are supported"))?;
            let has_header = self.expectations.iter().any(|expectation| {
                matches!(
                    expectation.source,
                    ChecksumSource::Header | ChecksumSource::Trailer
                )
            });
            if self.trailer.is_some() || has_header {
                return Err(BodyError::invalid_header(
                    name,
                    "one checksum x-amz-checksum-*",
                ));
            }
            self.trailer = Some(algorithm);
            self.compute(algorithm);
        }
        Ok(())
    }

    /// S3 ignores the value if there is a checksum, but not if it cannot be an algorithm.
    fn read_sdk_algorithm(&self, headers: &HeaderMap) -> Result<(), BodyError> {
        let name = &headers::SDK_ALGORITHM;
        let Some(value) = headers::single(headers, name)? else {
            return Ok(());
        };
        if Algorithm::from_name(value).is_none() {
            return Err(BodyError::invalid_header(
                name,
                "a checksum algorithm that is supported",
            ));
        }
        let has_header = self
            .expectations
            .iter()
            .any(|expectation| expectation.source == ChecksumSource::Header);
        if self.trailer.is_none() && !has_header {
            let expected = "also a header x-amz-checksum-* or x-amz-trailer";
            return Err(BodyError::invalid_header(name, expected));
        }
        Ok(())
    }

    fn check_trailers_seen(&self) -> Result<(), BodyError> {
        if self.trailer.is_some() && !self.trailers_seen {
            let expected = "the checksum that x-amz-trailer declares";
            return Err(BodyError::MalformedTrailer { expected });
        }
        Ok(())
    }
}

/// What a [`BodyVerifier`] has confirmed and computed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BodyChecksums {
    computed: Vec<Checksum>,
    sent: Option<Checksum>,
    len: u64,
}

impl BodyChecksums {
    /// The checksum of this algorithm; none if nothing required it.
    #[must_use]
    pub fn get(&self, algorithm: Algorithm) -> Option<&Checksum> {
        self.computed
            .iter()
            .find(|checksum| checksum.algorithm() == algorithm)
    }

    /// The checksum that the client sent in a header or trailer `x-amz-checksum-*`: what S3 stores and returns.
    #[must_use]
    pub const fn sent(&self) -> Option<&Checksum> {
        self.sent.as_ref()
    }

    /// The number of bytes of data.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether there was no data.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}
