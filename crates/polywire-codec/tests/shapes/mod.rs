//! Shapes with types, written by hand as a code generator would write them.
//!
//! Every type goes through every format with the one implementation that
//! stands here. [`samples`] has a filled value of most of them.
#![allow(dead_code, unused_imports, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod collections;
mod http;
mod node;
mod query;
pub(crate) mod samples;
mod scalars;
mod schema;
mod strict;
mod wide;
mod xml;

pub(crate) use collections::Collections;
pub(crate) use http::{PutBlob, PutNode, PutThing};
pub(crate) use node::{Choice, Node};
pub(crate) use query::QueryInput;
pub(crate) use scalars::{Rank, Scalars, Suit};
pub(crate) use schema::{WIDE, root};
pub(crate) use strict::{Line, Named, Strict};
pub(crate) use wide::Wide;
pub(crate) use xml::{Bucket, Entry, Grantee};

use polywire_schema::{Encode, Encoder, Member};

/// Writes a member that is there.
fn put<T: Encode, E: Encoder + ?Sized>(value: Option<&T>, at: Member<'_>, encoder: &mut E) {
    if let Some(value) = value
        && encoder.member(at)
    {
        value.encode(at, encoder);
    }
}

/// `Encode` and `Decode` of a structure whose members are all optional: its
/// own builder, with the fields in the order of the ordinals. Structures with
/// required members, unions and enums are written out in their files.
macro_rules! optional_members {
    ($type:ident { $($field:ident),* $(,)? }) => {
        impl polywire_schema::Encode for $type {
            fn encode<E: polywire_schema::Encoder + ?Sized>(
                &self,
                at: polywire_schema::Member<'_>,
                encoder: &mut E,
            ) {
                let mut members = at.target().members();
                encoder.begin_structure(at, [$(self.$field.is_some()),*]
                    .into_iter().filter(|present| *present).count());
                $(super::put(self.$field.as_ref(), members.next().unwrap(), encoder);)*
                encoder.end_structure(at);
            }
        }

        impl<'de> polywire_schema::Decode<'de> for $type {
            fn decode<D: polywire_schema::Decoder<'de> + ?Sized>(
                at: polywire_schema::Member<'_>,
                decoder: &mut D,
            ) -> Result<Self, polywire_schema::Error> {
                use polywire_schema::DecodeStructure as _;

                let mut builder = Self::default();
                Self::decode_part(&mut builder, at, decoder)?;
                Self::build(builder, at, decoder)
            }
        }

        impl<'de> polywire_schema::DecodeStructure<'de> for $type {
            type Builder = Self;

            fn decode_part<D: polywire_schema::Decoder<'de> + ?Sized>(
                builder: &mut Self,
                at: polywire_schema::Member<'_>,
                decoder: &mut D,
            ) -> Result<(), polywire_schema::Error> {
                let shape = at.target();
                let mut seq = decoder.structure(at)?;
                loop {
                    let ordinal = decoder.member(shape, &mut seq)?;
                    if ordinal == polywire_schema::END {
                        return Ok(());
                    }
                    let at = shape.member(ordinal);
                    let mut place = 0;
                    $(
                        if ordinal == place {
                            super::read(&mut builder.$field, at, decoder)?;
                            continue;
                        }
                        place += 1;
                    )*
                    assert!(ordinal < place, "no such ordinal");
                }
            }

            fn build<D: polywire_schema::Decoder<'de> + ?Sized>(
                builder: Self,
                _: polywire_schema::Member<'_>,
                _: &mut D,
            ) -> Result<Self, polywire_schema::Error> {
                Ok(builder)
            }
        }
    };
}
use optional_members;

/// Reads a member into its place: a flattened list or map whose items stand
/// apart goes on where it was.
fn read<'de, T: polywire_schema::Decode<'de>, D: polywire_schema::Decoder<'de> + ?Sized>(
    place: &mut Option<T>,
    at: Member<'_>,
    decoder: &mut D,
) -> Result<(), polywire_schema::Error> {
    match place {
        Some(value) => value.decode_into(at, decoder),
        None => {
            *place = Some(T::decode(at, decoder)?);
            Ok(())
        }
    }
}
