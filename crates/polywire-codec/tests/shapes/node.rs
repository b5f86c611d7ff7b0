//! A structure that holds itself, with a required member, and a union.

use std::collections::BTreeMap;

use polywire_schema::{
    Decode, DecodeStructure, Decoder, END, Encode, Encoder, Error, ErrorKind, Member, Text,
};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Node {
    pub(crate) name: Text,
    pub(crate) weight: Option<i64>,
    pub(crate) left: Option<Box<Node>>,
    pub(crate) right: Option<Box<Node>>,
    pub(crate) children: Option<Vec<Node>>,
    pub(crate) by_key: Option<BTreeMap<Text, Node>>,
    pub(crate) choice: Option<Choice>,
    pub(crate) choices: Option<Vec<Choice>>,
}

impl Node {
    pub(crate) fn named(name: &str) -> Self {
        Self {
            name: Text::from(name),
            ..Self::default()
        }
    }
}

impl Encode for Node {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        let shape = at.target();
        let present = 1
            + usize::from(self.weight.is_some())
            + usize::from(self.left.is_some())
            + usize::from(self.right.is_some())
            + usize::from(self.children.is_some())
            + usize::from(self.by_key.is_some())
            + usize::from(self.choice.is_some())
            + usize::from(self.choices.is_some());
        encoder.begin_structure(at, present);
        super::put(Some(&self.name), shape.member(0), encoder);
        super::put(self.weight.as_ref(), shape.member(1), encoder);
        super::put(self.left.as_ref(), shape.member(2), encoder);
        super::put(self.right.as_ref(), shape.member(3), encoder);
        super::put(self.children.as_ref(), shape.member(4), encoder);
        super::put(self.by_key.as_ref(), shape.member(5), encoder);
        super::put(self.choice.as_ref(), shape.member(6), encoder);
        super::put(self.choices.as_ref(), shape.member(7), encoder);
        encoder.end_structure(at);
    }
}

#[derive(Debug, Default)]
pub(crate) struct NodeBuilder {
    name: Option<Text>,
    node: Node,
}

impl<'de> Decode<'de> for Node {
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        let mut builder = NodeBuilder::default();
        Self::decode_part(&mut builder, at, decoder)?;
        Self::build(builder, at, decoder)
    }
}

impl<'de> DecodeStructure<'de> for Node {
    type Builder = NodeBuilder;

    fn decode_part<D: Decoder<'de> + ?Sized>(
        builder: &mut NodeBuilder,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        let shape = at.target();
        let node = &mut builder.node;
        let mut seq = decoder.structure(at)?;
        loop {
            match decoder.member(shape, &mut seq)? {
                0 => builder.name = Some(decoder.text(shape.member(0))?),
                1 => node.weight = Some(decoder.integer(shape.member(1))?),
                2 => node.left = Some(Box::new(Self::decode(shape.member(2), decoder)?)),
                3 => node.right = Some(Box::new(Self::decode(shape.member(3), decoder)?)),
                4 => node.children = Some(Decode::decode(shape.member(4), decoder)?),
                5 => node.by_key = Some(Decode::decode(shape.member(5), decoder)?),
                6 => node.choice = Some(Choice::decode(shape.member(6), decoder)?),
                7 => node.choices = Some(Decode::decode(shape.member(7), decoder)?),
                END => return Ok(()),
                _ => return Err(decoder.error(ErrorKind::Internal, "a member of Node")),
            }
        }
    }

    fn build<D: Decoder<'de> + ?Sized>(
        builder: NodeBuilder,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<Self, Error> {
        let mut node = builder.node;
        match builder.name {
            Some(name) => node.name = name,
            None => decoder.missing(at.target().member(0))?,
        }
        Ok(node)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Choice {
    Text(Text),
    Number(i64),
    Node(Box<Node>),
    List(Vec<Choice>),
    Empty,
    /// A variant that the model does not have; cannot be written.
    Unknown,
}

impl Encode for Choice {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        let shape = at.target();
        encoder.begin_structure(at, 1);
        match self {
            Self::Text(text) => super::put(Some(text), shape.member(0), encoder),
            Self::Number(number) => super::put(Some(number), shape.member(1), encoder),
            Self::Node(node) => super::put(Some(node), shape.member(2), encoder),
            Self::List(list) => super::put(Some(list), shape.member(3), encoder),
            Self::Empty => {
                let at = shape.member(4);
                if encoder.member(at) {
                    encoder.begin_structure(at, 0);
                    encoder.end_structure(at);
                }
            }
            Self::Unknown => encoder.fail(
                Error::new(ErrorKind::Unwritable)
                    .expected("a variant that the model has")
                    .at_path(shape.id()),
            ),
        }
        encoder.end_structure(at);
    }
}

impl<'de> Decode<'de> for Choice {
    fn decode<D: Decoder<'de> + ?Sized>(at: Member<'_>, decoder: &mut D) -> Result<Self, Error> {
        let shape = at.target();
        let mut choice = None;
        let mut seq = decoder.structure(at)?;
        loop {
            let ordinal = decoder.member(shape, &mut seq)?;
            if ordinal == END {
                break;
            }
            if choice.is_some() {
                return Err(one_member("another", decoder));
            }
            let at = shape.member(ordinal);
            choice = Some(match ordinal {
                0 => Self::Text(decoder.text(at)?),
                1 => Self::Number(decoder.integer(at)?),
                2 => Self::Node(Decode::decode(at, decoder)?),
                3 => Self::List(Decode::decode(at, decoder)?),
                4 => {
                    let mut seq = decoder.structure(at)?;
                    while decoder.member(at.target(), &mut seq)? != END {}
                    Self::Empty
                }
                _ => return Err(decoder.error(ErrorKind::Internal, "a member of Choice")),
            });
        }
        if seq.unknown {
            // A newer peer may know more variants: a client takes that.
            decoder.unknown(at)?;
        }
        match choice {
            Some(choice) => Ok(choice),
            None if seq.unknown => Ok(Self::Unknown),
            None => Err(one_member("none", decoder)),
        }
    }
}

fn one_member<'de, D: Decoder<'de> + ?Sized>(found: &'static str, decoder: &D) -> Error {
    decoder
        .error(ErrorKind::WrongType, "exactly one member of a union")
        .found(found)
}
