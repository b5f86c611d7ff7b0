//! Structures whose members travel in head and body.

use std::collections::BTreeMap;

use polywire_schema::{
    Blob, Decode, DecodeStructure, Decoder, END, Encode, Encoder, Error, ErrorKind, Member, Text,
    Timestamp,
};

use super::Node;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PutThing {
    pub(crate) id: Text,
    pub(crate) title: Option<Text>,
    pub(crate) etag: Option<Text>,
    pub(crate) since: Option<Timestamp>,
    pub(crate) tags: Option<Vec<Text>>,
    pub(crate) node: Node,
    pub(crate) meta: Option<BTreeMap<Text, Text>>,
    pub(crate) limit: Option<i32>,
    pub(crate) filters: Option<BTreeMap<Text, Vec<Text>>>,
    pub(crate) status: Option<i32>,
}

impl Encode for PutThing {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        let shape = at.target();
        encoder.begin_structure(at, 10);
        super::put(Some(&self.id), shape.member(0), encoder);
        super::put(self.title.as_ref(), shape.member(1), encoder);
        super::put(self.etag.as_ref(), shape.member(2), encoder);
        super::put(self.since.as_ref(), shape.member(3), encoder);
        super::put(self.tags.as_ref(), shape.member(4), encoder);
        super::put(Some(&self.node), shape.member(5), encoder);
        super::put(self.meta.as_ref(), shape.member(6), encoder);
        super::put(self.limit.as_ref(), shape.member(7), encoder);
        super::put(self.filters.as_ref(), shape.member(8), encoder);
        super::put(self.status.as_ref(), shape.member(9), encoder);
        encoder.end_structure(at);
    }
}

#[derive(Debug, Default)]
pub(crate) struct PutThingBuilder {
    id: Option<Text>,
    node: Option<Node>,
    rest: PutThing,
}

impl<'de> Decode<'de> for PutThing {
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        let mut builder = PutThingBuilder::default();
        Self::decode_part(&mut builder, at, decoder)?;
        Self::build(builder, at, decoder)
    }
}

impl<'de> DecodeStructure<'de> for PutThing {
    type Builder = PutThingBuilder;

    fn decode_part<D: Decoder<'de> + ?Sized>(
        builder: &mut PutThingBuilder,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        let shape = at.target();
        let thing = &mut builder.rest;
        let mut seq = decoder.structure(at)?;
        loop {
            match decoder.member(shape, &mut seq)? {
                0 => builder.id = Some(Decode::decode(shape.member(0), decoder)?),
                1 => thing.title = Some(Decode::decode(shape.member(1), decoder)?),
                2 => thing.etag = Some(Decode::decode(shape.member(2), decoder)?),
                3 => thing.since = Some(Decode::decode(shape.member(3), decoder)?),
                4 => thing.tags = Some(Decode::decode(shape.member(4), decoder)?),
                5 => builder.node = Some(Decode::decode(shape.member(5), decoder)?),
                6 => thing.meta = Some(Decode::decode(shape.member(6), decoder)?),
                7 => thing.limit = Some(Decode::decode(shape.member(7), decoder)?),
                8 => thing.filters = Some(Decode::decode(shape.member(8), decoder)?),
                9 => thing.status = Some(Decode::decode(shape.member(9), decoder)?),
                END => return Ok(()),
                _ => return Err(decoder.error(ErrorKind::Internal, "a member of PutThing")),
            }
        }
    }

    fn build<D: Decoder<'de> + ?Sized>(
        builder: PutThingBuilder,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<Self, Error> {
        let mut thing = builder.rest;
        match builder.id {
            Some(id) => thing.id = id,
            None => decoder.missing(at.target().member(0))?,
        }
        match builder.node {
            Some(node) => thing.node = node,
            None => decoder.missing(at.target().member(5))?,
        }
        Ok(thing)
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PutBlob {
    pub(crate) kind: Option<Text>,
    pub(crate) payload: Option<Blob>,
}

super::optional_members!(PutBlob { kind, payload });

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PutNode {
    pub(crate) kind: Option<Text>,
    pub(crate) payload: Option<Node>,
}

super::optional_members!(PutNode { kind, payload });
