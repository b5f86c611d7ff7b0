//! What is wrong with a model, said so that the reader can put it right: the
//! place, what was expected there, and a hint where one is known.
//!
//! Inside the crate a finding is a [`Problem`]: text and a [`SourceLocation`].
//! [`Sources`] turn it into a [`Diagnostic`], which needs nothing else to be
//! printed.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use polywire_schema::ShapeId;

use crate::node::{Node, Object};
use crate::source::{Position, SourceLocation, Sources};
use crate::validate::Policy;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Severity {
    /// Worth knowing; nothing needs to be done.
    Note,
    /// The model is used as it is; something in it should be mended.
    Warning,
    /// The model is used as it is; something in it is likely to go wrong, and
    /// should be mended or suppressed with a reason.
    Danger,
    /// No model comes of it.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Danger => "danger",
            Self::Error => "error",
        })
    }
}

/// One finding about a model, ready to be shown.
///
/// [`Display`](fmt::Display) renders it over several lines, with the line of
/// the file and what was expected underlined.
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
    /// How bad it is.
    pub severity: Severity,
    /// A short name for the kind of finding, which doesn't change between
    /// versions: for suppressions and searches. Validators that a model defines
    /// choose their own.
    pub code: Cow<'static, str>,
    /// The shape or member that the finding is about, when it is about one.
    pub shape: Option<ShapeId>,
    /// What is wrong, in one sentence.
    pub message: String,
    /// File, line and column; `None` for what no file holds.
    pub position: Option<Position>,
    /// The line of the file, cut around the place when it is long.
    pub snippet: Option<String>,
    /// What was expected at the place.
    pub expected: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// Other places that belong to the finding, with what they are.
    pub related: Vec<(String, Position)>,
    /// Why the finding is suppressed, when it is and the model says why.
    pub reason: Option<String>,
    underline: (usize, usize),
}

impl Diagnostic {
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

    /// The finding as data, for output that machines read.
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

/// Why no model could be made: diagnostics, at least one of them an error.
#[derive(Clone, Debug)]
pub struct ModelError {
    diagnostics: Vec<Diagnostic>,
}

impl ModelError {
    pub(crate) fn new(diagnostics: Vec<Diagnostic>) -> Self {
        Self { diagnostics }
    }

    /// Every finding of the run, in the order of files and lines.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The findings that prevent a model; never empty.
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

/// A finding before its place is looked up.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) severity: Severity,
    pub(crate) code: Cow<'static, str>,
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

#[allow(dead_code, reason = "notes and dangers come with the validators")]
impl Problem {
    #[cold]
    pub(crate) fn new(
        severity: Severity,
        code: impl Into<Cow<'static, str>>,
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
        code: impl Into<Cow<'static, str>>,
        location: SourceLocation,
        message: impl Into<String>,
    ) -> Self {
        Self::new(Severity::Error, code, location, message)
    }

    pub(crate) fn danger(
        code: impl Into<Cow<'static, str>>,
        location: SourceLocation,
        message: impl Into<String>,
    ) -> Self {
        Self::new(Severity::Danger, code, location, message)
    }

    pub(crate) fn note(
        code: impl Into<Cow<'static, str>>,
        location: SourceLocation,
        message: impl Into<String>,
    ) -> Self {
        Self::new(Severity::Note, code, location, message)
    }

    pub(crate) fn warning(
        code: impl Into<Cow<'static, str>>,
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
                ..Problem::warning("TooManyProblems", SourceLocation::NONE, message)
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
        code: match problem.code {
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

/// "one of" the values, in quotes; the first ones where there are many. Long
/// values are cut: a message repeats them, and there may be many messages.
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

/// The candidate nearest to `name` in spelling, as a hint, when one is near
/// enough to be a likely slip.
pub(crate) fn did_you_mean<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<String> {
    let allowed = (name.chars().count() / 3).clamp(1, 3);
    candidates
        .filter(|candidate| *candidate != name)
        .filter_map(|candidate| {
            let distance = edit_distance(name, candidate, allowed)?;
            Some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| format!("did you mean `{candidate}`?"))
}

/// Levenshtein's distance without regard to case, when it is at most `allowed`.
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

/// The texts without what both begin and end with, in any case: that doesn't
/// change their distance, and names of one model are alike for long stretches.
fn without_common_ends<'a>(left: &'a str, right: &'a str) -> (&'a str, &'a str) {
    let same = |(l, r): &(u8, u8)| l.eq_ignore_ascii_case(r);
    let mut start = left.bytes().zip(right.bytes()).take_while(same).count();
    while !(left.is_char_boundary(start) && right.is_char_boundary(start)) {
        start -= 1;
    }
    let (left, right) = (&left[start..], &right[start..]);
    let backwards = left.bytes().rev().zip(right.bytes().rev());
    let mut end = backwards.take_while(same).count();
    // The bytes that follow are the same in both: so is where characters begin.
    while !left.is_char_boundary(left.len() - end) {
        end -= 1;
    }
    (&left[..left.len() - end], &right[..right.len() - end])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table as in textbooks, without shortcuts.
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
    fn control_characters_are_not_shown() {
        let names = r#"{"smithy": "2.0", "shapes": {"a#B\u001b[31m": {"type": "x\u007f"}}}"#;
        let mut loader = crate::Loader::new();
        let error = loader.add_text("names.json", names).assemble().unwrap_err();
        let text = error.to_string();
        assert!(text.contains("`a#B\u{b7}[31m`"), "{text}");
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'));
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

    /// What is not kept is not made, and yet counted.
    #[test]
    fn findings_past_the_bound_are_not_made() {
        let mut problems = Problems::default();
        let (mut made, mut with_hints) = (0, 0);
        for _ in 0..MAX_PROBLEMS + 2_000 {
            problems.push_with(Severity::Warning, |hints| {
                made += 1;
                with_hints += usize::from(hints);
                Problem::warning("W", SourceLocation::NONE, "w")
            });
        }
        assert_eq!((made, with_hints), (MAX_PROBLEMS, 50));
        for _ in 0..2 {
            problems.push_with(Severity::Error, |_| {
                made += 1;
                Problem::error("E", SourceLocation::NONE, "e")
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
            problems.push(Problem::warning("W", SourceLocation::NONE, "w"));
        }
        problems.push(Problem::error("E", SourceLocation::NONE, "e"));
        let diagnostics = problems.into_diagnostics(&Sources::default());
        assert_eq!(diagnostics.len(), MAX_PROBLEMS + 2);
        assert!(diagnostics.iter().any(|d| d.code == "E"));
    }
}
