//! The registry of rules: every code that a diagnostic of this crate can have.
//!
//! `polywire model check --list-rules` and `--explain`, the page `docs/model-rules.md` and the
//! tests are derived from this table. Diagnostics are created from its entries, so a code
//! cannot be emitted without a description. The only other codes are those that a model
//! gives to its own validators (metadata `validators`).
//!
//! # Examples
//!
//! ```
//! use polywire_model::{Loader, Severity, rules};
//!
//! let rule = rules::find("LengthTrait").unwrap();
//! assert_eq!(rule.severities(), [Severity::Error]);
//!
//! // The example of a rule violates the rule.
//! let (file, text) = rule.example().unwrap();
//! let error = Loader::new().add_text(file, text).assemble().unwrap_err();
//! assert_eq!(error.diagnostics()[0].rule(), Some(rule));
//!
//! assert!(rules::find("LenghtTrait").is_none());
//! assert_eq!(rules::similar("LenghtTrait")[0].id(), "LengthTrait");
//! ```

mod files;
mod http;
mod resources;
mod services;
mod shapes;
mod syntax;
mod traits;

use std::borrow::Cow;
use std::fmt;

use crate::severity::Severity;

pub(crate) use self::files::*;
pub(crate) use self::http::*;
pub(crate) use self::resources::*;
pub(crate) use self::services::*;
pub(crate) use self::shapes::*;
pub(crate) use self::syntax::*;
pub(crate) use self::traits::*;

/// One kind of finding: its code, and what there is to know about it.
#[derive(Eq, PartialEq)]
pub struct Rule {
    id: &'static str,
    suffix: &'static str,
    severities: &'static [Severity],
    title: &'static str,
    checks: &'static str,
    fix: &'static str,
    example: Example,
}

/// A model that violates a rule.
#[derive(Eq, PartialEq)]
enum Example {
    Idl(&'static str),
    Ast(&'static str),
    /// One file of text is not enough.
    None,
}

impl Rule {
    /// The code of its diagnostics, without the [`suffix`](Self::suffix).
    #[must_use]
    pub fn id(&self) -> &'static str {
        self.id
    }

    /// What follows the id in the code of a diagnostic, such as `.SHAPE`, where the word in
    /// capitals stands for a name in the model. Empty for most rules.
    #[must_use]
    pub fn suffix(&self) -> &'static str {
        self.suffix
    }

    /// The severities that its diagnostics can have, the highest first. A model can raise
    /// them with the metadata `severityOverrides`.
    #[must_use]
    pub fn severities(&self) -> &'static [Severity] {
        self.severities
    }

    /// The problem in a few words.
    #[must_use]
    pub fn title(&self) -> &'static str {
        self.title
    }

    /// What the rule checks, in whole sentences.
    #[must_use]
    pub fn checks(&self) -> &'static str {
        self.checks
    }

    /// How to fix a model that violates the rule.
    #[must_use]
    pub fn fix(&self) -> &'static str {
        self.fix
    }

    /// The name and the text of a model file that violates the rule. Rules about files that
    /// cannot be read, and rules about limits, have none.
    #[must_use]
    pub fn example(&self) -> Option<(&'static str, &'static str)> {
        match self.example {
            Example::Idl(text) => Some(("example.smithy", text.trim_ascii_start())),
            Example::Ast(text) => Some(("example.json", text.trim_ascii_start())),
            Example::None => None,
        }
    }

    /// The code for one name in the model; `name` takes the place of the word in the suffix.
    pub(crate) fn of(&'static self, name: impl fmt::Display) -> Code {
        let separator = self.suffix.get(..1).unwrap_or_default();
        Code {
            text: format!("{}{separator}{name}", self.id).into(),
            rule: Some(self),
        }
    }
}

/// The id alone: diagnostics refer to rules, and their `Debug` output stays short.
impl fmt::Debug for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Rule").field(&self.id).finish()
    }
}

