//! What generated types call: the parts of their codecs that are the same for
//! all of them. Nobody else needs it, and it changes with the generator.
//!
//! Everything here is generic over the type of a member, not over the
//! structure, so that a crate of seven hundred structures instantiates it a
//! few dozen times.

use std::fmt;
use std::sync::Arc;

use crate::{
    Decode, DecodeStructure, Decoder, END, Encode, Encoder, Error, ErrorKind, Member,
    SchemaBuilder, SchemaSet, Seq,
};

pub use crate::decode::distinct_keys;

/// The schemas that the generator packed.
///
/// # Panics
///
/// They were packed by another version of this crate.
pub fn schemas(packed: &[u8]) -> Arc<SchemaSet<'static>> {
    let set = SchemaBuilder::from_compact(packed).and_then(SchemaBuilder::finish);
    #[expect(
        clippy::expect_used,
        reason = "generator and library are of one version"
    )]
    Arc::new(set.expect("generated code of this version of Polywire"))
}

/// Writes a member that is always there.
#[inline]
pub fn put<T: Encode, E: Encoder + ?Sized>(value: &T, at: Member<'_>, encoder: &mut E) {
    if encoder.member(at) {
        value.encode(at, encoder);
    }
}

/// Writes a member, if it is there.
#[inline]
pub fn put_some<T: Encode, E: Encoder + ?Sized>(
    value: &Option<T>,
    at: Member<'_>,
    encoder: &mut E,
) {
    if let Some(value) = value
        && encoder.member(at)
    {
        value.encode(at, encoder);
    }
}

/// Writes a member that clients need not send: its default where it is not
/// there and the encoder fills defaults in.
#[inline]
pub fn put_or<T: Encode, E: Encoder + ?Sized>(
    value: &Option<T>,
    at: Member<'_>,
    encoder: &mut E,
    default: impl FnOnce() -> T,
) {
    match value {
        Some(value) => put(value, at, encoder),
        None if encoder.fills(at) => put(&default(), at, encoder),
        None => {}
    }
}

/// Reads a member into its place.
#[inline]
pub fn read<'de, T: Decode<'de>, D: Decoder<'de> + ?Sized>(
    place: &mut T,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    *place = T::decode(at, decoder)?;
    Ok(())
}

/// Reads a list or map into its place, which may come in parts.
#[inline]
pub fn read_on<'de, T: Decode<'de>, D: Decoder<'de> + ?Sized>(
    place: &mut T,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    place.decode_into(at, decoder)
}

/// Reads a member that need not come.
#[inline]
pub fn read_some<'de, T: Decode<'de>, D: Decoder<'de> + ?Sized>(
    place: &mut Option<T>,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    *place = Some(T::decode(at, decoder)?);
    Ok(())
}

/// Reads a list or map that need not come, and may come in parts.
#[inline]
pub fn read_on_some<'de, T: Decode<'de>, D: Decoder<'de> + ?Sized>(
    place: &mut Option<T>,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<(), Error> {
    match place {
        Some(value) => value.decode_into(at, decoder),
        None => read_some(place, at, decoder),
    }
}

/// Which of the required members of a structure are there, by their places
/// among them.
#[derive(Clone, Copy, Debug)]
pub struct Marks<const N: usize>([u64; N]);

