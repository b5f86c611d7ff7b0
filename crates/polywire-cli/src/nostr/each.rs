//! Commands that answer each line of their input with a line.

use std::num::NonZero;

use super::lines::{Inputs, LineReader};
use super::pipeline::{self, Next};
use super::sink::Sink;
use crate::{Failure, print};

/// What is said about a line; nothing by default.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// What goes to standard output.
    pub(super) output: Output,
    /// What goes to standard error.
    pub(super) error: Option<String>,
}

#[derive(Debug, Default)]
pub(super) enum Output {
    #[default]
    Nothing,
    /// The line itself.
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

/// How many lines there were of which kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) printed: u64,
    pub(super) failed: u64,
}

/// Calls `answer` with each line that is not blank, on all threads, and prints the answers in order.
pub(super) fn run(
    inputs: &Inputs,
    max_bytes: usize,
    jobs: NonZero<usize>,
    answer: impl Fn(&[u8]) -> Answer + Sync,
) -> Result<Counts, Failure> {
    inputs.check()?;
    let reader = LineReader::new(inputs, max_bytes);
    let mut sink = Sink::stdout();
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
                    let error = format!("more than {max_bytes} bytes; --max-bytes allows more");
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
        |chunk, (lines, answers): (u64, Vec<Answered>)| {
            if chunk.file() != file {
                (file, before) = (chunk.file(), 0);
            }
            let mut next = Next::More;
            for answered in answers {
                if let Some(error) = &answered.answer.error {
                    counts.failed += 1;
                    let name = inputs.name(file);
                    print::err(format_args!("{name}:{}: {error}", before + answered.number));
                }
                let text = match &answered.answer.output {
                    Output::Nothing => continue,
                    Output::Line => &chunk.bytes()[answered.start..answered.end],
                    Output::Text(text) => text.as_bytes(),
                };
                counts.printed += 1;
                if sink.line(text)? == Next::Stop {
                    next = Next::Stop;
                }
            }
            before += lines;
            // Through a pipe answers go out as questions come in.
            match sink.flush()? {
                Next::Stop => Ok(Next::Stop),
                Next::More => Ok(next),
            }
        },
    )?;
    Ok(counts)
}

/// The answer to a line, with its number in the chunk and its place there.
#[derive(Debug)]
struct Answered {
    number: u64,
    start: usize,
    end: usize,
    answer: Answer,
}

impl From<(u64, super::lines::Line<'_>, Answer)> for Answered {
    fn from((number, line, answer): (u64, super::lines::Line<'_>, Answer)) -> Self {
        Self {
            number,
            start: line.start,
            end: line.start + line.bytes.len(),
            answer,
        }
    }
}

/// A failure if there were lines that failed; each has been told of.
pub(super) fn all_well(counts: Counts) -> Result<(), Failure> {
    match counts.failed {
        0 => Ok(()),
        _ => Err(Failure::silent(1)),
    }
}
