//! Types of serde as values, and as the parameters of a call.
//!
//! | Rust | XML-RPC |
//! |---|---|
//! | `bool` | `boolean` |
//! | integers | `int` if it fits 32 bits, else `i8`; beyond 64 bits an error; all are read, `biginteger` too |
//! | `f32`, `f64` | `double`; read from integers too |
//! | `char`, `String`, `&str` | `string`; a date is read as ISO 8601, a number is an error |
//! | bytes, [`Blob`](polywire_schema::Blob) | `base64`; an array of numbers is also read, text is an error |
//! | [`Timestamp`](polywire_schema::Timestamp) | `dateTime.iso8601` |
//! | `Vec`, tuples, arrays | `array` |
//! | structures | `struct`; a member that is `None` is left out |
//! | maps | `struct`; a value that is `None` is `nil` |
//! | `None` elsewhere, `()` | `nil` |
//! | enums | the variant's name as `string`, or a `struct` of that one member |
//!
//! # `None`
//!
//! Many peers reject `nil`, so a field that is `None` is left out. A missing field and `nil`
//! are read as `None`. Derived code accepts a missing field only for an option, so:
//!
//! - a newtype of an option (without `#[serde(transparent)]`) is written as `nil`, and so
//!   is `Some(None)`;
//! - a field with `#[serde(with = "...")]` is left out if its code writes `None`. It needs
//!   `#[serde(default)]` to be read;
//! - a map writes `nil`, because a missing key would change the map. So does a structure with
//!   `#[serde(flatten)]`, which is a map to serde. There
//!   `#[serde(skip_serializing_if = "Option::is_none")]` leaves a field out.
//!
//! # Types that accept any value
//!
//! Untagged enums, flattened fields and values of other crates get an integer as the first of
//! `i64`, `u64`, `i128` and `u128` that fits. They get a longer integer, a `bigdecimal` and a
//! date as text. A [`Value`](polywire_schema::Value) gets each of them as what it is.
//!
//! # Keys
//!
//! A map has no duplicate key, whatever type reads it. A structure has none of its own fields
//! twice.

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

/// Reads the result of a whole response.
pub(super) fn read<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, Error> {
    let text = utf8::validate(bytes).map_err(|malformed| {
        Error::malformed(ErrorKind::Characters, malformed, 0).in_format("XML-RPC")
    })?;
    read_text(text)
}

/// The same of a text.
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

/// Writes a whole response with a result.
pub(super) fn write<T: Serialize + ?Sized>(value: &T, out: Vec<u8>) -> Result<Vec<u8>, Error> {
    let mut encoder = XmlRpcEncoder::new(Envelope::Response, out);
    encoder.serialize(value)?;
    encoder.finish()
}

impl<'de> XmlRpcDecoder<'de> {
    /// Reads the next value as a type of serde. Strings without references can be borrowed.
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

    /// Reads the parameters of a call, all of them, as a serde type: a tuple has a
    /// parameter an element, a `Vec` takes them all, `()` none, and any other type
    /// is the one parameter. What only wraps another type is what it wraps: a newtype, a
    /// `Box`, an `Option`, which is `None` without parameters and for a nil alone. At the
    /// end of a tuple, options may be left out, and nothing else: a `Value` that was
    /// forgotten is not nil.
    ///
    /// # Errors
    ///
    /// A parameter is malformed, beyond the limits, or not what the type takes;
    /// there are too many or too few.
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
    /// Writes a value of a type of serde.
    ///
    /// # Errors
    ///
    /// The value has no form in XML-RPC: an integer of more than 64 bits, or a key of a map that
    /// is a list or a map. Or its type reports an error. [`finish`](Self::finish) returns the
    /// error once more.
    pub fn serialize<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        let at_top = self.is_at_top();
        crate::serde::serialize(self, value)?;
        if at_top {
            self.ended_at_top();
        }
        Ok(())
    }

    /// Writes a serde type as the parameters of a positional call, as
    /// [`XmlRpcDecoder::deserialize_parameters`] reads them. A sequence is all of them, but
    /// for a [`Value`](polywire_schema::Value), which is one; `None` is none. What another
    /// type that takes whatever comes writes as a sequence is read as one parameter: put it
    /// into a tuple of one.
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
        let before = self.begin;
        match value.serialize(parameters::ParametersWriter(self)) {
            // The last parameter has its value.
            Ok(()) if self.begin != before => self.ended_at_top(),
            Ok(()) => {}
            Err(error) => return Err(self.failed(error)),
        }
        Ok(())
    }
}
