//! serde types as values, and as the parameters of a call.
//!
//! | Rust | XML-RPC |
//! |---|---|
//! | `bool` | `boolean` |
//! | integers | `int` up to 32 bits, `i8` up to 64 bits, otherwise an error; reads all types of integers |
//! | `f32`, `f64` | `double`; integers are also read |
//! | `char`, `String`, `&str` | `string`; a date is read as ISO 8601, a number is an error |
//! | bytes, [`Blob`](polywire_schema::Blob) | `base64`; an array of numbers is also read, text is an error |
//! | [`Timestamp`](polywire_schema::Timestamp) | `dateTime.iso8601` |
//! | `Vec`, tuples, arrays | `array` |
//! | structures | `struct`; a member that is `None` is omitted |
//! | maps | `struct`; a value that is `None` is `nil` |
//! | `None` elsewhere, `()` | `nil` |
//! | enums | the name of the variant as `string`, or a `struct` with the variant as its only member |
//!
//! # `None`
//!
//! Many peers reject `nil`, so a field that is `None` is omitted. A missing field and `nil` are read
//! as `None`. Derived code accepts a missing field only if its type is an option. Therefore:
//!
//! - a newtype of an option (without `#[serde(transparent)]`) is written as `nil`, and so
//!   is `Some(None)`;
//! - a field with `#[serde(with = "...")]` is omitted if its code writes `None`. It needs
//!   `#[serde(default)]` to be read;
//! - a map writes `nil`, because a missing key would change the map. So does a structure with
//!   `#[serde(flatten)]`, which serde treats as a map. There
//!   `#[serde(skip_serializing_if = "Option::is_none")]` omits a field.
//!
//! # Types that accept any value
//!
//! Untagged enums, flattened fields and values of other crates get an integer as the first of
//! `i64`, `u64`, `i128` and `u128` that fits. They get a longer integer, a `bigdecimal` and a date
//! as text. A [`Value`] keeps their types.
//!
//! # Keys
//!
//! A duplicate key of a map is an error for every type. In a structure, a duplicate of one of its
//! fields is an error. [`Duplicates`](super::Duplicates) has other policies.

mod parameters;
mod reader;
mod writer;

use serde::de::Deserialize;
use serde::ser::Serialize;

use polywire_schema::{Decode as _, Error, ErrorKind, Limits, Member, Value};
use polywire_text::utf8;

use super::{Envelope, Reply, XmlRpcDecoder, XmlRpcEncoder, XmlRpcProfile};
use crate::parameters::Parameters;
use crate::serde::SerdeWriter as _;

/// Reads a response with a result.
pub(super) fn read<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, Error> {
    let text = utf8::validate(bytes).map_err(|malformed| {
        Error::malformed(ErrorKind::Characters, malformed, 0).in_format("XML-RPC")
    })?;
    read_text(text)
}

/// Reads a response with a result from text.
pub(super) fn read_text<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Error> {
    let (profile, limits) = (XmlRpcProfile::DEFAULT, Limits::DEFAULT);
    let (reply, mut decoder) = XmlRpcDecoder::response_from_str(text, profile, &limits)?;
    if reply == Reply::Fault {
        let start = decoder.cursor.at;
        let fault = Value::decode(Member::DOCUMENT, &mut decoder)?;
        let error = Error::new(ErrorKind::WrongType).in_format("XML-RPC");
        return Err(error
            .expected("a result")
            .found(format!("the fault {fault:?}"))
            .at_offset(start));
    }
    let value = decoder.deserialize()?;
    decoder.finish()?;
    Ok(value)
}

/// Writes a response with a result.
pub(super) fn write<T: Serialize + ?Sized>(value: &T, out: Vec<u8>) -> Result<Vec<u8>, Error> {
    let mut encoder = XmlRpcEncoder::new(Envelope::Response, out);
    encoder.serialize(value)?;
    encoder.finish()
}

