//! What one message may still cost, counted down while it is read.

use crate::{LimitKind, Limits, Seq, WideSeen};

/// The limits of a message and what is left of them.
#[derive(Debug)]
pub struct Budget {
    limits: Limits,
    /// Levels and items that may still come.
    depth_left: u32,
    items_left: u32,
    /// The members seen in structures that have more than a [`Seq`] can tell.
    wide: WideSeen,
}

impl Budget {
    /// The whole budget of one message.
    #[must_use]
    #[inline]
    pub fn new(limits: &Limits) -> Self {
        Self {
            limits: *limits,
            depth_left: limits.depth(),
            items_left: limits.items(),
            wide: WideSeen::default(),
        }
    }

    /// What is left of items and levels, to go back to where something is read twice.
    #[inline]
    pub fn mark(&self) -> (u32, u32) {
        (self.items_left, self.depth_left)
    }

    /// Goes back to a mark.
    #[inline]
    pub fn back_to(&mut self, (items, depth): (u32, u32)) {
        self.items_left = items;
        self.depth_left = depth;
    }

    /// What is left, as the limits of another reader.
    #[inline]
    pub fn left(&self) -> Limits {
        let left = self.limits.with_items(self.items_left);
        left.with_depth(self.depth_left)
    }

    /// The most calls in a message that holds several.
    #[inline]
    pub fn calls(&self) -> u32 {
        self.limits.calls()
    }

    /// The levels that have been entered.
    #[inline]
    pub fn depth(&self) -> u32 {
        self.limits.depth() - self.depth_left
    }

    /// What tells two places apart that have the same offset.
    #[inline]
    pub fn items_left(&self) -> u32 {
        self.items_left
    }

    /// Whether a message may have so many levels.
    #[inline]
    pub fn depth_of(&self, levels: usize) -> Result<(), LimitKind> {
        match levels <= self.limits.depth() as usize {
            true => Ok(()),
            false => Err(LimitKind::Depth(self.limits.depth())),
        }
    }

    /// Enters a structure, list or map. Inside another it counts as an item: a member that is
    /// known takes memory too, and a recursive shape has any number of them.
    #[inline(always)]
    pub fn enter(&mut self) -> Result<(), LimitKind> {
        let Some(left) = self.depth_left.checked_sub(1) else {
            return Err(LimitKind::Depth(self.limits.depth()));
        };
        if self.depth_left != self.limits.depth() {
            self.count(1)?;
        }
        self.depth_left = left;
        Ok(())
    }

    /// Enters a level that takes no memory and is no item: an element that is skipped, or more items of a list.
    #[inline]
    pub fn enter_uncounted(&mut self) -> Result<(), LimitKind> {
        self.depth_of(self.depth() as usize + 1)?;
        self.depth_left -= 1;
        Ok(())
    }

    /// Leaves what was entered last.
    #[inline]
    pub fn leave(&mut self) {
        self.wide.leave(self.depth_left);
        self.depth_left += 1;
    }

    /// Counts items of lists, entries of maps, unknown members, nested collections.
    #[inline(always)]
    pub fn count(&mut self, items: u32) -> Result<(), LimitKind> {
        match self.items_left.checked_sub(items) {
            Some(left) => {
                self.items_left = left;
                Ok(())
            }
            None => Err(LimitKind::Items(self.limits.items())),
        }
    }

    /// Whether a string may be as long.
    #[inline(always)]
    pub fn fits(&self, len: usize) -> bool {
        len <= self.limits.string()
    }

    /// As [`Self::fits`], with the limit that says no.
    #[inline(always)]
    pub fn string(&self, len: usize) -> Result<(), LimitKind> {
        if self.fits(len) {
            return Ok(());
        }
        Err(LimitKind::StringLength(self.limits.string()))
    }

    /// Notes that a member of the innermost structure was seen; whether it had
    /// been before.
    #[inline]
    pub fn seen(&mut self, seq: &mut Seq, ordinal: u32) -> bool {
        match seq.mark_seen(ordinal) {
            Some(before) => before,
            None => self.wide.mark(self.depth_left, ordinal),
        }
    }
}
