//! The encoder.

use std::fmt;
use std::num::NonZeroUsize;

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, HeaderValue};
use sha2::{Digest, Sha256};

use super::{BodyError, ChunkSigner, Framing, Trailers, headers};
use crate::checksum::{Algorithm, Checksum, Hasher};

const CR_LF: &str = "\r\n";
const SIGNATURE_NAME: &str = ";chunk-signature=";
const TRAILER_SIGNATURE: &str = "x-amz-trailer-signature:";
const SIGNATURE_LEN: u64 = 64;

/// 64 KiB. S3 accepts chunks of 8 KiB or more, and recommends 64 KiB or more.
pub const DEFAULT_CHUNK_SIZE: NonZeroUsize = match NonZeroUsize::new(64 << 10) {
    Some(size) => size,
    None => NonZeroUsize::MIN,
};

/// How an [`Encoder`] divides data into chunks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ChunkLayout {
    /// Chunks of this many bytes, the last one smaller. Data that does not come in such pieces is copied.
    Fixed(NonZeroUsize),
    /// A chunk for each piece that is pushed: nothing is copied, but the encoded length is not known before.
    Pieces,
    /// All data in one chunk of this many bytes: nothing is copied, and the encoded length is known.
    Single(u64),
}

/// Encodes a body in `aws-chunked`.
///
/// The encoded body is appended to a vector as pieces to send in this order; data of the caller is not copied if the
/// layout allows. Memory: at most one chunk.
///
/// ```
/// use bytes::Bytes;
/// use polywire_aws::checksum::Algorithm;
/// use polywire_aws::chunked::{ChunkLayout, Encoder};
///
/// let mut encoder = Encoder::unsigned(ChunkLayout::Pieces, Some(Algorithm::Crc32));
/// let mut headers = http::HeaderMap::new();
/// encoder.apply_headers(&mut headers, 9);
/// assert_eq!(headers["content-encoding"], "aws-chunked");
/// assert_eq!(headers["x-amz-decoded-content-length"], "9");
/// assert_eq!(headers["x-amz-trailer"], "x-amz-checksum-crc32");
///
/// let mut out = Vec::new();
/// encoder.push(Bytes::from("12345"), &mut out)?;
/// encoder.push(Bytes::from("6789"), &mut out)?;
/// encoder.finish(&mut out)?;
/// assert_eq!(
///     out.concat(),
///     b"5\r\n12345\r\n4\r\n6789\r\n0\r\nx-amz-checksum-crc32:y/Q5Jg==\r\n\r\n"
/// );
/// # Ok::<(), polywire_aws::chunked::BodyError>(())
/// ```
pub struct Encoder {
    layout: ChunkLayout,
    signer: Option<Box<dyn ChunkSigner + Send>>,
    hasher: Option<Hasher>,
    /// Data of a chunk that is not complete. Only with `Fixed`.
    pending: BytesMut,
    /// The number of bytes pushed.
    total: u64,
    /// The CR LF after the data of the last chunk is not written yet.
    data_open: bool,
}

impl Encoder {
    /// An encoder of [`Framing::UnsignedTrailer`], with this checksum in the trailer.
    #[must_use]
    pub fn unsigned(layout: ChunkLayout, checksum: Option<Algorithm>) -> Self {
        Self {
            layout,
            signer: None,
            hasher: checksum.map(Hasher::new),
            pending: BytesMut::new(),
            total: 0,
            data_open: false,
        }
    }

    /// An encoder of [`Framing::Signed`], or [`Framing::SignedTrailer`] with this checksum in the trailer. The chunks
    /// have this many bytes; S3 rejects chunks below 8 KiB, except the last.
    #[must_use]
    pub fn signed(
        signer: impl ChunkSigner + Send + 'static,
        chunk_size: NonZeroUsize,
        checksum: Option<Algorithm>,
    ) -> Self {
        let encoder = Self::unsigned(ChunkLayout::Fixed(chunk_size), checksum);
        Self {
            signer: Some(Box::new(signer)),
            ..encoder
        }
    }

