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
    // Controls and invalid UTF-8 must not reach a terminal or a log raw.
    let mut shown: String = String::from_utf8_lossy(&rest[..cut])
        .chars()
        .map(|character| {
            if character.is_control() {
                '\u{b7}'
            } else {
                character
            }
        })
        .collect();
    if rest.len() > cut {
        shown.push_str("...");
    }
    format!("`{shown}`")
}
