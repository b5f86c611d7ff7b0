//! Names of elements, attributes and processing instructions.

use polywire_text::scan;

/// The length of the name at the beginning (XML 1.0, production 5; all characters beyond ASCII
/// are accepted).
#[inline]
pub(crate) fn name_len(bytes: &[u8]) -> usize {
    let mut len = plain_name_len(bytes);
    while bytes.get(len) == Some(&b':') {
        len += 1;
        len += scan::xml_name(&bytes[len..]);
    }
    len
}

/// Like [`name_len`], up to the first colon.
#[inline]
pub(crate) fn plain_name_len(bytes: &[u8]) -> usize {
    match bytes.first() {
        Some(b'0'..=b'9' | b'-' | b'.') | None => 0,
        Some(_) => scan::xml_name(bytes),
    }
}

/// A name without its prefix.
pub(crate) fn local(name: &str) -> &str {
    let colon = name.bytes().rposition(|byte| byte == b':');
    colon.map_or(name, |colon| &name[colon + 1..])
}

/// Whether a name without its prefix is `local`, which has no prefix.
pub(crate) fn is_local(name: &str, local: &str) -> bool {
    let prefix = name.strip_suffix(local);
    prefix.is_some_and(|prefix| prefix.is_empty() || prefix.ends_with(':'))
}

/// Whether XML 1.0 allows a name.
///
/// ```text
/// [4]  NameStartChar ::= ":" | [A-Z] | "_" | [a-z] | [#xC0-#xD6] | ...
/// [4a] NameChar      ::= NameStartChar | "-" | "." | [0-9] | #xB7 | ...
/// [5]  Name          ::= NameStartChar (NameChar)*
/// ```
///
/// <https://www.w3.org/TR/xml/#NT-Name>
pub(crate) fn is_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(is_start) && characters.all(is_part)
}

/// Checks the target of a processing instruction, of which `rest` is what follows `<?`. The error
/// is what was expected there.
///
/// ```text
/// [16] PI       ::= '<?' PITarget (S (Char* - (Char* '?>' Char*)))? '?>'
/// [17] PITarget ::= Name - (('X' | 'x') ('M' | 'm') ('L' | 'l'))
/// ```
///
/// A target at the very end of the text is accepted: the caller finds that it is cut off.
///
/// <https://www.w3.org/TR/xml/#NT-PI>
pub(crate) fn check_target(rest: &str) -> Result<(), &'static str> {
    let len = rest.find(|next| !is_part(next)).unwrap_or(rest.len());
    let (target, after) = rest.split_at(len);
    if target.eq_ignore_ascii_case("xml") {
        Err("a tag (an XML declaration stands at the very beginning, and once)")
    } else if after.is_empty() {
        Ok(())
    } else if !is_name(target) {
        Err("the target of a processing instruction behind <?")
    } else if !after.starts_with("?>") && scan::white_space(after.as_bytes()) == 0 {
        Err("white space behind the target of a processing instruction")
    } else {
        Ok(())
    }
}

fn is_start(character: char) -> bool {
    matches!(character,
        ':' | 'A'..='Z' | '_' | 'a'..='z'
        | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}'
        | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}'
        | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}'
        | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}')
}

fn is_part(character: char) -> bool {
    is_start(character)
        || matches!(character,
            '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in [
            "a",
            "_",
            ":",
            "A1",
            "a-b.c",
            "\u{e9}t\u{e9}",
            "a\u{b7}",
            "\u{10000}",
        ] {
            assert!(is_name(name), "{name}");
        }
        for name in [
            "",
            "1a",
            "-a",
            ".a",
            "\u{b7}a",
            "a b",
            "a\u{d7}",
            "a/",
            "\u{f0000}",
        ] {
            assert!(!is_name(name), "{name}");
        }
    }
}
