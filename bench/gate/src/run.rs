//! A run of the program, from the command line to the last line of the report.

use crate::baseline::{Baseline, Comparison, Scope};
use crate::command::Command;
use crate::data::DataFolder;
use crate::group::{Group, GroupEntry};
use crate::instructions::{self, Selection};
use crate::load::{self, LoadEffort};
use crate::measure::measure;
use crate::measurement::{GroupReport, Skipped};
use crate::report::{self, Findings, Totals};
use crate::subject::{Subject, Work};
use crate::timing::Effort;
use clap::Parser;
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Runs the program on a table of groups and the arguments of the process. It fails on a wrong
/// answer, on a comparison that fails and, in CI, on a skip.
pub fn run(entries: &[GroupEntry]) -> ExitCode {
    let command = Command::parse();
    let in_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    // Tables must not mix with the JSON document.
    let mut human: Box<dyn Write> = if command.json {
        Box::new(std::io::stderr())
    } else {
        Box::new(std::io::stdout())
    };
    match execute(entries, &command, in_ci, &mut *human) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // If this cannot be written, the exit code still reports the failure.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Calls one subject of each case and load for a while, under a profiler, and prints the time
/// of a call.
fn repeat(
    groups: &mut [Group],
    subject: &str,
    seconds: f64,
    human: &mut dyn Write,
) -> crate::Result<()> {
    let span = Duration::try_from_secs_f64(seconds)
        .map_err(|error| format!("--repeat takes seconds: {error}"))?;
    let mut found = false;
    for group in groups {
        for case in &mut group.cases {
            let Some(Subject {
                work: Work::Counted(work),
                ..
            }) = case.subjects.iter_mut().find(|own| own.name == subject)
            else {
                continue;
            };
            found = true;
            let start = Instant::now();
            let mut calls = 0_u64;
            let mut more = 1;
            while start.elapsed() < span {
                work.repeat(more);
                calls += more;
                // Rarely enough to keep the clock out of the profile.
                more = (more * 2).min(1 << 10);
            }
            let each = start.elapsed().as_nanos() as f64 / calls.max(1) as f64;
            let name = format!("{}/{}", group.name, case.name);
            writeln!(human, "{name}: {subject}, {calls} calls of {each:.0} ns")?;
        }
        for load in &mut group.loads {
            if let Some(rate) = load.repeat(subject, span)? {
                found = true;
                let name = format!("{}/{}", group.name, load.name);
                writeln!(human, "{name}: {subject}, {rate:.0} calls/s")?;
            }
        }
    }
    if !found {
        return Err(format!("no selected case has a subject {subject} in this process").into());
    }
    Ok(())
}

/// Executes a command. `false` or an error fails the run.
fn execute(
    entries: &[GroupEntry],
    command: &Command,
    in_ci: bool,
    human: &mut dyn Write,
) -> crate::Result<bool> {
    let entries = select(entries, &command.groups)?;
    if command.list && command.groups.is_empty() && command.filter.is_none() {
        for entry in &entries {
            writeln!(human, "{:<12} {}", entry.name, entry.about)?;
        }
        return Ok(true);
    }
    let mut groups = build(&entries, command.filter.as_deref())?;
    if let Some(labels) = &command.measure_regions {
        instructions::measure_regions(&mut groups, labels)?;
        return Ok(true);
    }
    if command.list {
        for group in &groups {
            for case in group.case_names() {
                writeln!(human, "{}/{case}", group.name)?;
            }
        }
        return Ok(true);
    }
    let names: Vec<String> = entries.iter().map(|entry| entry.name.to_owned()).collect();
    // Before the measurements, so that a mistyped path fails at once.
    let baseline = command.compare.as_deref().map(Baseline::load).transpose()?;

    let mut wrong = wrong_answers(&mut groups);
    if !wrong.is_empty() {
        return Err(wrong.join("\n").into());
    }
    if let Some(seconds) = command.repeat {
        let subject = command.subject.as_deref().unwrap_or(crate::POLYWIRE);
        repeat(&mut groups, subject, seconds, human)?;
        return Ok(true);
    }
    let valgrind = instructions::valgrind_version();
    if valgrind.is_none() && (command.compare.is_some() || command.save.is_some()) {
        return Err(
            "a baseline holds instruction counts, and valgrind, which counts them, is not \
                    installed (package valgrind)"
                .into(),
        );
    }
    let mut skipped: Vec<Skipped> = groups
        .iter_mut()
        .flat_map(|group| std::mem::take(&mut group.skipped))
        .collect();
    let counts = if valgrind.is_some() {
        instructions::count(&Selection {
            groups: names.clone(),
            filter: command.filter.clone(),
        })?
    } else {
        skipped.push(Skipped {
            name: "instructions".to_owned(),
            reason: "valgrind is not installed; it counts them (package valgrind)".to_owned(),
        });
        HashMap::new()
    };
    let scope = Scope {
        groups: &names,
        filter: command.filter.as_deref(),
        skipped: &skipped,
    };
    let (effort, load_effort) = if command.quick {
        (Effort::QUICK, LoadEffort::QUICK)
    } else {
        (Effort::FULL, LoadEffort::FULL)
    };
    let mut reports = Vec::with_capacity(groups.len());
    for group in &mut groups {
        let mut report = measure(group, &counts, effort)?;
        report::group(human, &report)?;
        report.loads = load::measure(&mut group.loads, load_effort, &mut wrong);
        load::write_report(human, &report.loads)?;
        reports.push(report);
    }
    if !wrong.is_empty() {
        return Err(wrong.join("\n").into());
    }
    let findings = Findings {
        groups: &reports,
        skipped: &skipped,
        valgrind: valgrind.as_deref(),
    };
    report::skipped(human, &findings)?;

    if let Some(path) = &command.save {
        save(path, &reports, &scope)?;
        writeln!(human, "\nsaved {}", path.display())?;
    }
    let comparison = match command.compare.as_deref().zip(baseline) {
        Some((path, baseline)) => {
            let found = baseline.compare(&Baseline::of(&reports)?, &scope, path);
            write_comparison(human, &found, path)?;
            Some(found)
        }
        None => None,
    };
    if command.json {
        let document = report::document(&findings, comparison.as_ref());
        writeln!(std::io::stdout(), "{document:#}")?;
    }
    let skips_fail = in_ci && !skipped.is_empty();
    if skips_fail {
        writeln!(human, "something was skipped, which fails the run in CI")?;
    }
    writeln!(human)?;
    report::totals(human, Totals::of(&reports))?;
    Ok(!skips_fail && !comparison.is_some_and(|found| found.fails))
}

/// The entries that the command line names, in its order, or all of them.
fn select(entries: &[GroupEntry], names: &[String]) -> crate::Result<Vec<GroupEntry>> {
    if names.is_empty() {
        return Ok(entries.to_vec());
    }
    let mut selected: Vec<GroupEntry> = Vec::with_capacity(names.len());
    for name in names {
        let Some(entry) = entries.iter().find(|entry| entry.name == name) else {
            let known: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
            return Err(format!("no group {name}; there are: {}", known.join(", ")).into());
        };
        if selected.iter().all(|earlier| earlier.name != entry.name) {
            selected.push(*entry);
        }
    }
    Ok(selected)
}

fn build(entries: &[GroupEntry], filter: Option<&str>) -> crate::Result<Vec<Group>> {
    let mut groups = Vec::with_capacity(entries.len());
    for entry in entries {
        let mut group = Group::new(entry.name, DataFolder::from_environment());
        (entry.cases)(&mut group);
        let mistakes = group.mistakes();
        if !mistakes.is_empty() {
            return Err(mistakes.join("\n").into());
        }
        if let Some(text) = filter {
            group.filter(text);
        }
        groups.push(group);
    }
    Ok(groups)
}

/// Runs every subject once and returns a line for each wrong answer.
pub(crate) fn wrong_answers(groups: &mut [Group]) -> Vec<String> {
    let mut wrong = Vec::new();
    for group in groups {
        for case in &mut group.cases {
            for subject in &mut case.subjects {
                if let Err(reason) = subject.work.check() {
                    wrong.push(format!(
                        "wrong answer: {}/{} by {}: {reason}",
                        group.name, case.name, subject.name
                    ));
                }
            }
        }
    }
    wrong
}

fn save(path: &Path, reports: &[GroupReport], scope: &Scope<'_>) -> crate::Result<()> {
    let mut baseline = if path.exists() {
        Baseline::load(path)?
    } else {
        Baseline::default()
    };
    baseline.refresh(Baseline::of(reports)?, scope);
    baseline.save(path)
}

fn write_comparison(human: &mut dyn Write, found: &Comparison, path: &Path) -> crate::Result<()> {
    writeln!(human, "\ncompared with {}:", path.display())?;
    if found.lines.is_empty() {
        writeln!(human, "    nothing changed by more than 3%")?;
    }
    for line in &found.lines {
        writeln!(human, "    {line}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good(group: &mut Group) {
        group
            .case("two")
            .polywire(|| 1 + 1, |answer| *answer == 2)
            .target_allocations(0);
    }

    fn wrong(group: &mut Group) {
        group
            .case("right")
            .polywire(|| 1, |answer| *answer == 1)
            .peer("mistaken", || 2, |answer| crate::same(answer, &1));
        group
            .case("falls over")
            .polywire(|| 1, |_| -> bool { panic!("never mind this message") });
    }

    fn skips(group: &mut Group) {
        group.case_from("absent", ["no such folder/file"], |_, _| ());
    }

    const ENTRIES: [GroupEntry; 3] = [
        GroupEntry {
            name: "good",
            about: "right answers",
            cases: good,
        },
        GroupEntry {
            name: "wrong",
            about: "wrong answers",
            cases: wrong,
        },
        GroupEntry {
            name: "skips",
            about: "missing data",
            cases: skips,
        },
    ];

    fn command(groups: &[&str]) -> Command {
        let groups = groups.iter().map(|&name| name.to_owned()).collect();
        Command {
            groups,
            list: true,
            ..Command::default()
        }
    }

    #[test]
    fn repeat_runs_one_subject_of_each_case() {
        let profile = |subject: &str| {
            let command = Command {
                list: false,
                repeat: Some(0.001),
                subject: Some(subject.to_owned()),
                ..command(&["good"])
            };
            let mut human = Vec::new();
            let outcome = execute(&ENTRIES, &command, false, &mut human);
            outcome.map(|_| String::from_utf8(human).unwrap())
        };
        let words = profile(crate::POLYWIRE).unwrap();
        assert!(words.starts_with("good/two: polywire, "), "{words}");
        assert!(profile("nobody").is_err());
    }

    #[test]
    fn a_wrong_answer_fails_the_run_and_names_the_case() {
        let command = Command {
            list: false,
            ..command(&["good", "wrong"])
        };
        let error = execute(&ENTRIES, &command, false, &mut Vec::new())
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "wrong answer: wrong/right by mistaken: expected 1, got 2\n\
             wrong answer: wrong/falls over by polywire: it panicked"
        );
    }

    #[test]
    fn an_unknown_group_lists_what_is_there() {
        let error = execute(&ENTRIES, &command(&["bad"]), false, &mut Vec::new()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no group bad; there are: good, wrong, skips"
        );
    }

    #[test]
    fn groups_and_cases_are_listed() {
        let mut out = Vec::new();
        assert!(execute(&ENTRIES, &command(&[]), false, &mut out).unwrap());
        assert!(
            String::from_utf8(out)
                .unwrap()
                .starts_with("good         right answers\n")
        );
        let mut out = Vec::new();
        assert!(execute(&ENTRIES, &command(&["wrong"]), false, &mut out).unwrap());
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "wrong/right\nwrong/falls over\n"
        );
    }

    #[test]
    fn missing_data_is_a_skip() {
        assert_eq!(build(&ENTRIES[2..], None).unwrap()[0].skipped.len(), 1);
        assert_eq!(
            build(&ENTRIES[2..], Some("other")).unwrap()[0]
                .skipped
                .len(),
            0
        );
    }
}
