//! Strings in one buffer.

use std::iter::FusedIterator;
use std::ops::Index;

use super::read_items;
use crate::block::{Block, Block16};
use crate::escape::LoneSurrogate;
use crate::quote::{self, after_quote, ascii_escape, special};
use crate::{Malformed, utf8};

/// Strings in one buffer, with the end of each: two allocations for any number of strings, and none
/// if reused.
///
/// ```
/// use polywire_text::escape::LoneSurrogate;
/// use polywire_text::list::Strings;
///
/// let mut tag = Strings::new();
/// let rest = tag.read(br#"["e","5c83","wss:\/\/relay"],["p"]"#, LoneSurrogate::Reject)?;
/// assert_eq!((tag.len(), &tag[0], &tag[2]), (3, "e", "wss://relay"));
/// assert_eq!(rest, br#",["p"]"#);
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Strings {
    text: String,
    /// The ends of the strings in `text`: 0 <= ends[0] <= ends[1] <= ... <= text.len(), all at
    /// character boundaries. Text after the last end is unused.
    ends: Vec<usize>,
}

impl Strings {
    /// No strings, and no allocation.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            text: String::new(),
            ends: Vec::new(),
        }
    }

    /// The number of strings.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The string at `index`.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.text[start..end])
    }

    /// The strings in their order.
    #[inline]
    #[must_use]
    pub fn iter(&self) -> Iter<'_> {
        Iter {
            text: &self.text,
            start: 0,
            ends: self.ends.iter(),
        }
    }

    /// Adds a string.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    /// Removes all strings. Keeps the allocations.
    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// Replaces the strings by those of an array. Returns the rest of the input.
    ///
    /// # Errors
    ///
    /// Not an array of strings, or an error of [`quote::read`]. Then there are no strings.
    pub fn read<'a>(
        &mut self,
        bytes: &'a [u8],
        lone: LoneSurrogate,
    ) -> Result<&'a [u8], Malformed> {
        self.ends.clear();
        let mut text = std::mem::take(&mut self.text).into_bytes();
        text.clear();
        let mut result = self.read_into(&mut text, bytes, lone);
        // Validates everything that was read at once: quotes and escapes are ASCII, so then each
        // string is UTF-8, too.
        let read = match &result {
            Ok(rest) => bytes.len() - rest.len(),
            Err(error) => error.offset.min(bytes.len()),
        };
        if let Err(error) = utf8::validate(&bytes[..read]) {
            result = Err(error);
        }
        if result.is_err() {
            text.clear();
            self.ends.clear();
        }
        // SAFETY: either empty, or pieces of `bytes[..read]` between quotes and backslashes, and
        // the characters of escapes. The pieces are validated, and cut at ASCII bytes, which are
        // never part of another character.
        self.text = unsafe { String::from_utf8_unchecked(text) };
        result
    }

    #[inline]
    fn read_into<'a>(
        &mut self,
        text: &mut Vec<u8>,
        bytes: &'a [u8],
        lone: LoneSurrogate,
    ) -> Result<&'a [u8], Malformed> {
        let array = array_len(bytes);
        text.reserve(array);
        self.ends.reserve(count_items(&bytes[..array]));
        read_items(bytes, |rest| {
            let list = rest.len().saturating_sub(bytes.len() - array);
            let mut rest = rest;
            // The call does not pay for less.
            if list >= 2 * BLOCK {
                let plain = self.read_plain(text, &rest[..list]);
                rest = &rest[plain.read..];
                if plain.complete {
                    return Ok(rest);
                }
            }
            let inside = after_quote(rest)?;
            let read = quote::append(text, inside, lone);
            let read = read.map_err(|error| quote::relocate(error, rest, inside))?;
            self.ends.push(text.len());
            Ok(&inside[read..])
        })
    }

    /// Fast path: reads items at the beginning of `list` as long as they are short, separated by a
    /// comma and at most one space, and have only escapes of ASCII. Stops at anything else,
    /// including errors.
    ///
    /// Writes whole blocks; the next write overwrites the excess.
    #[inline(never)]
    fn read_plain(&mut self, text: &mut Vec<u8>, list: &[u8]) -> Plain {
        let before = text.len();
        text.reserve(list.len());
        let space = text.spare_capacity_mut().as_mut_ptr().cast::<u8>();
        // Invariants: to <= at <= list.len() <= the length of `space`; the first `to` bytes of
        // `space` are initialised.
        let (mut at, mut to) = (0, 0);
        let mut plain = Plain {
            read: 0,
            written: 0,
            complete: false,
        };
        'items: while let Some(b'"') = list.get(at) {
            let start = at;
            at += 1;
            loop {
                let Some(block) = list.get(at..).and_then(<[u8]>::first_chunk::<BLOCK>) else {
                    break 'items;
                };
                // SAFETY: there is a block at `at` of the list, so there is space for one at
                // `to <= at`.
                unsafe { space.add(to).cast::<[u8; BLOCK]>().write_unaligned(*block) };
                let special = special(Block16::load(block)).mask();
                if special == 0 {
                    at += BLOCK;
                    to += BLOCK;
                    if at - start > LONG {
                        break 'items;
                    }
                    continue;
                }
                let len = special.trailing_zeros() as usize;
                at += len;
                to += len;
                match list[at..] {
                    [b'"', ..] => break,
                    [b'\\', ref escape @ ..] => {
                        let Some((byte, read)) = ascii_escape(escape) else {
                            break 'items;
                        };
                        // SAFETY: to <= at < list.len().
                        unsafe { space.add(to).write(byte) };
                        to += 1;
                        at += 1 + read;
                    }
                    _ => break 'items,
                }
            }
            self.ends.push(before + to);
            plain.written = to;
            at += 1;
            plain.read = at;
            plain.complete = true;
            match list[at..] {
                [b',', b'"', ..] => at += 1,
                [b',', b' ', b'"', ..] => at += 2,
                _ => break,
            }
        }
        // SAFETY: the loop has initialised these bytes after the old length, within the capacity.
        unsafe { text.set_len(before + plain.written) };
        plain
    }
}

