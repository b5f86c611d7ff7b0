//! Character references to surrogates, which some peers write in pairs.

/// Replaces each pair of references to surrogates with its character.
/// The text is split at each `&`. A part is a reference up to its first `;`.
pub(in crate::reference) fn with_pairs_joined(raw: &str) -> String {
    let half = |part: Option<&&str>| -> Option<u16> {
        let (number, _) = part?.strip_prefix("&#")?.split_once(';')?;
        let (digits, radix) = match number.strip_prefix('x') {
            Some(digits) => (digits, 16),
            None => (number, 10),
        };
        let all = digits.chars().all(|digit| digit.is_digit(radix));
        all.then(|| u16::from_str_radix(digits, radix).ok())?
    };
    let mut parts = Vec::new();
    let mut rest = raw;
    while !rest.is_empty() {
        let mut references = rest.match_indices('&').map(|(at, _)| at);
        let end = references.find(|at| *at > 0).unwrap_or(rest.len());
        let (part, behind) = rest.split_at(end);
        parts.push(part);
        rest = behind;
    }
    let mut joined = String::new();
    let mut at = 0;
    while let Some(part) = parts.get(at) {
        at += 1;
        let pair = match (half(Some(part)), half(parts.get(at))) {
            (Some(high), Some(low)) if part.ends_with(';') => String::from_utf16(&[high, low]).ok(),
            _ => None,
        };
        match pair {
            Some(pair) if pair.chars().count() == 1 => {
                let (_, behind) = parts[at].split_once(';').unwrap_or_default();
                joined.push_str(&pair);
                joined.push_str(behind);
                at += 1;
            }
            _ => joined.push_str(part),
        }
    }
    joined
}
