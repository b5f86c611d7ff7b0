//! What all commands read: files to a model, and what to say about them.

use std::io::IsTerminal;
use std::path::PathBuf;

use polywire::model::{Assembled, Diagnostic, Loader, ModelError, Node, Object, Severity};

use crate::{Failure, print};

/// The files of a model, and how to talk about them.
#[derive(Debug, clap::Args)]
pub(super) struct Input {
    /// Model files (.smithy or .json), or folders of them. Several are joined
    /// into one model.
    #[arg(value_name = "MODEL", required = true)]
    files: Vec<PathBuf>,
    /// Print JSON for machines: the result, or what is wrong with the model.
    #[arg(long)]
    pub(super) json: bool,
}

impl Input {
    pub(super) fn assemble(&self) -> Result<Assembled, ModelError> {
        let mut loader = Loader::new();
        for file in &self.files {
            if file.is_dir() {
                loader.add_dir(file);
            } else {
                loader.add_file(file);
            }
        }
        loader.assemble()
    }

    /// The model, for commands that make something of it: warnings go to
    /// standard error, errors end the command.
    pub(super) fn load(&self) -> Result<Assembled, Failure> {
        match self.assemble() {
            Ok(assembled) => {
                if !self.json {
                    for warning in &assembled.warnings {
                        print::err(format!("{}\n", painted(warning, Stream::Err)));
                    }
                }
                Ok(assembled)
            }
            Err(error) if self.json => {
                print::out(&format!(
                    "{}\n",
                    report(error.diagnostics()).to_json_pretty()
                ))?;
                Err(Failure::silent(1))
            }
            Err(error) => {
                for diagnostic in error.diagnostics() {
                    print::err(format!("{}\n", painted(diagnostic, Stream::Err)));
                }
                Err(Failure {
                    code: 1,
                    message: summary(error.diagnostics()),
                })
            }
        }
    }
}

/// Where a text goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stream {
    Err,
    Out,
}

/// A finding as text, in colours where a person sees it.
pub(super) fn painted(diagnostic: &Diagnostic, stream: Stream) -> String {
    let text = diagnostic.to_string();
    let is_terminal = match stream {
        Stream::Err => std::io::stderr().is_terminal(),
        Stream::Out => std::io::stdout().is_terminal(),
    };
    // https://no-color.org: set and not empty.
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
pub(super) fn report(diagnostics: &[Diagnostic]) -> Node {
    let mut object = Object::new();
    for (severity, name) in SEVERITIES {
        object.insert(name, count(diagnostics, severity) as i64);
    }
    let nodes: Vec<Node> = diagnostics.iter().map(Diagnostic::to_node).collect();
    object.insert("diagnostics", nodes);
    object.into()
}

/// "2 errors, 1 warning".
pub(super) fn summary(diagnostics: &[Diagnostic]) -> String {
    let mut parts = Vec::new();
    for (severity, plural) in SEVERITIES {
        match count(diagnostics, severity) {
            0 => {}
            1 => parts.push(format!("1 {severity}")),
            several => parts.push(format!("{several} {plural}")),
        }
    }
    parts.join(", ")
}

const SEVERITIES: [(Severity, &str); 4] = [
    (Severity::Error, "errors"),
    (Severity::Danger, "dangers"),
    (Severity::Warning, "warnings"),
    (Severity::Note, "notes"),
];

fn count(diagnostics: &[Diagnostic], severity: Severity) -> usize {
    let same = |diagnostic: &&Diagnostic| diagnostic.severity == severity;
    diagnostics.iter().filter(same).count()
}

#[cfg(test)]
mod tests {
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
        assert_eq!(summary(error.diagnostics()), "1 error");
    }
}
