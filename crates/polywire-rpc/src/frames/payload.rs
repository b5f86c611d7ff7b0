//! What stands in payloads: CBOR, of types of serde.

use std::ops::Deref;

use bytes::Bytes;
use polywire_codec::cbor::{CborDecoder, CborEncoder, CborProfile};
use polywire_schema::{Body, Error, Limits};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::CallError;

/// What `()` is in CBOR.
const NULL: [u8; 1] = [0xf6];

/// A payload that was read.
#[derive(Debug)]
pub(crate) enum Payload<'a> {
    /// One that will be gone.
    Lent(&'a [u8]),
    /// One that is large, as it came.
    Shared(Bytes),
}

impl Deref for Payload<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Lent(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

impl Payload<'_> {
    pub(super) fn into_bytes(self) -> Bytes {
        match self {
            Self::Lent(bytes) => Bytes::copy_from_slice(bytes),
            Self::Shared(bytes) => bytes,
        }
    }

    pub(super) fn into_vec(self) -> Vec<u8> {
        match self {
            Self::Lent(bytes) => bytes.to_vec(),
            Self::Shared(bytes) => bytes.into(),
        }
    }

    /// Reads a value that is all there is.
    pub(super) fn read<T: DeserializeOwned>(self, limits: &Limits) -> Result<T, Error> {
        match self {
            Self::Lent(bytes) => read(bytes, limits),
            Self::Shared(bytes) => read_shared(bytes, limits),
        }
    }
}

/// A payload as a part of what came, if it is one, which it is not if it came compressed, and if it is at least half of
/// it: whoever keeps the part keeps the whole.
pub(crate) fn part(whole: &Bytes, payload: &[u8]) -> Option<Bytes> {
    let within = whole.as_ptr_range().contains(&payload.as_ptr());
    let shares = within && payload.len() >= whole.len() / 2;
    shares.then(|| whole.slice_ref(payload))
}

/// Appends a value to what may have room, and has nothing in it.
pub(crate) fn write(value: &impl Serialize, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut encoder = CborEncoder::new(std::mem::take(out));
    encoder.serialize(value)?;
    *out = encoder.finish()?;
    Ok(())
}

/// The same for parameters, which are an empty payload if there are none.
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

/// Reads a value that is all there is.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8], limits: &Limits) -> Result<T, Error> {
    let mut decoder = CborDecoder::from_slice(bytes, CborProfile::DEFAULT, limits)?;
    let value = decoder.deserialize()?;
    decoder.finish()?;
    Ok(value)
}

/// The same of what blobs may share.
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

    /// What is kept of a part is the whole.
    #[test]
    fn only_what_is_much_of_it_is_a_part_of_it() {
        let whole = Bytes::from(vec![7; 100_000]);
        for payload in [&whole[16..], &whole[50_000..], &whole[..50_000]] {
            let part = part(&whole, payload).unwrap();
            assert_eq!(part.as_ptr_range(), payload.as_ptr_range());
        }
        for payload in [&whole[99_000..], &whole[50_001..], &whole[..0]] {
            assert!(part(&whole, payload).is_none());
        }
        // One that came compressed.
        assert!(part(&whole, &[7; 60_000]).is_none());
    }
}
