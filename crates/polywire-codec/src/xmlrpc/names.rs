//! Names of XML.

/// Whether a name is one of XML 1.0.
///
/// ```text
/// [4]  NameStartChar ::= ":" | [A-Z] | "_" | [a-z] | [#xC0-#xD6] | ...
/// [4a] NameChar      ::= NameStartChar | "-" | "." | [0-9] | #xB7 | ...
/// [5]  Name          ::= NameStartChar (NameChar)*
/// ```
///
/// <https://www.w3.org/TR/xml/#NT-Name>
pub(super) fn is_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(is_start) && characters.all(is_part)
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
