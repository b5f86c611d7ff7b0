//! Messages: values that any format can write, and structures that any format can fill.

use std::fmt;
use std::marker::PhantomData;

use polywire_schema::{
    DecodeStructure, Decoder, Encode, Encoder, Error, ErrorKind, Map, Member, Value,
    complete_structure, decode_structure,
};

use crate::{Format, FormatDecoder, FormatEncoder, Message, Sink};

/// A value that any encoder can write.
pub trait EncodeAny {
    /// Writes the value of `at`. One copy of this code serves all formats that have
    /// none of their own for the value, and the head of an HTTP message.
    fn encode_any(&self, at: Member<'_>, encoder: &mut dyn Encoder);
}

/// A value that may have code compiled for the encoder `E`.
///
/// The default has none. It is the caller that then uses [`EncodeAny`], and not this
/// method, so that a program contains only the formats that its protocols use.
pub trait EncodeWith<E> {
    /// Writes the value of `at`. False if there is no code for this encoder; nothing
    /// was written then.
    #[must_use = "false means that nothing was written"]
    fn encode_with(&self, at: Member<'_>, encoder: &mut E) -> bool {
        let _ = (at, encoder);
        false
    }
}

/// A structure that any decoder can fill.
pub trait DecodeAny<'de> {
    /// Reads members. One copy of this code serves all formats that have none of their
    /// own for the structure, and the head of an HTTP message.
    ///
    /// # Errors
    ///
    /// The input is malformed, or does not match the schema.
    fn decode_any(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error>;

    /// Completes the structure: `decoder` says what to do about missing members.
    ///
    /// # Errors
    ///
    /// A required member is missing, and the decoder rejects that.
    fn finish(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error>;
}

/// A structure that may have code compiled for the decoder `D`. The default has none.
pub trait DecodeWith<'de, D> {
    /// Reads members. `None` if there is no code for this decoder; nothing was read
    /// then.
    fn decode_with(&mut self, at: Member<'_>, decoder: &mut D) -> Option<Result<(), Error>> {
        let _ = (at, decoder);
        None
    }
}

impl dyn Message + '_ {
    /// Writes the value of `at`.
    #[inline]
    pub fn write<E: FormatEncoder>(&self, at: Member<'_>, encoder: &mut E)
    where
        Self: EncodeWith<E>,
    {
        if !self.encode_with(at, encoder) {
            self.encode_any(at, encoder);
        }
    }
}

impl<'de> dyn Sink<'de> + '_ {
    /// Reads the members of a document.
    ///
    /// # Errors
    ///
    /// The input is malformed, or does not match the schema.
    #[inline]
    pub fn read<D: FormatDecoder<'de>>(
        &mut self,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error>
    where
        Self: DecodeWith<'de, D>,
    {
        match self.decode_with(at, decoder) {
            Some(read) => read,
            None => self.decode_any(at, decoder),
        }
    }
}

impl<M: EncodeAny + ?Sized> EncodeAny for &M {
    fn encode_any(&self, at: Member<'_>, encoder: &mut dyn Encoder) {
        (**self).encode_any(at, encoder);
    }
}

impl<E, M: EncodeWith<E> + ?Sized> EncodeWith<E> for &M {
    fn encode_with(&self, at: Member<'_>, encoder: &mut E) -> bool {
        (**self).encode_with(at, encoder)
    }
}

impl<'de, S: DecodeAny<'de> + ?Sized> DecodeAny<'de> for &mut S {
    fn decode_any(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        (**self).decode_any(at, decoder)
    }

    fn finish(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        (**self).finish(at, decoder)
    }
}

impl<'de, D, S: DecodeWith<'de, D> + ?Sized> DecodeWith<'de, D> for &mut S {
    fn decode_with(&mut self, at: Member<'_>, decoder: &mut D) -> Option<Result<(), Error>> {
        (**self).decode_with(at, decoder)
    }
}

/// The formats for which the code of a type is monomorphised.
///
/// Each costs a copy of the code that reads and writes the type, which a crate of
/// hundreds of types pays in build time and size. Generated code names the formats of
/// the protocols of its service; the others share one copy, over `dyn Encoder` and
/// `dyn Decoder`.
pub trait Formats: Send + Sync + 'static {
    /// These formats.
    const FORMATS: &'static [Format];
}

/// All formats.
#[derive(Clone, Copy, Debug)]
pub struct AllFormats;

impl Formats for AllFormats {
    const FORMATS: &'static [Format] = Format::ALL;
}

/// None, for types that are rarely used.
#[derive(Clone, Copy, Debug)]
pub struct NoFormats;

impl Formats for NoFormats {
    const FORMATS: &'static [Format] = &[];
}

const fn contains(formats: &[Format], format: Format) -> bool {
    let mut at = 0;
    while at < formats.len() {
        if formats[at] as u8 == format as u8 {
            return true;
        }
        at += 1;
    }
    false
}

/// A typed value, or a reference to one, as a [`Message`].
#[derive(Clone, Copy)]
pub struct Typed<T, F = AllFormats> {
    value: T,
    formats: PhantomData<fn() -> F>,
}

impl<T> Typed<T> {
    /// With code of its own for every format.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self::with_formats(value)
    }
}

impl<T, F: Formats> Typed<T, F> {
    /// With code of its own for the formats `F`.
    #[must_use]
    pub const fn with_formats(value: T) -> Self {
        Self {
            value,
            formats: PhantomData,
        }
    }
}

