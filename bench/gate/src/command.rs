//! The command line.

use clap::Parser;
use std::path::PathBuf;

/// Measures polywire against its peers; checks every answer first.
#[derive(Debug, Default, Parser)]
#[command(name = "polywire-gate")]
pub(crate) struct Command {
    /// The groups to run (see --list); all of them without any
    #[arg(value_name = "GROUP")]
    pub(crate) groups: Vec<String>,

    /// Only cases whose GROUP/CASE holds this text
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

    /// Write what was counted to a baseline; groups that did not run stay in it
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,

    /// Measure nothing: call each case's polywire for so many seconds, for a profiler
    #[arg(long, value_name = "SECONDS", conflicts_with_all = ["compare", "save", "json"])]
    pub(crate) repeat: Option<f64>,

    /// With --repeat, another subject than polywire
    #[arg(long, value_name = "NAME", requires = "repeat")]
    pub(crate) subject: Option<String>,

    /// What a child process under callgrind is started with
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