impl<const N: usize> Default for Marks<N> {
    #[inline]
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> Marks<N> {
    /// So many members, and all are there.
    pub fn all(len: usize) -> Self {
        let mut marks = Self::default();
        (0..len).for_each(|place| marks.mark(place));
        marks
    }

    /// Whether a member is there.
    fn has(&self, place: usize) -> bool {
        self.0[place / 64] & 1 << (place % 64) != 0
    }

    /// Notes that a member is there.
    #[inline]
    pub fn mark(&mut self, place: usize) {
        self.0[place / 64] |= 1 << (place % 64);
    }

    /// The place of the first of so many that is not there.
    #[inline]
    fn first_missing(&self, len: usize) -> Option<usize> {
        // All but the last word are full, or the first hole is in them.
        (0..N).find_map(|word| {
            let place = word * 64 + self.0[word].trailing_ones() as usize;
            (place < len && place < word * 64 + 64).then_some(place)
        })
    }

    /// Asks the decoder about each member that is not there, by ordinals.
    #[inline]
    pub fn ask<'de, D: Decoder<'de> + ?Sized>(
        &self,
        ordinals: &[u32],
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        match self.first_missing(ordinals.len()) {
            None => Ok(()),
            Some(_) => self.ask_each(ordinals, at, decoder),
        }
    }

    #[cold]
    fn ask_each<'de, D: Decoder<'de> + ?Sized>(
        &self,
        ordinals: &[u32],
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        for (place, ordinal) in ordinals.iter().enumerate() {
            if !self.has(place) {
                decoder.missing(at.target().member(*ordinal))?;
            }
        }
        Ok(())
    }

    /// The error of a builder that lacks a member.
    #[inline]
    pub fn check(
        &self,
        shape: &'static str,
        members: &[&'static str],
    ) -> Result<(), MissingMember> {
        match self.first_missing(members.len()) {
            None => Ok(()),
            Some(place) => Err(MissingMember {
                shape,
                member: members[place],
            }),
        }
    }
}

/// Shows an error: its name and message.
pub fn show(f: &mut fmt::Formatter<'_>, name: &str, message: Option<&str>) -> fmt::Result {
    f.write_str(name)?;
    match message {
        Some(message) if !message.is_empty() => write!(f, ": {message}"),
        _ => Ok(()),
    }
}

/// A number of digits that the generator has checked.
pub fn big_integer(digits: &str) -> crate::BigInteger {
    digits.parse().unwrap_or_default()
}

/// A number that the generator has checked.
pub fn big_decimal(digits: &str) -> crate::BigDecimal {
    digits.parse().unwrap_or_default()
}

/// A whole structure from one document.
#[inline]
pub fn structure<'de, T: DecodeStructure<'de>, D: Decoder<'de> + ?Sized>(
    at: Member<'_>,
    decoder: &mut D,
) -> Result<T, Error> {
    let mut builder = T::Builder::default();
    T::decode_part(&mut builder, at, decoder)?;
    T::build(builder, at, decoder)
}

/// A decoder returned an ordinal that the shape does not have.
#[cold]
pub fn stray<'de, D: Decoder<'de> + ?Sized>(decoder: &D) -> Error {
    decoder.error(ErrorKind::Internal, "a member of the shape")
}

/// Reads a union, the value of `at`, up to the value of its member, and returns
/// its ordinal: [`END`] if it is one that the model does not have and the decoder
/// does not mind. `seq` is for [`end_union`].
#[inline]
pub fn begin_union<'de, D: Decoder<'de> + ?Sized>(
    at: Member<'_>,
    seq: &mut Option<Seq>,
    decoder: &mut D,
) -> Result<u32, Error> {
    match decoder.variant(at) {
        Some(ordinal) => Ok(ordinal),
        None => begin_any_union(at, seq, decoder),
    }
}

#[inline(never)]
fn begin_any_union<'de, D: Decoder<'de> + ?Sized>(
    at: Member<'_>,
    seq: &mut Option<Seq>,
    decoder: &mut D,
) -> Result<u32, Error> {
    let seq = seq.insert(decoder.structure(at)?);
    let ordinal = decoder.member(at.target(), seq)?;
    if ordinal == END {
        if !seq.unknown {
            return Err(one_member(decoder, "none"));
        }
        // A newer peer may know more variants: a client takes that.
        decoder.unknown(at)?;
    }
    Ok(ordinal)
}

/// Puts a value where a blank stands, which need not be dropped.
#[inline(always)]
pub fn settle<T>(place: &mut T, value: T) {
    std::mem::forget(std::mem::replace(place, value));
}

/// Sees to it that the union `at` ends behind the value of its member.
#[inline]
pub fn end_union<'de, D: Decoder<'de> + ?Sized>(
    at: Member<'_>,
    ordinal: u32,
    seq: &mut Option<Seq>,
    decoder: &mut D,
) -> Result<(), Error> {
    if seq.is_none() {
        *seq = decoder.end_variant(ordinal);
    }
    match seq {
        None => Ok(()),
        Some(seq) => end_any_union(at, ordinal, seq, decoder),
    }
}

#[inline(never)]
fn end_any_union<'de, D: Decoder<'de> + ?Sized>(
    at: Member<'_>,
    ordinal: u32,
    seq: &mut Seq,
    decoder: &mut D,
) -> Result<(), Error> {
    if ordinal == END {
        return Ok(());
    }
    if decoder.member(at.target(), seq)? != END {
        return Err(one_member(decoder, "another"));
    }
    if seq.unknown {
        decoder.unknown(at)?;
    }
    Ok(())
}

#[cold]
fn one_member<'de, D: Decoder<'de> + ?Sized>(decoder: &D, found: &'static str) -> Error {
    decoder
        .error(ErrorKind::WrongType, "exactly one member of a union")
        .found(found)
}

/// Reads the empty structure of a variant without data.
pub fn unit<'de, D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<(), Error> {
    let mut seq = decoder.structure(at)?;
    while decoder.member(at.target(), &mut seq)? != END {}
    Ok(())
}

/// Writes the empty structure of a variant without data.
pub fn put_unit<E: Encoder + ?Sized>(at: Member<'_>, encoder: &mut E) {
    if encoder.member(at) {
        encoder.begin_structure(at, 0);
        encoder.end_structure(at);
    }
}

/// A variant that the model does not have cannot be written.
#[cold]
pub fn unwritable<E: Encoder + ?Sized>(at: Member<'_>, encoder: &mut E) {
    let error = Error::new(ErrorKind::Unwritable)
        .expected("a variant that the model has")
        .at_path(at.target().id());
    encoder.fail(error);
}

/// What stands for sensitive data where it would be shown.
pub struct Redacted;

impl fmt::Debug for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(sensitive)")
    }
}

/// Something to be done with a generated type that is known by its id alone.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it with the type.
    fn visit<T>(self) -> Self::Output
    where
        T: Encode
            + for<'de> DecodeStructure<'de>
            + Clone
            + Default
            + fmt::Debug
            + PartialEq
            + Send
            + Sync
            + 'static;
}

/// A required member that was not set on a builder.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct MissingMember {
    /// The structure.
    pub shape: &'static str,
    /// The member.
    pub member: &'static str,
}

impl fmt::Display for MissingMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} needs `{}`", self.shape, self.member)
    }
}

impl std::error::Error for MissingMember {}
