//! Reading keys, commas and colons of objects and arrays.

use std::borrow::Cow;

use polywire_schema::{END, Error, ErrorKind, Member, Schema, Seq, Text, TokenReader as _};
use polywire_text::scan;

use super::decode::JsonDecoder;

impl<'de> JsonDecoder<'de> {
    /// Moves to the next element of the object or array that ends with `close`. Returns `false` at
    /// the end.
    #[inline(always)]
    pub(super) fn next_item(
        &mut self,
        seq: &mut Seq,
        close: u8,
        expected: &'static str,
    ) -> Result<bool, Error> {
        let (at, token) = self.token_at(self.at);
        if token == close {
            self.at = at;
            self.leave();
            return Ok(false);
        }
        let (at, token) = match seq.count {
            0 => (at, token),
            _ if token == b',' => self.token_at(at + 1),
            // No comma: `slow_next` reports the error.
            // No comma: `slow_next` reports the error.
            // No comma: `slow_next` reports the error.
            // No comma: `slow_next` reports the error.
            // No comma: `slow_next` reports the error.
            // No comma: `slow_next` reports the error.
            _ => (at, close),
        };
        if token != close && token != 0 && self.budget.count(1).is_ok() {
            self.at = at;
            seq.count += 1;
            return Ok(true);
        }
        self.slow_next(seq, close, expected, true)
    }

    /// Moves to the next element of any container, and reports errors.
    /// [`next_item`](Self::next_item) is the fast version for lists and skipped values, and always
    /// counts. Members of structures are not counted, because their number is limited by the schema.
    #[inline(never)]
    pub(super) fn slow_next(
        &mut self,
        seq: &mut Seq,
        close: u8,
        expected: &'static str,
        counts_items: bool,
    ) -> Result<bool, Error> {
        let token = self.peek_token();
        if token == close {
            self.leave();
            return Ok(false);
        }
        if seq.count > 0 {
            if token != b',' {
                return Err(self.error(ErrorKind::Syntax, expected));
            }
            self.at += 1;
            self.skip_space();
            if self.peek_byte() == close {
                return Err(self.error(ErrorKind::Syntax, "another element after the comma"));
            }
        }
        seq.count += 1;
        if counts_items {
            self.count_item()?;
        }
        Ok(true)
    }

    /// Reads the colon after a key.
    #[inline]
    pub(super) fn colon(&mut self) -> Result<(), Error> {
        if self.peek_token() != b':' {
            return Err(self.error(ErrorKind::Syntax, "a colon after the key"));
        }
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    /// Reads a short key without escapes and its colon. `None`, with nothing read, for anything
    /// else. `at` and `token` are the offset and the first byte of the next token.
    #[inline(always)]
    pub(super) fn short_key(
        &mut self,
        mut at: usize,
        mut token: u8,
        seq: &mut Seq,
    ) -> Option<Text> {
        if seq.count > 0 {
            if token != b',' {
                return None;
            }
            (at, token) = self.token_at(at + 1);
        }
        if token != b'"' {
            return None;
        }
        let (window, len) = self.short_text(at + 1)?;
        let end = at + len + 2;
        if self.text.as_bytes().get(end) != Some(&b':') {
            return None;
        }
        let (value, token) = self.token_after_colon(end + 1);
        // Nulls are left to the slow path.
        if token == b'n' || self.budget.items_left() == 0 {
            return None;
        }
        // Created after all checks: dropping an unused key would cost time.
        let key = Text::inline_prefix(window, len)?;
        // Cannot fail: `items_left` was checked above.
        let _ = self.budget.count(1);
        self.at = value;
        seq.count += 1;
        Some(key)
    }

    /// A short string without escapes, which begins at `start`, after the opening quote. Returns the
    /// input from there on and the length of the string.
    #[inline(always)]
    pub(super) fn short_text(&self, start: usize) -> Option<(&'de str, usize)> {
        let text = self.text.get(start..)?;
        let len = scan::short_json_string(text.as_bytes().first_chunk()?)?;
        self.budget.fits(len).then_some((text, len))
    }

    /// Reads the key of a member or entry.
    pub(super) fn key_text(&mut self) -> Result<Cow<'de, str>, Error> {
        if self.peek_byte() != b'"' {
            return Err(self.error(ErrorKind::Syntax, "a key in quotes"));
        }
        let key = self.string()?;
        self.colon()?;
        Ok(key)
    }

    #[cold]
    pub(super) fn unknown_member(&self, shape: Schema<'_>) -> Error {
        let names: Vec<&str> = shape.members().map(Member::name).collect();
        let expected = format!("a member of {}: {}", shape.id(), names.join(", "));
        self.error(ErrorKind::Unknown, "").expected(expected)
    }

    /// Compares the next name with the expected member and the three after it, since writers may
    /// omit members. Returns the ordinal and the length of the encoded name.
    #[inline]
    pub(super) fn match_nearby(&self, shape: Schema<'_>, guess: u32) -> Option<(u32, usize)> {
        let rest = self.rest();
        (guess..shape.len().min(guess + 4)).find_map(|ordinal| {
            let name = shape.member(ordinal).run(self.profile.names);
            name.starts(rest).then_some((ordinal, name.len()))
        })
    }

    /// Like `match_member`, but skips white space and accepts members in any order. Returns `END` at
    /// the end. `None`, with nothing read, for anything unusual.
    #[inline(never)]
    pub(super) fn quick_member(&mut self, shape: Schema<'_>, seq: &mut Seq) -> Option<u32> {
        let (mut at, mut token) = self.token_at(self.at);
        if token == b'}' {
            self.at = at;
            self.leave();
            return Some(END);
        }
        if seq.count > 0 {
            if token != b',' {
                return None;
            }
            (at, token) = self.token_at(at + 1);
        }
        let bytes = self.text.as_bytes();
        let rest = bytes.get(at..)?;
        let names = shape.encoded_names(self.profile.names);
        let guessed = names.get(seq.guess as usize);
        let (ordinal, len) = match guessed.and_then(|name| name.starts(rest)) {
            Some(len) => (seq.guess, len),
            None if token == b'"' => {
                let key = &rest[1..];
                let len = scan::short_json_string(key.first_chunk()?)?;
                if key.get(len + 1) != Some(&b':') {
                    return None;
                }
                let ordinal = shape.find(self.profile.names.source(), &key[..len])?;
                (ordinal, len + 3)
            }
            None => return None,
        };
        let (value, token) = self.token_after_colon(at + len);
        if matches!(token, b'n' | 0)
            || !seq.part.holds(shape.member(ordinal))
            || !seq.mark_new(ordinal)
        {
            return None;
        }
        self.at = value;
        seq.count += 1;
        seq.guess = ordinal + 1;
        Some(ordinal)
    }
}
