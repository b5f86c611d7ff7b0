//! Values that can be written in any format, and structures that can be read from any format.

use std::fmt;
use std::marker::PhantomData;

use polywire_schema::{
    DecodeStructure, Decoder, Encode, Encoder, Error, ErrorKind, Map, Member, Value,
    complete_structure, decode_structure,
};

use crate::{Format, FormatDecoder, FormatEncoder, Message, Sink};

/// A value that can be written with any encoder.
pub trait EncodeAny {
    /// Writes the value of `at`. This code is shared by the formats without specialised code for the
    /// value, and it writes the headers of HTTP messages.
    fn encode_any(&self, at: Member<'_>, encoder: &mut dyn Encoder);
}

/// A value that may have code compiled for the encoder `E`.
///
/// The default implementation has none. The caller then uses [`EncodeAny`]. If this method did, a
/// program would contain all formats instead of those that its protocols use.
pub trait EncodeWith<E> {
    /// Writes the value of `at`. Returns `false`, with nothing written, if there is no code for this
    /// encoder.
    #[must_use = "false means that nothing was written"]
    fn encode_with(&self, at: Member<'_>, encoder: &mut E) -> bool {
        let _ = (at, encoder);
        false
    }
}

/// A structure that can be read with any decoder.
pub trait DecodeAny<'de> {
    /// Reads members. This code is shared by the formats without specialised code for the structure,
    /// and it reads the headers of HTTP messages.
    ///
    /// # Errors
    ///
    /// The input is malformed, or does not match the schema.
    fn decode_any(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error>;

    /// Completes the structure. The options of `decoder` determine how missing members are handled.
    ///
    /// # Errors
    ///
    /// A required member is missing, and the decoder rejects that.
    fn finish(&mut self, at: Member<'_>, decoder: &mut dyn Decoder<'de>) -> Result<(), Error>;
}

/// A structure that may have code compiled for the decoder `D`. The default implementation has none.
pub trait DecodeWith<'de, D> {
    /// Reads members. Returns `None`, with nothing read, if there is no code for this decoder.
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
/// Each format needs a copy of the code that reads and writes the type. In a crate with hundreds of
/// types, this increases build time and code size. Generated code lists the formats of the protocols
/// of its service. All other formats share one copy, which uses `dyn Encoder` and `dyn Decoder`.
pub trait Formats: Send + Sync + 'static {
    /// The formats.
    const FORMATS: &'static [Format];
}

/// All formats.
#[derive(Clone, Copy, Debug)]
pub struct AllFormats;

impl Formats for AllFormats {
    const FORMATS: &'static [Format] = Format::ALL;
}

/// No formats, for types that are rarely used.
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
    /// Wraps a value, with code compiled for every format.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self::with_formats(value)
    }
}

impl<T, F: Formats> Typed<T, F> {
    /// Wraps a value, with code compiled for the formats `F`.
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
        let is_compiled = const { contains(F::FORMATS, E::FORMAT) };
        if is_compiled {
            self.value.encode(at, encoder);
        }
        is_compiled
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

/// A typed structure as a [`Sink`], with code compiled for the formats `F`.
pub struct Slot<'de, T: DecodeStructure<'de>, F = AllFormats> {
    /// `None` after [`DecodeAny::finish`].
    builder: Option<T::Builder>,
    value: Option<T>,
    formats: PhantomData<fn() -> F>,
    lifetime: PhantomData<&'de ()>,
}

impl<'de, T: DecodeStructure<'de>> Slot<'de, T> {
    /// Creates an empty structure.
    #[must_use]
    pub fn new() -> Self {
        Self::with_formats()
    }
}

impl<'de, T: DecodeStructure<'de>, F: Formats> Slot<'de, T, F> {
    /// Creates an empty structure, with code compiled for the formats `F`.
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

    /// Reads the members that this decoder provides.
    #[inline]
    fn read_part<D: Decoder<'de> + ?Sized>(
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
        self.read_part(at, decoder)
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
        let is_compiled = const { contains(F::FORMATS, D::FORMAT) };
        if is_compiled {
            return Some(self.read_part(at, decoder));
        }
        None
    }
}

/// Passes the structure to a validator. Before [`DecodeAny::finish`] this is an error. To write the
/// structure to a message, use [`Typed`].
impl<'de, T: DecodeStructure<'de> + Encode, F> EncodeAny for Slot<'de, T, F> {
    fn encode_any(&self, at: Member<'_>, encoder: &mut dyn Encoder) {
        match &self.value {
            Some(value) => value.encode(at, encoder),
            None => encoder.fail(Error::new(ErrorKind::Internal).expected("a finished structure")),
        }
    }
}

impl<'de, E, T: DecodeStructure<'de>, F> EncodeWith<E> for Slot<'de, T, F> {}

/// The error for reading members of a finished structure.
#[cold]
fn finished() -> Error {
    Error::new(ErrorKind::Internal).expected("no members after the end of the structure")
}
