//! Commands that process their input line by line.

use std::num::NonZero;

use super::lines::{Inputs, LineReader};
use super::pipeline::{self, Next};
use super::sink::{self, Sink};
use crate::progress::Bytes;
use crate::{Failure, print};

/// The result of a line. Empty by default.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// For standard output.
    pub(super) output: Output,
    /// For standard error.
    pub(super) error: Option<String>,
}

#[derive(Debug, Default)]
pub(super) enum Output {
    #[default]
    Nothing,
    /// The line unchanged.
    Line,
    Text(String),
}

impl Answer {
    pub(super) fn text(text: String) -> Self {
        Self {
            output: Output::Text(text),
            error: None,
        }
    }

    pub(super) fn error(error: impl std::fmt::Display) -> Self {
        Self {
            output: Output::Nothing,
            error: Some(error.to_string()),
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self.output, Output::Nothing) && self.error.is_none()
    }
}

/// The numbers of lines with output and with an error.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) printed: u64,
    pub(super) failed: u64,
}

/// Calls `answer` with each line that is not blank, on `jobs` threads, and prints the answers in
/// order. `verb` labels the progress bar, which is shown if the answers go to a file.
pub(super) fn run(
    verb: &'static str,
    inputs: &Inputs,
    max_bytes: usize,
    jobs: NonZero<usize>,
    answer: impl Fn(&[u8]) -> Answer + Sync,
) -> Result<Counts, Failure> {
    inputs.check()?;
    let reader = LineReader::new(inputs, max_bytes);
    let mut sink = Sink::stdout();
    let mut bar = Bytes::new(verb, inputs.size(), sink::stdout_is_file());
    let mut counts = Counts::default();
    let (mut file, mut before) = (0, 0);
    pipeline::run(
        reader,
        jobs,
        |chunk| {
            let mut lines = 0u64;
            let mut answers = Vec::new();
            for line in chunk.lines() {
                lines += 1;
                if line.bytes.len() > max_bytes {
                    let error = format!("more than {max_bytes} bytes; see --max-bytes");
                    answers.push((lines, line, Answer::error(error)).into());
                } else if !line.is_blank() {
                    let answer = answer(line.bytes);
                    if !answer.is_empty() {
                        answers.push((lines, line, answer).into());
                    }
                }
            }
            (lines, answers)
        },
        |chunk, (lines, answers): (u64, Vec<LineAnswer>)| {
            if chunk.file() != file {
                (file, before) = (chunk.file(), 0);
            }
            let mut next = Next::More;
            for line in answers {
                if let Some(error) = &line.answer.error {
                    counts.failed += 1;
                    let name = inputs.name(file);
                    bar.pause(|| {
                        print::err(format_args!("{name}:{}: {error}", before + line.number));
                    });
                }
                let text = match &line.answer.output {
                    Output::Nothing => continue,
                    Output::Line => &chunk.bytes()[line.start..line.end],
                    Output::Text(text) => text.as_bytes(),
                };
                counts.printed += 1;
                if sink.line(text)? == Next::Stop {
                    next = Next::Stop;
                }
            }
            before += lines;
            bar.advance(chunk.bytes().len() as u64);
            // Flushed per chunk, so that a pipe gets answers as soon as possible.
            match sink.flush()? {
                Next::Stop => Ok(Next::Stop),
                Next::More => Ok(next),
            }
        },
    )?;
    bar.finish();
    Ok(counts)
}

/// The answer to a line, with the number and byte range of the line in its chunk.
#[derive(Debug)]
struct LineAnswer {
    number: u64,
    start: usize,
    end: usize,
    answer: Answer,
}

impl From<(u64, super::lines::Line<'_>, Answer)> for LineAnswer {
    fn from((number, line, answer): (u64, super::lines::Line<'_>, Answer)) -> Self {
        Self {
            number,
            start: line.start,
            end: line.start + line.bytes.len(),
            answer,
        }
    }
}

/// Returns a silent failure if lines have failed: their errors were printed.
pub(super) fn finish(counts: Counts) -> Result<(), Failure> {
    match counts.failed {
        0 => Ok(()),
        _ => Err(Failure::silent(1)),
    }
}
