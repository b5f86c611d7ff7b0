//! serde types as values and as the parameters of a call.
//!
//! They ride on the same reader and writer as everything else: a type asks for
//! what it wants, and the reader reads that where it stands.
//!
//! | Rust | XML-RPC |
//! |---|---|
//! | `bool` | `boolean` |
//! | integers | `int` if it fits 32 bits, else `i8`; beyond 64 bits an error |
//! | `f32`, `f64` | `double`; read from integers too |
//! | `char`, `String`, `&str` | `string`; a date is read as ISO 8601 |
//! | bytes, [`Blob`](polywire_schema::Blob) | `base64` |
//! | [`Timestamp`](polywire_schema::Timestamp) | `dateTime.iso8601` |
//! | `Vec`, tuples, arrays | `array` |
//! | maps, structures | `struct`; a member that is `None` is left out |
//! | `None`, `()` | `nil` |
//! | enums | the variant's name as `string`, or a `struct` of that one member |

mod any;
mod collections;
mod compound;
mod de;
mod enums;
mod keys;
mod parameters;
mod part;
mod ser;

use serde::de::Deserialize;
use serde::ser::Serialize;

use polywire_schema::Error;

use super::{XmlRpcDecoder, XmlRpcEncoder};
use crate::parameters::Parameters;

impl<'de> XmlRpcDecoder<'de> {
    /// Reads the value at the reader as a serde type.
    ///
    /// # Errors
    ///
    /// The value is malformed, beyond the limits, or not what the type takes.
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
        T::deserialize(de::Reader::new(self))
    }

    /// Reads the parameters of a call, all of them, as a serde type: a tuple has a
    /// parameter an element, a `Vec` takes them all, `()` none, and any other type
    /// is the one parameter. At the end of a tuple, options may be left out.
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
    /// Writes a serde type as a value.
    ///
    /// # Errors
    ///
    /// The value has no form in XML-RPC: an integer beyond 64 bits, a key that is
    /// no string. What [`finish`](Self::finish) tells comes beside that.
    pub fn serialize<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(ser::Writer::new(self)).map(|_| ())
    }

    /// Writes a serde type as the parameters of a positional call, as
    /// [`XmlRpcDecoder::deserialize_parameters`] reads them.
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
        value
            .serialize(parameters::ParametersWriter(self))
            .map(|_| ())
    }
}
