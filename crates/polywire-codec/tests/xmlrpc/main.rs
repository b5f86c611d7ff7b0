//! XML-RPC through its public interface: serde types, leniencies, styles,
//! multicalls.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod bodies;
mod broken;
mod corners;
mod documents;
mod hostile;
mod leniencies;
mod multicalls;
mod reference;
mod serde_members;
mod serde_types;
mod source;
mod styles;
mod whole;

use polywire_codec::xmlrpc::{Envelope, Style, XmlRpcDecoder, XmlRpcEncoder, XmlRpcProfile};
use polywire_schema::{Decode, Encode, Error, Limits, Member, Value};
use serde::{Deserialize, Serialize};

/// A response with this inside of its value.
fn response(inside: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?><methodResponse><params><param><value>{inside}</value></param>\
         </params></methodResponse>"
    )
}

/// Reads the inside of a value.
fn value_by(profile: XmlRpcProfile, inside: &str) -> Result<Value, Error> {
    let text = response(inside);
    let (_, mut decoder) = XmlRpcDecoder::response_from_str(&text, profile, &Limits::DEFAULT)?;
    let value = Value::decode(Member::DOCUMENT, &mut decoder)?;
    decoder.finish()?;
    Ok(value)
}

fn value(inside: &str) -> Result<Value, Error> {
    value_by(XmlRpcProfile::DEFAULT, inside)
}

/// Reads the inside of a value as a type.
fn typed<T: for<'de> Deserialize<'de>>(inside: &str) -> Result<T, Error> {
    let text = response(inside);
    let (_, mut decoder) =
        XmlRpcDecoder::response_from_str(&text, XmlRpcProfile::DEFAULT, &Limits::DEFAULT)?;
    let value = decoder.deserialize()?;
    decoder.finish()?;
    Ok(value)
}

/// The inside of the value that a type is written as, with nothing of it lost.
fn written<T: Serialize>(value: &T) -> Result<String, Error> {
    let style = Style::DEFAULT.with_fractions(true);
    let mut encoder = XmlRpcEncoder::new(Envelope::Value, Vec::new()).with_style(style);
    encoder.serialize(value)?;
    Ok(inside(encoder.finish()?))
}

fn written_value(value: &Value) -> String {
    let style = Style::DEFAULT.with_fractions(true);
    let mut encoder = XmlRpcEncoder::new(Envelope::Value, Vec::new()).with_style(style);
    value.encode(Member::DOCUMENT, &mut encoder);
    inside(encoder.finish().unwrap())
}

fn inside(bytes: Vec<u8>) -> String {
    let text = String::from_utf8(bytes).unwrap();
    let text = text.strip_prefix("<value>").unwrap();
    text.strip_suffix("</value>").unwrap().to_owned()
}
