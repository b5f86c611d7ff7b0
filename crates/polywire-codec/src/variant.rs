//! Which member a union holds.

use polywire_text::scan::Name;

/// The first of these names that the text starts with: its ordinal and length.
/// `guess` is looked at first, since neighbours are often of one kind. `None`
/// where none is found, or one that is longer than the text.
#[inline(always)]
pub(crate) fn find(names: &[Name], guess: u32, text: &[u8; 16]) -> Option<(u32, usize)> {
    let guessed = names.get(guess as usize);
    if let Some(len) = guessed.and_then(|name| name.starts_block(text)) {
        return Some((guess, len));
    }
    let mut ordinal = 0;
    for name in names {
        if let Some(len) = name.starts_block(text) {
            return Some((ordinal, len));
        }
        ordinal += 1;
    }
    None
}
