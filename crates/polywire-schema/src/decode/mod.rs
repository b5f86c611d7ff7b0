//! The reading half: what a format implements, and what a type implements.

mod types;

use std::borrow::Cow;

use polywire_text::{Blob, Text, Timestamp};

use crate::{BigDecimal, BigInteger, Error, ErrorKind, Member, Schema, Seq, Value};

pub use types::distinct_keys;

/// What comes next, where no schema says it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A whole scalar.
    Scalar(Value),
    /// The start of a list: go on with [`Decoder::item`].
    List(Seq),
    /// The start of a map: go on with [`Decoder::key`].
    Map(Seq),
}

/// A reader of one format.
///
/// The caller pulls: it says what shape it expects and gets it or an error.
/// Names, numbers and order are the decoder's business:
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
/// A decoder skips members that the shape does not have, and members whose
/// value is null. It reports a member that comes twice as an error, with one
/// exception: a flattened list or map whose items stand apart comes again, and
/// its [`Seq::continues`] says so. Callers rely on that: the map that a structure
/// becomes as a [`Value`] takes the names of its members without comparing them, so
/// a decoder that let one come twice would make a map in which a key is there twice.
pub trait Decoder<'de> {
    /// Begins a structure or union.
    fn structure(&mut self, at: Member<'_>) -> Result<Seq, Error>;

    /// Goes to the next member and returns its ordinal, or [`END`].
    fn member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Result<u32, Error>;

    /// Begins a union, the target of `at`, in one step, where its one member stands
    /// right there in the plainest way: the ordinal. [`Decoder::end_variant`] comes behind its
    /// value. `None`, with nothing read, where anything else stands there:
    /// [`Decoder::structure`] and [`Decoder::member`] read every union.
    fn variant(&mut self, at: Member<'_>) -> Option<u32> {
        let _ = at;
        None
    }

    /// Ends a union that [`Decoder::variant`] began. If it does not end there,
    /// what to go on with in [`Decoder::member`].
    fn end_variant(&mut self, ordinal: u32) -> Option<Seq> {
        let _ = ordinal;
        None
    }

    /// Begins a list.
    fn list(&mut self, at: Member<'_>) -> Result<Seq, Error>;

    /// Goes to the next item of the list that `at` began; `false` at the end.
    fn item(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<bool, Error>;

    /// How many items or entries are likely to come in the list or map of `at`,
    /// that which [`Decoder::item`] or [`Decoder::key`] has just announced
    /// included: what to make room for, asked once. 0 where nothing is known. All
    /// in all it is not much more than a message of as many bytes can have, also
    /// where lists in each other say more.
    fn expected(&mut self, at: Member<'_>, seq: &Seq) -> usize {
        let _ = (at, seq);
        0
    }

    /// Begins a map.
    fn map(&mut self, at: Member<'_>) -> Result<Seq, Error>;

    /// Goes to the next entry of the map that `at` began; `None` at the end.
    fn key(&mut self, at: Member<'_>, seq: &mut Seq) -> Result<Option<Text>, Error>;

    /// Reads a null if there is one.
    fn null(&mut self, at: Member<'_>) -> Result<bool, Error>;

    /// Reads a boolean.
    fn boolean(&mut self, at: Member<'_>) -> Result<bool, Error>;

    /// Reads an integer that fits the kind of `at`.
    fn integer(&mut self, at: Member<'_>) -> Result<i64, Error>;

    /// Reads a 32-bit floating-point number.
    fn float(&mut self, at: Member<'_>) -> Result<f32, Error>;

    /// Reads a 64-bit floating-point number.
    fn double(&mut self, at: Member<'_>) -> Result<f64, Error>;

    /// Reads an integer of any size.
    fn big_integer(&mut self, at: Member<'_>) -> Result<BigInteger, Error>;

    /// Reads a decimal number of any size.
    fn big_decimal(&mut self, at: Member<'_>) -> Result<BigDecimal, Error>;

    /// Reads a string or enum.
    fn text(&mut self, at: Member<'_>) -> Result<Text, Error>;

    /// Reads a string or enum, borrowed from the input where it stands there
    /// as it is.
    fn str(&mut self, at: Member<'_>) -> Result<Cow<'de, str>, Error>;

    /// Reads bytes.
    fn blob(&mut self, at: Member<'_>) -> Result<Blob, Error>;

    /// Reads an instant, in the format of the member or else of the protocol.
    fn timestamp(&mut self, at: Member<'_>) -> Result<Timestamp, Error>;

    /// Reads whatever comes: a scalar, or the start of a list or map.
    fn any(&mut self) -> Result<Event, Error>;

    /// Reads whatever comes, whole: as by [`any`](Self::any), for which a format may
    /// have a shorter way.
    fn document(&mut self) -> Result<Value, Error> {
        crate::dynamic::document(self)
    }

    /// A required member that did not come. The answer decides: an error ends
    /// the reading, otherwise the caller goes on with a default value.
    fn missing(&mut self, at: Member<'_>) -> Result<(), Error>;

    /// Whether a member that did not come gets its default. The caller asks
    /// about members that have one: on a server's side the answer is yes, on a
    /// client's unless they are optional to clients
    /// ([`Defaults`](crate::Defaults)). Without a side, as here, it is no.
    fn fills(&self, at: Member<'_>) -> bool {
        let _ = at;
        false
    }

    /// A union, the value of `at`, that held a member which the model does
    /// not have ([`Seq::unknown`] said so). The answer decides: an error ends
    /// the reading, as on a server; otherwise a newer peer may have variants
    /// of its own, as on a client.
    fn unknown(&mut self, at: Member<'_>) -> Result<(), Error> {
        let _ = at;
        Err(self.error(ErrorKind::Unknown, "a member that the union has"))
    }

    /// An error at the current place: what was expected there.
    fn error(&self, kind: ErrorKind, expected: &'static str) -> Error;
}

/// A type that can be read by every [`Decoder`].
pub trait Decode<'de>: Sized {
    /// Makes a value that holds nothing, costs nothing and need not be dropped, for
    /// [`Decode::decode_in_place`]: of generated unions.
    #[doc(hidden)]
    const BLANK: Option<fn() -> Self> = None;

    /// Reads the value of `at`.
    ///
    /// # Errors
    ///
    /// What the input holds is no such value.
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error>;

    /// Reads the value of `at` into the place where it is to stand, which holds
    /// a [`Decode::BLANK`]: what is large need not be moved there. Anything else
    /// that it holds may be forgotten instead of dropped.
    ///
    /// # Errors
    ///
    /// What the input holds is no such value. The place may hold a part of it,
    /// which is no value to go on with.
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

    /// Reads on into a value that was begun before: lists and maps append
    /// where the format says that they go on ([`Seq::continues`]); everything
    /// else is replaced.
    ///
    /// # Errors
    ///
    /// What the input holds is no such value.
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

/// A structure that can be read in parts: first from the head of a message,
/// then from its body.
pub trait DecodeStructure<'de>: Decode<'de> {
    /// The structure while it is being read.
    type Builder: Default;

    /// Reads the members that this decoder has.
    ///
    /// # Errors
    ///
    /// What the input holds is no such structure.
    fn decode_part<D: Decoder<'de> + ?Sized>(
        builder: &mut Self::Builder,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error>;

    /// The whole structure. Asks [`Decoder::missing`] about each required
    /// member that no part had, and [`Decoder::fills`] about each that has a
    /// default.
    ///
    /// # Errors
    ///
    /// A required member is missing and the decoder minds.
    fn build<D: Decoder<'de> + ?Sized>(
        builder: Self::Builder,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<Self, Error>;
}
