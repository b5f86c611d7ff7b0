//! Diagnostics about a model: the location, what was expected there, and a hint if one is known.
//!
//! Inside the crate a finding is a [`Problem`], and [`Problems`] collects them.

mod policy;
mod problems;

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use polywire_schema::ShapeId;

use crate::node::{Node, Object};
use crate::rules::Rule;
use crate::severity::Severity;
use crate::source::Position;

pub(crate) use self::policy::{Policy, Scope};
pub(crate) use self::problems::{Checkpoint, Problem, Problems, resolve};

/// One finding about a model.
///
/// [`Display`](fmt::Display) renders it in several lines, with the line of the file and the
/// location underlined.
///
/// # Examples
///
/// ```
/// use polywire_model::Loader;
///
/// let text = "$version: \"2\"\nnamespace a\nstructure City {\n    name: Strin\n}\n";
/// let error = Loader::new().add_text("city.smithy", text).assemble().unwrap_err();
/// let diagnostic = &error.diagnostics()[0];
/// assert_eq!((diagnostic.line(), diagnostic.column()), (Some(4), Some(11)));
/// assert_eq!(diagnostic.hint.as_deref(), Some("did you mean `String`?"));
/// assert_eq!(diagnostic.to_node().get("line").unwrap().as_i64(), Some(4));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Diagnostic {
    /// How serious it is.
    pub severity: Severity,
    /// The id of the [`rule`](Self::rule), for some rules followed by a name in the model.
    /// It does not change between versions, so that models can suppress findings by code.
    /// For a validator that the model defines, the id of the validator.
    pub code: Cow<'static, str>,
    /// The shape or member that the finding is about, if there is one.
    pub shape: Option<ShapeId>,
    /// The error, in one sentence.
    pub message: String,
    /// File, line and column. `None` if the finding is not about a file.
    pub position: Option<Position>,
    /// The line of the file. A long line is cut around the location.
    pub snippet: Option<String>,
    /// What was expected at the location.
    pub expected: Option<String>,
    /// How to fix it.
    pub hint: Option<String>,
    /// Related locations, with a description of each.
    pub related: Vec<(String, Position)>,
    /// The reason that the model gives for suppressing the finding.
    pub reason: Option<String>,
    underline: (usize, usize),
    rule: Option<&'static Rule>,
}

impl Diagnostic {
    /// The rule that the model violates. `None` for validators that the model defines.
    #[must_use]
    pub fn rule(&self) -> Option<&'static Rule> {
        self.rule
    }

    /// The name of the file.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        self.position.as_ref().map(|position| &*position.file)
    }

    /// The line, from 1.
    #[must_use]
    pub fn line(&self) -> Option<u32> {
        self.position.as_ref().map(|position| position.line)
    }

    /// The column in characters, from 1.
    #[must_use]
    pub fn column(&self) -> Option<u32> {
        self.position.as_ref().map(|position| position.column)
    }

    /// The finding as a node, for JSON output.
    #[must_use]
    pub fn to_node(&self) -> Node {
        let mut object = Object::new();
        object.insert("severity", self.severity.to_string());
        object.insert("code", &*self.code);
        object.insert("message", self.message.as_str());
        if let Some(shape) = &self.shape {
            object.insert("shape", shape.as_str());
        }
        if let Some(position) = &self.position {
            place(&mut object, position);
        }
        for (key, text) in [
            ("expected", &self.expected),
            ("hint", &self.hint),
            ("reason", &self.reason),
            ("snippet", &self.snippet),
        ] {
            if let Some(text) = text {
                object.insert(key, text.as_str());
            }
        }
        if !self.related.is_empty() {
            let related = self.related.iter().map(|(what, position)| {
                let mut object = Object::new();
                object.insert("message", what.as_str());
                place(&mut object, position);
                Node::from(object)
            });
            object.insert("related", related.collect::<Vec<_>>());
        }
        object.into()
    }
}

fn place(object: &mut Object, position: &Position) {
    object.insert("file", &*position.file);
    object.insert("line", i64::from(position.line));
    object.insert("column", i64::from(position.column));
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}[{}]: {}",
            self.severity, self.code, self.message
        )?;
        let gutter = self.line().map_or(1, |line| line.to_string().len());
        if let Some(position) = &self.position {
            write!(formatter, "\n{:gutter$}--> {position}", "")?;
        }
        if let (Some(snippet), Some(line)) = (&self.snippet, self.line()) {
            let (start, width) = self.underline;
            write!(formatter, "\n{:gutter$} |\n{line} | {snippet}", "")?;
            write!(
                formatter,
                "\n{:gutter$} | {:start$}{}",
                "",
                "",
                "^".repeat(width)
            )?;
            if let Some(expected) = &self.expected {
                write!(formatter, " expected {expected}")?;
            }
        } else if let Some(expected) = &self.expected {
            write!(formatter, "\n{:gutter$} = expected {expected}", "")?;
        }
        if let Some(hint) = &self.hint {
            write!(formatter, "\n{:gutter$} = help: {hint}", "")?;
        }
        for (what, position) in &self.related {
            write!(formatter, "\n{:gutter$} = note: {what} at {position}", "")?;
        }
        Ok(())
    }
}

/// The reasons why a model was rejected: diagnostics, at least one of them an error.
#[derive(Clone, Debug)]
pub struct ModelError {
    diagnostics: Vec<Diagnostic>,
}

impl ModelError {
    pub(crate) fn new(diagnostics: Vec<Diagnostic>) -> Self {
        Self { diagnostics }
    }

    /// All findings, in the order of files and lines.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The findings with the severity error. There is at least one.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for diagnostic in &self.diagnostics {
            write!(formatter, "{diagnostic}\n\n")?;
        }
        match self.errors().count() {
            1 => formatter.write_str("1 error in the model"),
            count => write!(formatter, "{count} errors in the model"),
        }
    }
}

impl Error for ModelError {}
