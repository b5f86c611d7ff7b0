//! The XML declaration, and names.

use polywire_schema::{Error, ErrorKind};

use super::parse::is_space;
use crate::reference::node::error;

fn wrong(expected: &'static str) -> Error {
    error(ErrorKind::Syntax, 0, expected)
}

/// Sections 2.8 and 4.3.3: skips the declaration, if there is one. The declared encoding must be UTF-8,
/// unless the text is ASCII and has no byte order mark.
pub(super) fn declaration(text: &str, marked: bool) -> Result<&str, Error> {
    let Some(inside) = text.strip_prefix("<?xml") else {
        return Ok(text);
    };
    if !inside.starts_with(|c| is_space(c) || c == '?') {
        return Ok(text);
    }
    let (mut inside, rest) = inside
        .split_once("?>")
        .ok_or_else(|| error(ErrorKind::Truncated, 0, "?>"))?;
    let mut declared = Vec::new();
    while let Some((name, behind)) = inside.split_once('=') {
        let behind = behind.trim_start_matches(is_space);
        let quote = behind.chars().next().filter(|c| "\"'".contains(*c));
        let quote = quote.ok_or_else(|| wrong("a quote"))?;
        let (value, behind) = behind[1..]
            .split_once(quote)
            .ok_or_else(|| wrong("a quote at the end"))?;
        if !name.starts_with(is_space) {
            return Err(wrong("white space before each part"));
        }
        declared.push((name.trim_matches(is_space), value));
        inside = behind;
    }
    if !inside.chars().all(is_space) {
        return Err(wrong("the end of the declaration"));
    }
    let names: Vec<_> = declared.iter().map(|(name, _)| *name).collect();
    let orders: [&[&str]; 4] = [
        &["version"],
        &["version", "encoding"],
        &["version", "standalone"],
        &["version", "encoding", "standalone"],
    ];
    if !orders.contains(&&*names) {
        return Err(wrong("version, encoding, standalone"));
    }
    let is_valid = |(name, value): &(&str, &str)| match *name {
        "version" => {
            let digits = value.strip_prefix("1.").unwrap_or_default();
            !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
        }
        "encoding" => {
            let is_part = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            let is_name = value.starts_with(|c: char| c.is_ascii_alphabetic());
            let known = ["utf-8", "utf8", "us-ascii", "ascii"];
            let known = known.contains(&&*value.to_ascii_lowercase());
            is_name && value.chars().all(is_part) && (known || (text.is_ascii() && !marked))
        }
        _ => ["yes", "no"].contains(value),
    };
    match declared.iter().all(is_valid) {
        true => Ok(rest),
        false => Err(wrong("version 1.0, the encoding UTF-8, yes or no")),
    }
}

/// Production 4.
pub(super) fn is_name_start(character: char) -> bool {
    matches!(character,
        ':' | '_' | 'A'..='Z' | 'a'..='z' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}'
        | '\u{f8}'..='\u{2ff}' | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}'
        | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}'
        | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}'
        | '\u{10000}'..='\u{effff}')
}

/// Production 4a.
pub(super) fn is_name(character: char) -> bool {
    is_name_start(character)
        || matches!(character, '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}'
            | '\u{203f}'..='\u{2040}')
}
