//! The strings of an array in one buffer.

use std::iter::FusedIterator;
use std::ops::Index;

use super::read_items;
use crate::block::{Block, Block16};
use crate::escape::LoneSurrogate;
use crate::quote::{self, ascii_escape, opened, special};
use crate::{Malformed, utf8};

/// Strings one behind the other in one buffer, and where each ends: two
/// allocations for any number of strings, and none when used again.
///
/// ```
/// use polywire_text::escape::LoneSurrogate;
/// use polywire_text::list::Strings;
///
/// let mut tag = Strings::new();
/// let rest = tag.read(br#"["e","5c83","wss:\/\/relay"],["p"]"#, LoneSurrogate::Refuse)?;
/// assert_eq!((tag.len(), &tag[0], &tag[2]), (3, "e", "wss://relay"));
/// assert_eq!(rest, br#",["p"]"#);
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Strings {
    text: String,
    /// Where the strings end in `text`: 0 <= ends[0] <= ends[1] <= ... <=
    /// text.len(), each between two characters. What is behind the last of
    /// them is no string.
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

    /// Takes all strings out, and keeps the allocations.
    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// Reads an array of strings: they replace what was there. Returns the rest
    /// of the input.
    ///
    /// # Errors
    ///
    /// What is no array of strings; what [`quote::read`] refuses. There are no
    /// strings then.
    pub fn read<'a>(
        &mut self,
        bytes: &'a [u8],
        lone: LoneSurrogate,
    ) -> Result<&'a [u8], Malformed> {
        self.ends.clear();
        let mut text = std::mem::take(&mut self.text).into_bytes();
        text.clear();
        let mut result = self.read_into(&mut text, bytes, lone);
        // Quotes are ASCII, so a string is UTF-8 if everything around it is;
        // and escapes become characters.
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
        // SAFETY: either empty, or made of pieces of `bytes[..read]`, cut at
        // quotes and backslashes, and of characters that escapes stand for. The
        // former have just been validated, and ASCII is never a part of
        // another character.
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
            // Less than that is not worth a call.
            if list >= 2 * BLOCK {
                let plain = self.read_plain(text, &rest[..list]);
                rest = &rest[plain.read..];
                if plain.complete {
                    return Ok(rest);
                }
            }
            let inside = opened(rest)?;
            let read = quote::append(text, inside, lone);
            let read = read.map_err(|error| quote::behind(error, rest, inside))?;
            self.ends.push(text.len());
            Ok(&inside[read..])
        })
    }

    /// Reads the items that `list` begins with, as long as they are what most
    /// are: short, with nothing but a comma and perhaps a space between them,
    /// and escapes for nothing but ASCII. What is otherwise, or wrong, is left
    /// to others.
    ///
    /// Each piece up to an escape or the end is written as a whole block, and
    /// the next one over what was too much.
    #[inline(never)]
    fn read_plain(&mut self, text: &mut Vec<u8>, list: &[u8]) -> Plain {
        let before = text.len();
        text.reserve(list.len());
        let space = text.spare_capacity_mut().as_mut_ptr().cast::<u8>();
        // Invariants: to <= at <= list.len() <= the length of `space`, of which
        // the first `to` bytes have been written.
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
                // SAFETY: there is a whole block at `at`, so there is room for
                // one at `to`, which is not behind it.
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
        // SAFETY: the bytes were written behind the old length, within the
        // capacity.
        unsafe { text.set_len(before + plain.written) };
        plain
    }
}

/// How far [`Strings::read_plain`] has come.
struct Plain {
    /// How much has been read: up to behind an item.
    read: usize,
    /// How much of it is text.
    written: usize,
    /// Whether there was an item.
    complete: bool,
}

const BLOCK: usize = 16;

/// Strings up to here are read by the block; there are better ways to read more.
const LONG: usize = 256;

impl Index<usize> for Strings {
    type Output = str;

    /// The string at `index`, which must be there.
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

/// Inputs up to this length are not looked at, but thought to be an array and
/// nothing else.
const SHORT: usize = 256;

/// How long the array that `bytes` begins with seems to be: up to a `]` behind
/// a quote that is not escaped, or behind the opening bracket.
fn array_len(bytes: &[u8]) -> usize {
    if bytes.len() <= SHORT {
        return bytes.len();
    }
    for end in memchr::memchr_iter(b']', bytes) {
        match bytes[..end].trim_ascii_end() {
            [.., b'['] => return end,
            [string @ .., b'"'] => {
                // An escaped quote has an odd number of backslashes before it. To
                // take the real end for one would look through, and reserve for,
                // all that is behind the array. Runs that are counted here are
                // counted once: each belongs to one quote.
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

/// How many items these bytes of an array may have.
fn count_items(array: &[u8]) -> usize {
    if array.len() <= SHORT {
        // A quote, another and a comma.
        return array.len() / 3;
    }
    memchr::memchr_iter(b'"', array).count() / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_seems_no_longer_than_it_is() {
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
