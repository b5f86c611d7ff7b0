//! `Value` through schemas: structures as maps of member names.

mod decode;
mod encode;
mod structure;

pub use decode::{complete_structure, decode_structure};
pub(crate) use decode::{decode, decode_into, document};
use encode::unfit;
pub(crate) use encode::{encode, write_document};
pub use structure::encode_structure;

use crate::{Decode, Decoder, Encode, Encoder, Error, ErrorKind, Map, Member, Value};

/// A structure of unknown type, read and written in parts.
impl<'de> crate::DecodeStructure<'de> for Value {
    type Builder = Map;

    fn decode_part<D: Decoder<'de> + ?Sized>(
        builder: &mut Map,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<(), Error> {
        decode_structure(builder, at, decoder)
    }

    fn build<D: Decoder<'de> + ?Sized>(
        mut builder: Map,
        at: Member<'_>,
        decoder: &mut D,
    ) -> Result<Self, Error> {
        complete_structure(&mut builder, at, decoder)?;
        Ok(Self::Map(builder))
    }
}

/// Lets a map be given where a structure is encoded.
impl Encode for Map {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        if at.kind().is_structure() {
            encode_structure(self, at, encoder);
        } else {
            encoder.fail(unfit(at, ErrorKind::WrongType, "a map"));
        }
    }
}

const _: fn() = || {
    fn assert_decode<'de, T: Decode<'de>>() {}
    assert_decode::<Value>();
};

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use polywire_text::Text;
    use proptest::prelude::*;

    use super::*;
    use crate::{MemberSpec, NameSource, SchemaBuilder, SchemaSet, ShapeKind, to_value};

    /// Names of every length up to thirty, several of a length.
    fn names() -> Vec<String> {
        let name = |len: usize, last: char| {
            "abcdefghijklmnopqrstuvwxyzABCD"[..len - 1].to_owned() + &last.to_string()
        };
        (1..=30)
            .flat_map(|len| ['x', 'y'].map(|last| name(len, last)))
            .collect()
    }

    /// A structure with the first `count` of these names.
    fn structure(count: usize) -> (Arc<SchemaSet<'static>>, u32) {
        let mut builder = SchemaBuilder::new();
        let document = builder.shape(ShapeKind::Document, "smithy.api#Document");
        let shape = builder.shape(ShapeKind::Structure, "example#Names");
        for name in &names()[..count] {
            builder.member(shape, MemberSpec::new(name, document));
        }
        (Arc::new(builder.finish().unwrap()), shape.index())
    }

    #[test]
    fn names_are_found_by_text_as_by_bytes() {
        for count in [0, 1, 5, 60] {
            let (set, index) = structure(count);
            let shape = set.shape(index);
            for (place, name) in names().iter().enumerate() {
                // With other bytes behind it, and with zeros.
                let window = format!("{name}and what stands behind");
                let inline = Text::inline_prefix(&window, name.len());
                for text in inline.into_iter().chain([Text::from(name.as_str())]) {
                    let expected = (place < count).then_some(place as u32);
                    assert_eq!(shape.find_text(&text), expected, "{name}");
                    assert_eq!(shape.find(NameSource::Member, name.as_bytes()), expected);
                }
            }
        }
    }

    proptest! {
        /// Whatever their order and number, members are written in that of the model.
        #[test]
        fn members_are_written_in_order(
            places in proptest::sample::subsequence((0..60).collect::<Vec<usize>>(), 0..60)
                .prop_shuffle(),
            count in 40..=60_usize,
        ) {
            let (set, index) = structure(count);
            let names = names();
            let entries = places.iter().map(|place| (names[*place].as_str(), *place as i64));
            let written = to_value(&Map::from_iter(entries), set.shape(index).root());
            if places.iter().any(|place| *place >= count) {
                prop_assert_eq!(written.unwrap_err().kind(), ErrorKind::Unknown);
                return Ok(());
            }
            let written = written.unwrap();
            let keys: Vec<&str> = written.as_map().unwrap().keys().collect();
            let mut sorted = places;
            sorted.sort_unstable();
            let expected: Vec<&str> = sorted.iter().map(|place| names[*place].as_str()).collect();
            prop_assert_eq!(keys, expected);
        }
    }
}
