//! XML-RPC: values, calls, responses and faults.
//!
//! `docs/xmlrpc-mapping.md` defines the representation of Smithy types: integers of up to 32 bits
//! are `int`, longer ones `i8`; big numbers are strings; blobs are `base64`; timestamps are
//! `dateTime.iso8601` in UTC; structures, unions and maps are `struct`.
//!
//! The decoder follows the [specification](http://xmlrpc.com/spec.md). It also accepts common
//! extensions: `i1` to `i8`, types with the prefix `ex:`, several forms of dates, CDATA sections,
//! comments, processing instructions, and white space in base64. [`Leniency`] accepts more, by
//! named options. The encoder writes no character that XML 1.0 forbids.
//!
//! ```
//! use polywire_codec::xmlrpc;
//! use polywire_schema::{Limits, Value};
//!
//! let call = xmlrpc::write_call("echo", &[Value::from("Hello"), Value::from(42)])?;
//! let (method, parameters) = xmlrpc::read_call(std::str::from_utf8(&call).unwrap(), &Limits::DEFAULT)?;
//! assert_eq!(method, "echo");
//! assert_eq!(parameters, [Value::from("Hello"), Value::from(42)]);
//! # Ok::<(), polywire_schema::Error>(())
//! ```

pub mod code;
mod collections;
mod cursor;
mod dates;
mod decode;
mod decode_envelope;
mod document;
mod duplicates;
mod encode;
mod encode_envelope;
mod encode_text;
mod encode_value;
mod encoding;
mod fault;
mod leniency;
mod locate;
mod multicall;
mod plain;
mod response;
mod scalars;
#[cfg(feature = "serde")]
mod serde;
mod style;
mod surrogates;
mod tags;
mod value;

use polywire_schema::{Decode, Encode, Error, Limits, Member, Rules, Value};

pub use decode::XmlRpcDecoder;
pub use decode_envelope::Reply;
pub use encode::XmlRpcEncoder;
pub use encode_envelope::Envelope;
pub use encoding::to_utf8;
pub use fault::fault_parts;
pub use leniency::{Duplicates, Leniency};
pub use multicall::{MulticallEntry, MulticallResult};
pub use style::{FaultDetail, ForbiddenText, Nil, Style};

/// How a protocol uses the format.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct XmlRpcProfile {
    /// The rules for nulls, missing members, other violations of the model, and defaults.
    pub rules: Rules,
    /// Whether the members of the input are positional parameters. Otherwise the input is one
    /// parameter, a struct.
    pub positional: bool,
    /// Which violations of the specification are accepted.
    pub leniency: Leniency,
    /// What happens to duplicate members of a struct.
    pub duplicates: Duplicates,
}

impl XmlRpcProfile {
    /// Nulls in dense collections and missing required members are errors. The input is one struct.
    pub const DEFAULT: Self = Self {
        rules: Rules::SERVER,
        positional: false,
        leniency: Leniency::STRICT,
        duplicates: Duplicates::Reject,
    };

    /// Sets how input that the model does not allow is treated.
    #[must_use]
    pub const fn with_rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// Applies the rules of Smithy for clients: nulls in dense collections are skipped, missing
    /// required members are not errors, and members that are optional for clients get no default.
    /// This does not affect the syntax of XML-RPC; see [`with_leniency`](Self::with_leniency).
    #[must_use]
    pub const fn for_client(self) -> Self {
        self.with_rules(Rules::CLIENT)
    }

    /// Sets which violations of the specification are accepted.
    #[must_use]
    pub const fn with_leniency(mut self, leniency: Leniency) -> Self {
        self.leniency = leniency;
        self
    }

    /// Sets what happens to duplicate members of a struct.
    #[must_use]
    pub const fn with_duplicates(mut self, duplicates: Duplicates) -> Self {
        self.duplicates = duplicates;
        self
    }

    /// Sets whether the members of the input are positional parameters.
    #[must_use]
    pub const fn with_positional(mut self, positional: bool) -> Self {
        self.positional = positional;
        self
    }
}

impl Default for XmlRpcProfile {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Reads a call without a schema. Returns the name of the method and the parameters.
///
/// # Errors
///
/// The text is not a call, or exceeds the limits.
pub fn read_call(text: &str, limits: &Limits) -> Result<(String, Vec<Value>), Error> {
    let (method, mut decoder) = XmlRpcDecoder::call_from_str(text, XmlRpcProfile::DEFAULT, limits)?;
    let method = method.into_owned();
    let mut parameters = Vec::new();
    while decoder.parameter()? {
        parameters.push(Value::decode(Member::DOCUMENT, &mut decoder)?);
    }
    decoder.finish()?;
    Ok((method, parameters))
}

/// Reads a response without a schema. The inner result is the value of the result or of the fault.
///
/// # Errors
///
/// The text is not a response, or exceeds the limits.
pub fn read_response(text: &str, limits: &Limits) -> Result<Result<Value, Value>, Error> {
    let (reply, mut decoder) =
        XmlRpcDecoder::response_from_str(text, XmlRpcProfile::DEFAULT, limits)?;
    let value = Value::decode(Member::DOCUMENT, &mut decoder)?;
    decoder.finish()?;
    Ok(match reply {
        Reply::Result => Ok(value),
        Reply::Fault => Err(value),
    })
}

/// Writes a call with positional parameters, without a schema.
///
/// # Errors
///
/// The name of the method or a string contains a character that XML 1.0 forbids, or a date is not in
/// the years 0001 to 9999.
pub fn write_call(method: &str, parameters: &[Value]) -> Result<Vec<u8>, Error> {
    let mut encoder = XmlRpcEncoder::new(
        Envelope::Call {
            method,
            positional: true,
        },
        Vec::new(),
    );
    for parameter in parameters {
        encoder.parameter();
        parameter.encode(Member::DOCUMENT, &mut encoder);
    }
    encoder.finish()
}

/// Writes a response with a result, without a schema.
///
/// # Errors
///
/// A string contains a character that XML 1.0 forbids, or a date is not in the years 0001 to 9999.
pub fn write_response(value: &Value) -> Result<Vec<u8>, Error> {
    let mut encoder = XmlRpcEncoder::new(Envelope::Response, Vec::new());
    value.encode(Member::DOCUMENT, &mut encoder);
    encoder.finish()
}

#[cfg(feature = "serde")]
crate::serde::functions!("a response of XML-RPC");
#[cfg(feature = "serde")]
crate::serde::functions!(@text "a response of XML-RPC");