/// The result of [`Strings::read_plain`].
struct Plain {
    /// The number of bytes read, up to the end of an item.
    read: usize,
    /// The number of bytes of text written.
    written: usize,
    /// Whether at least one item was read.
    complete: bool,
}

const BLOCK: usize = 16;

/// Longer strings are left to the slow path, which is faster for them.
const LONG: usize = 256;

impl Index<usize> for Strings {
    type Output = str;

    /// The string at `index`.
    ///
    /// # Panics
    ///
    /// If there is no such string.
    #[inline]
    #[track_caller]
    fn index(&self, index: usize) -> &str {
        match self.get(index) {
            Some(text) => text,
            None => panic!("string {index} of {}", self.len()),
        }
    }
}

impl<'a> IntoIterator for &'a Strings {
    type Item = &'a str;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl<T: AsRef<str>> FromIterator<T> for Strings {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut strings = Self::new();
        for item in items {
            strings.push(item.as_ref());
        }
        strings
    }
}

/// An iterator over [`Strings`].
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    text: &'a str,
    start: usize,
    ends: std::slice::Iter<'a, usize>,
}

impl<'a> Iterator for Iter<'a> {
    type Item = &'a str;

    #[inline]
    fn next(&mut self) -> Option<&'a str> {
        let end = *self.ends.next()?;
        let text = &self.text[self.start..end];
        self.start = end;
        Some(text)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.ends.size_hint()
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl FusedIterator for Iter<'_> {}

/// Inputs up to this length are not scanned, but assumed to be one array.
const SHORT: usize = 256;

/// An estimate of the length of the array at the beginning of `bytes`: up to a `]` after an
/// unescaped quote, or after `[`.
fn array_len(bytes: &[u8]) -> usize {
    if bytes.len() <= SHORT {
        return bytes.len();
    }
    for end in memchr::memchr_iter(b']', bytes) {
        match bytes[..end].trim_ascii_end() {
            [.., b'['] => return end,
            [string @ .., b'"'] => {
                // An odd number of backslashes escapes the quote. If the real end were missed, all
                // input after the array would be scanned and reserved for. Each run belongs to one
                // quote, so it is counted once.
                let backslashes = string.iter().rev().take_while(|byte| **byte == b'\\');
                if backslashes.count().is_multiple_of(2) {
                    return end;
                }
            }
            _ => {}
        }
    }
    bytes.len()
}

/// The maximum number of items in these bytes of an array.
fn count_items(array: &[u8]) -> usize {
    if array.len() <= SHORT {
        // Two quotes and a comma.
        return array.len() / 3;
    }
    memchr::memchr_iter(b'"', array).count() / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_not_overestimated() {
        let behind = "[\"a\"],".repeat(SHORT);
        for array in [
            r#"[]"#,
            r#" [ ]"#,
            r#"["a"]"#,
            r#"["a" , "b" ]"#,
            r#"["\\"]"#,
            r#"["a\\\\"]"#,
            r#"["\"]"]"#,
            r#"["\\\"]"]"#,
        ] {
            let bytes = format!("{array},{behind}");
            let len = array_len(bytes.as_bytes());
            assert_eq!(len, array.len() - 1, "{array}");
        }
    }
}
