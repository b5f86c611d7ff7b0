//! Findings as they are made: text and a [`SourceLocation`]. [`Sources`] turn them
//! into [`Diagnostic`]s, which need nothing else to be printed.

use std::borrow::Cow;

use crate::rules::{self, Code};
use crate::severity::Severity;
use polywire_schema::ShapeId;

use super::{Diagnostic, Policy};
use crate::source::{SourceLocation, Sources};

/// A finding before its place is looked up.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) severity: Severity,
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) location: SourceLocation,
    /// What the finding is about: set by [`Problems::subject`] for all findings
    /// about a shape, or by [`about`](Self::about).
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

    /// Says which shape or member the finding is about, when that is not the one
    /// at hand.
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

/// The findings of a run. Past a bound they are counted, not kept, so that a
/// hostile model can't fill the memory with messages about itself.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    found: Vec<Problem>,
    errors: usize,
    dropped: usize,
    denies_unknown_traits: bool,
    /// What is being looked at: what findings are about that don't say.
    subject: Option<ShapeId>,
    /// What the model suppresses, once it is known.
    policy: Option<Policy>,
    suppressed: Vec<Problem>,
    suppressed_count: usize,
}

/// How many findings that are suppressed are made at most. Past that they count
/// as dropped without a look at what they are.
const MAX_SUPPRESSED: usize = 20_000;

/// More than the largest real models have of warnings, which is some hundreds.
const MAX_PROBLEMS: usize = 1000;

/// How many findings there were at some time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    found: usize,
    errors: usize,
    dropped: usize,
}

impl Problems {
    pub(crate) fn deny_unknown_traits(&mut self, deny: bool) {
        self.denies_unknown_traits = deny;
    }

    /// How bad a trait without a definition is: its user says.
    pub(crate) fn severity_of_unknown_traits(&self) -> Severity {
        if self.denies_unknown_traits {
            Severity::Error
        } else {
            Severity::Warning
        }
    }

    /// Says what is looked at from now on.
    pub(crate) fn subject(&mut self, shape: Option<ShapeId>) {
        self.subject = shape;
    }

    /// Sets what is suppressed, also of what was found before.
    pub(crate) fn set_policy(&mut self, policy: Policy) {
        self.policy = Some(policy);
        self.errors = 0;
        for problem in std::mem::take(&mut self.found) {
            self.push(problem);
        }
    }

    /// Findings about a shape that stand at one of its members are about that.
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

    /// As [`push`](Self::push), but makes the finding only when it is kept: for
    /// those that a model of a few hundred kilobytes can have by the million. The
    /// argument of `make` says whether to search for near names.
    pub(crate) fn push_with(&mut self, severity: Severity, make: impl FnOnce(bool) -> Problem) {
        if self.has_room(severity) && self.suppressed_count < MAX_SUPPRESSED {
            self.push(make(self.wants_hints()));
        } else {
            self.errors += usize::from(severity == Severity::Error);
            self.dropped += 1;
        }
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark {
            found: self.found.len(),
            errors: self.errors,
            dropped: self.dropped,
        }
    }

    /// Forgets what was found since: a reader goes back, to read it another way.
    pub(crate) fn go_back(&mut self, mark: Mark) {
        self.found.truncate(mark.found);
        self.errors = mark.errors;
        self.dropped = mark.dropped;
    }

    /// The first error is kept even where warnings have used up the room.
    fn has_room(&self, severity: Severity) -> bool {
        self.found.len() < MAX_PROBLEMS || (severity == Severity::Error && self.errors == 0)
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Whether to search for near names: each search looks at every shape of the
    /// model, and nobody reads the fiftieth suggestion.
    pub(crate) fn wants_hints(&self) -> bool {
        self.found.len() < 50
    }

    /// Whether nothing more would be kept, so that searching on is pointless.
    pub(crate) fn is_full(&self) -> bool {
        self.found.len() >= MAX_PROBLEMS && self.has_errors()
    }

    /// What the model suppresses, in the order of the files; the first ones of
    /// many.
    pub(crate) fn take_suppressed(&mut self, sources: &Sources) -> Vec<Diagnostic> {
        let mut suppressed = std::mem::take(&mut self.suppressed);
        suppressed.sort_by_key(|problem| problem.location);
        let suppressed = suppressed.into_iter();
        suppressed
            .map(|problem| resolve(problem, sources))
            .collect()
    }

    /// Looks up the places; errors and warnings in the order of the files.
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

/// The text with a dot for each control character. Messages repeat names of the
/// model, which in JSON may hold any character, and an escape sequence must not
/// reach a terminal or a log.
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

    /// What is not kept is not made, and yet counted.
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
