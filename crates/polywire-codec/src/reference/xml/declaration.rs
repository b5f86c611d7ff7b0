//! The XML declaration, and names.

use polywire_schema::{Error, ErrorKind};

use super::parse::is_space;
use crate::reference::node::error;

fn wrong(expected: &'static str) -> Error {
    error(ErrorKind::Syntax, 0, expected)
}

/// Sections 2.8 and 4.3.3: what behind the declaration comes, if there is one. The
/// encoding that it names has to be ours; what is all ASCII is the same in every encoding
/// that we could be sent; a byte order mark says UTF-8.
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
    for (name, value) in declared {
        match name {
            "version" => {
                let digits = value.strip_prefix("1.").unwrap_or_default();
                if digits.is_empty() || digits.contains(|c: char| !c.is_ascii_digit()) {
                    return Err(wrong("version 1.0"));
                }
            }
            "encoding" => {
                let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
                if !value.starts_with(|c: char| c.is_ascii_alphabetic())
                    || !value.chars().all(allowed)
                {
                    return Err(wrong("the name of an encoding"));
                }
                let known = ["utf-8", "utf8", "us-ascii", "ascii"];
                let known = known.contains(&&*value.to_ascii_lowercase());
                if !known && (!text.is_ascii() || marked) {
                    return Err(wrong("the encoding UTF-8"));
                }
            }
            _ if !["yes", "no"].contains(&value) => return Err(wrong("yes or no")),
            _ => {}
        }
    }
    Ok(rest)
}

/// Section 2.3: the ranges of what may begin a name, and of what else may stand in it.
const NAME_START: [(u32, u32); 16] = [
    (0x3a, 0x3a),
    (0x41, 0x5a),
    (0x5f, 0x5f),
    (0x61, 0x7a),
    (0xc0, 0xd6),
    (0xd8, 0xf6),
    (0xf8, 0x2ff),
    (0x370, 0x37d),
    (0x37f, 0x1fff),
    (0x200c, 0x200d),
    (0x2070, 0x218f),
    (0x2c00, 0x2fef),
    (0x3001, 0xd7ff),
    (0xf900, 0xfdcf),
    (0xfdf0, 0xfffd),
    (0x1_0000, 0xe_ffff),
];
const NAME_ELSE: [(u32, u32); 5] = [
    (0x2d, 0x2e),
    (0x30, 0x39),
    (0xb7, 0xb7),
    (0x300, 0x36f),
    (0x203f, 0x2040),
];

fn is_in(ranges: &[(u32, u32)], character: char) -> bool {
    let code = u32::from(character);
    ranges
        .iter()
        .any(|(first, last)| (*first..=*last).contains(&code))
}

/// Production 4a.
pub(super) fn is_name(character: char) -> bool {
    is_name_start(character) || is_in(&NAME_ELSE, character)
}

/// Production 4.
pub(super) fn is_name_start(character: char) -> bool {
    is_in(&NAME_START, character)
}
