//! Texts for messages: lists of expected values, and suggestions for misspelled names.

/// "one of" the values, in quotes. Only the first of many values, and only the start of long ones,
/// because there can be many messages.
pub(crate) fn one_of<'a>(values: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 20;
    const LONGEST: usize = 60;
    let mut text = "one of ".to_owned();
    for (index, value) in values.enumerate() {
        if index == SHOWN {
            text.push_str(", ...");
            break;
        }
        text.push_str(if index == 0 { "\"" } else { ", \"" });
        text.extend(value.chars().take(LONGEST));
        if value.chars().nth(LONGEST).is_some() {
            text.push_str("...");
        }
        text.push('"');
    }
    text
}

/// A hint with the candidate most similar to `name`, if one is similar enough for a typing error.
pub(crate) fn did_you_mean<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<String> {
    candidates
        .filter(|candidate| *candidate != name)
        .filter_map(|candidate| Some((distance(name, candidate)?, candidate)))
        .min()
        .map(|(_, candidate)| format!("did you mean `{candidate}`?"))
}

/// The edit distance between a name and a candidate, ignoring case. `None` if it is too large
/// for a typing error.
pub(crate) fn distance(name: &str, candidate: &str) -> Option<usize> {
    let allowed = (name.chars().count() / 3).clamp(1, 3);
    edit_distance(name, candidate, allowed)
}

/// The Levenshtein distance, ignoring case, if it is at most `allowed`.
fn edit_distance(left: &str, right: &str, allowed: usize) -> Option<usize> {
    let (left, right) = without_common_ends(left, right);
    // Hostile names of 64 KiB must not cost 4 Gi steps.
    if left.len().abs_diff(right.len()) > 4 * allowed || left.len() > 200 {
        return None;
    }
    let right: Vec<char> = right.chars().map(|c| c.to_ascii_lowercase()).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, l) in left.chars().map(|c| c.to_ascii_lowercase()).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, r) in right.iter().enumerate() {
            let substitution = diagonal + usize::from(l != *r);
            diagonal = row[j + 1];
            row[j + 1] = substitution.min(row[j] + 1).min(diagonal + 1);
        }
        if row.iter().min().is_some_and(|best| *best > allowed) {
            return None;
        }
    }
    row.last().copied().filter(|distance| *distance <= allowed)
}

/// The texts without their common prefix and suffix, ignoring case. This does not change the
/// distance, and names in one model often have long common parts.
fn without_common_ends<'a>(left: &'a str, right: &'a str) -> (&'a str, &'a str) {
    let same = |(l, r): &(u8, u8)| l.eq_ignore_ascii_case(r);
    let mut start = left.bytes().zip(right.bytes()).take_while(same).count();
    while !(left.is_char_boundary(start) && right.is_char_boundary(start)) {
        start -= 1;
    }
    let (left, right) = (&left[start..], &right[start..]);
    let backwards = left.bytes().rev().zip(right.bytes().rev());
    let mut end = backwards.take_while(same).count();
    // The bytes after this are equal in both, so the character boundaries are, too.
    while !left.is_char_boundary(left.len() - end) {
        end -= 1;
    }
    (&left[..left.len() - end], &right[..right.len() - end])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The textbook algorithm, without shortcuts.
    fn slow_distance(left: &str, right: &str) -> usize {
        let lower = |text: &str| -> Vec<char> { text.to_ascii_lowercase().chars().collect() };
        let (left, right) = (lower(left), lower(right));
        let mut table = vec![vec![0; right.len() + 1]; left.len() + 1];
        for i in 0..=left.len() {
            for j in 0..=right.len() {
                table[i][j] = match (i, j) {
                    (i, 0) => i,
                    (0, j) => j,
                    _ => (table[i - 1][j - 1] + usize::from(left[i - 1] != right[j - 1]))
                        .min(table[i - 1][j] + 1)
                        .min(table[i][j - 1] + 1),
                };
            }
        }
        table[left.len()][right.len()]
    }

    #[test]
    fn distances_are_those_of_the_table() {
        let texts = [
            "",
            "a",
            "ab",
            "aba",
            "abab",
            "bab",
            "ABA",
            "aXba",
            "\u{e9}",
            "\u{e8}",
            "a\u{e9}b",
            "a\u{e8}b",
            "\u{e9}\u{e9}",
            "\u{129}",
            "ab\u{1f600}",
            "ab\u{1f601}",
            "String",
            "strng",
        ];
        for left in texts {
            for right in texts {
                let slow = slow_distance(left, right);
                for allowed in 0..4 {
                    let expected = (slow <= allowed).then_some(slow);
                    let found = edit_distance(left, right, allowed);
                    assert_eq!(found, expected, "{left} {right} {allowed}");
                }
            }
        }
    }

    #[test]
    fn near_names_are_suggested() {
        let names = ["String", "Short", "Integer"];
        let suggest = |name| did_you_mean(name, names.into_iter());
        assert_eq!(suggest("Strin").as_deref(), Some("did you mean `String`?"));
        assert_eq!(
            suggest("integer").as_deref(),
            Some("did you mean `Integer`?")
        );
        assert_eq!(suggest("Widget"), None);
        assert_eq!(suggest(&"x".repeat(70_000)), None);
    }

    #[test]
    fn long_lists_of_values_are_cut() {
        assert_eq!(one_of(["a", "b"].into_iter()), "one of \"a\", \"b\"");
        let long = "\u{e9}".repeat(1_000);
        let text = one_of(std::iter::repeat_n(long.as_str(), 1_000));
        assert_eq!(text.matches('"').count(), 2 * 20);
        assert!(text.ends_with("\u{e9}...\", ..."), "{text}");
        assert!(text.len() < 20 * (2 * 60 + 10));
    }
}
