//! `polywire nostr check`.

mod tally;
mod work;

use std::collections::HashSet;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use polywire_nostr::EventId;

use super::accept::AcceptArguments;
use super::lines::{Chunk, Inputs, LineReader};
use super::pipeline::{self, Next};
use super::sink::{self, Sink};
use crate::progress::Bytes;
use crate::{Failure, print};
use tally::Tally;
use work::{Outcome, Rules, Verdict};

/// The number of invalid lines whose errors are printed.
const SHOWN: u64 = 20;

/// Check the form, id and signature of events. Input has one event per line.
///
/// Files can have any size, because they are read in chunks. Blank lines are skipped. Errors of
/// invalid lines are printed on standard error, and a table of reasons on standard output.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Arguments {
    /// Files with one event per line. `-`, or no file, is standard input.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Do not verify signatures, which take most of the time.
    #[arg(long)]
    no_signatures: bool,
    #[command(flatten)]
    accept: AcceptArguments,
    /// Count valid events with a repeated id, and omit them from --valid. All ids are kept in
    /// memory: 40 to 80 bytes per event.
    #[arg(long)]
    unique: bool,
    /// Write valid lines to this file, in input order. `-` is standard output.
    #[arg(long, value_name = "FILE")]
    valid: Option<PathBuf>,
    /// Write invalid lines to this file, in input order. `-` is standard output. Lines longer than
    /// --max-bytes are truncated.
    #[arg(long, value_name = "FILE")]
    invalid: Option<PathBuf>,
    /// Replace existing files.
    #[arg(long)]
    force: bool,
    /// Print the errors of all invalid lines, not only of the first 20.
    #[arg(long)]
    all: bool,
    /// Print the table as JSON.
    #[arg(long)]
    json: bool,
    /// The number of threads. Default: one per processor.
    #[arg(long, short, value_name = "COUNT")]
    jobs: Option<NonZero<usize>>,
}

const AFTER_HELP: &str = "\
Examples:
  polywire nostr check events.jsonl
  zstdcat dump.jsonl.zst | polywire nostr check --no-signatures
  polywire nostr check --allow upper_case_hex,empty_tags --valid good.jsonl old.jsonl
  polywire nostr check --unique --valid - a.jsonl b.jsonl > merged.jsonl

If --valid or --invalid write to standard output, the table or JSON is printed on standard error.

Exit status: 0 when all lines are valid; 1 when a line is invalid; 2 when a file cannot be read or \
written, or the arguments are invalid.";

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let inputs = Inputs::new(&arguments.files);
    inputs.check()?;
    let rules = Rules {
        profile: arguments.accept.profile(),
        limits: arguments.accept.limits(),
        signatures: !arguments.no_signatures,
        messages: if arguments.all { u64::MAX } else { SHOWN },
        verdicts: arguments.unique || arguments.valid.is_some() || arguments.invalid.is_some(),
    };
    let mut merger = Merger::new(arguments, &inputs)?;
    let reader = LineReader::new(&inputs, arguments.accept.max_bytes());
    pipeline::run(
        reader,
        jobs(arguments.jobs),
        |chunk| rules.apply(chunk),
        |chunk, outcome| merger.merge(chunk, &outcome),
    )?;
    merger.finish()
}

/// The number of threads.
pub(super) fn jobs(argument: Option<NonZero<usize>>) -> NonZero<usize> {
    let all = || std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    argument.unwrap_or_else(all)
}

/// Merges the outcomes of chunks in input order.
struct Merger<'a> {
    arguments: &'a Arguments,
    inputs: &'a Inputs,
    tally: Tally,
    /// The file of the last chunk, and its number of lines so far.
    file: usize,
    lines: u64,
    /// The number of printed errors.
    shown: u64,
    ids: HashSet<EventId>,
    valid: Option<Sink>,
    invalid: Option<Sink>,
    bar: Bytes,
}

impl<'a> Merger<'a> {
    fn new(arguments: &'a Arguments, inputs: &'a Inputs) -> Result<Self, Failure> {
        let sink = |path: &Option<PathBuf>| -> Result<Option<Sink>, Failure> {
            let sink = |path: &PathBuf| Sink::create(path, arguments.force, inputs);
            path.as_ref().map(sink).transpose()
        };
        let shown = !arguments.writes_to_stdout() || sink::stdout_is_file();
        Ok(Self {
            arguments,
            inputs,
            tally: Tally::default(),
            file: 0,
            lines: 0,
            shown: 0,
            ids: HashSet::new(),
            valid: sink(&arguments.valid)?,
            invalid: sink(&arguments.invalid)?,
            bar: Bytes::new("checking", inputs.size(), shown),
        })
    }

    fn merge(&mut self, chunk: &Chunk, outcome: &Outcome) -> Result<Next, Failure> {
        if chunk.file() != self.file {
            (self.file, self.lines) = (chunk.file(), 0);
        }
        self.show(outcome);
        self.tally.add(outcome, chunk, self.lines);
        self.lines += outcome.lines;
        let next = self.write(chunk, &outcome.verdicts)?;
        self.bar.advance(chunk.bytes().len() as u64);
        Ok(next)
    }

    fn show(&mut self, outcome: &Outcome) {
        let max = if self.arguments.all { u64::MAX } else { SHOWN };
        let room = max.saturating_sub(self.shown);
        let messages = &outcome.messages[..outcome.messages.len().min(room as usize)];
        if messages.is_empty() {
            return;
        }
        self.shown += messages.len() as u64;
        let name = self.inputs.name(self.file);
        self.bar.pause(|| {
            for (line, error) in messages {
                print::err(format_args!("{name}:{}: {error}", self.lines + line));
            }
        });
    }

    /// Writes valid and invalid lines, and finds repeated ids.
    fn write(&mut self, chunk: &Chunk, verdicts: &[Verdict]) -> Result<Next, Failure> {
        let mut next = Next::More;
        for verdict in verdicts {
            let line = &chunk.bytes()[verdict.start..verdict.end];
            let sink = match &verdict.id {
                Some(id) if self.arguments.unique && !self.ids.insert(*id) => {
                    self.tally.repeated += 1;
                    continue;
                }
                Some(_) => &mut self.valid,
                None => &mut self.invalid,
            };
            if let Some(sink) = sink
                && sink.line(line)? == Next::Stop
            {
                next = Next::Stop;
            }
        }
        Ok(next)
    }

    fn finish(mut self) -> Result<(), Failure> {
        self.bar.finish();
        for sink in [&mut self.valid, &mut self.invalid].into_iter().flatten() {
            sink.flush()?;
        }
        let unique = self.arguments.unique;
        let text = match self.arguments.json {
            true => self.tally.to_json(self.inputs, unique)? + "\n",
            false => self.tally.to_text(self.inputs, unique, self.shown),
        };
        match self.arguments.writes_to_stdout() {
            true => print::err(text.trim_end()),
            false => print::out(&text)?,
        }
        match self.tally.invalid() {
            0 => Ok(()),
            _ => Err(Failure::silent(1)),
        }
    }
}

impl Arguments {
    fn writes_to_stdout(&self) -> bool {
        let path = |path: &Option<PathBuf>| {
            path.as_deref()
                .is_some_and(sink::is_stdout as fn(&Path) -> bool)
        };
        path(&self.valid) || path(&self.invalid)
    }
}
