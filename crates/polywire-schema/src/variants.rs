//! The variants of unions with short names, ready to be found by a reader that
//! has seven bytes of its input in a register.

use crate::{Member, NameSource};

/// Slots of all tables: a name in the seven low bytes, its first byte lowest, and
/// its ordinal, plus one, in the highest; 0 where there is none.
pub(crate) type Slot = u64;

/// Names up to so many bytes are in the tables, if a reader of JSON finds them in
/// its input as they are.
const LONGEST: usize = 7;

/// How many sources have tables: those of JSON and CBOR.
pub(crate) const SOURCES: usize = 2;

const fn place(source: NameSource) -> Option<usize> {
    match source {
        NameSource::Member => Some(0),
        NameSource::Json => Some(1),
        _ => None,
    }
}

const fn slot_of(name: u64, bits: u8) -> usize {
    (name.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits as u32)) as usize
}

/// The table of a union with these names, and its size as a power of two.
pub(crate) fn table<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> (Vec<Slot>, u8) {
    // A quarter full at the most.
    let size = (names.len() * 4).next_power_of_two().max(4);
    let bits = size.trailing_zeros() as u8;
    let mut slots = vec![0; size];
    for (name, ordinal) in names.zip(1..=u8::MAX) {
        let is_plain = |byte: u8| byte >= b' ' && byte != b'\\';
        if name.len() > LONGEST || !name.bytes().all(is_plain) {
            continue;
        }
        let mut word = [0; 8];
        word[..name.len()].copy_from_slice(name.as_bytes());
        let word = u64::from_le_bytes(word);
        let mut at = slot_of(word, bits);
        while slots[at] != 0 {
            at = (at + 1) % size;
        }
        slots[at] = word | u64::from(ordinal) << 56;
    }
    (slots, bits)
}

impl Member<'_> {
    /// The ordinal of the variant of its target, by a source of names, whose name
    /// is the first `len` bytes of `text`. `None` says nothing where they are none or more
    /// than seven, or the target is no union.
    #[inline(always)]
    #[must_use]
    pub fn find_variant(self, source: NameSource, text: [u8; 8], len: usize) -> Option<u32> {
        let def = self.target_def();
        let start = def.variants[place(source)?] as usize;
        if len > LONGEST || def.variant_bits == 0 {
            return None;
        }
        let name = u64::from_le_bytes(text) & !(u64::MAX << (8 * len));
        // A zero at the end would look as if the name ended before. Empty names are not
        // in the table.
        if name.wrapping_shr((8 * len as u32).wrapping_sub(8)) == 0 {
            return None;
        }
        let mut at = slot_of(name, def.variant_bits);
        loop {
            let slot = *self.set.variants.get(start + at)?;
            // Without the ordinal.
            if slot << 8 == name << 8 {
                return Some((slot >> 56) as u32 - 1);
            }
            if slot == 0 {
                return None;
            }
            at = (at + 1) & ((1 << def.variant_bits) - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{MemberSpec, NameSource, SchemaBuilder, ShapeKind};

    #[test]
    fn variants_are_found_by_their_names() {
        let names = ["S", "N", "B", "SS", "NULL", "seven77", "eight888", "x"];
        let mut builder = SchemaBuilder::new();
        let string = builder.shape(ShapeKind::String, "a#String");
        let union = builder.shape(ShapeKind::Union, "a#Union");
        for name in names {
            builder.member(
                union,
                MemberSpec::new(name, string).json_name(&format!("{name}j")),
            );
        }
        builder.member(union, MemberSpec::new("y", string).json_name("a\\n"));
        let set = builder.finish().unwrap();
        let at = set.find_shape("a#Union").unwrap().root();
        let find = |source, text: &str| {
            let mut word = [b'?'; 8];
            let len = text.len().min(8);
            word[..len].copy_from_slice(&text.as_bytes()[..len]);
            at.find_variant(source, word, text.len())
        };
        for (name, ordinal) in names.iter().zip(0..) {
            let found = find(NameSource::Member, name);
            assert_eq!(found, (name.len() < 8).then_some(ordinal), "{name}");
            let name = format!("{name}j");
            let found = find(NameSource::Json, &name);
            assert_eq!(found, (name.len() < 8).then_some(ordinal), "{name}");
        }
        for other in ["", "Q", "S\0", "\0", "Sj", "seven78", "seven777"] {
            assert_eq!(find(NameSource::Member, other), None, "{other:?}");
        }
        assert_eq!(find(NameSource::Xml, "S"), None);
        // In JSON these three bytes are two characters.
        assert_eq!(find(NameSource::Json, "a\\n"), None);
        let string = set.find_shape("a#String").unwrap();
        assert_eq!(
            string
                .root()
                .find_variant(NameSource::Member, *b"S???????", 1),
            None
        );
    }
}
