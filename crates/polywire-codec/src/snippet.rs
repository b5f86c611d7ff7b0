//! What an error shows of the input.

/// The most bytes of the input that an error message repeats.
const LONGEST: usize = 24;

/// The input at `offset`, short and printable, for "found ..." in a message.
#[cold]
pub(crate) fn text(input: &[u8], offset: usize) -> String {
    let Some(rest) = input.get(offset..).filter(|rest| !rest.is_empty()) else {
        return "the end of the input".to_owned();
    };
    let cut = rest.len().min(LONGEST);
    let text = String::from_utf8_lossy(&rest[..cut]);
    let mut shown: String = text.chars().map(printable).collect();
    if rest.len() > cut {
        shown.push_str("...");
    }
    format!("`{shown}`")
}

/// The character, or a dot for a control: those must not reach a terminal or a
/// log raw.
pub(crate) fn printable(character: char) -> char {
    if character.is_control() {
        '\u{b7}'
    } else {
        character
    }
}
