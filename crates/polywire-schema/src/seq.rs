//! The state of a decoder within a structure, list or map.

use crate::Part;

/// The return value of [`Decoder::member`](crate::Decoder::member) at the end of a structure.
pub const END: u32 = u32::MAX;

/// The state of a decoder within one structure, list or map.
///
/// The caller keeps it on its stack and passes it to each call, so that decoders need no stack.
/// The fields are for implementations of [`Decoder`](crate::Decoder). Callers read only
/// [`continues`](Self::continues) and [`unknown`](Self::unknown).
#[derive(Clone, Debug, Default)]
pub struct Seq {
    /// The ordinal of the member that is expected next.
    pub guess: u32,
    /// State of the format, for example whether a comma must follow.
    pub state: u32,
    /// The number of remaining items, for formats that declare a length.
    pub left: u64,
    /// A position in the input, or other state of the format.
    pub mark: u64,
    /// The number of items or members so far.
    pub count: u32,
    /// Whether the items or entries continue an earlier list or map. This happens for flattened
    /// XML lists and maps whose items are not adjacent.
    pub continues: bool,
    /// Whether the decoder skipped a member that the shape does not have.
    pub unknown: bool,
    /// The members of the structure that the document contains.
    pub part: Part,
    /// The ordinal of the member that is expected next in a part: [`guess`](Self::guess) is then
    /// [`END`], so that the fast path is not taken.
    pub part_guess: u32,
    /// The members seen so far: one bit for each ordinal up to 127.
    pub seen: [u64; 2],
}

impl Seq {
    /// Marks a member as seen. Returns whether it was already marked, or `None` for ordinals above
    /// 127, for which the caller must use a [`WideSeen`].
    #[inline]
    pub fn mark_seen(&mut self, ordinal: u32) -> Option<bool> {
        let word = self.seen.get_mut(ordinal as usize / 64)?;
        let bit = 1 << (ordinal % 64);
        let before = *word & bit != 0;
        *word |= bit;
        Some(before)
    }

    /// Marks a member as seen and returns `true` if its ordinal is below 64 and it was not marked
    /// before. Otherwise changes nothing and returns `false`.
    #[inline]
    pub fn mark_new(&mut self, ordinal: u32) -> bool {
        let bit = 1_u64.wrapping_shl(ordinal);
        let new = ordinal < 64 && self.seen[0] & bit == 0;
        if new {
            self.seen[0] |= bit;
        }
        new
    }

    /// Returns whether a member is marked as seen. Always `false` for ordinals above 127.
    #[must_use]
    pub fn has_seen(&self, ordinal: u32) -> bool {
        self.seen
            .get(ordinal as usize / 64)
            .is_some_and(|word| word & 1 << (ordinal % 64) != 0)
    }
}

/// The members seen in structures with more than 128 members. A decoder has one for all levels.
///
/// A level is identified by the number of further levels that the depth limit allows. Inner levels
/// have smaller numbers.
#[derive(Debug, Default)]
pub struct WideSeen {
    /// The first `used` levels are in use, the outermost first. The others are kept for reuse, with
    /// all bits clear.
    levels: Vec<WideLevel>,
    used: usize,
}

#[derive(Debug, Default)]
struct WideLevel {
    depth_left: u32,
    /// One bit for each ordinal.
    words: Vec<u64>,
    /// The indices of the words that are not 0. Only these are cleared at the end of the level:
    /// otherwise a list of structures with one high ordinal each would clear all words each time.
    dirty: Vec<u32>,
}

impl WideSeen {
    /// Marks a member of the structure at the level `depth_left` as seen. Returns whether it was
    /// already marked.
    #[cold]
    pub fn mark(&mut self, depth_left: u32, ordinal: u32) -> bool {
        let (index, bit) = (ordinal / 64, 1 << (ordinal % 64));
        let level = self.level(depth_left);
        if level.words.len() <= index as usize {
            level.words.resize(index as usize + 1, 0);
        }
        let word = &mut level.words[index as usize];
        if *word == 0 {
            level.dirty.push(index);
        }
        let before = *word & bit != 0;
        *word |= bit;
        before
    }

    /// Returns the innermost level. Adds it if it is not in use yet.
    fn level(&mut self, depth_left: u32) -> &mut WideLevel {
        let last = self.used.checked_sub(1);
        let at = match last {
            Some(last) if self.levels[last].depth_left == depth_left => last,
            _ => {
                self.used += 1;
                self.used - 1
            }
        };
        if at == self.levels.len() {
            self.levels.push(WideLevel::default());
        }
        let level = &mut self.levels[at];
        level.depth_left = depth_left;
        level
    }

    /// Clears the marks of this level and all inner levels.
    #[inline]
    pub fn leave(&mut self, depth_left: u32) {
        if self.used > 0 {
            self.clear(depth_left);
        }
    }

    #[cold]
    fn clear(&mut self, depth_left: u32) {
        while let Some(last) = self.used.checked_sub(1)
            && self.levels[last].depth_left <= depth_left
        {
            let level = &mut self.levels[last];
            for index in level.dirty.drain(..) {
                level.words[index as usize] = 0;
            }
            self.used = last;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares with a model that has one set per level.
        #[test]
        fn wide_structures_remember_their_members(
            steps in proptest::collection::vec((0..4_u8, 128..700_u32), 0..200),
        ) {
            let mut wide = WideSeen::default();
            let mut model = vec![HashSet::new()];
            for (step, ordinal) in steps {
                let depth_left = 64 - model.len() as u32;
                match step {
                    0 => model.push(HashSet::new()),
                    1 if model.len() > 1 => {
                        model.pop();
                        wide.leave(depth_left);
                    }
                    _ => {
                        let level = model.last_mut().unwrap();
                        let before = !level.insert(ordinal);
                        prop_assert_eq!(wide.mark(depth_left, ordinal), before);
                    }
                }
            }
        }
    }

    #[test]
    fn wide_structures_use_one_bit_per_member() {
        let mut wide = WideSeen::default();
        for ordinal in 128..60_000 {
            assert!(!wide.mark(60, ordinal));
        }
        assert_eq!(wide.levels.len(), 1);
        assert_eq!(wide.levels[0].words.len(), 60_000_usize.div_ceil(64));
        assert!(wide.mark(60, 59_999));
        wide.leave(60);
        assert_eq!(wide.used, 0);
        // The next structure clears one word, not all words.
        assert!(!wide.mark(60, 59_999));
        assert_eq!(wide.levels[0].dirty.len(), 1);
    }
}
