//! What a signature says about the body: the value of `x-amz-content-sha256`.

use std::fmt;

use polywire_text::hex;

use super::Algorithm;
use super::hash::{sha256, to_hex};

/// The last line of the canonical request, which is also the value of the header
/// `x-amz-content-sha256`.
///
/// ```
/// use polywire_aws::signature::Payload;
///
/// let payload = Payload::of(b"");
/// let text = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/// assert_eq!(payload.to_string(), text);
/// assert_eq!(Payload::parse(text), Some(payload));
/// assert_eq!(Payload::parse("UNSIGNED-PAYLOAD"), Some(Payload::Unsigned));
/// assert_eq!(Payload::parse("signed"), None);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Payload {
    /// The SHA-256 of the body.
    Sha256([u8; 32]),
    /// `UNSIGNED-PAYLOAD`: the signature does not cover the body.
    Unsigned,
    /// `STREAMING-UNSIGNED-PAYLOAD-TRAILER`: `aws-chunked` with a trailer, both unsigned.
    StreamingUnsignedTrailer,
    /// `STREAMING-AWS4-HMAC-SHA256-PAYLOAD`: `aws-chunked` with signed chunks.
    StreamingSigned,
    /// `STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER`: signed chunks and a signed trailer.
    StreamingSignedTrailer,
    /// `STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD`: chunks signed with Version 4A.
    StreamingEcdsa,
    /// `STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER`: chunks and trailer, Version 4A.
    StreamingEcdsaTrailer,
    /// `STREAMING-AWS4-HMAC-SHA256-EVENTS`: an event stream with signed messages.
    StreamingEvents,
}

const KEYWORDS: [(Payload, &str); 7] = [
    (Payload::Unsigned, "UNSIGNED-PAYLOAD"),
    (
        Payload::StreamingUnsignedTrailer,
        "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
    ),
    (
        Payload::StreamingSigned,
        "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
    ),
    (
        Payload::StreamingSignedTrailer,
        "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
    ),
    (
        Payload::StreamingEcdsa,
        "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD",
    ),
    (
        Payload::StreamingEcdsaTrailer,
        "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER",
    ),
    (
        Payload::StreamingEvents,
        "STREAMING-AWS4-HMAC-SHA256-EVENTS",
    ),
];

impl Payload {
    /// The payload of a body that is in memory.
    #[must_use]
    pub fn of(body: &[u8]) -> Self {
        Self::Sha256(sha256(body))
    }

    /// Reads the value of `x-amz-content-sha256`: a keyword, or 64 lower-case digits. Returns `None`
    /// for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some((payload, _)) = KEYWORDS.iter().find(|(_, keyword)| *keyword == text) {
            return Some(*payload);
        }
        let mut hash = [0; 32];
        hex::decode_to_slice(text.as_bytes(), &mut hash, hex::Case::Lower).ok()?;
        Some(Self::Sha256(hash))
    }

    /// Whether the signature covers the body or its chunks.
    #[must_use]
    pub fn is_signed(self) -> bool {
        !matches!(self, Self::Unsigned | Self::StreamingUnsignedTrailer)
    }

    /// Whether the body is encoded as `aws-chunked`.
    #[must_use]
    pub fn is_chunked(self) -> bool {
        !matches!(
            self,
            Self::Sha256(_) | Self::Unsigned | Self::StreamingEvents
        )
    }

    /// Whether headers follow the chunks.
    #[must_use]
    pub fn has_trailer(self) -> bool {
        matches!(
            self,
            Self::StreamingUnsignedTrailer
                | Self::StreamingSignedTrailer
                | Self::StreamingEcdsaTrailer
        )
    }

    /// The algorithm that signs the chunks or events. `None`: they are not signed, or there are none.
    #[must_use]
    pub fn chunk_algorithm(self) -> Option<Algorithm> {
        match self {
            Self::StreamingSigned | Self::StreamingSignedTrailer | Self::StreamingEvents => {
                Some(Algorithm::V4)
            }
            Self::StreamingEcdsa | Self::StreamingEcdsaTrailer => Some(Algorithm::V4a),
            Self::Sha256(_) | Self::Unsigned | Self::StreamingUnsignedTrailer => None,
        }
    }

    /// The value of `x-amz-content-sha256`. The buffer holds the digits of a hash.
    pub(super) fn text<'a>(&self, buffer: &'a mut [u8; 64]) -> &'a str {
        if let Self::Sha256(hash) = self {
            *buffer = to_hex(hash);
            return str::from_utf8(buffer).unwrap_or_default();
        }
        let keyword = KEYWORDS.iter().find(|(payload, _)| payload == self);
        keyword.map_or("", |(_, keyword)| keyword)
    }
}

impl fmt::Display for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text(&mut [0; 64]))
    }
}
