//! The traits for reading: formats implement [`Decoder`], data types implement [`Decode`].

mod types;

use std::borrow::Cow;

use polywire_text::{Blob, Text, Timestamp};

use crate::{
    BigDecimal, BigInteger, ByteStream, Error, ErrorKind, EventSource, Member, Schema, Seq, Value,
};

pub use types::distinct_keys;

/// The next part of a value without a schema: see [`Decoder::any`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A scalar or null.
    Scalar(Value),
    /// The start of a list. The caller continues with [`Decoder::item`].
    List(Seq),
    /// The start of a map. The caller continues with [`Decoder::key`].
    Map(Seq),
}

/// A reader of one format.
///
/// The caller pulls values: for each value it calls the method for the shape that it expects, and
/// receives the value or an error. The decoder handles names and the order of members:
///
/// ```
/// # use polywire_schema::{Decoder, END, Error, Member, Text};
/// # fn city<'de, D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<(), Error> {
/// let shape = at.target();
/// let mut name: Option<Text> = None;
/// let mut population = None;
/// let mut seq = decoder.structure(at)?;
/// loop {
///     match decoder.member(shape, &mut seq)? {
///         0 => name = Some(decoder.text(shape.member(0))?),
///         1 => population = Some(decoder.integer(shape.member(1))?),
///         END => break,
///         _ => unreachable!("the decoder returns ordinals of the shape"),
///     }
/// }
/// # Ok(())
/// # }
/// ```
///
/// A decoder skips members that the shape does not have, and members whose value is null.
///
/// A decoder must report a duplicate member as an error. Callers rely on this: a structure is read
/// into a [`Map`](crate::Map) without comparing keys, so a decoder that accepted duplicates would
/// create a map with duplicate keys. The exception is a flattened list or map whose items are not
/// adjacent. The decoder returns its member once for each run of items, with [`Seq::continues`] set
/// after the first.
pub trait Decoder<'de> {
    /// Begins the structure or union of `at`. The caller continues with [`Decoder::member`].
    fn structure(&mut self, at: Member<'_>) -> Result<Seq, Error>;

    /// Advances to the value of the next member and returns its ordinal. Returns
    /// [`END`](crate::END) at the end of the structure.
    fn member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error>;

    /// Fast path: begins the union of `at` and returns the ordinal of its member. The caller reads
    /// the value and then calls [`Decoder::end_variant`].
    ///
    /// Returns `None` without consuming input if the union is not in the usual form. The caller
    /// then uses [`Decoder::structure`] and [`Decoder::member`].
    fn variant(&mut self, at: Member<'_>) -> Option<u32> {
        let _ = at;
        None
    }

    /// Ends a union that [`Decoder::variant`] began. If the union does not end after the value,
    /// returns the state with which the caller continues in [`Decoder::member`].
    fn end_variant(&mut self, ordinal: u32) -> Option<Seq> {
        let _ = ordinal;
        None
    }

    /// Begins the list of `at`. The caller continues with [`Decoder::item`].
    fn list(&mut self, at: Member<'_>) -> Result<Seq, Error>;

    /// Advances to the next item of the list of `at`. Returns `false` at the end.
    fn item(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<bool, Error>;

    /// Returns the capacity to reserve for the list or map of `at`: the expected number of items or
    /// entries, or 0 if it is unknown. The caller asks once, after the first call of
    /// [`Decoder::item`] or [`Decoder::key`], and the count includes this first item.
    ///
    /// The size of the message limits the sum over all lists and maps, even if nested lists declare
    /// larger lengths.
    fn size_hint(&mut self, at: Member<'_>, seq: &Seq) -> usize {
        let _ = (at, seq);
        0
    }

    /// Begins the map of `at`. The caller continues with [`Decoder::key`].
    fn map(&mut self, at: Member<'_>) -> Result<Seq, Error>;

    /// Reads the next key of the map of `at`. Returns `None` at the end.
    fn key(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<Option<Text>, Error>;

    /// Reads a null and returns `true`. Returns `false` without consuming input if the next value
    /// is not null.
    fn null(&mut self, at: Member<'_>) -> Result<bool, Error>;

    /// Reads a boolean.
    fn boolean(&mut self, at: Member<'_>) -> Result<bool, Error>;

    /// Reads an integer. The value is within the [range](crate::ShapeKind::integer_range) of the
    /// kind of `at`.
    fn integer(&mut self, at: Member<'_>) -> Result<i64, Error>;

    /// Reads a 32-bit floating-point number.
    fn float(&mut self, at: Member<'_>) -> Result<f32, Error>;

    /// Reads a 64-bit floating-point number.
    fn double(&mut self, at: Member<'_>) -> Result<f64, Error>;

    /// Reads an arbitrary-precision integer.
    fn big_integer(&mut self, at: Member<'_>) -> Result<BigInteger, Error>;

    /// Reads an arbitrary-precision decimal number.
    fn big_decimal(&mut self, at: Member<'_>) -> Result<BigDecimal, Error>;

    /// Reads a string or enum.
    fn text(&mut self, at: Member<'_>) -> Result<Text, Error>;

    /// Reads a string or enum. Borrows it from the input if it contains no escapes.
    fn str(&mut self, at: Member<'_>) -> Result<Cow<'de, str>, Error>;

    /// Reads bytes.
    fn blob(&mut self, at: Member<'_>) -> Result<Blob, Error>;

    /// Reads a blob with `@streaming`. The provided method reads it into memory. Decoders of HTTP messages return the
    /// body as a stream if it has not been read.
    fn stream(&mut self, at: Member<'_>) -> Result<ByteStream, Error> {
        self.blob(at).map(ByteStream::from)
    }

    /// Takes the events of a member that targets a union with `@streaming`. `None` if the decoder reads such a union like
    /// any other value, which the provided method returns.
    fn event_stream(&mut self, at: Member<'_>) -> Result<Option<Box<dyn EventSource>>, Error> {
        let _ = at;
        Ok(None)
    }

    /// Reads a timestamp in the format of the member. If the member has no format, uses the default
    /// of the protocol.
    fn timestamp(&mut self, at: Member<'_>) -> Result<Timestamp, Error>;

    /// Reads the next part of a value without a schema: a scalar, or the start of a list or map.
    fn any(&mut self) -> Result<Event, Error>;

    /// Reads a complete value without a schema. The provided method calls [`any`](Self::any). A
    /// format can override it with a faster implementation.
    fn document(&mut self) -> Result<Value, Error> {
        crate::dynamic::document(self)
    }

    /// Called for a required member that is absent.
    ///
    /// # Errors
    ///
    /// Returns an error if the decoder requires the member. After `Ok`, the caller uses a default
    /// value.
    fn missing(&mut self, at: Member<'_>) -> Result<(), Error>;

    /// Returns whether an absent member gets its default. The caller asks only about members that
    /// have a default.
    ///
    /// See [`Defaults`](crate::Defaults) for the rules of clients and servers. The provided method
    /// returns `false`.
    fn fills_default(&self, at: Member<'_>) -> bool {
        let _ = at;
        false
    }

    /// Called for a union, the value of `at`, with a member that the model does not have
    /// ([`Seq::unknown`] is set).
    ///
    /// # Errors
    ///
    /// Returns an error if the decoder rejects unknown variants. Servers reject them. Clients
    /// accept them, because a newer server can have more variants.
    fn unknown(&mut self, at: Member<'_>) -> Result<(), Error> {
        let _ = at;
        Err(self.error(ErrorKind::Unknown, "a member that the union has"))
    }

    /// Creates an error at the current position of the input. `expected` is a noun phrase.
    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error;
}

/// A type that every [`Decoder`] can read.
pub trait Decode<'de>: Sized {
    /// Creates a placeholder for [`Decode::decode_in_place`]: a value that owns no memory, so its
    /// destructor can be skipped. Generated unions have one.
    #[doc(hidden)]
    const PLACEHOLDER: Option<fn() -> Self> = None;

    /// Reads the value of `at`.
    ///
    /// # Errors
    ///
    /// Returns an error if the input is not a valid value of this type.
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error>;

    /// Overwrites `self`, which is a [`Decode::PLACEHOLDER`], with the value of `at`. This avoids
    /// moving large values. If `self` is any other value, its destructor may be skipped.
    ///
    /// # Errors
    ///
    /// Returns an error if the input is not a valid value of this type. Then `self` can be
    /// incomplete and must be discarded.
    #[doc(hidden)]
    #[inline]
    fn decode_in_place<D: Decoder<'de> + ?Sized>(
        &mut self,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        *self = Self::decode(at, decoder)?;
        Ok(())
    }

    /// Reads the value of `at` into an existing value. Lists and maps append to it if
    /// [`Seq::continues`] is set. Everything else is replaced.
    ///
    /// # Errors
    ///
    /// Returns an error if the input is not a valid value of this type. The existing value is then
    /// unspecified.
    #[inline]
    fn decode_into<D: Decoder<'de> + ?Sized>(
        &mut self,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        *self = Self::decode(at, decoder)?;
        Ok(())
    }
}

/// A structure that can be read in several parts, for example first from the HTTP headers and then
/// from the body.
pub trait DecodeStructure<'de>: Decode<'de> {
    /// The members that have been read so far.
    type Builder: Default;

    /// Reads the members that this decoder provides into `builder`.
    ///
    /// # Errors
    ///
    /// Returns an error if the input is not a valid structure of this type.
    fn decode_part<D: Decoder<'de> + ?Sized>(
        builder: &mut Self::Builder,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error>;

    /// Completes the structure after its last part. Calls [`Decoder::missing`] for each absent
    /// required member, and [`Decoder::fills_default`] for each absent member with a default.
    ///
    /// # Errors
    ///
    /// Returns the error of [`Decoder::missing`].
    fn build<D: Decoder<'de> + ?Sized>(
        builder: Self::Builder,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<Self, Error>;
}
