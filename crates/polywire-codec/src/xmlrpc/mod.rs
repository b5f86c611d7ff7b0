//! XML-RPC: values, calls, responses and faults.
//!
//! How Smithy's types look in it is written up in `docs/xmlrpc-mapping.md`:
//! integers that fit 32 bits as `int`, longer ones as `i8`; big numbers as
//! strings; blobs as `base64`; timestamps as `dateTime.iso8601` in UTC;
//! structures, unions and maps as `struct`.
//!
//! Reading is strict about what the specification says, and takes what real
//! peers send: `i1` to `i8`, `ex:` types, dates in several forms, CDATA,
//! comments and processing instructions, untyped strings, line breaks in
//! base64. Writing never produces what XML 1.0 forbids.
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
mod document;
mod duplicates;
mod encode;
mod encode_text;
mod encode_value;
mod encoding;
mod envelope;
mod fault;
mod frame;
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
mod value;

use polywire_schema::{Decode, Encode, Error, Limits, Member, Rules, Value};

pub use decode::XmlRpcDecoder;
pub use encode::XmlRpcEncoder;
pub use encoding::to_utf8;
pub use envelope::Envelope;
pub use fault::fault_parts;
pub use frame::Reply;
pub use leniency::{Duplicates, Leniency};
pub use multicall::{MulticallEntry, MulticallResult};
pub use style::{FaultDetail, ForbiddenText, Nil, Style};

/// What a protocol tells the format.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct XmlRpcProfile {
    /// The rules for nulls, missing members and defaults.
    pub rules: Rules,
    /// Whether an operation's input is one struct or positional parameters.
    pub positional: bool,
    /// What is read although it is wrong.
    pub leniency: Leniency,
    /// What a member means that comes twice in a struct.
    pub duplicates: Duplicates,
}

impl XmlRpcProfile {
    /// Strict on nulls and required members; one struct parameter.
    pub const DEFAULT: Self = Self {
        rules: Rules::SERVER,
        positional: false,
        leniency: Leniency::STRICT,
        duplicates: Duplicates::Refuse,
    };

    /// Reads as a client does, in what a model says: nulls in dense collections are left
    /// out, missing required members are not errors, and members that are optional to
    /// clients get no default. What XML-RPC itself says is read as strictly as before:
    /// that is what [`with_leniency`](Self::with_leniency) is for.
    #[must_use]
    pub const fn for_client(mut self) -> Self {
        self.rules = Rules::CLIENT;
        self
    }

    /// Sets what is read although it is no XML-RPC, switch by switch.
    #[must_use]
    pub const fn with_leniency(mut self, leniency: Leniency) -> Self {
        self.leniency = leniency;
        self
    }

    /// Sets what a member means that comes twice in a struct.
    #[must_use]
    pub const fn with_duplicates(mut self, duplicates: Duplicates) -> Self {
        self.duplicates = duplicates;
        self
    }

    /// The members of a structure at the top are parameters of their own.
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

/// Reads a call without a schema: the method and its parameters.
///
/// # Errors
///
/// The text is no call, or beyond the limits.
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

/// Reads a response without a schema: its value, or the value of its fault.
///
/// # Errors
///
/// The text is no response, or beyond the limits.
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

/// Writes a call without a schema.
///
/// # Errors
///
/// The method or a value holds something that XML has no form for.
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

/// Writes a response without a schema.
///
/// # Errors
///
/// The value holds something that XML has no form for.
pub fn write_response(value: &Value) -> Result<Vec<u8>, Error> {
    let mut encoder = XmlRpcEncoder::new(Envelope::Response, Vec::new());
    value.encode(Member::DOCUMENT, &mut encoder);
    encoder.finish()
}

#[cfg(feature = "serde")]
crate::serde::functions!("a response of XML-RPC");
#[cfg(feature = "serde")]
crate::serde::functions!(@text "a response of XML-RPC");
