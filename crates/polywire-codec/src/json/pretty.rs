//! Indented JSON for people.

/// The maximum indentation, in levels.
const MAX_LEVELS: usize = 64;

/// Formats compact JSON with line breaks and an indentation of two spaces per level.
///
/// The indentation is limited to 64 levels, so that the length of the output is at most a fixed
/// multiple of the length of the input.
///
/// ```
/// assert_eq!(polywire_codec::json::pretty(r#"{"a":[1,"b: {"]}"#), "\
/// {
///   \"a\": [
///     1,
///     \"b: {\"
///   ]
/// }");
/// ```
#[must_use]
pub fn pretty(compact: &str) -> String {
    let mut out = String::with_capacity(compact.len() * 2);
    let mut depth = 0_usize;
    let mut quoted = false;
    let mut escaped = false;
    let mut previous = '\0';
    let mut characters = compact.chars().peekable();
    while let Some(character) = characters.next() {
        if quoted {
            out.push(character);
            quoted = escaped || character != '"';
            escaped = !escaped && character == '\\';
            previous = character;
            continue;
        }
        match character {
            '{' | '[' => {
                depth += 1;
                out.push(character);
                if !matches!(characters.peek(), Some('}' | ']')) {
                    break_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                if !matches!(previous, '{' | '[') {
                    break_line(&mut out, depth);
                }
                out.push(character);
            }
            ',' => {
                out.push(',');
                break_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => {
                quoted = character == '"';
                out.push(character);
            }
        }
        previous = character;
    }
    out
}

fn break_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth.min(MAX_LEVELS)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_nesting_is_not_indented_for_ever() {
        let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
        let out = pretty(&deep);
        assert!(
            out.len() <= deep.len() * (2 + 2 * MAX_LEVELS),
            "{}",
            out.len()
        );
        assert_eq!(out.replace([' ', '\n'], ""), deep);
        let innermost = out.lines().find(|line| line.ends_with('1')).unwrap();
        assert_eq!(innermost.len(), 2 * MAX_LEVELS + 1);
        // All levels up to the limit are indented differently.
        for (level, line) in out.lines().take(MAX_LEVELS).enumerate() {
            assert_eq!(line.len(), 2 * level + 1);
        }
    }
}
