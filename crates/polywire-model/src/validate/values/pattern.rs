//! `@pattern` on values. The crate `regex` matches in linear time for all patterns. The size of
//! patterns and the amount of matched text are limited, too.

use std::collections::HashMap;
use std::marker::PhantomData;

use polywire_text::pattern::EcmaPattern;
use regex::{Regex, RegexBuilder};

/// The maximum size of a compiled pattern, in bytes.
const MAX_SIZE: usize = 128 << 10;

/// The maximum length of a pattern, in bytes.
const MAX_LENGTH: usize = 8 << 10;

/// The maximum depth of groups.
const MAX_NESTING: u32 = 100;

/// The maximum number of patterns that are compiled for a model. Others are not checked. Compiling
/// one takes one or two milliseconds.
const MAX_COMPILED: usize = 400;

/// The maximum number of bytes that are matched for a model, which limits the time for slow
/// patterns.
const MAX_MATCHED: usize = 512 << 10;

/// The patterns of a model, which are compiled at first use.
#[derive(Default)]
pub(super) struct Patterns<'m> {
    /// By address: patterns do not move while the model exists, and hashing a long one for each
    /// value would take time.
    compiled: HashMap<usize, Option<Regex>>,
    matched: usize,
    model: PhantomData<&'m str>,
}

impl<'m> Patterns<'m> {
    /// Whether a part of the text matches. `None` if a limit is exceeded.
    pub(super) fn matches(&mut self, pattern: &'m str, text: &str) -> Option<bool> {
        self.matched = self.matched.saturating_add(text.len() + 1);
        if self.matched > MAX_MATCHED {
            return None;
        }
        let has_room = self.compiled.len() < MAX_COMPILED;
        let compiled =
            self.compiled
                .entry(pattern.as_ptr().addr())
                .or_insert_with(|| match has_room {
                    true => compile(pattern),
                    false => None,
                });
        Some(compiled.as_ref()?.is_match(text))
    }
}

fn compile(pattern: &str) -> Option<Regex> {
    let pattern = EcmaPattern::read(pattern).ok()?;
    let translated = pattern.translated()?;
    if translated.len() > MAX_LENGTH {
        return None;
    }
    RegexBuilder::new(translated)
        .size_limit(MAX_SIZE)
        .dfa_size_limit(MAX_SIZE)
        .nest_limit(MAX_NESTING)
        .build()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_ecma_262() {
        for (pattern, fits, misfits) in [
            (r"^[a-z]+$", "abc", "aBc"),
            (r"^\d{2,3}$", "123", "\u{663}\u{663}"),
            (r"^[\w.\-]*$", "a.b-c", "a b"),
            (r"^[a&&b]$", "&", "c"),
            (r"^[+--]$", ",", "."),
            (r"^a\/b$", "a/b", "a\\/b"),
            (r"^.$", "\u{85}", "\u{2028}"),
            (r"^\x41\u0042\u{43}\cJ$", "ABC\n", "ABCJ"),
            (r"^(?<year>\d+)-(?:x|y)?$", "1-x", "1-z"),
            (r"^a{,2}{$", "a{,2}{", "aa"),
            (r"^[\D]$", "x", "1"),
            (r"^\S+?$", "a", " "),
            (r"^[\p{L}]+$", "\u{e9}", "1"),
            (r"b", "abc", "ac"),
        ] {
            let mut patterns = Patterns::default();
            assert_eq!(patterns.matches(pattern, fits), Some(true), "{pattern}");
            assert_eq!(patterns.matches(pattern, misfits), Some(false), "{pattern}");
        }
    }

    #[test]
    fn patterns_of_other_dialects_are_not_checked() {
        for pattern in [
            r"^(?=a)b$",
            r"^(?!a)b$",
            r"(?<=a)b",
            r"^(a)\1$",
            r"^\k<n>$",
            r"^[[a]&&[b]]$",
            r"^[]a]$",
            r"^a++$",
            r"^(?i)a$",
            r"^\ud83d$",
            r"^\p{javaLowerCase}$",
            r"^\Qa$",
            r"^*$",
            r"^\w{1000}{9}$",
        ] {
            let mut patterns = Patterns::default();
            assert_eq!(patterns.matches(pattern, "b"), None, "{pattern}");
        }
    }
}
