//! Reads and writes [`Value`]s with schemas. Structures are maps with the member names as keys.

mod decode;
mod decode_structure;
mod encode;
mod encode_structure;

pub(crate) use decode::{decode, decode_into, document};
pub use decode_structure::{complete_structure, decode_structure};
use encode::mismatch;
pub(crate) use encode::{encode, write_document};
pub use encode_structure::encode_structure;

use crate::{Decode, Decoder, Encode, Encoder, Error, ErrorKind, Map, Member, Value};

/// A structure without a generated type.
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

/// A structure or union. Fails for other shapes.
impl Encode for Map {
    fn encode<E: Encoder + ?Sized>(&self, at: Member<'_>, encoder: &mut E) {
        if at.kind().is_structure() {
            encode_structure(self, at, encoder);
        } else {
            encoder.fail(mismatch(at, ErrorKind::WrongType, "a map"));
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

    /// Returns two names of each length from 1 to 30.
    fn names() -> Vec<String> {
        let name = |len: usize, last: char| {
            "abcdefghijklmnopqrstuvwxyzABCD"[..len - 1].to_owned() + &last.to_string()
        };
        (1..=30)
            .flat_map(|len| ['x', 'y'].map(|last| name(len, last)))
            .collect()
    }

    /// Builds a structure with the first `count` of these names.
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
    fn find_text_agrees_with_find() {
        for count in [0, 1, 5, 60] {
            let (set, shape_index) = structure(count);
            let shape = set.shape(shape_index);
            for (index, name) in names().iter().enumerate() {
                // The inline text is followed by other bytes, the second text by zeros.
                let window = format!("{name}followed by other bytes");
                let inline = Text::inline_prefix(&window, name.len());
                for text in inline.into_iter().chain([Text::from(name.as_str())]) {
                    let expected = (index < count).then_some(index as u32);
                    assert_eq!(shape.find_text(&text), expected, "{name}");
                    assert_eq!(shape.find(NameSource::Member, name.as_bytes()), expected);
                }
            }
        }
    }

    proptest! {
        /// Entries in any order and number are written in the order of the model.
        #[test]
        fn members_are_written_in_order(
            ordinals in proptest::sample::subsequence((0..60).collect::<Vec<usize>>(), 0..60)
                .prop_shuffle(),
            count in 40..=60_usize,
        ) {
            let (set, index) = structure(count);
            let names = names();
            let entries = ordinals.iter().map(|index| (names[*index].as_str(), *index as i64));
            let written = to_value(&Map::from_iter(entries), set.shape(index).root());
            if ordinals.iter().any(|ordinal| *ordinal >= count) {
                prop_assert_eq!(written.unwrap_err().kind(), ErrorKind::Unknown);
                return Ok(());
            }
            let written = written.unwrap();
            let keys: Vec<&str> = written.as_map().unwrap().keys().collect();
            let mut sorted = ordinals;
            sorted.sort_unstable();
            let expected: Vec<&str> = sorted.iter().map(|index| names[*index].as_str()).collect();
            prop_assert_eq!(keys, expected);
        }
    }
}
