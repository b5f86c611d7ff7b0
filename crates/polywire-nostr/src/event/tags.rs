//! Tags, decoded from the JSON text on access.

use std::borrow::Cow;
use std::fmt;
use std::iter::FusedIterator;

use crate::Profile;
use crate::json::{RawString, Reader};

/// The tags of an event, in order.
#[derive(Clone)]
pub struct Tags<'a> {
    /// The text of the remaining tags and their separators.
    rest: &'a str,
    count: u32,
}

impl<'a> Tags<'a> {
    /// `raw` is a valid array of `count` tags.
    pub(super) fn new(raw: &'a str, count: u32) -> Self {
        let rest = raw.get(1..).unwrap_or_default();
        Self { rest, count }
    }
}

impl<'a> Iterator for Tags<'a> {
    type Item = Tag<'a>;

    #[inline]
    fn next(&mut self) -> Option<Tag<'a>> {
        self.count = self.count.checked_sub(1)?;
        let mut reader = checked(self.rest);
        reader.take(b',');
        reader.skip_space();
        let start = reader.at();
        reader.take(b'[');
        reader.skip_space();
        // The text is valid, so there are no errors to handle.
        while reader.take(b'"') && reader.skip_string().is_ok() {
            reader.skip_space();
            reader.take(b',');
            reader.skip_space();
        }
        reader.take(b']');
        let raw = reader.text_from(start);
        reader.skip_space();
        self.rest = &self.rest[reader.at()..];
        Some(Tag { raw })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count as usize, Some(self.count as usize))
    }
}

impl ExactSizeIterator for Tags<'_> {}
impl FusedIterator for Tags<'_> {}

/// A tag: an array of strings. The first is its name, the second its value.
#[derive(Clone, Copy)]
pub struct Tag<'a> {
    /// A valid array of strings.
    raw: &'a str,
}

impl<'a> Tag<'a> {
    /// Returns the name, such as `e`; empty if the tag has no items.
    #[must_use]
    pub fn name(&self) -> Cow<'a, str> {
        self.items().next().unwrap_or_default()
    }

    /// Returns the value, which is the item after the name.
    #[must_use]
    pub fn value(&self) -> Option<Cow<'a, str>> {
        self.items().nth(1)
    }

    /// Returns all items, starting with the name. An item is borrowed unless it has escapes.
    #[must_use]
    pub fn items(&self) -> Items<'a> {
        Items(self.raw_items())
    }

    pub(crate) fn raw_items(&self) -> RawItems<'a> {
        let mut rest = checked(self.raw);
        rest.take(b'[');
        RawItems(rest)
    }
}

impl PartialEq for Tag<'_> {
    /// Compares the items, not the JSON text.
    fn eq(&self, other: &Self) -> bool {
        self.items().eq(other.items())
    }
}

impl Eq for Tag<'_> {}

impl fmt::Debug for Tag<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.items()).finish()
    }
}

/// The items of a tag as JSON text.
pub(crate) struct RawItems<'a>(Reader<'a>);

impl<'a> Iterator for RawItems<'a> {
    type Item = RawString<'a>;

    #[inline]
    fn next(&mut self) -> Option<RawString<'a>> {
        self.0.skip_space();
        self.0.take(b',');
        self.0.skip_space();
        // The text is valid, so only the end of the tag has no string here.
        match self.0.take(b'"') {
            true => self.0.string_after_quote().ok(),
            false => None,
        }
    }
}

/// The items of a tag.
pub struct Items<'a>(RawItems<'a>);

impl<'a> Iterator for Items<'a> {
    type Item = Cow<'a, str>;

    #[inline]
    fn next(&mut self) -> Option<Cow<'a, str>> {
        self.0.next().map(RawString::decode)
    }
}

/// Returns a reader for text that was parsed before, with any profile.
fn checked(text: &str) -> Reader<'_> {
    Reader::new(text, Profile::COMPATIBLE)
}