    /// The framing: which value of `x-amz-content-sha256` the request has.
    #[must_use]
    pub const fn framing(&self) -> Framing {
        match (&self.signer, &self.hasher) {
            (None, _) => Framing::UnsignedTrailer,
            (Some(_), None) => Framing::Signed,
            (Some(_), Some(_)) => Framing::SignedTrailer,
        }
    }

    /// The number of bytes of the encoded body of `decoded` bytes of data. None for [`ChunkLayout::Pieces`], for
    /// [`ChunkLayout::Single`] of another length, and from 2^64 on.
    ///
    /// ```
    /// use polywire_aws::chunked::{ChunkLayout, DEFAULT_CHUNK_SIZE, Encoder};
    ///
    /// let encoder = Encoder::unsigned(ChunkLayout::Fixed(DEFAULT_CHUNK_SIZE), None);
    /// assert_eq!(encoder.encoded_length(66_560), Some(66_560 + 9 + 7 + 5));
    /// ```
    #[must_use]
    pub fn encoded_length(&self, decoded: u64) -> Option<u64> {
        let mut length = self.head_length(0) + 2;
        if let Some(hasher) = &self.hasher {
            let algorithm = hasher.algorithm();
            length += (algorithm.header_name().len() + 1 + algorithm.text_len() + 2) as u64;
            if self.signer.is_some() {
                length += TRAILER_SIGNATURE.len() as u64 + SIGNATURE_LEN + 2;
            }
        }
        let chunks = match self.layout {
            ChunkLayout::Pieces => return None,
            ChunkLayout::Single(size) if size != decoded => return None,
            ChunkLayout::Single(size) => self.chunk_length(size)?,
            ChunkLayout::Fixed(size) => {
                let size = size.get() as u64;
                let full = self.chunk_length(size)?.checked_mul(decoded / size)?;
                full.checked_add(self.chunk_length(decoded % size)?)?
            }
        };
        chunks.checked_add(length)
    }

    /// Sets the headers of a request whose body has `decoded_length` bytes before it is encoded: appends
    /// `aws-chunked` to `Content-Encoding`, and sets `x-amz-decoded-content-length`, `x-amz-content-sha256`,
    /// `x-amz-trailer` if there is a checksum, and `Content-Length` if [`encoded_length`](Self::encoded_length) is
    /// known; else removes it, and the request needs `Transfer-Encoding: chunked`. Call it before signing.
    pub fn apply_headers(&self, headers: &mut HeaderMap, decoded_length: u64) {
        let codings = headers
            .get_all(CONTENT_ENCODING)
            .iter()
            .map(HeaderValue::as_bytes);
        let mut codings: Vec<&[u8]> = codings.filter(|value| !value.is_empty()).collect();
        codings.push(headers::AWS_CHUNKED.as_bytes());
        #[expect(clippy::expect_used, reason = "joined from valid values and commas")]
        let codings = HeaderValue::from_bytes(&codings.join(&b","[..])).expect("a valid value");
        headers.insert(CONTENT_ENCODING, codings);
        headers.insert(headers::DECODED_LENGTH, HeaderValue::from(decoded_length));
        let content_sha256 = self.framing().content_sha256();
        headers.insert(
            headers::CONTENT_SHA256,
            HeaderValue::from_static(content_sha256),
        );
        match &self.hasher {
            Some(hasher) => {
                let name = hasher.algorithm().header_name();
                headers.insert(headers::TRAILER, HeaderValue::from_static(name));
            }
            None => {
                headers.remove(headers::TRAILER);
            }
        }
        match self.encoded_length(decoded_length) {
            Some(length) => headers.insert(CONTENT_LENGTH, HeaderValue::from(length)),
            None => headers.remove(CONTENT_LENGTH),
        };
    }

