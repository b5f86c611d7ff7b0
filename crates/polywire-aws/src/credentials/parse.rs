//! Reads one profile file.
//!
//! ```text
//! file      = *( blank / comment / section / property / continuation )
//! comment   = ( "#" / ";" ) text
//! section   = "[" [ kind 1*WSP ] name "]" [ comment ]
//! property  = name "=" value [ 1*WSP comment ]
//! continuation = 1*WSP text
//! ```
//!
//! A continuation adds a line to the value before, with its comments. After a property without a value, continuations
//! are nested properties: `name "=" value`.

use super::profile::{ProfileError, ProfileFile};

/// A line of a file that means something.
pub(super) enum Line<'a> {
    /// The text between the brackets.
    Section(&'a str),
    Property {
        name: &'a str,
        value: &'a str,
    },
    Continuation(&'a str),
}

/// The most bytes of a file. Real files have a few thousand.
const MAX_LENGTH: usize = 16 * 1024 * 1024;
const SPACE: [char; 2] = [' ', '\t'];

/// Calls `each` for all lines of `text`. The order of lines is checked: properties belong to sections, and
/// continuations to properties.
pub(super) fn lines<'a>(
    text: &'a str,
    file: ProfileFile,
    mut each: impl FnMut(Line<'a>),
) -> Result<(), ProfileError> {
    // What a continuation continues.
    #[derive(Clone, Copy, PartialEq)]
    enum Before {
        Nothing,
        Section,
        Property { has_value: bool },
    }
    let error = |line, message| Err(ProfileError::new(file, line, message));
    if text.len() > MAX_LENGTH {
        return error(1, "the file is larger than 16 MiB");
    }
    // A byte order mark, which some editors write.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut before = Before::Nothing;
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let trimmed = line.trim_matches(SPACE);
        if trimmed.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if line.starts_with(SPACE) {
            match before {
                Before::Nothing => {
                    return error(number, "expected a section such as `[default]`");
                }
                Before::Section => {
                    return error(number, "expected a property, found a continuation");
                }
                Before::Property { has_value: false } => {
                    let Some((name, _)) = trimmed.split_once('=') else {
                        return error(number, "expected `=` in the nested property");
                    };
                    if name.trim_matches(SPACE).is_empty() {
                        return error(number, "the nested property has no name");
                    }
                }
                Before::Property { has_value: true } => {}
            }
            each(Line::Continuation(trimmed));
        } else if let Some(inside) = line.strip_prefix('[') {
            // A comment may follow the bracket directly.
            let end = inside.find(['#', ';']).unwrap_or(inside.len());
            let Some(name) = inside[..end].trim_matches(SPACE).strip_suffix(']') else {
                return error(number, "expected `]` at the end of the section");
            };
            before = Before::Section;
            each(Line::Section(name.trim_matches(SPACE)));
        } else {
            if before == Before::Nothing {
                return error(number, "expected a section such as `[default]`");
            }
            let Some((name, value)) = line.split_once('=') else {
                return error(number, "expected `=` in the property");
            };
            let name = name.trim_matches(SPACE);
            if name.is_empty() {
                return error(number, "the property has no name");
            }
            let value = without_comment(value).trim_matches(SPACE);
            before = Before::Property {
                has_value: !value.is_empty(),
            };
            each(Line::Property { name, value });
        }
    }
    Ok(())
}

/// A comment in a value begins with white space.
fn without_comment(value: &str) -> &str {
    let bytes = value.as_bytes();
    let is_comment = |index: &usize| {
        matches!(bytes[*index], b'#' | b';') && matches!(bytes[*index - 1], b' ' | b'\t')
    };
    match (1..bytes.len()).find(is_comment) {
        Some(index) => &value[..index],
        None => value,
    }
}
