//! Signatures of the chunks of `aws-chunked` bodies, and of their trailers.
//!
//! ```text
//! string to sign of a chunk = algorithm "-PAYLOAD" LF time LF scope LF previous-signature LF
//!                             hex(SHA-256("")) LF hex(SHA-256(chunk))
//! string to sign of a trailer = algorithm "-TRAILER" LF time LF scope LF previous-signature LF
//!                               hex(SHA-256(trailer))
//! trailer = 1*( name ":" value LF )          lower-case names, in the order of the body
//! ```
//!
//! The previous signature of the first chunk is the signature of the request, the seed. The last
//! chunk is empty; the trailer follows it.
//!
//! Specification: "Signature calculations for the Authorization header: transferring payload in
//! multiple chunks" and "... trailing headers" of the Amazon S3 API reference.

use super::hash::{EMPTY_HASH, sha256, to_hex};
use super::value::MAX_SIGNATURE;
use super::{Algorithm, Signature, SignatureError, SigningKey, SigningTime};

/// The key, what all chunks share, and the signature of the previous chunk.
#[derive(Clone, Debug)]
struct Chain {
    key: SigningKey,
    /// Time and scope, one line each.
    context: Vec<u8>,
    previous: Signature,
    /// Holds one string to sign at a time, so that a chunk allocates nothing.
    buffer: Vec<u8>,
}

impl Chain {
    fn new(key: &SigningKey, seed: &Signature, time: SigningTime) -> Self {
        let context = format!("{time}\n{}\n", key.scope()).into_bytes();
        Self {
            key: key.clone(),
            buffer: Vec::with_capacity(context.len() + 320),
            context,
            previous: *seed,
        }
    }

    fn chunk(&mut self, hash: &[u8; 32]) {
        self.start("-PAYLOAD\n");
        self.buffer.extend_from_slice(EMPTY_HASH);
        self.finish(hash);
    }

    fn trailer(&mut self, trailer: &[u8]) {
        self.start("-TRAILER\n");
        // `finish` separates the hashes of a chunk; here the line is already complete.
        self.buffer.pop();
        self.finish(&sha256(trailer));
    }

    fn start(&mut self, suffix: &str) {
        self.buffer.clear();
        self.buffer
            .extend_from_slice(self.key.algorithm().name().as_bytes());
        self.buffer.extend_from_slice(suffix.as_bytes());
        self.buffer.extend_from_slice(&self.context);
        self.buffer.extend_from_slice(self.previous.as_bytes());
        self.buffer.push(b'\n');
    }

    fn finish(&mut self, hash: &[u8; 32]) {
        self.buffer.push(b'\n');
        self.buffer.extend_from_slice(&to_hex(hash));
    }

    fn sign_chunk(&mut self, hash: &[u8; 32]) -> Signature {
        self.chunk(hash);
        self.previous = self.key.sign(&self.buffer);
        self.previous
    }

    fn sign_trailer(&mut self, trailer: &[u8]) -> Signature {
        self.trailer(trailer);
        self.previous = self.key.sign(&self.buffer);
        self.previous
    }

    /// Compares with the string to sign in the buffer. The chain continues only if they match.
    fn check(&mut self, signature: &[u8]) -> Result<(), SignatureError> {
        let claimed = Signature::parse(self.key.algorithm(), signature)
            .ok_or_else(SignatureError::malformed_chunk_signature)?;
        if !self.key.verify(&self.buffer, &claimed) {
            return Err(SignatureError::chunk_mismatch(&self.buffer));
        }
        self.previous = claimed;
        Ok(())
    }
}

/// Signs the chunks of a request whose payload is
/// [`StreamingSigned`](super::Payload::StreamingSigned), with Version 4.
///
/// ```
/// use polywire_aws::signature::{ChunkSigner, Credentials, Signature, SigningKey, SigningTime};
/// use polywire_aws::signature::Algorithm;
///
/// // The example of the Amazon S3 API reference.
/// let credentials =
///     Credentials::new("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY");
/// let time = SigningTime::parse("20130524T000000Z").unwrap();
/// let key = SigningKey::derive(&credentials, time.date(), "us-east-1", "s3");
/// let seed = b"4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9";
/// let seed = Signature::parse(Algorithm::V4, seed).unwrap();
/// let mut signer = ChunkSigner::new(&key, &seed, time)?;
/// assert_eq!(
///     &signer.sign_chunk(&[b'a'; 65536]),
///     b"ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
/// );
/// # Ok::<(), polywire_aws::signature::SignatureError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ChunkSigner(Chain);

