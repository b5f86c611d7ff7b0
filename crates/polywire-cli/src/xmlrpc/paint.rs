//! Colours for JSON.

/// Whether to use colours. See <https://no-color.org>.
pub(super) fn is_wanted() -> bool {
    let none = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    !none && !dumb
}

/// Adds colours to JSON: names, strings, numbers and constants.
pub(super) fn painted(json: &str) -> String {
    let mut painted = String::with_capacity(json.len() * 2);
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let (length, colour) = match first {
            '"' => {
                let length = string(rest);
                let is_name = rest[length..].starts_with(':');
                (length, if is_name { "1;34" } else { "32" })
            }
            '-' | '0'..='9' => (word(rest), "36"),
            'a'..='z' => (word(rest), "33"),
            other => (other.len_utf8(), ""),
        };
        let (token, behind) = rest.split_at(length);
        match colour {
            "" => painted.push_str(token),
            colour => painted.push_str(&format!("\x1b[{colour}m{token}\x1b[0m")),
        }
        rest = behind;
    }
    painted
}

/// Returns the length of the string at the start of a text.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn word(text: &str) -> usize {
    let end = text.find(|next: char| !(next.is_ascii_alphanumeric() || "+-.".contains(next)));
    end.unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_leave_the_text_alone() {
        let json = r#"{"a\"": ["x: \\", -1.5e+3, true, null, {}], "ö": "ö"}"#;
        let painted = painted(json);
        assert!(
            painted.contains("\x1b[1;34m\"a\\\"\"\x1b[0m: "),
            "{painted}"
        );
        assert!(painted.contains("\x1b[36m-1.5e+3\x1b[0m, \x1b[33mtrue\x1b[0m"));
        let mut plain = painted;
        for code in ["1;34", "32", "36", "33", "0"] {
            plain = plain.replace(&format!("\x1b[{code}m"), "");
        }
        assert_eq!(plain, json);
    }
}
