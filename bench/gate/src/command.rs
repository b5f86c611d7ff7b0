//! The command line.

use clap::Parser;
use std::path::PathBuf;

/// Measures Polywire; checks every answer first
#[derive(Debug, Default, Parser)]
#[command(name = "polywire-gate")]
pub(crate) struct Command {
    /// The groups to run (see --list); all if none is named
    #[arg(value_name = "GROUP")]
    pub(crate) groups: Vec<String>,

    /// Only cases whose GROUP/CASE contains this text
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,

    /// List the groups, or the cases of those named, and measure nothing
    #[arg(long)]
    pub(crate) list: bool,

    /// Fewer rounds of time, for CI; instructions and allocations stay exact
    #[arg(long)]
    pub(crate) quick: bool,

    /// One JSON document on standard output, the tables on standard error
    #[arg(long)]
    pub(crate) json: bool,

    /// Compare instructions and allocations with a baseline; over 15% worse fails
    #[arg(long, value_name = "FILE")]
    pub(crate) compare: Option<PathBuf>,

    /// Write the counts to a baseline; its other groups stay as they are
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,

    /// Measure nothing: call our subject of each case for so many seconds, for a profiler
    #[arg(long, value_name = "SECONDS", conflicts_with_all = ["compare", "save", "json"])]
    pub(crate) repeat: Option<f64>,

    /// With --repeat, the subject to call instead of ours
    #[arg(long, value_name = "NAME", requires = "repeat")]
    pub(crate) subject: Option<String>,

    /// Set in a child process under callgrind
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) measure_regions: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Command::command().debug_assert();
    }
}
