//! Decoder and verifier together: what a server does with the body of a request.

use bytes::Bytes;
use http::HeaderMap;

use super::{
    BodyChecksums, BodyError, BodyVerifier, ChunkAuthenticator, Decoder, DecoderOptions, Event,
    Framing, headers,
};
use crate::checksum::Algorithm;

/// Reads the body of a request: decodes it if `x-amz-content-sha256` names a [`Framing`], and checks the data as
/// [`BodyVerifier`] does.
///
/// Treat the data as uncommitted until [`finish`](Self::finish) returns `Ok`.
///
/// ```
/// use bytes::Bytes;
/// use polywire_aws::checksum::Algorithm;
/// use polywire_aws::chunked::{AnySignature, BodyReader, DecoderOptions};
///
/// let mut headers = http::HeaderMap::new();
/// headers.insert("x-amz-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER".parse()?);
/// headers.insert("x-amz-trailer", "x-amz-checksum-crc32".parse()?);
/// headers.insert("x-amz-decoded-content-length", "9".parse()?);
///
/// let mut reader = BodyReader::new(&headers, AnySignature, &DecoderOptions::default())?;
/// reader.compute(Algorithm::Md5);
/// let mut object = Vec::new();
/// for packet in ["9\r\n12345", "6789\r\n0\r\nx-amz-checksum-crc32:", "y/Q5Jg==\r\n\r\n"] {
///     let mut input = Bytes::from(packet);
///     while let Some(data) = reader.feed(&mut input)? {
///         object.extend_from_slice(&data);
///     }
/// }
/// let checksums = reader.finish()?;
/// assert_eq!(object, b"123456789");
/// assert_eq!(checksums.sent().unwrap().to_string(), "y/Q5Jg==");
/// assert_eq!(checksums.get(Algorithm::Md5).unwrap().to_hex(), "25f9e794323b453885f5181f1b624d0b");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BodyReader {
    decoder: Option<Decoder>,
    verifier: BodyVerifier,
    /// After an error, nothing is released or confirmed any more.
    error: Option<BodyError>,
}

impl BodyReader {
    /// A reader of the body of a request with this head. Limits and leniencies are those in `options`; the length and
    /// the declared trailers are replaced by those in the head. The authenticator is only called if the framing has
    /// signatures.
    ///
    /// # Errors
    ///
    /// Those of [`BodyVerifier::from_headers`].
    pub fn new(
        headers: &HeaderMap,
        authenticator: impl ChunkAuthenticator + Send + Sync + 'static,
        options: &DecoderOptions,
    ) -> Result<Self, BodyError> {
        let verifier = BodyVerifier::from_headers(headers)?;
        let framing = headers::single(headers, &headers::CONTENT_SHA256)?
            .and_then(Framing::from_content_sha256);
        let decoder = match framing {
            Some(framing) => {
                let DecoderOptions {
                    decoded_length,
                    declared_trailers,
                    ..
                } = DecoderOptions::from_headers(headers)?;
                let options = DecoderOptions {
                    decoded_length,
                    declared_trailers,
                    ..options.clone()
                };
                Some(Decoder::new(framing, authenticator, options))
            }
            None => None,
        };
        Ok(Self {
            decoder,
            verifier,
            error: None,
        })
    }

    /// Also computes this checksum; call it before the first [`feed`](Self::feed).
    pub fn compute(&mut self, algorithm: Algorithm) {
        self.verifier.compute(algorithm);
    }

    /// The next data, a slice of `input`; none if all input is used. Call it until it returns none.
    ///
    /// # Errors
    ///
    /// [`BodyError::Chunked`] if the body is not valid `aws-chunked`, and those of [`BodyVerifier::update`] and
    /// [`BodyVerifier::trailers`]. After an error every call returns this error.
    pub fn feed(&mut self, input: &mut Bytes) -> Result<Option<Bytes>, BodyError> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        self.next(input)
            .inspect_err(|error| self.error = Some(error.clone()))
    }

    /// Confirms that the body is complete and correct. Call it at the end of the body.
    ///
    /// # Errors
    ///
    /// [`BodyError::Chunked`] if the body ended early, the error of [`feed`](Self::feed) if it returned one, and those
    /// of [`BodyVerifier::finish`].
    pub fn finish(self) -> Result<BodyChecksums, BodyError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if let Some(decoder) = self.decoder {
            decoder.finish()?;
        }
        self.verifier.finish()
    }

    fn next(&mut self, input: &mut Bytes) -> Result<Option<Bytes>, BodyError> {
        let Some(decoder) = &mut self.decoder else {
            let data = std::mem::take(input);
            self.verifier.update(&data)?;
            return Ok((!data.is_empty()).then_some(data));
        };
        loop {
            match decoder.feed(input)? {
                Event::NeedInput | Event::End => return Ok(None),
                Event::Data(data) => {
                    self.verifier.update(&data)?;
                    return Ok(Some(data));
                }
                Event::Trailers(trailers) => self.verifier.trailers(&trailers)?,
            }
        }
    }
}
