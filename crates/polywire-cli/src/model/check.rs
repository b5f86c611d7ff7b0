//! `polywire model check`.

use std::path::PathBuf;

use clap::ValueEnum;
use polywire::model::{Diagnostic, Severity};

use super::input::InputOptions;
use super::rules;
use super::stat::plural;
use crate::findings::{Stream, kinds, painted, report, summary};
use crate::{Failure, print};

/// Report all problems in a model.
///
/// Findings go to standard output, each with its location, what was expected there, and a hint. The
/// exit status is 1 if there is an error, or a finding with the severity of --deny or a higher one.
#[derive(Debug, clap::Args)]
#[command(after_help = super::EXIT_STATUS)]
pub(super) struct Arguments {
    /// Model files (.smithy or .json), folders of them, or JARs. Several are
    /// joined into one model.
    #[arg(value_name = "MODEL", required_unless_present_any = ["list_rules", "explain"])]
    files: Vec<PathBuf>,
    #[command(flatten)]
    options: InputOptions,
    /// The lowest severity to show. Findings that make the command fail are always shown.
    #[arg(long, value_name = "SEVERITY", default_value = "warning")]
    severity: Level,
    /// The lowest severity that makes the command fail.
    #[arg(long, value_name = "SEVERITY", default_value = "error")]
    deny: Level,
    /// List all rules, with their severities, instead of checking a model.
    #[arg(long, conflicts_with_all = ["files", "explain"])]
    list_rules: bool,
    /// Explain a rule, with an example, instead of checking a model.
    #[arg(long, value_name = "ID", conflicts_with = "files")]
    explain: Option<String>,
}

/// The severities of Smithy.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, ValueEnum)]
enum Level {
    Note,
    Warning,
    Danger,
    Error,
}

impl Level {
    fn reaches(self, diagnostic: &Diagnostic) -> bool {
        diagnostic.severity
            >= match self {
                Self::Note => Severity::Note,
                Self::Warning => Severity::Warning,
                Self::Danger => Severity::Danger,
                Self::Error => Severity::Error,
            }
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let json = arguments.options.json;
    if arguments.list_rules {
        return print::out(&rules::list(json));
    }
    if let Some(id) = &arguments.explain {
        return print::out(&rules::explain(id, json)?);
    }
    let (shapes, diagnostics) = match arguments.options.assemble(&arguments.files) {
        Ok(assembled) => (Some(assembled.model.len()), assembled.warnings),
        Err(error) => (None, error.diagnostics().to_vec()),
    };
    let failed = shapes.is_none() || diagnostics.iter().any(|d| arguments.deny.reaches(d));
    // Findings that make the command fail are shown, whatever --severity says.
    let least = arguments.severity.min(arguments.deny);
    let shown: Vec<Diagnostic> = diagnostics
        .into_iter()
        .filter(|diagnostic| least.reaches(diagnostic))
        .collect();
    if json {
        print::out(&report(&shown).to_json_pretty())?;
    } else {
        let mut text = String::new();
        for diagnostic in &shown {
            text.push_str(&painted(diagnostic, Stream::Out));
            text.push_str("\n\n");
        }
        text.push_str(&kinds(&shown));
        let found = summary(shown.iter());
        let shapes = shapes.map(|shapes| plural(shapes, "shape"));
        text.push_str(&match shapes {
            Some(shapes) if found.is_empty() => format!("ok: {shapes}\n"),
            Some(shapes) => format!("{found} in {shapes}\n"),
            None => format!("{found}\n"),
        });
        print::out(&text)?;
    }
    if failed {
        return Err(Failure::silent(1));
    }
    Ok(())
}
