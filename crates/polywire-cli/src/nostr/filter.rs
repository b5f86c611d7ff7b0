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

/// Print the events, one a line, that match a filter (NIP-01).
///
/// Lines are printed as they are, in order. Ids and signatures are not checked; `check --valid -`
/// does that.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Arguments {
    /// The filter as JSON. `limit` is read and not applied.
    #[arg(value_parser = filter)]
    filter: Filter,
    /// Files with one event a line. `-`, or no file, is standard input.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Another filter; events match if one of them does. Can be repeated.
    #[arg(long, value_name = "FILTER", value_parser = filter)]
    or: Vec<Filter>,
    /// Print the events that do not match.
    #[arg(long, short = 'v')]
    invert: bool,
    /// Print the number of lines instead of them.
    #[arg(long, short)]
    count: bool,
    #[command(flatten)]
    accept: AcceptArguments,
    /// How many threads work; as many as there are processors if not given.
    #[arg(long, short, value_name = "COUNT")]
    jobs: Option<NonZero<usize>>,
}

const AFTER_HELP: &str = "\
Examples:
  polywire nostr filter '{\"kinds\":[1],\"#t\":[\"coffee\"]}' events.jsonl
  polywire nostr filter '{\"since\":1700000000}' --or '{\"kinds\":[0]}' < events.jsonl | wc -l

Exit status, as of grep: 0 when a line was printed; 1 when none was; 2 when a file cannot be read, \
or the filter is none. Lines that are no events are never printed; how many there are is told at \
the end.";

/// Reads a filter.
fn filter(text: &str) -> Result<Filter, String> {
    let filter = Filter::parse(text).map_err(|error| error.to_string())?;
    match filter.search() {
        Some(_) => Err("search depends on a relay, and has no meaning here: remove it".to_owned()),
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
    each::run(&inputs, accept.max_bytes(), jobs(arguments.jobs), answer)?;
    let (matched, others) = (matched.into_inner(), others.into_inner());
    if arguments.count {
        print::out(&format!("{matched}\n"))?;
    }
    if others > 0 {
        print::err(format_args!(
            "warning: lines that are no events: {others}; `polywire nostr check` says why"
        ));
    }
    match matched {
        0 => Err(Failure::silent(1)),
        _ => Ok(()),
    }
}
