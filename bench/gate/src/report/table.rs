//! The tables of a run.

use super::figures::{count, plain, ratio, time};
use super::{Findings, Totals};
use crate::measurement::{CaseReport, GroupReport, Measurement};
use crate::quote::Quote;
use crate::target::{Judgement, Outcome};
use std::io::{Result, Write};

/// The columns. A ratio is the peer's figure divided by ours: at 2.00 the peer needs twice as
/// much.
const HEADINGS: [&str; 11] = [
    "subject", "instr", "instr/B", "ratio", "allocs", "alloc B", "peak B", "best", "median",
    "MB/s", "ratio",
];

/// Writes a group: a block per case, a row per subject, then the targets.
pub(crate) fn group(out: &mut dyn Write, group: &GroupReport) -> Result<()> {
    let blocks: Vec<Vec<[String; 11]>> = group.cases.iter().map(rows).collect();
    let mut widths = HEADINGS.map(str::len);
    for row in blocks.iter().flatten() {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    writeln!(out, "\ngroup {}\n", group.name)?;
    write_row(out, &HEADINGS, &widths)?;
    for (case, rows) in group.cases.iter().zip(&blocks) {
        match case.bytes {
            0 => writeln!(out, "{}", case.name)?,
            bytes => writeln!(out, "{} ({} bytes)", case.name, count(bytes as f64))?,
        }
        for row in rows {
            write_row(out, row, &widths)?;
        }
        for quote in &case.quotes {
            writeln!(out, "    {} is quoted: {}", quote.name, quote.source)?;
        }
        for judgement in &case.targets {
            writeln!(out, "    {}", words(judgement))?;
        }
    }
    Ok(())
}

/// Writes what was not measured and why; nothing if everything was.
pub(crate) fn skipped(out: &mut dyn Write, findings: &Findings<'_>) -> Result<()> {
    let targets = Totals::of(findings.groups).skipped;
    if findings.skipped.is_empty() && targets == 0 {
        return Ok(());
    }
    writeln!(out)?;
    for skipped in findings.skipped {
        writeln!(out, "skipped {}: {}", skipped.name, skipped.reason)?;
    }
    writeln!(
        out,
        "skipped: {} cases or counts, {targets} targets",
        findings.skipped.len()
    )
}

/// Writes the last line of every run. Scripts read it, so its words are fixed.
pub(crate) fn totals(out: &mut dyn Write, totals: Totals) -> Result<()> {
    writeln!(out, "targets: {} met, {} missed", totals.met, totals.missed)
}

fn write_row<T: AsRef<str>>(
    out: &mut dyn Write,
    cells: &[T; 11],
    widths: &[usize; 11],
) -> Result<()> {
    let mut line = format!("    {:<width$}", cells[0].as_ref(), width = widths[0]);
    for (cell, width) in cells.iter().zip(widths).skip(1) {
        line.push_str(&format!("  {:>width$}", cell.as_ref()));
    }
    writeln!(out, "{}", line.trim_end())
}

fn rows(case: &CaseReport) -> Vec<[String; 11]> {
    let ours = case.polywire();
    let measured = case
        .subjects
        .iter()
        .map(|subject| measured_row(case, subject, ours));
    let quoted = case
        .quotes
        .iter()
        .map(|quote| quoted_row(case, quote, ours));
    measured.chain(quoted).collect()
}

fn measured_row(
    case: &CaseReport,
    subject: &Measurement,
    ours: Option<&Measurement>,
) -> [String; 11] {
    let instructions = subject.instructions.map(|found| found.count);
    // A tilde: the two processes counted different numbers.
    let about = |text: String| match subject.instructions {
        Some(found) if !found.repeats => format!("~{text}"),
        _ => text,
    };
    let allocations = |figure: fn(&crate::allocations::Allocations) -> u64| {
        cell(
            subject
                .allocations
                .as_ref()
                .map(|found| figure(found) as f64),
            count,
        )
    };
    let best = subject.time.best_nanoseconds;
    [
        subject.subject.clone(),
        about(cell(instructions, count)),
        cell(instructions.and_then(|count| case.per_byte(count)), ratio),
        to_ours(instructions, subject, ours, |ours| {
            Some(ours.instructions?.count)
        }),
        allocations(|found| found.count),
        allocations(|found| found.bytes),
        allocations(|found| found.peak_bytes),
        time(best),
        time(subject.time.median_nanoseconds),
        cell(
            (case.bytes > 0 && best > 0.0).then(|| case.bytes as f64 * 1e3 / best),
            ratio,
        ),
        to_ours(Some(best), subject, ours, |ours| {
            Some(ours.time.best_nanoseconds)
        }),
    ]
}

fn quoted_row(case: &CaseReport, quote: &Quote, ours: Option<&Measurement>) -> [String; 11] {
    let per_byte = quote.instructions_per_byte;
    let ours_per_byte = ours.and_then(|ours| case.per_byte(ours.instructions?.count));
    let ours_best = ours.map(|ours| ours.time.best_nanoseconds);
    let divided = |theirs: Option<f64>, ours: Option<f64>| {
        cell(
            theirs
                .zip(ours)
                .filter(|(_, ours)| *ours > 0.0)
                .map(|(theirs, ours)| theirs / ours),
            ratio,
        )
    };
    [
        format!("{} (quoted)", quote.name),
        String::new(),
        cell(per_byte, ratio),
        divided(per_byte, ours_per_byte),
        String::new(),
        String::new(),
        String::new(),
        cell(quote.nanoseconds, time),
        String::new(),
        cell(
            quote
                .nanoseconds
                .filter(|_| case.bytes > 0)
                .map(|n| case.bytes as f64 * 1e3 / n),
            ratio,
        ),
        divided(quote.nanoseconds, ours_best),
    ]
}

/// A peer's figure divided by ours; empty in our own row.
fn to_ours(
    figure: Option<f64>,
    subject: &Measurement,
    ours: Option<&Measurement>,
    same_of: impl Fn(&Measurement) -> Option<f64>,
) -> String {
    let ours = ours
        .filter(|ours| ours.subject != subject.subject)
        .and_then(same_of);
    cell(
        figure
            .zip(ours)
            .filter(|(_, ours)| *ours > 0.0)
            .map(|(figure, ours)| figure / ours),
        ratio,
    )
}

fn cell(figure: Option<f64>, written: impl Fn(f64) -> String) -> String {
    figure.map(written).unwrap_or_default()
}

pub(crate) fn words(judgement: &Judgement) -> String {
    let outcome = match judgement.outcome {
        Outcome::Met => "met    ",
        Outcome::Missed => "MISSED ",
        Outcome::Skipped => "skipped",
    };
    match judgement.actual {
        Some(actual) => format!("{outcome} {}: {}", judgement.target, plain(actual)),
        None => format!("{outcome} {}", judgement.target),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocations::Allocations;
    use crate::measurement::{Instructions, Time};

    fn report() -> GroupReport {
        let subject = |name: &str, instructions, nanoseconds| Measurement {
            subject: name.to_owned(),
            instructions: Some(Instructions {
                count: instructions,
                repeats: name != "peer",
            }),
            allocations: Some(Allocations {
                count: 1,
                bytes: 64,
                peak_bytes: 64,
            }),
            time: Time {
                best_nanoseconds: nanoseconds,
                median_nanoseconds: nanoseconds + 1.0,
            },
        };
        let judgement = |outcome, actual| Judgement {
            target: "times as fast as peer >= 2".to_owned(),
            actual,
            outcome,
        };
        let case = CaseReport {
            name: "parse".to_owned(),
            bytes: 100,
            subjects: vec![
                subject("polywire", 400.0, 50.0),
                subject("peer", 1200.0, 150.0),
            ],
            quotes: vec![
                Quote::new("seed", "the anchors")
                    .nanoseconds(500.0)
                    .instructions_per_byte(40.0),
            ],
            targets: vec![
                judgement(Outcome::Met, Some(3.0)),
                judgement(Outcome::Missed, Some(1.5)),
                judgement(Outcome::Skipped, None),
            ],
        };
        GroupReport {
            name: "text".to_owned(),
            cases: vec![case],
            loads: Vec::new(),
        }
    }

    #[test]
    fn a_group_is_a_table_with_its_targets() {
        let mut out = Vec::new();
        group(&mut out, &report()).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(lines[4], ["parse", "(100", "bytes)"]);
        assert_eq!(lines[5][..6], ["polywire", "400", "4.00", "1", "64", "64"]);
        assert_eq!(lines[6][..4], ["peer", "~1,200", "12.0", "3.00"]);
        assert_eq!(lines[6].last(), Some(&"3.00"));
        assert_eq!(
            lines[7],
            [
                "seed", "(quoted)", "40.0", "10.0", "500", "ns", "200", "10.0"
            ]
        );
        assert!(text.contains("seed is quoted: the anchors"));
        assert!(text.contains("met     times as fast as peer >= 2: 3\n"));
        assert!(text.contains("MISSED  times as fast as peer >= 2: 1.50\n"));
        assert!(text.contains("skipped times as fast as peer >= 2\n"));
    }

    #[test]
    fn the_last_line_is_fixed() {
        let found = Totals::of(&[report()]);
        assert_eq!(
            found,
            Totals {
                met: 1,
                missed: 1,
                skipped: 1
            }
        );
        let mut out = Vec::new();
        totals(&mut out, found).unwrap();
        assert_eq!(out, b"targets: 1 met, 1 missed\n");
    }
}
