//! Limits and expectations of a decoder.

use http::HeaderMap;

use super::{BodyError, headers};

/// Limits of a [`Decoder`](super::Decoder), and what the head of the request says about the body.
///
/// ```
/// use polywire_aws::chunked::DecoderOptions;
///
/// let options = DecoderOptions { max_trailers: 1, ..DecoderOptions::default() };
/// assert_eq!(options.max_chunk, 5 << 30);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DecoderOptions {
    /// The largest chunk in bytes. Chunks are not buffered, and some clients send a whole body as one chunk, so the
    /// default is the largest body of a PUT to S3, 5 GiB.
    pub max_chunk: u64,
    /// The most trailers. 16 by default.
    pub max_trailers: usize,
    /// The most bytes of all trailers with their signature, without line ends. 4,096 by default.
    pub max_trailer_bytes: usize,
    /// The number of bytes of data, from `x-amz-decoded-content-length`. None by default: any.
    pub decoded_length: Option<u64>,
    /// The lower-case names in `x-amz-trailer`: exactly these trailers have to come. None by default: any.
    pub declared_trailers: Option<Vec<String>>,
    /// Return only data whose signature was checked. Then a chunk that does not arrive at once is copied into
    /// memory, and this is the largest chunk in bytes. None by default: see [`Event::Data`](super::Event::Data).
    pub verified_chunks: Option<usize>,
    /// Accept trailers that end with LF instead of CR LF. The client of MinIO for Go ends each trailer with LF, and
    /// writes an empty line after the last one, before the signature or the final CR LF. Off by default.
    pub line_feed_trailers: bool,
}

impl Default for DecoderOptions {
    fn default() -> Self {
        Self {
            max_chunk: 5 << 30,
            max_trailers: 16,
            max_trailer_bytes: 4096,
            decoded_length: None,
            declared_trailers: None,
            verified_chunks: None,
            line_feed_trailers: false,
        }
    }
}

impl DecoderOptions {
    /// The default, with [`decoded_length`](Self::decoded_length) and
    /// [`declared_trailers`](Self::declared_trailers) from the head of a request.
    ///
    /// # Errors
    ///
    /// [`BodyError::InvalidRequest`] if `x-amz-decoded-content-length` is not one number, or `x-amz-trailer` not a
    /// list of at most 16 names.
    pub fn from_headers(headers: &HeaderMap) -> Result<Self, BodyError> {
        Ok(Self {
            decoded_length: headers::length(headers, &headers::DECODED_LENGTH)?,
            declared_trailers: headers::declared_trailers(headers)?,
            ..Self::default()
        })
    }
}
