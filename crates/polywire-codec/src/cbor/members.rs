//! Entering arrays and maps, and moving to the next element.

use polywire_schema::{
    Budget, Error, ErrorKind, LimitKind, Member, NameEncoding, Schema, Seq, Text, TokenReader as _,
};

use super::CborDecoder;
use super::head::{BREAK, INDEFINITE};

impl<'de> CborDecoder<'de> {
    /// Enters an array (major type 4) or a map (5).
    #[inline(always)]
    pub(super) fn enter(&mut self, major: u8, at: Member<'_>) -> Result<Seq, Error> {
        self.enter_with(major, at, Budget::enter)
    }

    /// Like [`enter`](Self::enter), but charges the budget with the given function.
    #[inline(always)]
    pub(super) fn enter_with(
        &mut self,
        major: u8,
        at: Member<'_>,
        enter: impl Fn(&mut Budget) -> Result<(), LimitKind>,
    ) -> Result<Seq, Error> {
        // Lengths below 24 are part of the first byte.
        let first = self.peek();
        let left = u64::from(first & 0x1f);
        let left = if first >> 5 == major && left < 24 && enter(&mut self.budget).is_ok() {
            self.at += 1;
            left
        } else {
            self.slow_enter(major, at, enter)?
        };
        Ok(Seq {
            left,
            ..Seq::default()
        })
    }

    /// The slow path of [`enter_with`](Self::enter_with): skips tags, reads any length, reports
    /// errors. Returns only the number of elements, because that fits in a register.
    #[inline(never)]
    fn slow_enter(
        &mut self,
        major: u8,
        at: Member<'_>,
        enter: impl Fn(&mut Budget) -> Result<(), LimitKind>,
    ) -> Result<u64, Error> {
        self.skip_tags()?;
        if self.peek() >> 5 != major || self.at >= self.bytes.len() {
            return Err(self.wrong_type(at.kind().describe()));
        }
        let start = self.at;
        let head = self.head("a list or map")?;
        enter(&mut self.budget).map_err(|limit| self.limit_error(limit))?;
        // An item has at least one byte and an entry two. Rejecting longer lengths here lets
        // callers reserve memory for the length. The fast path does not check lengths below 24,
        // which are too small to need it. The depth limit is checked first, so that it is
        // reported even if the length is also too large.
        let max = (self.bytes.len() - self.at) as u64 / if major == 5 { 2 } else { 1 };
        if head.argument > max && head.argument != INDEFINITE {
            self.at = start;
            return Err(self.error(ErrorKind::Truncated, "a length that fits the message"));
        }
        Ok(head.argument)
    }

    /// Moves to the next element. Returns `false` at the end.
    #[inline(always)]
    pub(super) fn next_item(&mut self, seq: &mut Seq) -> Result<bool, Error> {
        if seq.left.wrapping_sub(1) < INDEFINITE - 1 && self.budget.count(1).is_ok() {
            seq.left -= 1;
            return Ok(true);
        }
        if seq.left == 0 {
            self.leave();
            return Ok(false);
        }
        self.slow_next(seq, true)
    }

    /// Leaves an array or map at its end.
    #[inline]
    pub(super) fn leave(&mut self) {
        self.budget.leave();
        self.last_end = (self.at, self.budget.items_left());
    }

    /// The slow path of [`next_item`](Self::next_item): handles the end, indefinite lengths and
    /// errors. Members of structures are not counted, because their number is limited by the
    /// schema.
    #[inline(never)]
    pub(super) fn slow_next(&mut self, seq: &mut Seq, count: bool) -> Result<bool, Error> {
        let ended = if seq.left == INDEFINITE {
            let ended = self.bytes.get(self.at) == Some(&BREAK);
            self.at += usize::from(ended);
            ended
        } else {
            let ended = seq.left == 0;
            seq.left -= u64::from(!ended);
            ended
        };
        if ended {
            self.leave();
            return Ok(false);
        }
        if count {
            self.count_item()?;
        }
        Ok(true)
    }

    /// Reads a null that follows tags. Any other value is left unread, including its tags.
    #[cold]
    pub(super) fn tagged_null(&mut self) -> Result<bool, Error> {
        let start = self.at;
        self.skip_unknown_tags()?;
        let is_null = matches!(self.bytes.get(self.at), Some(0xf6 | 0xf7));
        self.at = if is_null { self.at + 1 } else { start };
        Ok(is_null)
    }

    /// Compares the next name with the expected member and the three after it, since writers may
    /// omit members. Returns the ordinal and the length of the encoded name.
    #[inline]
    pub(super) fn match_nearby(&self, shape: Schema<'_>, guess: u32) -> Option<(u32, usize)> {
        let rest = self.rest();
        (guess..shape.len().min(guess + 4)).find_map(|ordinal| {
            let name = shape.member(ordinal).run(NameEncoding::Cbor);
            name.starts(rest).then_some((ordinal, name.len()))
        })
    }

    /// Reads a short key of a map with a definite length. `None`, with nothing read, for anything
    /// else.
    #[inline(always)]
    pub(super) fn short_key(&mut self, seq: &mut Seq) -> Option<Text> {
        let (window, len) = self.short_text()?;
        let value = window.get(len)?;
        // A null, or a tag that may precede one, is left to the slow path.
        let may_skip = value >> 5 > 5 && self.profile.rules.skip_nulls;
        if seq.left == INDEFINITE || may_skip || self.budget.items_left() == 0 {
            return None;
        }
        // Created after all checks: dropping an unused key would cost time.
        let key = Text::ascii_prefix(window, len)?;
        // Cannot fail: `items_left` was checked above.
        let _ = self.budget.count(1);
        self.at += 1 + len;
        seq.left -= 1;
        Some(key)
    }
}
