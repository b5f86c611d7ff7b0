//! Patterns in the region set of Version 4A.

/// Whether `*` of the pattern, which matches any characters, and its other characters match `text`.
/// At most `pattern.len() * text.len()` steps.
pub(super) fn is_match(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut read) = (0, 0);
    // The last `*`, and how much of the text it has matched.
    let mut star: Option<(usize, usize)> = None;
    while read < text.len() {
        if pattern.get(at) == Some(&b'*') {
            star = Some((at, read));
            at += 1;
        } else if pattern.get(at) == Some(&text[read]) {
            (at, read) = (at + 1, read + 1);
        } else if let Some((place, matched)) = star {
            star = Some((place, matched + 1));
            (at, read) = (place + 1, matched + 1);
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::is_match;

    #[test]
    fn regions() {
        for pattern in ["*", "us-*", "us-east-1", "*-1", "u*t-*", "us-east-1*", "**"] {
            assert!(is_match(pattern, "us-east-1"), "{pattern}");
        }
        for pattern in [
            "",
            "us-east-2",
            "us-east",
            "eu-*",
            "*-2",
            "us-east-1?",
            "*a",
        ] {
            assert!(!is_match(pattern, "us-east-1"), "{pattern}");
        }
    }
}
