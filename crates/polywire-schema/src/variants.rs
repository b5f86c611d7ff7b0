//! Hash tables for the variants of unions with short names. A name of up to seven bytes is looked
//! up as one integer.

use crate::names::MULTIPLIER;
use crate::{Member, NameSource};

/// A slot of a table. The seven low bytes are the name, with the first byte lowest. The highest
/// byte is the ordinal plus one. Empty slots are 0.
pub(crate) type Slot = u64;

/// The maximum length of a name in the tables, in bytes.
const MAX_LEN: usize = 7;

/// The number of name sources with tables: those of JSON and CBOR.
pub(crate) const SOURCES: usize = 2;

const fn table_index(source: NameSource) -> Option<usize> {
    match source {
        NameSource::Member => Some(0),
        NameSource::Json => Some(1),
        _ => None,
    }
}

const fn slot_of(name: u64, bits: u8) -> usize {
    (name.wrapping_mul(MULTIPLIER) >> (64 - bits as u32)) as usize
}

/// Builds the table for the names of a union. Also returns the binary logarithm of its size.
pub(crate) fn table<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> (Vec<Slot>, u8) {
    // At most a quarter of the slots is used.
    let size = (names.len() * 4).next_power_of_two().max(4);
    let bits = size.trailing_zeros() as u8;
    let mut slots = vec![0; size];
    for (name, ordinal) in names.zip(1..=u8::MAX) {
        // The JSON reader looks up raw bytes of its input, so names with escapes are excluded.
        let is_unescaped = |byte: u8| byte >= b' ' && byte != b'\\';
        if name.len() > MAX_LEN || !name.bytes().all(is_unescaped) {
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
    /// Fast path: finds the variant of the target union whose name is the first `len` bytes of
    /// `text`, and returns its ordinal. `source` selects which names are compared.
    ///
    /// `None` means that the caller has to use [`Schema::find`](crate::Schema::find). It is the
    /// result for empty names, for names of more than seven bytes, and if the target is not a
    /// union.
    #[inline(always)]
    #[must_use]
    pub fn find_variant(self, source: NameSource, text: [u8; 8], len: usize) -> Option<u32> {
        let def = self.target_def();
        let start = def.variants[table_index(source)?] as usize;
        if len > MAX_LEN || def.variant_bits == 0 {
            return None;
        }
        let name = u64::from_le_bytes(text) & !(u64::MAX << (8 * len));
        // The table does not store lengths, so a name that ends with a zero byte would match a
        // shorter name. Also rejects empty names, which are not in the table.
        if name.wrapping_shr((8 * len as u32).wrapping_sub(8)) == 0 {
            return None;
        }
        let mut at = slot_of(name, def.variant_bits);
        loop {
            let slot = *self.set.variants.get(start + at)?;
            // The shift removes the ordinal.
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
