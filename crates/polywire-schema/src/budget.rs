//! [`Budget`]: counts down the limits of one message while it is read.

use crate::{LimitKind, Limits, Seq, WideSeen};

/// The limits of a message, and how much of each remains.
#[derive(Debug)]
pub struct Budget {
    limits: Limits,
    depth_left: u32,
    items_left: u32,
    /// The seen members of structures with more than 128 members.
    wide: WideSeen,
}

impl Budget {
    /// Creates the budget for one message.
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

    /// Saves the remaining items and levels. A reader that reads a part twice passes the result to
    /// [`back_to`](Self::back_to).
    #[inline]
    pub fn mark(&self) -> (u32, u32) {
        (self.items_left, self.depth_left)
    }

    /// Restores the remaining items and levels from a [`mark`](Self::mark).
    #[inline]
    pub fn back_to(&mut self, (items, depth): (u32, u32)) {
        self.items_left = items;
        self.depth_left = depth;
    }

    /// Returns what remains, as the limits for a nested reader.
    #[inline]
    pub fn left(&self) -> Limits {
        let left = self.limits.with_items(self.items_left);
        left.with_depth(self.depth_left)
    }

    /// Returns the maximum number of calls in a batch: [`Limits::calls`].
    #[inline]
    pub fn calls(&self) -> u32 {
        self.limits.calls()
    }

    /// Returns the number of levels that have been entered and not left.
    #[inline]
    pub fn depth(&self) -> u32 {
        self.limits.depth() - self.depth_left
    }

    /// Returns the number of remaining items. Together with an offset it identifies a position:
    /// several values can begin at the same offset.
    #[inline]
    pub fn items_left(&self) -> u32 {
        self.items_left
    }

    /// Checks whether a message may have this many levels.
    ///
    /// # Errors
    ///
    /// Returns the depth limit if `levels` exceeds it.
    #[inline]
    pub fn depth_of(&self, levels: usize) -> Result<(), LimitKind> {
        match levels <= self.limits.depth() as usize {
            true => Ok(()),
            false => Err(LimitKind::Depth(self.limits.depth())),
        }
    }

    /// Enters a structure, list or map. A nested one also counts as an item, because a recursive
    /// shape can contain any number of them.
    ///
    /// # Errors
    ///
    /// Returns the limit if no level or item remains.
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

    /// Enters a level without counting an item, for levels that allocate nothing: a skipped value,
    /// or further items of a list that has already been counted.
    ///
    /// # Errors
    ///
    /// Returns the limit if no level remains.
    #[inline]
    pub fn enter_uncounted(&mut self) -> Result<(), LimitKind> {
        self.depth_of(self.depth() as usize + 1)?;
        self.depth_left -= 1;
        Ok(())
    }

    /// Leaves the innermost level.
    #[inline]
    pub fn leave(&mut self) {
        self.wide.leave(self.depth_left);
        self.depth_left += 1;
    }

    /// Counts list items, map entries, unknown members or nested collections.
    ///
    /// # Errors
    ///
    /// Returns the limit if fewer than `items` remain.
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

    /// Returns whether a string may have `len` bytes.
    #[inline(always)]
    pub fn fits(&self, len: usize) -> bool {
        len <= self.limits.string()
    }

    /// Checks whether a string may have `len` bytes.
    ///
    /// # Errors
    ///
    /// Returns the limit if `len` exceeds it.
    #[inline(always)]
    pub fn string(&self, len: usize) -> Result<(), LimitKind> {
        if self.fits(len) {
            return Ok(());
        }
        Err(LimitKind::StringLength(self.limits.string()))
    }

    /// Marks a member of the innermost structure as seen. Returns whether it was already marked.
    #[inline]
    pub fn seen(&mut self, seq: &mut Seq, ordinal: u32) -> bool {
        match seq.mark_seen(ordinal) {
            Some(before) => before,
            None => self.wide.mark(self.depth_left, ordinal),
        }
    }
}