impl<T: fmt::Debug, F> fmt::Debug for Typed<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: Encode, F> EncodeAny for Typed<T, F> {
    fn encode_any(&self, at: Member<'_>, encoder: &mut dyn Encoder) {
        self.value.encode(at, encoder);
    }
}

impl<E: FormatEncoder, T: Encode, F: Formats> EncodeWith<E> for Typed<T, F> {
    fn encode_with(&self, at: Member<'_>, encoder: &mut E) -> bool {
        let own = const { contains(F::FORMATS, E::FORMAT) };
        if own {
            self.value.encode(at, encoder);
        }
        own
    }
}

/// A dynamic value as a [`Message`].
#[derive(Clone, Copy, Debug)]
pub struct Dynamic<'a>(pub &'a Value);

impl EncodeAny for Dynamic<'_> {
    fn encode_any(&self, at: Member<'_>, encoder: &mut dyn Encoder) {
        self.0.encode(at, encoder);
    }
}

impl<E: FormatEncoder> EncodeWith<E> for Dynamic<'_> {
    fn encode_with(&self, at: Member<'_>, encoder: &mut E) -> bool {
        self.0.encode(at, encoder);
        true
    }
}

impl EncodeAny for Map {
    fn encode_any(&self, at: Member<'_>, encoder: &mut dyn Encoder) {
        self.encode(at, encoder);
    }
}

impl<E: FormatEncoder> EncodeWith<E> for Map {
    fn encode_with(&self, at: Member<'_>, encoder: &mut E) -> bool {
        self.encode(at, encoder);
        true
    }
}

/// A structure as a map.
impl<'de> DecodeAny<'de> for Map {
    fn decode_any(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        decode_structure(self, at, decoder)
    }

    fn finish(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        complete_structure(self, at, decoder)
    }
}

impl<'de, D: FormatDecoder<'de>> DecodeWith<'de, D> for Map {
    fn decode_with(&mut self, at: Member<'_>, decoder: &mut D) -> Option<Result<(), Error>> {
        Some(decode_structure(self, at, decoder))
    }
}

/// A typed structure as a [`Sink`], with code of its own for the formats `F`.
pub struct Slot<'de, T: DecodeStructure<'de>, F = AllFormats> {
    /// `None` after [`DecodeAny::finish`].
    builder: Option<T::Builder>,
    value: Option<T>,
    formats: PhantomData<fn() -> F>,
    lifetime: PhantomData<&'de ()>,
}

impl<'de, T: DecodeStructure<'de>> Slot<'de, T> {
    /// An empty structure.
    #[must_use]
    pub fn new() -> Self {
        Self::with_formats()
    }
}

impl<'de, T: DecodeStructure<'de>, F: Formats> Slot<'de, T, F> {
    /// An empty structure, with code of its own for the formats `F`.
    #[must_use]
    pub fn with_formats() -> Self {
        Self {
            builder: Some(T::Builder::default()),
            value: None,
            formats: PhantomData,
            lifetime: PhantomData,
        }
    }

    /// The structure. `None` before [`DecodeAny::finish`].
    #[must_use]
    pub fn into_value(self) -> Option<T> {
        self.value
    }

    /// Reads the members that this decoder has.
    #[inline]
    fn part<D: Decoder<'de> + ?Sized>(
        &mut self,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        match &mut self.builder {
            Some(builder) => T::decode_part(builder, at, decoder),
            None => Err(finished()),
        }
    }
}

impl<'de, T: DecodeStructure<'de>> Default for Slot<'de, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'de, T: DecodeStructure<'de> + fmt::Debug, F> fmt::Debug for Slot<'de, T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<'de, T: DecodeStructure<'de>, F: Formats> DecodeAny<'de> for Slot<'de, T, F> {
    fn decode_any(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        self.part(at, decoder)
    }

    fn finish(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error> {
        let Some(builder) = self.builder.take() else {
            return Err(finished());
        };
        self.value = Some(T::build(builder, at, decoder)?);
        Ok(())
    }
}

impl<'de, D, T, F> DecodeWith<'de, D> for Slot<'de, T, F>
where
    D: FormatDecoder<'de>,
    T: DecodeStructure<'de>,
    F: Formats,
{
    fn decode_with(&mut self, at: Member<'_>, decoder: &mut D) -> Option<Result<(), Error>> {
        let own = const { contains(F::FORMATS, D::FORMAT) };
        if own {
            return Some(self.part(at, decoder));
        }
        None
    }
}

/// The structure that was read, for a validator. Nothing before [`DecodeAny::finish`],
/// and that is an error. To write it, use [`Typed`].
impl<'de, T: DecodeStructure<'de> + Encode, F> EncodeAny for Slot<'de, T, F> {
    fn encode_any(&self, at: Member<'_>, encoder: &mut dyn Encoder) {
        match &self.value {
            Some(value) => value.encode(at, encoder),
            None => encoder.fail(
                Error::new(ErrorKind::Internal).expected("a structure that was read to its end"),
            ),
        }
    }
}

impl<'de, E, T: DecodeStructure<'de>, F> EncodeWith<E> for Slot<'de, T, F> {}

/// A finished structure accepts no more members.
#[cold]
fn finished() -> Error {
    Error::new(ErrorKind::Internal).expected("no members after the end of the structure")
}
