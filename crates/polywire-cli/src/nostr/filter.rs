//! `polywire nostr filter`.

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use polywire_nostr::{CompiledFilters, EventRef, Filter};

use super::accept::AcceptArguments;
use super::check::jobs;
use super::each::{self, Answer, Output};
use super::lines::Inputs;
use crate::{Failure, print};

/// Print the events that match a filter (NIP-01). Input has one event per line.
///
/// Matching lines are printed unchanged and in order. Ids and signatures are not checked: see
/// `check --valid -`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Arguments {
    /// The filter as JSON. `limit` is ignored.
    #[arg(value_parser = filter)]
    filter: Filter,
    /// Files with one event per line. `-`, or no file, is standard input.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// An additional filter: events that match any filter are printed. Can be repeated.
    #[arg(long, value_name = "FILTER", value_parser = filter)]
    or: Vec<Filter>,
    /// Print the events that do not match.
    #[arg(long, short = 'v')]
    invert: bool,
    /// Print only the number of lines.
    #[arg(long, short)]
    count: bool,
    #[command(flatten)]
    accept: AcceptArguments,
    /// The number of threads. Default: one per processor.
    #[arg(long, short, value_name = "COUNT")]
    jobs: Option<NonZero<usize>>,
}

const AFTER_HELP: &str = "\
Examples:
  polywire nostr filter '{\"kinds\":[1],\"#t\":[\"coffee\"]}' events.jsonl
  polywire nostr filter '{\"since\":1700000000}' --or '{\"kinds\":[0]}' < events.jsonl | wc -l

Exit status, as in grep: 0 when a line matched; 1 when no line matched; 2 when a file cannot be read, \
or a filter is invalid. Lines that are not events are never printed. Their number is reported at the \
end.";

fn filter(text: &str) -> Result<Filter, String> {
    let filter = Filter::parse(text).map_err(|error| error.to_string())?;
    match filter.search() {
        Some(_) => Err("search is implemented by relays and not supported here".to_owned()),
        None => Ok(filter),
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let filters = CompiledFilters::new(std::iter::once(&arguments.filter).chain(&arguments.or));
    let accept = &arguments.accept;
    let (profile, limits) = (accept.profile(), accept.limits());
    let inputs = Inputs::new(&arguments.files);
    let (matched, others) = (AtomicU64::new(0), AtomicU64::new(0));
    let answer = |line: &[u8]| {
        let Ok(event) = EventRef::parse_with(line, profile, &limits) else {
            others.fetch_add(1, Ordering::Relaxed);
            return Answer::default();
        };
        if filters.matches(&event) == arguments.invert {
            return Answer::default();
        }
        matched.fetch_add(1, Ordering::Relaxed);
        let output = match arguments.count {
            true => Output::Nothing,
            false => Output::Line,
        };
        Answer {
            output,
            error: None,
        }
    };
    each::run(
        "filtering",
        &inputs,
        accept.max_bytes(),
        jobs(arguments.jobs),
        answer,
    )?;
    let (matched, others) = (matched.into_inner(), others.into_inner());
    if arguments.count {
        print::out(&format!("{matched}\n"))?;
    }
    if others > 0 {
        print::err(format_args!(
            "warning: lines that are not events: {others}; `polywire nostr check` shows the reasons"
        ));
    }
    match matched {
        0 => Err(Failure::silent(1)),
        _ => Ok(()),
    }
}
