//! Payloads: values of serde in CBOR.

use std::ops::Deref;

use bytes::Bytes;
use polywire_codec::cbor::{CborDecoder, CborEncoder, CborProfile};
use polywire_schema::{Body, Error, Limits};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::CallError;

/// `()` in CBOR.
const NULL: [u8; 1] = [0xf6];

/// A received payload.
#[derive(Debug)]
pub(crate) enum Payload<'a> {
    /// In a buffer that is reused.
    Borrowed(&'a [u8]),
    /// A large payload, in the buffer that it was received into.
    Shared(Bytes),
}

impl Deref for Payload<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

impl Payload<'_> {
    pub(super) fn into_bytes(self) -> Bytes {
        match self {
            Self::Borrowed(bytes) => Bytes::copy_from_slice(bytes),
            Self::Shared(bytes) => bytes,
        }
    }

    pub(super) fn into_vec(self) -> Vec<u8> {
        match self {
            Self::Borrowed(bytes) => bytes.to_vec(),
            Self::Shared(bytes) => bytes.into(),
        }
    }

    /// Reads a value that is the whole payload.
    pub(super) fn read<T: DeserializeOwned>(self, limits: &Limits) -> Result<T, Error> {
        match self {
            Self::Borrowed(bytes) => read(bytes, limits),
            Self::Shared(bytes) => read_shared(bytes, limits),
        }
    }
}

/// The payload as a part of the received frame, without a copy. None if it is not a part of it, because it was
/// compressed, or less than half of it: the part keeps the memory of the whole frame.
pub(crate) fn part(whole: &Bytes, payload: &[u8]) -> Option<Bytes> {
    let within = whole.as_ptr_range().contains(&payload.as_ptr());
    let shares = within && payload.len() >= whole.len() / 2;
    shares.then(|| whole.slice_ref(payload))
}

/// Writes a value to an empty buffer.
pub(crate) fn write(value: &impl Serialize, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut encoder = CborEncoder::new(std::mem::take(out));
    encoder.serialize(value)?;
    *out = encoder.finish()?;
    Ok(())
}

/// Writes parameters to an empty buffer. No parameters are an empty payload.
pub(super) fn write_parameters(
    parameters: &impl Serialize,
    out: &mut Vec<u8>,
) -> Result<(), CallError> {
    write(parameters, out).map_err(|error| CallError::encode_text(error.to_string()))?;
    if **out == NULL {
        out.clear();
    }
    Ok(())
}

/// Reads a value that is the whole payload.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8], limits: &Limits) -> Result<T, Error> {
    let mut decoder = CborDecoder::from_slice(bytes, CborProfile::DEFAULT, limits)?;
    let value = decoder.deserialize()?;
    decoder.finish()?;
    Ok(value)
}

/// Reads a value whose blobs share the buffer.
#[cold]
fn read_shared<T: DeserializeOwned>(bytes: Bytes, limits: &Limits) -> Result<T, Error> {
    let body = Body::new(bytes);
    let mut decoder = CborDecoder::from_body(&body, CborProfile::DEFAULT, limits)?;
    let value = decoder.deserialize()?;
    decoder.finish()?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part would keep the memory of the whole frame.
    #[test]
    fn a_small_payload_does_not_share_its_frame() {
        let whole = Bytes::from(vec![7; 100_000]);
        for payload in [&whole[16..], &whole[50_000..], &whole[..50_000]] {
            let part = part(&whole, payload).unwrap();
            assert_eq!(part.as_ptr_range(), payload.as_ptr_range());
        }
        for payload in [&whole[99_000..], &whole[50_001..], &whole[..0]] {
            assert!(part(&whole, payload).is_none());
        }
        // A decompressed payload is not part of the frame.
        assert!(part(&whole, &[7; 60_000]).is_none());
    }
}
