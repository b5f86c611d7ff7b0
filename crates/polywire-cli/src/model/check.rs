//! `polywire model check`.

use clap::ValueEnum;
use polywire::model::{Diagnostic, Severity};

use super::input::Input;
use super::stat::plural;
use crate::findings::{Stream, kinds, painted, report, summary};
use crate::{Failure, print};

/// Say everything that is wrong with a model.
///
/// Findings go to standard output, each with its place, what was expected there,
/// and a hint. The exit status is 1 when there is an error, or a finding as bad
/// as --deny says.
#[derive(Debug, clap::Args)]
#[command(after_help = super::EXIT_STATUS)]
pub(super) struct Arguments {
    #[command(flatten)]
    input: Input,
    /// Show findings from this severity on, and those that make the command fail.
    #[arg(long, value_name = "SEVERITY", default_value = "warning")]
    severity: Level,
    /// The severity from which on a finding makes the command fail.
    #[arg(long, value_name = "SEVERITY", default_value = "error")]
    deny: Level,
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
    let (shapes, diagnostics) = match arguments.input.assemble() {
        Ok(assembled) => (Some(assembled.model.len()), assembled.warnings),
        Err(error) => (None, error.diagnostics().to_vec()),
    };
    let failed = shapes.is_none() || diagnostics.iter().any(|d| arguments.deny.reaches(d));
    // Nobody is left to wonder why it failed.
    let least = arguments.severity.min(arguments.deny);
    let shown: Vec<Diagnostic> = diagnostics
        .into_iter()
        .filter(|diagnostic| least.reaches(diagnostic))
        .collect();
    if arguments.input.json {
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
