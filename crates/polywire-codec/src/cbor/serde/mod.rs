//! Types of serde in CBOR.
//!
//! What they look like is what other CBOR libraries of serde make of them:
//! structures are maps of text keys, tuples arrays, a variant without data is its
//! name and one with data a map of one entry, `None` and `()` are null. Lengths
//! are definite. No key of a map comes twice, whatever type reads it and however the
//! key is spelled.

mod access;
mod de;
mod kept;
mod keys;
mod parameters;
mod ser;

use polywire_schema::{Error, ErrorKind, Limits};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use self::parameters::List;
use super::{CborDecoder, CborEncoder, CborProfile};
use crate::parameters::Parameters;

impl<'de> CborDecoder<'de> {
    /// Reads the next data item as a type of serde. Strings and bytes that stand in
    /// the message as they are can be borrowed.
    ///
    /// ```
    /// use polywire_codec::cbor::{CborDecoder, CborProfile};
    /// use polywire_schema::Limits;
    ///
    /// let bytes = [0x82, 0x63, b'a', b'b', b'c', 0x18, 0x2a];
    /// let mut decoder = CborDecoder::from_slice(&bytes, CborProfile::DEFAULT, &Limits::DEFAULT)?;
    /// let (name, number): (&str, u8) = decoder.deserialize()?;
    /// assert_eq!((name, number), ("abc", 42));
    /// decoder.finish()?;
    /// # Ok::<(), polywire_schema::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// What comes is not of that type, or beyond the limits.
    pub fn deserialize<T: Deserialize<'de>>(&mut self) -> Result<T, Error> {
        let read = T::deserialize(de::Reader(self));
        read.map_err(|error| self.placed(error))
    }

    /// Reads an array of parameters, all of them, as a serde type: a tuple has a
    /// parameter an element, a `Vec` takes them all, `()` none, and any other type is
    /// the one parameter. What only wraps another type is what it wraps: a newtype, a
    /// `Box`, an `Option`, which is `None` without parameters and for a null alone. At
    /// the end of a tuple, options may be left out. An empty message has no parameters.
    ///
    /// # Errors
    ///
    /// There are more or fewer, one is not of its type, or a limit was reached. The
    /// path of the error begins with the position, from zero.
    pub fn deserialize_parameters<T: Deserialize<'de>>(&mut self) -> Result<T, Error> {
        let read = List::enter(self).and_then(|list| T::deserialize(Parameters(list)));
        read.map_err(|error| self.placed(error))
    }

    /// Says where an error was that came from a type and not from the message: at
    /// the last thing that was read.
    #[cold]
    fn placed(&self, error: Error) -> Error {
        if error.offset().is_some() || !error.is_sender_fault() {
            return error;
        }
        error.in_format("CBOR").at_offset(self.at)
    }
}

impl CborEncoder {
    /// Writes a value of a type of serde.
    ///
    /// # Errors
    ///
    /// The type says of itself that it cannot be written, or something else than it
    /// is. [`finish`](Self::finish) tells it once more.
    ///
    /// ```
    /// use polywire_codec::cbor::CborEncoder;
    ///
    /// let mut encoder = CborEncoder::new(Vec::new());
    /// encoder.serialize(&("abc", Some(42)))?;
    /// assert_eq!(encoder.finish()?, [0x82, 0x63, b'a', b'b', b'c', 0x18, 0x2a]);
    /// # Ok::<(), polywire_schema::Error>(())
    /// ```
    pub fn serialize<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value
            .serialize(ser::Writer(self))
            .map_err(|error| self.failed(error))
    }
}

/// Reads a message as a type of serde.
///
/// # Errors
///
/// The bytes are not CBOR, are not of that type, or beyond the default limits.
pub fn deserialize<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    let mut decoder = CborDecoder::from_slice(bytes, CborProfile::DEFAULT, &Limits::DEFAULT)?;
    let value = decoder.deserialize()?;
    decoder.finish()?;
    Ok(value)
}

/// Writes a value of a type of serde.
///
/// # Errors
///
/// The value holds something that CBOR has no form for, or says of itself that it
/// cannot be written.
pub fn serialize<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
    let mut encoder = CborEncoder::new(Vec::new());
    encoder.serialize(value)?;
    encoder.finish()
}

/// An error of writing.
#[cold]
fn unwritable(expected: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    let error = Error::new(ErrorKind::Unwritable).in_format("CBOR");
    error.expected(expected)
}