    /// Encodes data. Empty data is ignored.
    ///
    /// # Errors
    ///
    /// [`BodyError::IncompleteBody`] if there is more data than [`ChunkLayout::Single`] says. Nothing is written then.
    pub fn push(&mut self, mut data: Bytes, out: &mut Vec<Bytes>) -> Result<(), BodyError> {
        if data.is_empty() {
            return Ok(());
        }
        let first = self.total == 0;
        let total = self.total.saturating_add(data.len() as u64);
        if let ChunkLayout::Single(expected) = self.layout
            && total > expected
        {
            return Err(BodyError::IncompleteBody {
                expected,
                found: total,
            });
        }
        self.total = total;
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&data);
        }
        match self.layout {
            ChunkLayout::Pieces => self.chunk(data, out),
            ChunkLayout::Single(size) => {
                if first {
                    self.head(size, &[], out);
                }
                out.push(data);
            }
            ChunkLayout::Fixed(size) => {
                while !data.is_empty() {
                    let len = (size.get() - self.pending.len()).min(data.len());
                    let piece = data.split_to(len);
                    if len == size.get() {
                        self.chunk(piece, out);
                        continue;
                    }
                    self.pending.extend_from_slice(&piece);
                    if self.pending.len() == size.get() {
                        let chunk = self.pending.split().freeze();
                        self.chunk(chunk, out);
                    }
                }
            }
        }
        Ok(())
    }

    /// Encodes the last data, the last chunk and the trailer. Returns the checksum in the trailer.
    ///
    /// # Errors
    ///
    /// [`BodyError::IncompleteBody`] if there is less data than [`ChunkLayout::Single`] says.
    pub fn finish(mut self, out: &mut Vec<Bytes>) -> Result<Option<Checksum>, BodyError> {
        if let ChunkLayout::Single(expected) = self.layout
            && self.total != expected
        {
            return Err(BodyError::IncompleteBody {
                expected,
                found: self.total,
            });
        }
        if !self.pending.is_empty() {
            let chunk = self.pending.split().freeze();
            self.chunk(chunk, out);
        }
        self.head(0, &[], out);
        let checksum = self.hasher.take().map(Hasher::finish);
        let mut end = String::new();
        if let Some(checksum) = checksum {
            let name = checksum.algorithm().header_name();
            let value = checksum.to_string();
            for part in [name, ":", &value, CR_LF] {
                end.push_str(part);
            }
            if let Some(signer) = &mut self.signer {
                let trailers: Trailers = [(name, value.as_str())].into_iter().collect();
                end.push_str(TRAILER_SIGNATURE);
                push_signature(&mut end, signer.trailer(&trailers.canonical()));
                end.push_str(CR_LF);
            }
        }
        end.push_str(CR_LF);
        out.push(Bytes::from(end));
        Ok(checksum)
    }

    fn chunk(&mut self, data: Bytes, out: &mut Vec<Bytes>) {
        self.head(data.len() as u64, &data, out);
        out.push(data);
    }

    /// Writes the head of a chunk, after the CR LF of the chunk before it. `data` is used for the signature only.
    fn head(&mut self, size: u64, data: &[u8], out: &mut Vec<Bytes>) {
        let mut head = String::with_capacity(128);
        if self.data_open {
            head.push_str(CR_LF);
        }
        head.push_str(&format!("{size:x}"));
        if let Some(signer) = &mut self.signer {
            head.push_str(SIGNATURE_NAME);
            push_signature(&mut head, signer.chunk(&Sha256::digest(data).into()));
        }
        head.push_str(CR_LF);
        out.push(Bytes::from(head));
        self.data_open = size > 0;
    }

    /// The length of the head of a chunk.
    fn head_length(&self, size: u64) -> u64 {
        let digits = u64::from((u64::BITS - size.leading_zeros()).div_ceil(4).max(1));
        let signature = match self.signer {
            Some(_) => SIGNATURE_NAME.len() as u64 + SIGNATURE_LEN,
            None => 0,
        };
        digits + signature + 2
    }

    /// The length of a chunk with head and data; 0 for a chunk without data, which is not written.
    fn chunk_length(&self, size: u64) -> Option<u64> {
        if size == 0 {
            return Some(0);
        }
        size.checked_add(self.head_length(size) + 2)
    }
}

/// A signature is ASCII; characters of another signer would only make the signature wrong.
fn push_signature(out: &mut String, signature: [u8; 64]) {
    out.extend(signature.map(char::from));
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder")
            .field("framing", &self.framing())
            .field("layout", &self.layout)
            .field("total", &self.total)
            .finish_non_exhaustive()
    }
}
