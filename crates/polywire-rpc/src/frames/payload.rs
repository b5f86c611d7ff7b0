//! What stands in payloads: CBOR, of types of serde.

use polywire_codec::cbor::{CborDecoder, CborEncoder, CborProfile};
use polywire_schema::{Error, Limits};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::CallError;

/// What `()` is in CBOR.
const NULL: [u8; 1] = [0xf6];

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
    write(parameters, out).map_err(|error| CallError::Invalid(error.to_string()))?;
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
