//! Findings as they are created: text and a [`SourceLocation`]. [`Sources`] convert them into
//! [`Diagnostic`]s, which can be printed without the files.

use std::borrow::Cow;

use crate::rules::{self, Code};
use crate::severity::Severity;
use polywire_schema::ShapeId;

use super::{Diagnostic, Policy};
use crate::source::{SourceLocation, Sources};

/// A finding before its location is resolved.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) severity: Severity,
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) location: SourceLocation,
    /// The subject of the finding: set by [`Problems::subject`] for all findings about a shape, or
    /// by [`about`](Self::about).
    pub(crate) shape: Option<ShapeId>,
    pub(crate) reason: Option<String>,
    expected: Option<String>,
    hint: Option<String>,
    related: Vec<(String, SourceLocation)>,
}

impl Problem {
    #[cold]
    pub(crate) fn new(
        severity: Severity,
        code: impl Into<Code>,
        location: SourceLocation,
        message: impl Into<String>,
    ) -> Self {
        Self {
            severity,
            code: code.into(),
            message: message.into(),
            location,
            shape: None,
            reason: None,
            expected: None,
            hint: None,
            related: Vec::new(),
        }
    }

    pub(crate) fn error(
        code: impl Into<Code>,
        location: SourceLocation,
        message: impl Into<String>,
    ) -> Self {
        Self::new(Severity::Error, code, location, message)
    }

    pub(crate) fn danger(
        code: impl Into<Code>,
        location: SourceLocation,
        message: impl Into<String>,
    ) -> Self {
        Self::new(Severity::Danger, code, location, message)
    }

    pub(crate) fn note(
        code: impl Into<Code>,
        location: SourceLocation,
        message: impl Into<String>,
    ) -> Self {
        Self::new(Severity::Note, code, location, message)
    }

    pub(crate) fn warning(
        code: impl Into<Code>,
        location: SourceLocation,
        message: impl Into<String>,
    ) -> Self {
        Self::new(Severity::Warning, code, location, message)
    }

    /// Sets the shape or member that the finding is about, if it is not the current subject.
    pub(crate) fn about(mut self, shape: &ShapeId) -> Self {
        self.shape = Some(shape.clone());
        self
    }

    pub(crate) fn expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }

    pub(crate) fn related(mut self, what: impl Into<String>, location: SourceLocation) -> Self {
        self.related.push((what.into(), location));
        self
    }
}

/// The findings of one run. Above a limit they are only counted, so that a hostile model cannot
/// exhaust memory.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    found: Vec<Problem>,
    errors: usize,
    dropped: usize,
    denies_unknown_traits: bool,
    /// The current subject: used for findings without a subject of their own.
    subject: Option<ShapeId>,
    /// The policy of the model, once it is known.
    policy: Option<Policy>,
    suppressed: Vec<Problem>,
    suppressed_count: usize,
}

/// The maximum number of suppressed findings that are created. Later findings are counted as
/// dropped, without checking whether they are suppressed.
const MAX_SUPPRESSED: usize = 20_000;

/// The maximum number of findings that are kept. The largest real models have some hundred
/// warnings.
const MAX_PROBLEMS: usize = 1000;

/// The number of findings at some time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checkpoint {
    found: usize,
    errors: usize,
    dropped: usize,
}

impl Problems {
    pub(crate) fn deny_unknown_traits(&mut self, deny: bool) {
        self.denies_unknown_traits = deny;
    }

    /// The severity of unknown traits, an option of the loader.
    pub(crate) fn severity_of_unknown_traits(&self) -> Severity {
        if self.denies_unknown_traits {
            Severity::Error
        } else {
            Severity::Warning
        }
    }

    /// Sets the subject of the next findings.
    pub(crate) fn subject(&mut self, shape: Option<ShapeId>) {
        self.subject = shape;
    }

    /// Sets the policy, which also applies to earlier findings.
    pub(crate) fn set_policy(&mut self, policy: Policy) {
        self.policy = Some(policy);
        self.errors = 0;
        for problem in std::mem::take(&mut self.found) {
            self.push(problem);
        }
    }

    /// Findings about a shape whose location is in one of its members are about that member.
    pub(crate) fn name_members(
        &mut self,
        member_at: impl Fn(&ShapeId, SourceLocation) -> Option<ShapeId>,
    ) {
        for problem in self.found.iter_mut().chain(&mut self.suppressed) {
            let shape = problem.shape.as_ref().filter(|shape| !shape.is_member());
            let member = shape.and_then(|shape| member_at(shape, problem.location));
            problem.shape = member.or(problem.shape.take());
        }
    }

    /// Adds a finding, unless it is suppressed or there are too many.
    pub(crate) fn push(&mut self, mut problem: Problem) {
        if problem.shape.is_none() {
            problem.shape.clone_from(&self.subject);
        }
        if let Some(policy) = &self.policy
            && policy.suppresses(&mut problem)
        {
            self.suppressed_count += 1;
            if self.suppressed.len() < MAX_PROBLEMS {
                self.suppressed.push(problem);
            }
            return;
        }
        let has_room = self.has_room(problem.severity);
        self.errors += usize::from(problem.severity == Severity::Error);
        if has_room {
            self.found.push(problem);
        } else {
            self.dropped += 1;
        }
    }

    /// Like [`push`](Self::push), but creates the finding only if it is kept: for findings of which
    /// a model of a few hundred kilobytes can have millions. The argument of `make` says whether to
    /// search for similar names.
    pub(crate) fn push_with(&mut self, severity: Severity, make: impl FnOnce(bool) -> Problem) {
        if self.has_room(severity) && self.suppressed_count < MAX_SUPPRESSED {
            self.push(make(self.wants_hints()));
        } else {
            self.errors += usize::from(severity == Severity::Error);
            self.dropped += 1;
        }
    }