impl<'de> XmlRpcDecoder<'de> {
    /// Reads the next value as a serde type. Strings without references can be borrowed.
    ///
    /// # Errors
    ///
    /// The value is malformed, does not match the type, or exceeds the limits.
    ///
    /// ```
    /// use polywire_codec::xmlrpc::{Reply, XmlRpcDecoder, XmlRpcProfile};
    /// use polywire_schema::Limits;
    ///
    /// let text = "<methodResponse><params><param><value><array><data>\
    ///     <value><int>1</int></value><value><int>2</int></value>\
    ///     </data></array></value></param></params></methodResponse>";
    /// let (reply, mut decoder) =
    ///     XmlRpcDecoder::response_from_str(text, XmlRpcProfile::DEFAULT, &Limits::DEFAULT)?;
    /// assert_eq!(reply, Reply::Result);
    /// let numbers: Vec<i32> = decoder.deserialize()?;
    /// decoder.finish()?;
    /// assert_eq!(numbers, [1, 2]);
    /// # Ok::<(), polywire_schema::Error>(())
    /// ```
    pub fn deserialize<T: Deserialize<'de>>(&mut self) -> Result<T, Error> {
        crate::serde::deserialize(self)
    }

    /// Reads all parameters of a call as a serde type, and the end of the message.
    ///
    /// | type | parameters |
    /// |---|---|
    /// | tuple, tuple structure | one for each element; options at the end may be absent |
    /// | sequence, such as `Vec` | any number |
    /// | `()` | none |
    /// | `Option` | `None` if there are none or the only one is nil, otherwise those of its content |
    /// | newtype, `Box` | those of its content |
    /// | any other type, such as a structure | one |
    ///
    /// # Errors
    ///
    /// A parameter is malformed, exceeds the limits, or does not match the type. Or there are too many
    /// or too few parameters.
    ///
    /// ```
    /// use polywire_codec::xmlrpc::{XmlRpcDecoder, XmlRpcProfile, write_call};
    /// use polywire_schema::Limits;
    ///
    /// let call = write_call("add", &[1.into(), 2.into()])?;
    /// let text = std::str::from_utf8(&call).unwrap();
    /// let (_, mut decoder) =
    ///     XmlRpcDecoder::call_from_str(text, XmlRpcProfile::DEFAULT, &Limits::DEFAULT)?;
    /// let (a, b, c): (i32, i32, Option<i32>) = decoder.deserialize_parameters()?;
    /// assert_eq!((a, b, c), (1, 2, None));
    /// # Ok::<(), polywire_schema::Error>(())
    /// ```
    pub fn deserialize_parameters<T: Deserialize<'de>>(&mut self) -> Result<T, Error> {
        let value = T::deserialize(Parameters(&mut *self))?;
        self.finish()?;
        Ok(value)
    }
}

impl XmlRpcEncoder {
    /// Writes a value of a serde type.
    ///
    /// # Errors
    ///
    /// The value has no representation in XML-RPC, such as an integer of more than 64 bits or a key
    /// that is a list or a map; or the type reports an error. [`finish`](Self::finish) then returns
    /// the same error.
    pub fn serialize<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        let at_top = self.is_at_value_start();
        crate::serde::serialize(self, value)?;
        if at_top {
            self.mark_value_end();
        }
        Ok(())
    }

    /// Writes a serde type as the parameters of a positional call. The representation is that of
    /// [`XmlRpcDecoder::deserialize_parameters`].
    ///
    /// A [`Value`] is always one parameter, also if it is a list. Values of other crates, such as
    /// `serde_json::Value`, are written as several parameters if they are lists, but read as one. Put
    /// them into a tuple with one element.
    ///
    /// # Errors
    ///
    /// As [`serialize`](Self::serialize).
    ///
    /// ```
    /// use polywire_codec::xmlrpc::{Envelope, XmlRpcEncoder};
    ///
    /// let envelope = Envelope::Call { method: "add", positional: true };
    /// let mut encoder = XmlRpcEncoder::new(envelope, Vec::new());
    /// encoder.serialize_parameters(&(1, 2.5))?;
    /// let call = encoder.finish()?;
    /// assert!(call.ends_with(
    ///     b"<params><param><value><int>1</int></value></param>\
    ///       <param><value><double>2.5</double></value></param></params></methodCall>"
    /// ));
    /// # Ok::<(), polywire_schema::Error>(())
    /// ```
    pub fn serialize_parameters<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        let before = self.value_start;
        match value.serialize(parameters::ParametersWriter(self)) {
            // The last parameter has its value.
            Ok(()) if self.value_start != before => self.mark_value_end(),
            Ok(()) => {}
            Err(error) => return Err(self.failed(error)),
        }
        Ok(())
    }
}
