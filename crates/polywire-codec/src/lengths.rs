//! Predicted lengths of lists and maps, for formats that do not announce them.

use polywire_schema::Member;

/// The length of the previous list or map of each member. Lists of the same member often have the
/// same length, for example the rows of a matrix.
///
/// A length is used for one prediction. The next one needs a list that has ended since, so nested
/// lists of the same member do not each reserve memory. A list that turns out shorter therefore
/// wastes no more memory than an earlier list has used.
#[derive(Debug, Default)]
pub(crate) struct Lengths([Length; 16]);

#[derive(Clone, Copy, Debug, Default)]
struct Length {
    /// The index of the member plus one, so that 0 means none.
    member: u32,
    count: u16,
}

/// The prediction without a previous length.
const DEFAULT: usize = 8;

/// The minimum prediction, which is the initial capacity of a [`Vec`] for most types.
const MIN: u16 = 4;

/// The maximum prediction.
const MAX: u32 = 1024;

impl Lengths {
    /// Predicts the length of the list or map of `at`.
    #[inline]
    pub(crate) fn size_hint(&mut self, at: Member<'_>) -> usize {
        let (length, member) = self.slot(at);
        let known = std::mem::replace(length, Length { member, count: MIN });
        match known.member == member {
            true => known.count.into(),
            false => DEFAULT,
        }
    }

    /// Records the length of the list or map of `at`, which has ended.
    #[inline]
    pub(crate) fn note(&mut self, at: Member<'_>, count: u32) {
        let (length, member) = self.slot(at);
        *length = Length {
            member,
            count: MIN.max(count.min(MAX) as u16),
        };
    }

    #[inline]
    fn slot(&mut self, at: Member<'_>) -> (&mut Length, u32) {
        let index = at.index();
        (&mut self.0[index as usize % 16], index.wrapping_add(1))
    }
}

#[cfg(test)]
mod tests {
    use polywire_schema::{MemberSpec, SchemaBuilder, ShapeKind};

    use super::*;

    #[test]
    fn a_length_counts_once_and_for_its_own_member() {
        let mut builder = SchemaBuilder::new();
        let string = builder.shape(ShapeKind::String, "a#String");
        let shape = builder.shape(ShapeKind::Structure, "a#Shape");
        for ordinal in 0..17 {
            builder.member(shape, MemberSpec::new(format!("m{ordinal}"), string));
        }
        let set = builder.finish().unwrap();
        let shape = set.find_shape("a#Shape").unwrap();
        let (at, other) = (shape.member(0), shape.member(16));
        let mut lengths = Lengths::default();
        assert_eq!(lengths.size_hint(at), DEFAULT);
        // A nested list of the same member.
        assert_eq!(lengths.size_hint(at), usize::from(MIN));
        lengths.note(at, 1000);
        // Another member with the same slot.
        assert_eq!(lengths.expected(other), DEFAULT);
        lengths.note(at, 1000);
        assert_eq!(lengths.size_hint(at), 1000);
        assert_eq!(lengths.size_hint(at), usize::from(MIN));
        lengths.note(at, u32::MAX);
        assert_eq!(lengths.size_hint(at), MAX as usize);
        lengths.note(at, 0);
        assert_eq!(lengths.size_hint(at), usize::from(MIN));
    }
}
