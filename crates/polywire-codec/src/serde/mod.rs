//! serde for self-describing formats.
//!
//! A format implements [`SerdeReader`] for its decoder and [`SerdeWriter`] for its encoder. serde's
//! traits are implemented once for all formats. The representation is the same as in serde_json:
//! structures are maps with the field names as keys, `None` and `()` are null, a variant without
//! data is its name, and a variant with data is a map with one entry.

mod access;
mod capture;
mod compound;
mod de;
mod functions;
mod keys;
mod macros;
mod non_text;
mod ser;

use std::borrow::Cow;
use std::io::{self, Read as _};

use polywire_schema::serde_names::NUMBER_KEY;
use polywire_schema::{Encoder, Error, ErrorKind, Limits, Member, Seq, Timestamp, TokenReader};
use serde::Serialize;
use serde::de::{DeserializeSeed, Visitor};

pub(crate) use capture::{Capture, capture, parse};
pub(crate) use compound::Compound;
pub(crate) use de::{ValueDeserializer, deserialize};
pub(crate) use functions::functions;
pub(crate) use keys::{Keys, TextKey};
pub(crate) use macros::{
    deserialize_lists_with, deserialize_transparent, impl_compound, serialize_transparent,
    unsupported,
};
pub(crate) use non_text::NonText;
pub(crate) use ser::{BlobContent, Role, ValueSerializer, serialize};

/// The maximum of the size hints that types use to reserve memory.
pub(crate) const MAX_SIZE_HINT: u64 = 1024;

/// The kind of a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Null,
    Boolean,
    Number,
    String,
    Bytes,
    List,
    Map,
    /// A value without a type in serde, such as a tagged value in CBOR.
    Extension,
}

/// A token reader of a self-describing format, which can be read without a schema.
pub(crate) trait SerdeReader<'de>: TokenReader<'de> {
    /// See [`serde::Deserializer::is_human_readable`].
    const HUMAN_READABLE: bool;

    /// The kind of the next value, which is not read.
    fn kind(&mut self) -> Result<Kind, Error>;

    /// Whether the next value is a map, or is read as one.
    #[inline(always)]
    fn is_map(&mut self) -> Result<bool, Error> {
        Ok(self.kind()? == Kind::Map)
    }

    /// The offset of the next value.
    fn position(&mut self) -> usize;

    /// Adds the format, the offset and the path of a value to an error of a visitor.
    fn locate(&self, error: Error, offset: usize) -> Error;

    /// Moves to the next item or entry. Returns `false` at the end.
    fn next_element(&mut self, is_map: bool, seq: &mut Seq) -> Result<bool, Error>;

    /// The number of remaining elements, at most [`MAX_SIZE_HINT`], if known.
    fn size_hint(&self, seq: &Seq) -> Option<usize> {
        let _ = seq;
        None
    }

    /// Reads the key of an entry, and adds it to `keys`. The value of the entry comes next.
    fn map_key<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
        keys: Option<&mut Keys<'de>>,
    ) -> Result<K::Value, Error>;

    /// An error for a duplicate key of the map at `start`.
    #[cold]
    fn duplicate(&self, key: &[u8], start: usize) -> Error {
        let key = String::from_utf8_lossy(key);
        let key: String = key.escape_debug().take(64).collect();
        let error = Error::new(ErrorKind::Duplicate).expected("each key once");
        self.locate(error.found(format!("`{key}` twice")), start)
    }

    /// Whether a type that expects bytes gets a [string](Kind::String) as its UTF-8. If not, text
    /// is a type error, because bytes have an encoding.
    const TEXT_IS_BYTES: bool = true;

    /// Whether a unit structure can be read from an empty list.
    const EMPTY_LIST_IS_UNIT: bool = false;

    /// Skips extensions before a variant, such as tags.
    fn skip_extensions(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Reads a boolean. `None`, with nothing read, for anything else or if the general way is as
    /// fast.
    #[inline(always)]
    fn quick_boolean(&mut self) -> Option<bool> {
        None
    }

    /// Reads an integer that fits `i64`, in its most common forms. `None`, with nothing read, for
    /// anything else: the caller then uses the general way.
    fn quick_integer(&mut self) -> Option<i64>;

    /// Reads a big-endian integer of 128 bits. Returns `None`, with nothing read, for anything else.
    fn wide_integer(&mut self) -> Result<Option<[u8; 16]>, Error> {
        Ok(None)
    }

    /// Reads a floating-point number of 64 bits, in its most common form. `None`, with nothing read,
    /// for anything else: the caller then uses the general way.
    fn quick_double(&mut self) -> Option<f64>;

    /// Reads a 32-bit floating-point number from its digits, which rounds once and checks the range.
    /// `None`, with nothing read, for anything else. Binary formats, and formats that read all
    /// floating-point numbers with 64 bits, keep the provided method.
    #[inline(always)]
    fn float_of_digits(&mut self) -> Result<Option<f32>, Error> {
        Ok(None)
    }

    /// Reads a number of any size.
    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error>;

    /// Reads a [string](Kind::String). `lent` says whether the visitor may borrow it.
    #[inline]
    fn visit_string<V: Visitor<'de>>(&mut self, lent: bool, visitor: V) -> Result<V::Value, Error> {
        match self.str(Member::DOCUMENT)? {
            // The name by which serde_json passes its numbers is not lent here: a type that buffers
            // any value would later lend it to others, which take it for serde_json's. `quick_str`
            // may lend it, but only to types that ask for text.
            Cow::Borrowed(text) if lent && text != NUMBER_KEY => visitor.visit_borrowed_str(text),
            Cow::Borrowed(text) => visitor.visit_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    /// Reads a short text. `None`, with nothing read, for anything else.
    fn quick_str(&mut self) -> Option<&'de str>;

    /// Reads [bytes](Kind::Bytes).
    fn byte_string(&mut self) -> Result<Cow<'de, [u8]>, Error> {
        Err(self.error(ErrorKind::WrongType, "a value"))
    }

    /// Reads [bytes](Kind::Bytes) for a visitor.
    fn visit_bytes<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        match self.byte_string()? {
            Cow::Borrowed(bytes) => self.lend(bytes, visitor),
            Cow::Owned(bytes) => visitor.visit_byte_buf(bytes),
        }
    }

    /// Passes bytes to a visitor.
    fn lend<V: Visitor<'de>>(&self, bytes: &'de [u8], visitor: V) -> Result<V::Value, Error> {
        visitor.visit_borrowed_bytes(bytes)
    }

    /// Reads an [extension](Kind::Extension). `check_keys` makes duplicate keys of a map in it an
    /// error.
    fn extension<V: Visitor<'de>>(
        &mut self,
        check_keys: bool,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let _ = (check_keys, visitor);
        Err(self.error(ErrorKind::WrongType, "a value"))
    }

    /// Like [`extension`](Self::extension), for a type that expects text. Numbers are errors.
    #[cold]
    fn text_extension<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        self.extension(true, visitor)
    }

    /// Reads a newtype with a [reserved](is_reserved) name.
    fn reserved_newtype<V: Visitor<'de>>(
        &mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        let _ = name;
        visitor.visit_newtype_struct(ValueDeserializer(self))
    }
}

