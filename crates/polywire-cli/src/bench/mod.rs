//! `polywire bench`: load generation and measurement.
//!
//! [`plan`] and [`schedule`] describe a run, [`wire`] makes calls, and [`engine`] sends them.
//! [`recording`] counts results, [`measurement`] collects the counts, and [`report`] formats them.
//! These modules use neither clock nor I/O: [`schedule`], [`recording`], [`knee`], [`threshold`],
//! [`warnings`].

mod arguments;
mod compare;
mod engine;
mod hdr;
mod knee;
mod live;
mod measurement;
mod memory;
mod numbers;
mod plan;
mod recording;
mod reply;
mod report;
mod schedule;
mod threshold;
mod warnings;
mod wire;

pub(crate) use arguments::Arguments;

use knee::{Search, Step};
use live::ProgressDisplay;
use measurement::measure;
use report::{KneeReport, Report};
use wire::{Target, TargetSpec};

use crate::output::OutputFile;
use crate::signals::Signals;
use crate::{Failure, print};

/// The exit status if a threshold was missed.
const MISSED: u8 = 4;

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.json_schema {
        return print::out(report::SCHEMA);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime
        .map_err(Failure::transport)?
        .block_on(bench(arguments))
}

async fn bench(arguments: &Arguments) -> Result<(), Failure> {
    // Check the arguments before anything is sent.
    let (plan, schedule) = arguments.plan()?;
    let old = arguments
        .compare
        .as_deref()
        .map(compare::read)
        .transpose()?;
    let mut relative = arguments.threshold.iter();
    if let Some(threshold) = relative.find(|threshold| threshold.is_relative() && old.is_none()) {
        return Err(Failure::usage(format!(
            "--threshold '{threshold}' requires an older report: --compare OLD.json"
        )));
    }
    if let Some(pid) = arguments.server_pid
        && !memory::MemorySampler::process(pid).is_readable()
    {
        return Err(Failure::usage(format!(
            "--server-pid {pid}: no such process, or its memory cannot be read"
        )));
    }
    for path in [&arguments.output, &arguments.hdr_log]
        .into_iter()
        .flatten()
    {
        arguments.overwrite.check(path)?;
    }
    let log_file = arguments.hdr_log.as_deref().map(hdr::LogFile::create);
    let mut log_file = log_file.transpose()?;
    let spec = TargetSpec {
        url: arguments.url.as_deref().unwrap_or_default(),
        operation: arguments.operation.as_deref(),
        input: arguments.input.as_deref(),
        deadline: plan.deadline,
        expectation: arguments.expectation(),
    };
    let target = wire::target(spec, &arguments.service, arguments.xmlrpc).await?;
    let mut signals = Signals::new().map_err(Failure::transport)?;
    let what = target.info().to_string();
    let log = log_file
        .as_mut()
        .map(|log_file| hdr::Log::begin(log_file, &what));
    let mut live = ProgressDisplay::new(arguments.quiet, log.transpose()?);
    let mut report = match arguments.find_knee {
        true => find_knee(arguments, &target, &mut signals, &mut live, old.as_ref()).await?,
        false => {
            let pid = arguments.server_pid;
            let measurement = measure(&plan, &target, pid, &mut signals, &mut live).await?;
            Report::new(&target.info(), &plan, schedule, &measurement)
        }
    };
    drop(live);
    let thresholds = arguments.threshold.iter();
    let thresholds = thresholds.map(|threshold| threshold.check(&report, old.as_ref()));
    report.thresholds = thresholds.collect();
    print_report(arguments, &report, old.as_ref())
}

/// Prints the report. Returns an error for missed thresholds.
fn print_report(
    arguments: &Arguments,
    report: &Report,
    old: Option<&Report>,
) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(report).map_err(Failure::transport)? + "\n";
    if let Some(path) = &arguments.output {
        arguments.overwrite.write(&[OutputFile::new(path, &json)])?;
    }
    let mut text = report::text(report);
    if let Some(old) = old {
        text.push('\n');
        text.push_str(&compare::text(old, report));
    }
    match arguments.json {
        true => {
            print::out(&json)?;
            if old.is_some() {
                print::err(&text);
            }
        }
        false => print::out(&print::escape_controls(&text))?,
    }
    let missed = report.thresholds.iter().filter(|it| !it.passed);
    let missed: Vec<&str> = missed.map(|it| it.threshold.as_str()).collect();
    if report.replies == 0 {
        return Err(Failure::transport(no_reply(report)));
    }
    if !missed.is_empty() {
        let message = format!("error: thresholds missed: {}", missed.join(", "));
        return Err(Failure::new(MISSED, message));
    }
    Ok(())
}

/// Error message for runs without replies. Includes the first error, because the report is long.
fn no_reply(report: &Report) -> String {
    let errors = report.errors.first();
    let sample = errors.and_then(|errors| Some((&errors.kind, errors.samples.first()?)));
    match sample {
        Some((kind, sample)) => format!("no call had an expected reply: {kind}: {sample}"),
        None => "no call had an expected reply".to_owned(),
    }
}

/// Searches for the highest sustained rate and returns its report. If no rate was sustained, returns
/// the report of the lowest rate.
async fn find_knee(
    arguments: &Arguments,
    target: &Target,
    signals: &mut Signals,
    live: &mut ProgressDisplay<'_>,
    old: Option<&Report>,
) -> Result<Report, Failure> {
    let mut search = Search::new(arguments.first_rate());
    let mut steps: Vec<Step> = Vec::new();
    let mut reports: Vec<(f64, Report)> = Vec::new();
    while let Some(spec) = search.next() {
        let (plan, schedule) = arguments.plan_at(spec)?;
        live.begin(format!("{} calls/s: ", numbers::rate(spec)));
        let pid = arguments.server_pid;
        let measurement = measure(&plan, target, pid, signals, live).await?;
        let report = Report::new(&target.info(), &plan, schedule, &measurement);
        let ended = report.ended_early;
        let step = knee::judge(spec, &report, &arguments.threshold, old);
        search.record(step.sustained);
        reports.push((spec, report));
        steps.push(step);
        if ended {
            break;
        }
    }
    // The last run of the highest sustained rate. If none was sustained, the lowest rate was record
    // last.
    let knee = search.sustained();
    let of_knee = |(spec, _): &(f64, Report)| knee.is_none_or(|knee| knee == *spec);
    let at = reports.iter().rposition(of_knee);
    let at = at.ok_or_else(|| Failure::transport("no rate was record"))?;
    let (_, mut report) = reports.swap_remove(at);
    report.knee = Some(KneeReport {
        sustained: knee,
        steps,
    });
    Ok(report)
}