    pub(crate) fn mark(&self) -> Checkpoint {
        Checkpoint {
            found: self.found.len(),
            errors: self.errors,
            dropped: self.dropped,
        }
    }

    /// Removes the findings since a mark: a parser backtracks.
    pub(crate) fn roll_back(&mut self, mark: Checkpoint) {
        self.found.truncate(mark.found);
        self.errors = mark.errors;
        self.dropped = mark.dropped;
    }

    /// The first error is kept even if warnings have reached the limit.
    fn has_room(&self, severity: Severity) -> bool {
        self.found.len() < MAX_PROBLEMS || (severity == Severity::Error && self.errors == 0)
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Whether to search for similar names. Each search visits every shape of the model, so only
    /// the first findings have suggestions.
    pub(crate) fn wants_hints(&self) -> bool {
        self.found.len() < 50
    }

    /// Whether no more findings would be kept, so that checks can stop.
    pub(crate) fn is_full(&self) -> bool {
        self.found.len() >= MAX_PROBLEMS && self.has_errors()
    }

    /// The suppressed findings, in the order of the files. At most the first 1000.
    pub(crate) fn take_suppressed(&mut self, sources: &Sources) -> Vec<Diagnostic> {
        let mut suppressed = std::mem::take(&mut self.suppressed);
        suppressed.sort_by_key(|problem| problem.location);
        let suppressed = suppressed.into_iter();
        suppressed
            .map(|problem| resolve(problem, sources))
            .collect()
    }

    /// Resolves the locations. Findings are in the order of the files.
    pub(crate) fn into_diagnostics(mut self, sources: &Sources) -> Vec<Diagnostic> {
        self.found.sort_by_key(|problem| problem.location);
        let mut diagnostics: Vec<_> = self
            .found
            .into_iter()
            .map(|problem| resolve(problem, sources))
            .collect();
        if self.dropped > 0 {
            let severity = if self.errors > 0 {
                Severity::Error
            } else {
                Severity::Warning
            };
            let message = format!("{} more findings are not shown", self.dropped);
            let problem = Problem {
                severity,
                ..Problem::warning(rules::TOO_MANY_PROBLEMS, SourceLocation::NONE, message)
            };
            diagnostics.push(resolve(problem, sources));
        }
        diagnostics
    }
}

pub(crate) fn resolve(problem: Problem, sources: &Sources) -> Diagnostic {
    let snippet = sources
        .file(problem.location)
        .map(|file| file.snippet(problem.location.offset as usize));
    Diagnostic {
        severity: problem.severity,
        rule: problem.code.rule(),
        code: match problem.code.into_text() {
            Cow::Owned(code) => Cow::Owned(printable(code)),
            known => known,
        },
        shape: problem.shape,
        message: printable(problem.message),
        position: sources.position(problem.location),
        underline: snippet
            .as_ref()
            .map_or((0, 1), |s| (s.underline_start, s.width)),
        snippet: snippet.map(|snippet| snippet.text),
        expected: problem.expected.map(printable),
        hint: problem.hint.map(printable),
        reason: problem.reason.map(printable),
        related: problem
            .related
            .into_iter()
            .filter_map(|(what, place)| Some((printable(what), sources.position(place)?)))
            .collect(),
    }
}

/// Replaces control characters by dots. Messages repeat names of the model, which can contain any
/// character in JSON, and an escape sequence must not reach a terminal or a log.
fn printable(text: String) -> String {
    if text.contains(char::is_control) {
        text.replace(char::is_control, "\u{b7}")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Findings that are not kept are not created, but counted.
    #[test]
    fn findings_past_the_bound_are_not_made() {
        let mut problems = Problems::default();
        let (mut made, mut with_hints) = (0, 0);
        for _ in 0..MAX_PROBLEMS + 2_000 {
            problems.push_with(Severity::Warning, |hints| {
                made += 1;
                with_hints += usize::from(hints);
                Problem::warning(rules::NO_MODEL, SourceLocation::NONE, "w")
            });
        }
        assert_eq!((made, with_hints), (MAX_PROBLEMS, 50));
        for _ in 0..2 {
            problems.push_with(Severity::Error, |_| {
                made += 1;
                Problem::error(rules::UNREADABLE, SourceLocation::NONE, "e")
            });
        }
        assert_eq!(made, MAX_PROBLEMS + 1);
        let diagnostics = problems.into_diagnostics(&Sources::default());
        let last = diagnostics.last().unwrap();
        assert_eq!(last.message, "2001 more findings are not shown");
    }

    #[test]
    fn problems_are_bounded() {
        let mut problems = Problems::default();
        for _ in 0..10_000 {
            problems.push(Problem::warning(rules::NO_MODEL, SourceLocation::NONE, "w"));
        }
        problems.push(Problem::error(rules::UNREADABLE, SourceLocation::NONE, "e"));
        let diagnostics = problems.into_diagnostics(&Sources::default());
        assert_eq!(diagnostics.len(), MAX_PROBLEMS + 2);
        assert!(
            diagnostics
                .iter()
                .any(|d| d.rule() == Some(rules::UNREADABLE))
        );
    }

    #[test]
    fn control_characters_are_not_shown() {
        let names = r#"{"smithy": "2.0", "shapes": {"a#B\u001b[31m": {"type": "x\u007f"}}}"#;
        let mut loader = crate::Loader::new();
        let error = loader.add_text("names.json", names).assemble().unwrap_err();
        let text = error.to_string();
        assert!(text.contains("`a#B\u{b7}[31m`"), "{text}");
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'));
    }
}
