//! XML: what is read and refused, by the format and by its reference implementation.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod documents;
mod hostile;
mod members;
mod peers;
mod random;
#[path = "../shapes/mod.rs"]
mod shapes;
mod wrappers;

use polywire_codec::reference::xml as reference;
use polywire_codec::xml::{XmlDecoder, XmlEncoder, XmlProfile};
use polywire_schema::{Body, Decode, Encode, Error, Limits, Member, Value};

/// Reads a document as the shape of `at`. Both readers accept it and find the
/// same, or both refuse it; the error is the format's.
fn read_with(
    text: &str,
    at: Member<'_>,
    profile: XmlProfile<'_>,
    limits: &Limits,
) -> Result<Value, Error> {
    let native = |text: &str| {
        let body = Body::from(text.as_bytes().to_vec());
        let mut decoder = XmlDecoder::from_body(&body, profile, limits)?;
        let value = Value::decode(at, &mut decoder)?;
        decoder.finish()?;
        Ok(value)
    };
    // Far from the end of its input the reader goes quicker ways.
    let far = native(&format!("{text}<!--{}-->", " ".repeat(80)));
    let native = native(text);
    let reference = reference::XmlDecoder::from_str(text, profile, limits)
        .and_then(|mut decoder| Value::decode(at, &mut decoder));
    let shown = |result: &Result<Value, Error>| match result {
        Ok(value) => format!("{value:?}"),
        Err(_) => "refused".to_owned(),
    };
    assert_eq!(
        shown(&native),
        shown(&far),
        "{text}\n{:?}",
        far.as_ref().err()
    );
    assert_eq!(
        shown(&native),
        shown(&reference),
        "{text}\n{:?}\n{:?}",
        native.as_ref().err(),
        reference.as_ref().err()
    );
    native
}

/// As a server does.
fn read(text: &str, at: Member<'_>) -> Result<Value, Error> {
    read_with(text, at, XmlProfile::DEFAULT, &Limits::DEFAULT)
}

/// As a client does.
fn read_lenient(text: &str, at: Member<'_>) -> Result<Value, Error> {
    read_with(text, at, XmlProfile::DEFAULT.for_client(), &Limits::DEFAULT)
}

/// Writes a value. Both writers write the same, or both refuse.
fn write_with<T: Encode>(
    value: &T,
    at: Member<'_>,
    profile: XmlProfile<'_>,
) -> Result<String, Error> {
    let mut encoder = XmlEncoder::new(profile, Vec::new());
    value.encode(at, &mut encoder);
    let native = encoder
        .finish()
        .map(|bytes| String::from_utf8(bytes).unwrap());
    let mut encoder = reference::XmlEncoder::new(profile, false);
    value.encode(at, &mut encoder);
    let reference = encoder
        .finish()
        .map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(native.as_ref().ok(), reference.as_ref().ok());
    native
}

fn write<T: Encode>(value: &T, at: Member<'_>) -> Result<String, Error> {
    write_with(value, at, XmlProfile::DEFAULT)
}
