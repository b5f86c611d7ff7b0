//! Required members, other names, and a structure that borrows.

use std::borrow::Cow;

use polywire_schema::{
    Decode, DecodeStructure, Decoder, END, Encode, Encoder, Error, ErrorKind, Member, Text,
};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Strict {
    pub(crate) id: Text,
    pub(crate) tags: Vec<Text>,
    pub(crate) note: Option<Text>,
    pub(crate) items: Option<Vec<Strict>>,
}

#[derive(Debug, Default)]
pub(crate) struct StrictBuilder {
    id: Option<Text>,
    tags: Option<Vec<Text>>,
    note: Option<Text>,
    items: Option<Vec<Strict>>,
}

impl Encode for Strict {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        let shape = at.target();
        let present = 2 + usize::from(self.note.is_some()) + usize::from(self.items.is_some());
        encoder.begin_structure(at, present);
        super::put(Some(&self.id), shape.member(0), encoder);
        super::put(Some(&self.tags), shape.member(1), encoder);
        super::put(self.note.as_ref(), shape.member(2), encoder);
        super::put(self.items.as_ref(), shape.member(3), encoder);
        encoder.end_structure(at);
    }
}

impl<'de> Decode<'de> for Strict {
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        let mut builder = StrictBuilder::default();
        Self::decode_part(&mut builder, at, decoder)?;
        Self::build(builder, at, decoder)
    }
}

impl<'de> DecodeStructure<'de> for Strict {
    type Builder = StrictBuilder;

    fn decode_part<D: Decoder<'de> + ?Sized>(
        builder: &mut StrictBuilder,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        let shape = at.target();
        let mut seq = decoder.structure(at)?;
        loop {
            match decoder.member(shape, &mut seq)? {
                0 => builder.id = Some(Decode::decode(shape.member(0), decoder)?),
                1 => builder.tags = Some(Decode::decode(shape.member(1), decoder)?),
                2 => builder.note = Some(Decode::decode(shape.member(2), decoder)?),
                3 => builder.items = Some(Decode::decode(shape.member(3), decoder)?),
                END => return Ok(()),
                _ => return Err(decoder.error(ErrorKind::Internal, "a member of Strict")),
            }
        }
    }

    fn build<D: Decoder<'de> + ?Sized>(
        builder: StrictBuilder,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<Self, Error> {
        let shape = at.target();
        if builder.id.is_none() {
            decoder.missing(shape.member(0))?;
        }
        if builder.tags.is_none() {
            decoder.missing(shape.member(1))?;
        }
        Ok(Self {
            id: builder.id.unwrap_or_default(),
            tags: builder.tags.unwrap_or_default(),
            note: builder.note,
            items: builder.items,
        })
    }
}

/// Members with other names in JSON and XML.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Named {
    pub(crate) city_id: Option<Text>,
    pub(crate) plain: Option<Text>,
    pub(crate) quoted: Option<Text>,
    pub(crate) first: Option<Text>,
    pub(crate) second: Option<Text>,
    pub(crate) long: Option<Text>,
}

super::optional_members!(Named {
    city_id,
    plain,
    quoted,
    first,
    second,
    long,
});

/// Strings borrowed from the input where they stand there as they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Line<'de> {
    pub(crate) key: Option<Cow<'de, str>>,
    pub(crate) value: Option<Cow<'de, str>>,
}

impl Encode for Line<'_> {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        let shape = at.target();
        let present = usize::from(self.key.is_some()) + usize::from(self.value.is_some());
        encoder.begin_structure(at, present);
        super::put(self.key.as_ref(), shape.member(0), encoder);
        super::put(self.value.as_ref(), shape.member(1), encoder);
        encoder.end_structure(at);
    }
}

impl<'de> Decode<'de> for Line<'de> {
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        let shape = at.target();
        let mut line = Self::default();
        let mut seq = decoder.structure(at)?;
        loop {
            match decoder.member(shape, &mut seq)? {
                0 => line.key = Some(decoder.str(shape.member(0))?),
                1 => line.value = Some(decoder.str(shape.member(1))?),
                END => return Ok(line),
                _ => return Err(decoder.error(ErrorKind::Internal, "a member of Line")),
            }
        }
    }
}
