//! JSON laid out for people.

/// Compact JSON with line breaks and two spaces a level.
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
    out.extend(std::iter::repeat_n("  ", depth));
}
