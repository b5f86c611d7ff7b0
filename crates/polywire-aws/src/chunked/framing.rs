//! The framings, and the traits for signatures.

/// The forms of `aws-chunked`, named by `x-amz-content-sha256`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Framing {
    /// Chunks without signatures, and a trailer.
    UnsignedTrailer,
    /// Chunks signed with SigV4, no trailer.
    Signed,
    /// Chunks and trailer signed with SigV4.
    SignedTrailer,
    /// Chunks signed with SigV4a, no trailer.
    SignedEcdsa,
    /// Chunks and trailer signed with SigV4a.
    SignedEcdsaTrailer,
}

impl Framing {
    const ALL: [Self; 5] = [
        Self::UnsignedTrailer,
        Self::Signed,
        Self::SignedTrailer,
        Self::SignedEcdsa,
        Self::SignedEcdsaTrailer,
    ];

    /// The framing of this value of `x-amz-content-sha256`; none if it names no framing, as a hash does not.
    ///
    /// ```
    /// use polywire_aws::chunked::Framing;
    ///
    /// let framing = Framing::from_content_sha256("STREAMING-AWS4-HMAC-SHA256-PAYLOAD");
    /// assert_eq!(framing, Some(Framing::Signed));
    /// assert_eq!(Framing::from_content_sha256("UNSIGNED-PAYLOAD"), None);
    /// ```
    #[must_use]
    pub fn from_content_sha256(value: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|framing| framing.content_sha256() == value)
    }

    /// The value of `x-amz-content-sha256`.
    #[must_use]
    pub const fn content_sha256(self) -> &'static str {
        match self {
            Self::UnsignedTrailer => "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
            Self::Signed => "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
            Self::SignedTrailer => "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
            Self::SignedEcdsa => "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD",
            Self::SignedEcdsaTrailer => "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER",
        }
    }

    /// Whether chunks have signatures.
    #[must_use]
    pub const fn is_signed(self) -> bool {
        !matches!(self, Self::UnsignedTrailer)
    }

    /// Whether trailers may follow the last chunk.
    #[must_use]
    pub const fn has_trailer(self) -> bool {
        matches!(
            self,
            Self::UnsignedTrailer | Self::SignedTrailer | Self::SignedEcdsaTrailer
        )
    }

    /// The number of characters of a signature, with its padding `*`; 0 if chunks are not signed.
    #[must_use]
    pub const fn signature_len(self) -> usize {
        match self {
            Self::UnsignedTrailer => 0,
            Self::Signed | Self::SignedTrailer => 64,
            Self::SignedEcdsa | Self::SignedEcdsaTrailer => MAX_SIGNATURE,
        }
    }
}

/// The length of the longest signature: ECDSA, padded.
pub(super) const MAX_SIGNATURE: usize = 144;

/// Checks the signatures of a body. Each signature covers the one before it, so the calls are in the order of the
/// body, and an implementation keeps the previous signature.
pub trait ChunkAuthenticator {
    /// Whether `signature` signs a chunk whose data has this SHA-256. The signature has lower-case hexadecimal digits
    /// only: padding is removed.
    fn chunk(&mut self, sha256: &[u8; 32], signature: &[u8]) -> bool;

    /// Whether `signature` signs these trailers, each as `name:value\n`, names in lower case and sorted.
    fn trailer(&mut self, canonical_trailers: &[u8], signature: &[u8]) -> bool;
}

impl<A: ChunkAuthenticator + ?Sized> ChunkAuthenticator for Box<A> {
    fn chunk(&mut self, sha256: &[u8; 32], signature: &[u8]) -> bool {
        (**self).chunk(sha256, signature)
    }

    fn trailer(&mut self, canonical_trailers: &[u8], signature: &[u8]) -> bool {
        (**self).trailer(canonical_trailers, signature)
    }
}

/// Accepts every signature: for test doubles that do not know keys. Never use it where a signature matters.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnySignature;

impl ChunkAuthenticator for AnySignature {
    fn chunk(&mut self, _: &[u8; 32], _: &[u8]) -> bool {
        true
    }

    fn trailer(&mut self, _: &[u8], _: &[u8]) -> bool {
        true
    }
}

/// Signs a body with SigV4. Each signature covers the one before it, so the calls are in the order of the body, and an
/// implementation keeps the previous signature.
pub trait ChunkSigner {
    /// The signature of a chunk whose data has this SHA-256, in lower-case hexadecimal.
    fn chunk(&mut self, sha256: &[u8; 32]) -> [u8; 64];

    /// The signature of these trailers, each as `name:value\n`, names in lower case and sorted; in lower-case
    /// hexadecimal.
    fn trailer(&mut self, canonical_trailers: &[u8]) -> [u8; 64];
}

impl<S: ChunkSigner + ?Sized> ChunkSigner for Box<S> {
    fn chunk(&mut self, sha256: &[u8; 32]) -> [u8; 64] {
        (**self).chunk(sha256)
    }

    fn trailer(&mut self, canonical_trailers: &[u8]) -> [u8; 64] {
        (**self).trailer(canonical_trailers)
    }
}