/// The id with its suffix.
impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.id)?;
        formatter.write_str(self.suffix)
    }
}

/// The code of a diagnostic.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    text: Cow<'static, str>,
    rule: Option<&'static Rule>,
}

impl Code {
    /// The id of a validator that a model defines.
    pub(crate) fn of_validator(id: &str) -> Self {
        Self {
            text: id.to_owned().into(),
            rule: None,
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn rule(&self) -> Option<&'static Rule> {
        self.rule
    }

    pub(crate) fn into_text(self) -> Cow<'static, str> {
        self.text
    }
}

impl From<&'static Rule> for Code {
    fn from(rule: &'static Rule) -> Self {
        Self {
            text: rule.id.into(),
            rule: Some(rule),
        }
    }
}

/// All rules, by id.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    let mut rules: Vec<&'static Rule> = TABLES.iter().copied().flatten().copied().collect();
    rules.sort_by_key(|rule| rule.id);
    rules.into_iter()
}

/// The rule with an id. A code with a suffix, such as `UnstableTrait.example#draft`, finds
/// its rule too.
#[must_use]
pub fn find(code: &str) -> Option<&'static Rule> {
    let is_code_of = |rule: &&Rule| match code.strip_prefix(rule.id) {
        Some("") => true,
        Some(rest) => !rule.suffix.is_empty() && rest.starts_with(&rule.suffix[..1]),
        None => false,
    };
    all().find(is_code_of)
}

/// The rules with ids like `text`, the most similar first; at most five.
#[must_use]
pub fn similar(text: &str) -> Vec<&'static Rule> {
    let lower = text.to_ascii_lowercase();
    let mut found: Vec<(usize, &'static Rule)> = all()
        .filter_map(|rule| {
            let near = crate::spelling::distance(text, rule.id);
            let is_part =
                || lower.len() >= 3 && rule.id.to_ascii_lowercase().contains(lower.as_str());
            let distance = near.or_else(|| is_part().then_some(usize::MAX))?;
            Some((distance, rule))
        })
        .collect();
    found.sort_by_key(|(distance, rule)| (*distance, rule.id));
    found.truncate(5);
    found.into_iter().map(|(_, rule)| rule).collect()
}

const TABLES: [&[&Rule]; 7] = [
    ALL_FILES,
    ALL_HTTP,
    ALL_RESOURCES,
    ALL_SERVICES,
    ALL_SHAPES,
    ALL_SYNTAX,
    ALL_TRAITS,
];

/// Defines the rules of one subject, as constants and as one table. Each entry has: the name of
/// the constant, the id, the suffix if there is one, the severities, the title, what is
/// checked, the fix, and the example: `shapes` for shapes in the namespace `example`, `idl` and
/// `ast` for whole files, or `none`.
macro_rules! rules {
    (in $table:ident; $($name:ident: $id:literal $(+ $suffix:literal)? [$($severity:ident),+],
        $title:literal, $checks:literal, $fix:literal, $kind:ident $($text:literal)?;)+) => {
        $(pub(crate) const $name: &crate::rules::Rule = &crate::rules::Rule {
            id: $id,
            suffix: concat!($($suffix)?),
            severities: &[$(crate::severity::Severity::$severity),+],
            title: $title,
            checks: $checks,
            fix: $fix,
            example: crate::rules::example!($kind $($text)?),
        };)+
        pub(super) const $table: &[&crate::rules::Rule] = &[$($name),+];
    };
}

macro_rules! example {
    (shapes $text:literal) => {
        crate::rules::Example::Idl(concat!("$version: \"2\"\n\nnamespace example\n", $text))
    };
    (idl $text:literal) => {
        crate::rules::Example::Idl($text)
    };
    (ast $text:literal) => {
        crate::rules::Example::Ast($text)
    };
    (none) => {
        crate::rules::Example::None
    };
}

use {example, rules};
