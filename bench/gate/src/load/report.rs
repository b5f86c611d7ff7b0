//! The table of loads.

use std::io::{Result, Write};

use serde::Serialize;

use super::figure::{Figure, Figures};
use crate::report::figures::{count, ratio, time};
use crate::report::words;
use crate::target::Judgement;

/// A load's results. `subjects` is in the order of the load.
#[derive(Debug, Serialize)]
pub(crate) struct LoadReport {
    pub(crate) name: String,
    pub(crate) layout: String,
    pub(crate) subjects: Vec<(String, Figures)>,
    pub(crate) targets: Vec<Judgement>,
}

impl LoadReport {
    pub(super) fn subject(&self, name: &str) -> Option<&Figures> {
        let mut subjects = self.subjects.iter();
        subjects
            .find(|(subject, _)| subject == name)
            .map(|(_, figures)| figures)
    }
}

/// The ratio is our rate divided by the peer's.
const HEADINGS: [&str; 8] = [
    "subject", "calls/s", "ratio", "p50", "p99", "slowest", "answered", "memory",
];

/// Writes a block per load, a row per subject, then the targets.
pub(crate) fn write(out: &mut dyn Write, loads: &[LoadReport]) -> Result<()> {
    let blocks: Vec<Vec<[String; 8]>> = loads.iter().map(rows).collect();
    let mut widths = HEADINGS.map(str::len);
    for row in blocks.iter().flatten() {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    if !loads.is_empty() {
        writeln!(out)?;
        write_row(out, &HEADINGS.map(str::to_owned), &widths)?;
    }
    for (load, rows) in loads.iter().zip(&blocks) {
        writeln!(out, "{}", load.name)?;
        for row in rows {
            write_row(out, row, &widths)?;
        }
        if !load.layout.is_empty() {
            writeln!(out, "    {}", load.layout)?;
        }
        for judgement in &load.targets {
            writeln!(out, "    {}", words(judgement))?;
        }
    }
    Ok(())
}

fn write_row(out: &mut dyn Write, cells: &[String; 8], widths: &[usize; 8]) -> Result<()> {
    let mut line = format!("    {:<width$}", cells[0], width = widths[0]);
    for (cell, width) in cells.iter().zip(widths).skip(1) {
        line.push_str(&format!("  {cell:>width$}"));
    }
    writeln!(out, "{}", line.trim_end())
}

fn rows(load: &LoadReport) -> Vec<[String; 8]> {
    let ours = load
        .subject(crate::POLYWIRE)
        .and_then(|figures| figures.get(Figure::Rate));
    let row = |(name, figures): &(String, Figures)| {
        let cell = |figure, written: fn(f64) -> String| {
            figures.get(figure).map(written).unwrap_or_default()
        };
        let ratio_to_ours = figures
            .get(Figure::Rate)
            .zip(ours)
            .filter(|(theirs, _)| name != crate::POLYWIRE && *theirs > 0.0)
            .map(|(theirs, ours)| ratio(ours / theirs));
        let memory = match figures.get(Figure::IdleConnection) {
            Some(each) => format!("{} B each", count(each)),
            None => cell(Figure::Memory, |bytes| format!("{:.2} MB", bytes / 1e6)),
        };
        [
            name.clone(),
            cell(Figure::Rate, count),
            ratio_to_ours.unwrap_or_default(),
            cell(Figure::P50, time),
            cell(Figure::P99, time),
            cell(Figure::Slowest, time),
            answered(figures),
            memory,
        ]
    };
    load.subjects.iter().map(row).collect()
}

/// The share of answered calls, or the number of failed ones if there are any.
fn answered(figures: &Figures) -> String {
    let share = figures.get(Figure::Answered);
    match (share, figures.get(Figure::Failed)) {
        (None, _) => String::new(),
        (Some(_), Some(failed)) if failed > 0.0 => format!("{} failed", count(failed)),
        (Some(share), _) => format!("{:.0}%", share * 100.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Outcome;

    #[test]
    fn loads_are_a_table_with_their_targets() {
        let figures = |rate, failed| {
            Figures::default()
                .with(Figure::Rate, rate)
                .with(Figure::P50, 90_000.0)
                .with(Figure::Answered, 1.0)
                .with(Figure::Failed, failed)
        };
        let load = LoadReport {
            name: "TCP".to_owned(),
            layout: "two threads".to_owned(),
            subjects: vec![
                ("polywire".to_owned(), figures(1_000_000.0, 0.0)),
                ("peer".to_owned(), figures(250_000.0, 2.0)),
            ],
            targets: vec![Judgement {
                target: "calls per second >= 3 of peer".to_owned(),
                actual: Some(4.0),
                outcome: Outcome::Met,
            }],
        };
        let mut out = Vec::new();
        write(&mut out, &[load]).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<String> = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(lines[3], "polywire 1,000,000 90.0 us 100%");
        assert_eq!(lines[4], "peer 250,000 4.00 90.0 us 2 failed");
        assert_eq!(lines[5], "two threads");
        assert_eq!(lines[6], "met calls per second >= 3 of peer: 4");
    }
}
