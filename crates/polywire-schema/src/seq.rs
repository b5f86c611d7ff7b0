//! `Seq`: where a decoder is within a structure, list or map.

use crate::Part;

/// What [`Decoder::member`] returns at the end of a structure.
pub const END: u32 = u32::MAX;

/// Where a decoder is within one structure, list or map.
///
/// It lives on the caller's stack: the caller passes it back with each call
/// and otherwise leaves it alone, and the decoder needs no stack of its own.
/// The fields are for the implementers of [`Decoder`].
#[derive(Clone, Debug, Default)]
pub struct Seq {
    /// The ordinal of the member that is expected next.
    pub guess: u32,
    /// What the format makes of it: a comma due, a closing tag to find.
    pub state: u32,
    /// Items left, where the format tells.
    pub left: u64,
    /// A position in the input, where the format needs one.
    pub mark: u64,
    /// Items or members so far.
    pub count: u32,
    /// Whether the items or entries continue a list or map that was begun
    /// before: a flattened one whose parts stand apart.
    pub continues: bool,
    /// Whether a member that the shape does not have was skipped.
    pub unknown: bool,
    /// Which members of the structure the document holds.
    pub part: Part,
    /// The ordinal of the member that is expected next in a part: [`guess`](Self::guess) is then
    /// [`END`], so that the fast path is not taken.
    pub part_guess: u32,
    /// The members seen so far, up to ordinal 127.
    pub seen: [u64; 2],
}

impl Seq {
    /// Notes that a member was seen. `Some(true)` if it had been seen before,
    /// `None` if its ordinal is beyond what fits here: then a [`WideSeen`]
    /// must be asked.
    #[inline]
    pub fn mark_seen(&mut self, ordinal: u32) -> Option<bool> {
        let word = self.seen.get_mut(ordinal as usize / 64)?;
        let bit = 1 << (ordinal % 64);
        let before = *word & bit != 0;
        *word |= bit;
        Some(before)
    }

    /// Notes that a member was seen, if its ordinal is below 64 and it had not
    /// been seen before; whether so.
    #[inline]
    pub fn mark_new(&mut self, ordinal: u32) -> bool {
        let bit = 1_u64.wrapping_shl(ordinal);
        let new = ordinal < 64 && self.seen[0] & bit == 0;
        if new {
            self.seen[0] |= bit;
        }
        new
    }

    /// Whether a member was seen, of those up to ordinal 127.
    #[must_use]
    pub fn has_seen(&self, ordinal: u32) -> bool {
        self.seen
            .get(ordinal as usize / 64)
            .is_some_and(|word| word & 1 << (ordinal % 64) != 0)
    }
}

/// The members seen in structures of more than 128 members: a decoder keeps
/// one for all levels.
///
/// A level is told by the number of levels that may still come, which decoders
/// count down: inner levels have smaller numbers.
#[derive(Debug, Default)]
pub struct WideSeen {
    /// The first `open` are in use, from the outermost inwards; the others
    /// wait for the next level, with all bits clear.
    levels: Vec<WideLevel>,
    open: usize,
}

#[derive(Debug, Default)]
struct WideLevel {
    depth_left: u32,
    /// A bit per ordinal.
    words: Vec<u64>,
    /// Which words have bits: what leaving has to clear. A list of structures
    /// with one high member each would else clear all words each time.
    used: Vec<u32>,
}

impl WideSeen {
    /// Notes that a member was seen where `depth_left` levels may still come;
    /// whether it had been before.
    #[cold]
    pub fn mark(&mut self, depth_left: u32, ordinal: u32) -> bool {
        let (index, bit) = (ordinal / 64, 1 << (ordinal % 64));
        let level = self.level(depth_left);
        if level.words.len() <= index as usize {
            level.words.resize(index as usize + 1, 0);
        }
        let word = &mut level.words[index as usize];
        if *word == 0 {
            level.used.push(index);
        }
        let before = *word & bit != 0;
        *word |= bit;
        before
    }

    /// The innermost level, which is this one or is about to be.
    fn level(&mut self, depth_left: u32) -> &mut WideLevel {
        let last = self.open.checked_sub(1);
        let at = match last {
            Some(last) if self.levels[last].depth_left == depth_left => last,
            _ => {
                self.open += 1;
                self.open - 1
            }
        };
        if at == self.levels.len() {
            self.levels.push(WideLevel::default());
        }
        let level = &mut self.levels[at];
        level.depth_left = depth_left;
        level
    }

    /// Forgets what was seen at this level and deeper.
    #[inline]
    pub fn leave(&mut self, depth_left: u32) {
        if self.open > 0 {
            self.close(depth_left);
        }
    }

    #[cold]
    fn close(&mut self, depth_left: u32) {
        while let Some(last) = self.open.checked_sub(1)
            && self.levels[last].depth_left <= depth_left
        {
            let level = &mut self.levels[last];
            for index in level.used.drain(..) {
                level.words[index as usize] = 0;
            }
            self.open = last;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a set per level: what a decoder does in any nesting.
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
    fn wide_structures_cost_a_bit_a_member() {
        let mut wide = WideSeen::default();
        for ordinal in 128..60_000 {
            assert!(!wide.mark(60, ordinal));
        }
        assert_eq!(wide.levels.len(), 1);
        assert_eq!(wide.levels[0].words.len(), 60_000_usize.div_ceil(64));
        assert!(wide.mark(60, 59_999));
        wide.leave(60);
        assert_eq!(wide.open, 0);
        // The next level at this place clears one word, not all of them.
        assert!(!wide.mark(60, 59_999));
        assert_eq!(wide.levels[0].used.len(), 1);
    }
}