/// An encoder that can write values without a schema, as values of
/// [`Member::DOCUMENT`](polywire_schema::Member::DOCUMENT).
pub(crate) trait SerdeWriter: Encoder + Sized {
    /// The name of the format, for errors.
    const FORMAT: &'static str;

    /// See [`serde::Serializer::is_human_readable`].
    const HUMAN_READABLE: bool;

    /// Whether the number of elements that a type announces must be right.
    const CHECKS_COUNT: bool = true;

    fn unsigned(&mut self, value: u64) -> Result<(), Error>;
    /// Writes a number by its digits: an integer of more than 64 bits, or a number of
    /// serde_json with arbitrary precision.
    fn digits(&mut self, digits: &str) -> Result<(), Error>;
    /// Writes an integer of more than 64 bits.
    fn wide_signed(&mut self, value: i128) -> Result<(), Error> {
        self.digits(&value.to_string())
    }

    /// Writes an integer of more than 64 bits.
    fn wide_unsigned(&mut self, value: u128) -> Result<(), Error> {
        self.digits(&value.to_string())
    }

    fn bytes(&mut self, value: &[u8]) {
        self.blob(Member::DOCUMENT, value);
    }

    /// Writes a structure without fields.
    fn unit_struct(&mut self) {
        self.null(Member::DOCUMENT);
    }

    /// The number of bytes written so far.
    fn len(&self) -> usize;

    /// Begins a list of `len` items or a map of `len` entries. `None` means an unknown length.
    fn begin(&mut self, is_map: bool, len: Option<usize>);

    /// Ends a list or map with `count` elements, which began at `start` with the length `len`.
    fn end(&mut self, is_map: bool, start: usize, len: Option<usize>, count: usize);

    /// Writes the key of an entry.
    fn map_key<K: Serialize + ?Sized>(&mut self, key: &K) -> Result<(), Error>;

    /// Writes the name of a member or variant.
    fn name(&mut self, name: &'static str) {
        self.key(Member::DOCUMENT, name);
    }
    /// Writes a member.
    #[inline]
    fn member<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        SerdeWriter::name(self, name);
        value.serialize(ValueSerializer::new(self))
    }

    /// An error for a value that the format cannot represent.
    #[cold]
    fn unwritable(&self, expected: String) -> Error {
        let error = Error::new(ErrorKind::Unwritable).in_format(Self::FORMAT);
        error.expected(expected)
    }

    /// Stores an error, because a type may ignore it and the message is then incomplete.
    #[cold]
    fn failed(&mut self, error: Error) -> Error {
        self.fail(error.clone());
        error
    }

    /// Writes a newtype with a [reserved](is_reserved) name.
    fn reserved_newtype<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error>;
}

/// Whether a newtype is a type of [`polywire_schema`] that formats may represent natively, such as
/// a timestamp. The names of these newtypes begin with `$`.
pub(crate) fn is_reserved(name: &str) -> bool {
    name.starts_with('$')
}

/// A timestamp as RFC 3339 text. `None` if the year is not in 0001 to 9999.
pub(crate) fn timestamp_text(value: Timestamp) -> Option<String> {
    let mut text = Vec::with_capacity(32);
    value.push_date_time(&mut text).ok()?;
    String::from_utf8(text).ok()
}

/// Reads a message up to one byte more than the length limit. The decoder then rejects messages that
/// are too long.
pub(crate) fn read_all(reader: impl io::Read) -> io::Result<Vec<u8>> {
    let max = u64::try_from(Limits::DEFAULT.bytes()).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    reader.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Converts an error of a format to an I/O error.
pub(crate) fn io_error(error: Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
