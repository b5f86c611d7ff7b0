//! Whether events match.

use std::borrow::Cow;

use super::{Filter, TagLetter};
use crate::json::{RawString, Reader};
use crate::{EventRef, Profile};

/// Compares an event with the lists as they are.
pub(super) fn matches(filter: &Filter, event: &EventRef<'_>) -> bool {
    let kinds = filter.kinds();
    let authors = filter.authors();
    let ids = filter.ids();
    // Cheap conditions first.
    kinds.is_none_or(|kinds| kinds.contains(&event.kind()))
        && filter
            .since()
            .is_none_or(|since| since <= event.created_at())
        && filter
            .until()
            .is_none_or(|until| event.created_at() <= until)
        && authors.is_none_or(|authors| authors.contains(event.pubkey()))
        && ids.is_none_or(|ids| ids.contains(event.id()))
        && tags_match(
            event,
            letters(filter.tags().iter().map(|tag| tag.letter)),
            |letter, raw| {
                let value = raw.decode();
                filter
                    .tag(letter)
                    .is_some_and(|tag| tag.values().any(|other| other == value))
            },
        )
}

/// The letters as a set of bits.
pub(super) fn letters(letters: impl Iterator<Item = TagLetter>) -> u64 {
    letters.fold(0, |all, letter| all | letter.bit())
}

/// Whether, for each of these letters, there is a tag of this name whose first value `holds`.
///
/// Walks over the text of the tags once, and no further than it must. The values of other tags are
/// skipped, not decoded.
#[inline]
pub(super) fn tags_match(
    event: &EventRef<'_>,
    letters: u64,
    mut holds: impl FnMut(TagLetter, RawString<'_>) -> bool,
) -> bool {
    let mut missing = letters;
    if missing == 0 {
        return true;
    }
    let mut tags = Walk::new(event.raw_tags());
    while let Some((letter, value)) = tags.next(missing) {
        if holds(letter, value) {
            missing &= !letter.bit();
            if missing == 0 {
                return true;
            }
        }
    }
    false
}

/// A walk over the text of an array of tags that has been checked, so that errors do not occur.
struct Walk<'a> {
    reader: Reader<'a>,
    /// Whether the cursor is behind an item of a tag, or before the first tag otherwise.
    in_tag: bool,
}

impl<'a> Walk<'a> {
    fn new(raw: &'a str) -> Self {
        // The text has been accepted by some profile.
        let mut reader = Reader::new(raw, Profile::COMPATIBLE);
        reader.take(b'[');
        let in_tag = false;
        Self { reader, in_tag }
    }

    /// Returns the name and first value of the next tag with one of these names and a value.
    #[inline]
    fn next(&mut self, letters: u64) -> Option<(TagLetter, RawString<'a>)> {
        loop {
            if self.in_tag {
                while self.next_item() {
                    self.reader.skip_string().ok()?;
                }
                self.reader.take(b']');
                self.reader.skip_space();
                self.reader.take(b',');
            }
            self.in_tag = true;
            self.reader.skip_space();
            if !self.reader.take(b'[') {
                return None;
            }
            self.reader.skip_space();
            if !self.reader.take(b'"') {
                // A tag without items.
                continue;
            }
            let name = self.reader.string_behind_quote().ok()?;
            if let Some(letter) = letter(name)
                && letters & letter.bit() != 0
                && self.next_item()
            {
                return Some((letter, self.reader.string_behind_quote().ok()?));
            }
        }
    }

    /// Moves the cursor behind the quote before the next item of a tag, if there is one.
    #[inline(always)]
    fn next_item(&mut self) -> bool {
        self.reader.skip_space();
        if !self.reader.take(b',') {
            return false;
        }
        self.reader.skip_space();
        self.reader.take(b'"')
    }
}

/// The name of a tag, if it is one letter.
#[inline]
fn letter(name: RawString<'_>) -> Option<TagLetter> {
    match name.text.as_bytes() {
        [letter] => TagLetter::from_byte(*letter),
        [b'\\', ..] => escaped_letter(name),
        _ => None,
    }
}

#[cold]
fn escaped_letter(name: RawString<'_>) -> Option<TagLetter> {
    let name: Cow<'_, str> = name.decode();
    match name.as_bytes() {
        [letter] => TagLetter::from_byte(*letter),
        _ => None,
    }
}
