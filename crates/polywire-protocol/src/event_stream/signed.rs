//! [`SignedEnvelope`]: a message whose payload is a signed message.
//!
//! With AWS Signature Version 4, the sender of a request stream wraps each message in another one.
//! The outer message has two headers, `:date` and `:chunk-signature`, and its payload is the inner
//! message as encoded. The signature covers the encoded header `:date`, the payload, and the
//! signature before. An envelope without payload ends the stream.
//!
//! This module has only the framing. `EventSigner` and `EventVerifier` of `polywire-aws` compute
//! and check signatures. Their arguments are the date, [`SignedEnvelope::signed_header`] of this
//! date, and the payload:
//!
//! - To send: encode the event, sign it, and write [`SignedEnvelope::encode`] with the same date,
//!   which has whole seconds. At the end, sign and write an empty payload. The initial message is
//!   signed like an event.
//! - To receive: read the outer message with a [`MessageDecoder`], split it with
//!   [`SignedEnvelope::from_message`], have the signature checked, and only then read
//!   [`SignedEnvelope::event`]. A stream that ends without the empty envelope is truncated.

use bytes::Bytes;
use polywire_schema::{Error, ErrorKind};
use polywire_text::{Blob, Timestamp};

use super::kind::{header_path, wrong_type};
use super::{
    EventHeaderValue, EventMessage, FORMAT, MessageDecoder, MessageEncoder, MessageLimits,
};

const DATE: &str = ":date";
const SIGNATURE: &str = ":chunk-signature";

/// A signed message: its time, its signature, and the message itself.
///
/// ```
/// use bytes::Bytes;
/// use polywire_protocol::event_stream::{
///     MessageDecoder, MessageEncoder, MessageLimits, SignedEnvelope,
/// };
/// use polywire_schema::Timestamp;
///
/// let event = MessageEncoder::new(Vec::new()).finish(b"{}")?;
/// let date = Timestamp::new(1_700_000_000, 0);
/// let sent = SignedEnvelope::encode(Vec::new(), date, &[7; 32], &event)?;
///
/// let mut decoder = MessageDecoder::new(MessageLimits::DEFAULT);
/// let message = decoder.decode(&mut Bytes::from(sent))?.unwrap();
/// let envelope = SignedEnvelope::from_message(message)?;
/// assert_eq!(envelope.signature.as_bytes(), [7; 32]);
/// let event = envelope.event(MessageLimits::DEFAULT)?.unwrap();
/// assert_eq!(event.payload().as_bytes(), b"{}");
/// # Ok::<(), polywire_schema::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SignedEnvelope {
    /// When the message was signed, in whole milliseconds.
    pub date: Timestamp,
    /// The signature: the 32 bytes of an HMAC, not their hexadecimal digits.
    pub signature: Blob,
    /// The inner message as encoded. Empty at the end of the stream.
    pub payload: Bytes,
}

impl SignedEnvelope {
    /// Appends an envelope to `buffer`, and returns it. `payload` is an encoded message, or empty
    /// at the end of the stream.
    ///
    /// # Errors
    ///
    /// As [`MessageEncoder::finish_with`].
    pub fn encode(
        buffer: Vec<u8>,
        date: Timestamp,
        signature: &[u8],
        payload: &[u8],
    ) -> Result<Vec<u8>, Error> {
        let mut encoder = MessageEncoder::new(buffer);
        encoder.header(DATE, &EventHeaderValue::Timestamp(date));
        encoder.header(SIGNATURE, &EventHeaderValue::Blob(Blob::from(signature)));
        encoder.finish(payload)
    }

    /// The header `:date` as encoded, which the signature covers.
    ///
    /// # Errors
    ///
    /// The time in milliseconds has more than 64 bits.
    pub fn signed_header(date: Timestamp) -> Result<Vec<u8>, Error> {
        let mut encoder = MessageEncoder::new(Vec::new());
        encoder.header(DATE, &EventHeaderValue::Timestamp(date));
        encoder.into_headers()
    }

    /// Splits a message.
    ///
    /// # Errors
    ///
    /// The message has no date or no signature, or other headers, which no signature would cover.
    pub fn from_message(message: EventMessage) -> Result<Self, Error> {
        let (mut date, mut signature) = (None, None);
        let (headers, payload) = message.into_parts();
        for header in headers {
            match (header.name.as_str(), header.value) {
                (DATE, EventHeaderValue::Timestamp(value)) => date = Some(value),
                (SIGNATURE, EventHeaderValue::Blob(value)) => signature = Some(value),
                (DATE, other) => return Err(wrong_type(DATE, "a timestamp", &other)),
                (SIGNATURE, other) => return Err(wrong_type(SIGNATURE, "bytes", &other)),
                _ => {
                    return Err(Error::new(ErrorKind::Structure)
                        .in_format(FORMAT)
                        .expected("no header beside :date and :chunk-signature"));
                }
            }
        }
        Ok(Self {
            date: date.ok_or_else(|| missing(DATE))?,
            signature: signature.ok_or_else(|| missing(SIGNATURE))?,
            payload: payload.into_bytes(),
        })
    }

    /// Reads the inner message. Returns `None` if this envelope ends the stream.
    ///
    /// # Errors
    ///
    /// As [`MessageDecoder::decode`], or the payload is not exactly one message. Offsets count from
    /// the start of the payload.
    pub fn event(&self, limits: MessageLimits) -> Result<Option<EventMessage>, Error> {
        let mut input = self.payload.clone();
        let mut decoder = MessageDecoder::new(limits);
        let event = decoder.decode(&mut input)?;
        decoder.finish()?;
        if !input.is_empty() {
            return Err(Error::new(ErrorKind::Structure)
                .in_format(FORMAT)
                .expected("one message in a signed message")
                .at_offset(self.payload.len() - input.len()));
        }
        Ok(event)
    }
}

#[cold]
fn missing(name: &str) -> Error {
    Error::new(ErrorKind::Missing)
        .in_format(FORMAT)
        .expected("a signed message")
        .at_path(header_path(name))
}
