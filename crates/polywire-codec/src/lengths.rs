//! How long lists and maps were, for formats that do not tell before.

use polywire_schema::Member;

/// The lengths of the last lists and maps, by their members: lists of one member
/// are often of one length, those of a recursive shape or of a matrix above all.
///
/// A list that turns out shorter wastes no more memory than another, of as many
/// items, has taken: all in all it is twice of what the input can ask for.
#[derive(Debug, Default)]
pub(crate) struct Lengths([u16; 16]);

/// What is expected where nothing is known, and at least where something is: as
/// much as [`Vec`] begins with for most types.
const FIRST: usize = 8;
const LEAST: usize = 4;

/// The most items that room is made for at once.
const MOST: u32 = 1024;

impl Lengths {
    /// What is likely to come in the list or map of `at`.
    #[inline]
    pub(crate) fn expected(&self, at: Member<'_>) -> usize {
        match self.0[at.index() as usize % 16] {
            0 => FIRST,
            last => LEAST.max(last.into()),
        }
    }

    /// Notes how many came.
    #[inline]
    pub(crate) fn note(&mut self, at: Member<'_>, count: u32) {
        self.0[at.index() as usize % 16] = count.min(MOST) as u16;
    }
}
