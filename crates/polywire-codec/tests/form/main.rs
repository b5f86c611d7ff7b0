//! Forms: what is written, what is read, and how errors look.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod errors;
mod peers;
mod read;
#[path = "../shapes/mod.rs"]
mod shapes;
mod written;

use std::fmt::Debug;

use polywire_codec::form::{FormDecoder, FormEncoder, FormProfile};
use polywire_schema::{Body, Decode, Decoder, Encode, Encoder, Error, Limits, Member, Text, Value};

const QUERY: FormProfile = FormProfile::AWS_QUERY;
const EC2: FormProfile = FormProfile::EC2_QUERY;

fn write<T: Encode + ?Sized>(
    value: &T,
    at: Member<'_>,
    profile: FormProfile,
) -> Result<String, Error> {
    let mut encoder = FormEncoder::new(profile, Vec::new());
    value.encode(at, &mut encoder);
    let written = encoder.finish();
    let mut encoder = FormEncoder::new(profile, Vec::new());
    value.encode(at, &mut encoder as &mut dyn Encoder);
    let through_dyn = encoder.finish();
    match (&written, through_dyn) {
        (Ok(written), Ok(through_dyn)) => assert_eq!(*written, through_dyn),
        (Err(written), Err(through_dyn)) => {
            assert_eq!(written.to_string(), through_dyn.to_string());
        }
        other => panic!("{other:?}"),
    }
    written.map(|written| String::from_utf8(written).unwrap())
}

fn read<T: for<'de> Decode<'de>>(
    form: &str,
    at: Member<'_>,
    profile: FormProfile,
) -> Result<T, Error> {
    let body = Body::from(form.as_bytes().to_vec());
    let mut decoder = FormDecoder::from_body(&body, profile, &Limits::DEFAULT)?;
    let value = T::decode(at, &mut decoder as &mut dyn Decoder<'_>)?;
    decoder.finish()?;
    Ok(value)
}

/// Reads as a type and as `Value`; both must mean the same, or fail alike.
fn read_both<T>(form: &str, at: Member<'_>, profile: FormProfile) -> Result<T, Error>
where
    T: Encode + Debug + for<'de> Decode<'de>,
{
    let typed = read::<T>(form, at, profile);
    let dynamic = read::<Value>(form, at, profile);
    match (&typed, &dynamic) {
        (Ok(typed), Ok(dynamic)) => {
            let typed = write(typed, at, profile).map_err(|error| error.to_string());
            let dynamic = write(dynamic, at, profile).map_err(|error| error.to_string());
            assert_eq!(typed, dynamic, "{form}");
        }
        (Err(typed), Err(dynamic)) => assert_eq!(typed.to_string(), dynamic.to_string()),
        other => panic!("{other:?} of {form}"),
    }
    typed
}

/// There and back, typed and as `Value`.
fn check<T>(value: &T, at: Member<'_>, profile: FormProfile) -> String
where
    T: Encode + for<'de> Decode<'de> + PartialEq + Debug,
{
    let form = write(value, at, profile).unwrap();
    let again: T = read_both(&form, at, profile).unwrap_or_else(|error| panic!("{error}\n{form}"));
    assert_eq!(again, *value, "{form}");
    form
}

fn texts(texts: &[&str]) -> Vec<Text> {
    texts.iter().map(|text| Text::from(*text)).collect()
}
