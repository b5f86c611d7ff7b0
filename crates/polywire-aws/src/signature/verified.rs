//! The result of verification.

use std::time::Duration;

use subtle::ConstantTimeEq as _;

use super::{
    Algorithm, ChunkVerifier, EventVerifier, Payload, Scope, Signature, SignatureError,
    SignedRequest, SigningKey, SigningTime,
};

/// A request whose signature was verified.
///
/// If the payload is [`Payload::Sha256`] and the body was not read before, the body is verified only
/// by [`check_body`](Self::check_body). If chunks are signed, they are verified by
/// [`chunk_verifier`](Self::chunk_verifier).
#[derive(Clone, Debug)]
pub struct VerifiedRequest {
    key: SigningKey,
    payload: Payload,
    signature: Signature,
    signed_headers: Box<str>,
    time: SigningTime,
    max_skew: Duration,
}

impl VerifiedRequest {
    pub(super) fn new(
        request: &SignedRequest<'_>,
        key: &SigningKey,
        payload: Payload,
        max_skew: Duration,
    ) -> Self {
        Self {
            key: key.clone(),
            payload,
            signature: request.signature,
            signed_headers: request.signed_headers.as_ref().into(),
            time: request.time,
            max_skew,
        }
    }

    /// The access key id of the caller.
    #[must_use]
    pub fn access_key_id(&self) -> &str {
        self.key.credentials().access_key_id()
    }

    /// Day, region and service of the signature.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        self.key.scope()
    }

    /// The names of the signed headers, in lower case and ascending order.
    pub fn signed_headers(&self) -> impl Iterator<Item = &str> {
        self.signed_headers.split(';')
    }

    /// What is signed of the body.
    #[must_use]
    pub fn payload(&self) -> Payload {
        self.payload
    }

    /// The time of the request.
    #[must_use]
    pub fn time(&self) -> SigningTime {
        self.time
    }

    /// The signature of the request, from which the signatures of chunks and events continue.
    #[must_use]
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Compares the hash of the body with the signed one. Payloads of other kinds have none.
    ///
    /// # Errors
    ///
    /// The hashes differ.
    pub fn check_body(&self, sha256_of_body: &[u8; 32]) -> Result<(), SignatureError> {
        match &self.payload {
            Payload::Sha256(signed) if !bool::from(signed.ct_eq(sha256_of_body)) => {
                let body = Payload::Sha256(*sha256_of_body);
                Err(SignatureError::payload_mismatch(self.payload, body))
            }
            _ => Ok(()),
        }
    }

    /// The verifier of the chunks of this request. `None` if its chunks are not signed.
    #[must_use]
    pub fn chunk_verifier(&self) -> Option<ChunkVerifier> {
        let is_chunked = self.payload.is_chunked() && self.payload.is_signed();
        is_chunked.then(|| ChunkVerifier::new(&self.key, &self.signature, self.time))
    }

    /// The verifier of the events of this request. `None` if its payload is not
    /// [`Payload::StreamingEvents`].
    #[must_use]
    pub fn event_verifier(&self) -> Option<EventVerifier> {
        if self.payload != Payload::StreamingEvents || self.key.algorithm() != Algorithm::V4 {
            return None;
        }
        let verifier = EventVerifier::new(&self.key, &self.signature).ok()?;
        Some(verifier.with_max_skew(self.max_skew))
    }
}
