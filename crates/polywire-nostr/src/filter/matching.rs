//! Matching of events without compilation, and the scan of their tags.

use std::borrow::Cow;

use super::{Filter, TagLetter};
use crate::json::{RawString, Reader};
use crate::{EventRef, Profile};

/// Whether an event matches a filter. Searches all lists linearly.
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

/// Returns the letters as a bit set.
pub(super) fn letters(letters: impl Iterator<Item = TagLetter>) -> u64 {
    letters.fold(0, |all, letter| all | letter.bit())
}

/// Whether, for each of `letters`, the event has a tag with this name whose first value `accepts`.
///
/// Scans the text of the tags once, and stops when the result is known. Other tags are skipped
/// without decoding.
#[inline]
pub(super) fn tags_match(
    event: &EventRef<'_>,
    letters: u64,
    mut accepts: impl FnMut(TagLetter, RawString<'_>) -> bool,
) -> bool {
    let mut missing = letters;
    if missing == 0 {
        return true;
    }
    let mut tags = TagScanner::new(event.raw_tags());
    while let Some((letter, value)) = tags.next(missing) {
        if accepts(letter, value) {
            missing &= !letter.bit();
            if missing == 0 {
                return true;
            }
        }
    }
    false
}

/// A scanner over the text of an array of tags. The text is valid, so errors do not occur.
struct TagScanner<'a> {
    reader: Reader<'a>,
    /// `true`: the cursor is after an item of a tag. `false`: it is before the first tag.
    in_tag: bool,
}

impl<'a> TagScanner<'a> {
    fn new(raw: &'a str) -> Self {
        // Another profile may have accepted the text, so use the most lenient one.
        let mut reader = Reader::new(raw, Profile::COMPATIBLE);
        reader.take(b'[');
        let in_tag = false;
        Self { reader, in_tag }
    }

    /// Returns the name and the first value of the next tag that has a value and one of these
    /// names.
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
            let name = self.reader.string_after_quote().ok()?;
            if let Some(letter) = letter(name)
                && letters & letter.bit() != 0
                && self.next_item()
            {
                return Some((letter, self.reader.string_after_quote().ok()?));
            }
        }
    }

    /// Skips the opening quote of the next item of the tag. Returns whether there is one.
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

/// Returns the letter if the name is a single letter.
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