impl ChunkSigner {
    /// Starts the chain with the signature of the request. `time` is that of the request.
    ///
    /// # Errors
    ///
    /// The key is of Version 4A; see [`EcdsaChunkSigner`].
    pub fn new(
        key: &SigningKey,
        seed: &Signature,
        time: SigningTime,
    ) -> Result<Self, SignatureError> {
        require(key, Algorithm::V4)?;
        Ok(Self(Chain::new(key, seed, time)))
    }

    /// Signs the next chunk. The last chunk is empty.
    pub fn sign_chunk(&mut self, data: &[u8]) -> [u8; 64] {
        self.sign_chunk_hash(&sha256(data))
    }

    /// Signs the next chunk, whose SHA-256 the caller has computed.
    pub fn sign_chunk_hash(&mut self, sha256_of_chunk: &[u8; 32]) -> [u8; 64] {
        first_64(&self.0.sign_chunk(sha256_of_chunk))
    }

    /// Signs the trailer, after the empty chunk. `canonical_trailers` has one line per header:
    /// `name:value` and a line feed, with the name in lower case.
    pub fn sign_trailer(&mut self, canonical_trailers: &[u8]) -> [u8; 64] {
        first_64(&self.0.sign_trailer(canonical_trailers))
    }
}

fn first_64(signature: &Signature) -> [u8; 64] {
    let mut digits = [0; 64];
    digits.copy_from_slice(&signature.padded()[..64]);
    digits
}

/// Signs the chunks of a request with Version 4A.
///
/// The signatures have different lengths, and are padded to 144 bytes with `*` in the body, so that
/// its length is known in advance. The padding is not part of the next string to sign.
#[derive(Clone, Debug)]
pub struct EcdsaChunkSigner(Chain);

impl EcdsaChunkSigner {
    /// Starts the chain with the signature of the request. `time` is that of the request.
    ///
    /// # Errors
    ///
    /// The key is of Version 4; see [`ChunkSigner`].
    pub fn new(
        key: &SigningKey,
        seed: &Signature,
        time: SigningTime,
    ) -> Result<Self, SignatureError> {
        require(key, Algorithm::V4a)?;
        Ok(Self(Chain::new(key, seed, time)))
    }

    /// As [`ChunkSigner::sign_chunk`], with padding.
    pub fn sign_chunk(&mut self, data: &[u8]) -> [u8; MAX_SIGNATURE] {
        self.sign_chunk_hash(&sha256(data))
    }

    /// As [`ChunkSigner::sign_chunk_hash`], with padding.
    pub fn sign_chunk_hash(&mut self, sha256_of_chunk: &[u8; 32]) -> [u8; MAX_SIGNATURE] {
        self.0.sign_chunk(sha256_of_chunk).padded()
    }

    /// As [`ChunkSigner::sign_trailer`], with padding.
    pub fn sign_trailer(&mut self, canonical_trailers: &[u8]) -> [u8; MAX_SIGNATURE] {
        self.0.sign_trailer(canonical_trailers).padded()
    }
}

fn require(key: &SigningKey, algorithm: Algorithm) -> Result<(), SignatureError> {
    if key.algorithm() == algorithm {
        Ok(())
    } else {
        Err(SignatureError::wrong_key(algorithm))
    }
}

/// Verifies the chunks of a request, of both versions.
///
/// After an error the chain stays where it was: drop the request, because its data cannot be
/// trusted.
#[derive(Clone, Debug)]
pub struct ChunkVerifier(Chain);

impl ChunkVerifier {
    /// Starts the chain with the signature of the request, which must be verified. `time` is that of
    /// the request. See also [`VerifiedRequest::chunk_verifier`](super::VerifiedRequest::chunk_verifier).
    #[must_use]
    pub fn new(key: &SigningKey, seed: &Signature, time: SigningTime) -> Self {
        Self(Chain::new(key, seed, time))
    }

    /// Verifies the signature of the next chunk. The last chunk is empty.
    ///
    /// # Errors
    ///
    /// The signature is not lower-case hexadecimal, or does not match.
    pub fn verify_chunk(
        &mut self,
        sha256_of_chunk: &[u8; 32],
        signature: &[u8],
    ) -> Result<(), SignatureError> {
        self.0.chunk(sha256_of_chunk);
        self.0.check(signature)
    }

    /// Verifies the signature of the trailer; see [`ChunkSigner::sign_trailer`].
    ///
    /// # Errors
    ///
    /// As [`verify_chunk`](Self::verify_chunk).
    pub fn verify_trailer(
        &mut self,
        canonical_trailers: &[u8],
        signature: &[u8],
    ) -> Result<(), SignatureError> {
        self.0.trailer(canonical_trailers);
        self.0.check(signature)
    }
}
