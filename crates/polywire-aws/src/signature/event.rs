//! Signatures of the messages of an event stream.
//!
//! ```text
//! string to sign = "AWS4-HMAC-SHA256-PAYLOAD" LF time LF scope LF previous-signature LF
//!                  hex(SHA-256(headers)) LF hex(SHA-256(payload))
//! ```
//!
//! A signed message has two headers: `:date`, a timestamp, and `:chunk-signature`, 32 bytes. Its
//! payload is the complete encoded message of an event. `headers` are the encoded headers without the
//! signature, so usually only `:date`: see [`date_header`]. The previous signature of the first
//! message is that of the request, whose payload is `STREAMING-AWS4-HMAC-SHA256-EVENTS`. The last
//! message has an empty payload.
//!
//! Specification: "Setting up a streaming request", Amazon Transcribe developer guide, and "Amazon
//! Event Stream" of Smithy.

use std::time::Duration;

use polywire_text::Timestamp;

use super::hash::{sha256, to_hex};
use super::{Algorithm, Signature, SignatureError, SigningKey, SigningTime};

/// Encodes the header `:date`: length of the name, name, type 8, milliseconds since 1970. Fractions of
/// a second are dropped, because the string to sign does not have them.
/// Returns `None` if the milliseconds are out of range.
#[must_use]
pub fn date_header(time: Timestamp) -> Option<[u8; 15]> {
    let mut header = *b"\x05:date\x08........";
    header[7..].copy_from_slice(&time.seconds().checked_mul(1000)?.to_be_bytes());
    Some(header)
}

#[derive(Clone, Debug)]
struct Chain {
    key: SigningKey,
    previous: Signature,
    /// Holds one string to sign at a time.
    buffer: Vec<u8>,
}

impl Chain {
    fn new(key: &SigningKey, seed: &Signature) -> Result<Self, SignatureError> {
        if key.algorithm() != Algorithm::V4 {
            return Err(SignatureError::wrong_key(Algorithm::V4));
        }
        Ok(Self {
            key: key.clone(),
            previous: *seed,
            buffer: Vec::with_capacity(384),
        })
    }

    /// Puts the string to sign into the buffer. Derives another key after midnight.
    fn start(
        &mut self,
        date: Timestamp,
        headers: &[u8],
        payload: &[u8],
    ) -> Result<(), SignatureError> {
        let time = SigningTime::new(date).ok_or_else(SignatureError::time_out_of_range)?;
        if time.date() != self.key.scope().date() {
            self.key = self.key.for_date(time.date());
        }
        let lines: [&[u8]; 6] = [
            b"AWS4-HMAC-SHA256-PAYLOAD",
            time.as_str().as_bytes(),
            self.key.scope().as_str().as_bytes(),
            self.previous.as_bytes(),
            &to_hex(&sha256(headers)),
            &to_hex(&sha256(payload)),
        ];
        self.buffer.clear();
        for line in lines {
            self.buffer.extend_from_slice(line);
            self.buffer.push(b'\n');
        }
        self.buffer.pop();
        Ok(())
    }
}

/// Signs the messages of an event stream.
///
/// ```
/// use polywire_aws::signature::{Algorithm, Credentials, EventSigner, EventVerifier};
/// use polywire_aws::signature::{Signature, SigningKey, SigningTime, date_header};
/// use polywire_text::Timestamp;
///
/// let now = Timestamp::new(1_440_938_160, 0);
/// let credentials = Credentials::new("AKIDEXAMPLE", "secret");
/// let date = SigningTime::new(now).unwrap().date();
/// let key = SigningKey::derive(&credentials, date, "us-east-1", "transcribe");
/// let seed = key.sign(b"the string to sign of the request");
///
/// let header = date_header(now).unwrap();
/// let signature = EventSigner::new(&key, &seed)?.sign_event(now, &header, b"message")?;
///
/// let mut verifier = EventVerifier::new(&key, &seed)?;
/// verifier.verify_event(now, &header, b"message", &signature, now)?;
/// # Ok::<(), polywire_aws::signature::SignatureError>(())
/// ```
#[derive(Clone, Debug)]
pub struct EventSigner(Chain);

impl EventSigner {
    /// Starts the chain with the signature of the request.
    ///
    /// # Errors
    ///
    /// The key is of Version 4A, for which signed events do not exist.
    pub fn new(key: &SigningKey, seed: &Signature) -> Result<Self, SignatureError> {
        Chain::new(key, seed).map(Self)
    }

    /// Returns the value of `:chunk-signature`. `date` is the value of `:date`; `headers` are the
    /// encoded headers; `payload` is the encoded message inside, or empty at the end of the stream.
    ///
    /// # Errors
    ///
    /// `date` is before the year 0 or after 9999.
    pub fn sign_event(
        &mut self,
        date: Timestamp,
        headers: &[u8],
        payload: &[u8],
    ) -> Result<[u8; 32], SignatureError> {
        self.0.start(date, headers, payload)?;
        let signature = self.0.key.sign(&self.0.buffer);
        self.0.previous = signature;
        signature
            .to_mac()
            .ok_or_else(|| SignatureError::wrong_key(Algorithm::V4))
    }
}

/// Verifies the messages of an event stream.
///
/// After an error the chain stays where it was: close the stream.
#[derive(Clone, Debug)]
pub struct EventVerifier {
    chain: Chain,
    max_skew: Duration,
}

impl EventVerifier {
    /// Starts the chain with the signature of the request, which must be verified.
    ///
    /// # Errors
    ///
    /// The key is of Version 4A, for which signed events do not exist.
    pub fn new(key: &SigningKey, seed: &Signature) -> Result<Self, SignatureError> {
        Ok(Self {
            chain: Chain::new(key, seed)?,
            max_skew: super::DEFAULT_MAX_SKEW,
        })
    }

    /// Changes the largest difference between `:date` and the clock of the server. The default is 15
    /// minutes.
    #[must_use]
    pub fn with_max_skew(mut self, max_skew: Duration) -> Self {
        self.max_skew = max_skew;
        self
    }

    /// Verifies a message: the arguments of [`EventSigner::sign_event`], `:chunk-signature`, and the
    /// time of the server.
    ///
    /// # Errors
    ///
    /// `date` and `now` differ too much, or the signature does not match.
    pub fn verify_event(
        &mut self,
        date: Timestamp,
        headers: &[u8],
        payload: &[u8],
        signature: &[u8],
        now: Timestamp,
    ) -> Result<(), SignatureError> {
        super::verify::check_skew(date, now, self.max_skew)?;
        let claimed: &[u8; 32] = signature
            .try_into()
            .map_err(|_| SignatureError::malformed_chunk_signature())?;
        // The key of another day replaces the current one only if the message is genuine.
        let mut next = self.chain.clone();
        next.start(date, headers, payload)?;
        let claimed = Signature::from_mac(claimed);
        if !next.key.verify(&next.buffer, &claimed) {
            return Err(SignatureError::chunk_mismatch(&next.buffer));
        }
        next.previous = claimed;
        self.chain = next;
        Ok(())
    }
}
