//! Prints findings about a model: as text, with colours on terminals, as JSON, or as a summary.

use std::collections::BTreeMap;
use std::io::IsTerminal;

use polywire::model::{Diagnostic, Node, Object, Severity};

use crate::print;

/// The maximum number of warnings that commands other than `check` print in full.
const SHOWN: usize = 3;

/// Prints warnings to standard error. If there are many, only their number: users who serve or
/// convert a model are often not its authors.
pub(crate) fn warn(warnings: &[Diagnostic]) {
    let is_shown = |diagnostic: &&Diagnostic| diagnostic.severity > Severity::Note;
    let warnings: Vec<&Diagnostic> = warnings.iter().filter(is_shown).collect();
    if warnings.len() > SHOWN {
        print::err(in_short(&warnings));
    } else {
        warnings.into_iter().for_each(print_finding);
    }
}

/// Prints a finding to standard error.
pub(crate) fn print_finding(diagnostic: &Diagnostic) {
    print::err_unescaped(&format!("{}\n", painted(diagnostic, Stream::Err)));
}

/// "warning: the model has 61 warnings, 50 UnstableTrait and 11 EnumShape: ...".
fn in_short(warnings: &[&Diagnostic]) -> String {
    const KINDS: usize = 3;
    let counts = by_kind(warnings.iter().copied());
    let mut kinds: Vec<String> = counts
        .iter()
        .take(KINDS)
        .map(|(code, count)| format!("{count} {code}"))
        .collect();
    let more = counts.iter().skip(KINDS).map(|(_, count)| count);
    match more.sum() {
        0 => {}
        more => kinds.push(format!("{more} more")),
    }
    format!(
        "warning: the model has {} ({}); `polywire model check` shows them\n",
        summary(warnings.iter().copied()),
        kinds.join(", ")
    )
}

/// An output stream.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stream {
    Err,
    Out,
}

/// Formats a finding, with colours on terminals. Escapes control characters, because the text
/// quotes lines of files.
pub(crate) fn painted(diagnostic: &Diagnostic, stream: Stream) -> String {
    let text = print::escape_controls(&diagnostic.to_string());
    let is_terminal = match stream {
        Stream::Err => std::io::stderr().is_terminal(),
        Stream::Out => std::io::stdout().is_terminal(),
    };
    // https://no-color.org: the variable must be set and not empty.
    let wants_none = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if !is_terminal || wants_none {
        return text;
    }
    paint(&text, diagnostic.severity)
}

fn paint(text: &str, severity: Severity) -> String {
    let colour = match severity {
        Severity::Error | Severity::Danger => "31",
        Severity::Warning => "33",
        _ => "36",
    };
    let mut painted = String::with_capacity(text.len() + 40);
    for (index, line) in text.lines().enumerate() {
        if index > 0 {
            painted.push('\n');
        }
        let after_bar = line.find('|').map_or("", |bar| &line[bar + 1..]);
        if index == 0 {
            let end = line.find(':').unwrap_or(line.len());
            let (head, message) = line.split_at(end);
            painted.push_str(&format!("\x1b[1;{colour}m{head}\x1b[0;1m{message}\x1b[0m"));
        } else if after_bar.trim_start().starts_with('^') {
            painted.push_str(&format!("\x1b[{colour}m{line}\x1b[0m"));
        } else {
            painted.push_str(line);
        }
    }
    painted
}

/// All findings as one JSON object.
pub(crate) fn report(diagnostics: &[Diagnostic]) -> Node {
    let mut object = Object::new();
    for ((_, name), count) in SEVERITIES.into_iter().zip(counts(diagnostics.iter())) {
        object.insert(name, count);
    }
    let nodes: Vec<Node> = diagnostics.iter().map(Diagnostic::to_node).collect();
    object.insert("diagnostics", nodes);
    object.into()
}

/// "2 errors, 1 warning".
pub(crate) fn summary<'d>(diagnostics: impl Iterator<Item = &'d Diagnostic>) -> String {
    let mut parts = Vec::new();
    for ((severity, plural), count) in SEVERITIES.into_iter().zip(counts(diagnostics)) {
        match count {
            0 => {}
            1 => parts.push(format!("1 {severity}")),
            several => parts.push(format!("{several} {plural}")),
        }
    }
    parts.join(", ")
}

/// The number of findings by code, the most frequent first. Empty for a few findings.
pub(crate) fn kinds(diagnostics: &[Diagnostic]) -> String {
    const FEW: usize = 10;
    let counts = by_kind(diagnostics.iter());
    if diagnostics.len() <= FEW || counts.len() < 2 {
        return String::new();
    }
    let lines = counts
        .iter()
        .map(|(code, count)| format!("{count:>6} {code}\n"));
    lines.collect()
}

/// The codes of findings with their numbers, the most frequent first.
fn by_kind<'d>(diagnostics: impl Iterator<Item = &'d Diagnostic>) -> Vec<(&'d str, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for diagnostic in diagnostics {
        *counts.entry(&diagnostic.code).or_default() += 1;
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(code, count)| (std::cmp::Reverse(*count), *code));
    counts
}

const SEVERITIES: [(Severity, &str); 4] = [
    (Severity::Error, "errors"),
    (Severity::Danger, "dangers"),
    (Severity::Warning, "warnings"),
    (Severity::Note, "notes"),
];

/// The number of findings of each severity.
fn counts<'d>(diagnostics: impl Iterator<Item = &'d Diagnostic>) -> [i64; SEVERITIES.len()] {
    let mut counts = [0; SEVERITIES.len()];
    for diagnostic in diagnostics {
        let is_same = |(severity, _): &(Severity, &str)| *severity == diagnostic.severity;
        if let Some(at) = SEVERITIES.iter().position(is_same) {
            counts[at] += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use polywire::model::Loader;

    use super::*;

    #[test]
    fn colours_leave_the_text_alone() {
        let error = Loader::new()
            .add_text(
                "a.smithy",
                "$version: \"2\"\nnamespace a\nlist A { member: B }\n",
            )
            .assemble()
            .unwrap_err();
        let diagnostic = &error.diagnostics()[0];
        let painted = paint(&diagnostic.to_string(), diagnostic.severity);
        assert!(painted.starts_with("\x1b[1;31merror["));
        let mut plain = painted;
        for code in ["\x1b[1;31m", "\x1b[0;1m", "\x1b[31m", "\x1b[0m"] {
            plain = plain.replace(code, "");
        }
        assert_eq!(plain, diagnostic.to_string());
        assert_eq!(summary(error.diagnostics().iter()), "1 error");
    }

    #[test]
    fn many_warnings_are_counted() {
        let mut text = "$version: \"2\"\nnamespace a\n".to_owned();
        for number in 0..4 {
            text.push_str(&format!("@b#t\nstring S{number}\n"));
        }
        text.push_str("@enum([{ value: \"x\" }])\nstring E\n");
        let assembled = Loader::new().add_text("a.smithy", text).assemble().unwrap();
        let warnings: Vec<&Diagnostic> = assembled.warnings.iter().collect();
        let text = in_short(&warnings);
        let start = format!(
            "warning: the model has {} warnings (4 UnknownTrait, ",
            warnings.len()
        );
        assert!(text.starts_with(&start), "{text}");
        assert_eq!(text.trim_end().lines().count(), 1);
    }
}
