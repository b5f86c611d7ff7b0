//! How long lists and maps were, for formats that do not tell before.

use polywire_schema::Member;

/// The lengths of the last lists and maps, by their members: lists of one member
/// are often of one length, those of a matrix above all.
///
/// A length counts for one list and is forgotten then, until that list has ended
/// and tells its own: of lists in each other only the first makes room by it. So a
/// list that turns out shorter wastes no more memory than another, of as many such
/// items, has taken.
#[derive(Debug, Default)]
pub(crate) struct Lengths([Length; 16]);

#[derive(Clone, Copy, Debug, Default)]
struct Length {
    /// The index of the member, plus one.
    member: u32,
    count: u16,
}

/// What is expected where nothing is known.
const FIRST: usize = 8;

/// What is expected at least: as much as [`Vec`] begins with for most types.
const LEAST: u16 = 4;

/// The most items that room is made for at once.
const MOST: u32 = 1024;

impl Lengths {
    /// What is likely to come in the list or map of `at`.
    #[inline]
    pub(crate) fn expected(&mut self, at: Member<'_>) -> usize {
        let (length, member) = self.of(at);
        let known = std::mem::replace(
            length,
            Length {
                member,
                count: LEAST,
            },
        );
        match known.member == member {
            true => known.count.into(),
            false => FIRST,
        }
    }

    /// Notes how many came.
    #[inline]
    pub(crate) fn note(&mut self, at: Member<'_>, count: u32) {
        let (length, member) = self.of(at);
        *length = Length {
            member,
            count: LEAST.max(count.min(MOST) as u16),
        };
    }

    #[inline]
    fn of(&mut self, at: Member<'_>) -> (&mut Length, u32) {
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
        assert_eq!(lengths.expected(at), FIRST);
        // Within that list there are more.
        assert_eq!(lengths.expected(at), LEAST.into());
        lengths.note(at, 1000);
        // Another member that has the same place here.
        assert_eq!(lengths.expected(other), FIRST);
        lengths.note(at, 1000);
        assert_eq!(lengths.expected(at), 1000);
        assert_eq!(lengths.expected(at), LEAST.into());
        lengths.note(at, u32::MAX);
        assert_eq!(lengths.expected(at), MOST as usize);
        lengths.note(at, 0);
        assert_eq!(lengths.expected(at), LEAST.into());
    }
}
