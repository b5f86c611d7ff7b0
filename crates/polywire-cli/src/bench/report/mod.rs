//! The report of a run. `report.schema.json` documents its JSON members.

#[cfg(test)]
mod example;
mod text;

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::engine::ThreadUsage;
use super::knee::Step;
use super::measurement::{Measurement, Second};
use super::memory::Memory;
use super::plan::{Load, Plan};
use super::warnings::warnings;
use super::wire::TargetInfo;

pub(super) use text::text;

/// The JSON Schema of [`Report`].
pub(super) const SCHEMA: &str = include_str!("report.schema.json");

/// The version of the report format. It is incremented if the meaning of a member changes, but not
/// for new members.
const FORMAT: u32 = 1;

/// A report. Reports of other versions may have additional members.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Report {
    pub(super) success_rate: f64,
    /// The version of the format, [`FORMAT`]. 0 for reports without version.
    #[serde(default)]
    pub(super) format: u32,
    pub(super) calls_per_second: f64,
    pub(super) asked_per_second: Option<f64>,
    pub(super) calls: u64,
    pub(super) replies: u64,
    pub(super) failed: u64,
    pub(super) skipped_sends: u64,
    pub(super) latency_us: Latency,
    pub(super) lateness_us: Option<Latency>,
    pub(super) errors: Vec<ErrorKind>,
    pub(super) memory: ProcessMemory,
    pub(super) generator: Generator,
    pub(super) measured_ms: f64,
    pub(super) ended_early: bool,
    pub(super) warm_up: WarmUp,
    pub(super) target: Target,
    pub(super) load: LoadReport,
    pub(super) seconds: Vec<SecondReport>,
    pub(super) knee: Option<KneeReport>,
    pub(super) thresholds: Vec<ThresholdReport>,
    pub(super) warnings: Vec<String>,
    pub(super) polywire: String,
}

/// A distribution of times, in microseconds.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Latency {
    pub(super) min: f64,
    pub(super) mean: f64,
    pub(super) p50: f64,
    pub(super) p90: f64,
    pub(super) p99: f64,
    pub(super) p99_9: f64,
    pub(super) max: f64,
}

impl Latency {
    /// Converts a histogram in nanoseconds.
    fn of(histogram: &Histogram<u64>) -> Self {
        let at = |quantile| histogram.value_at_quantile(quantile) as f64 / 1e3;
        Self {
            min: histogram.min() as f64 / 1e3,
            mean: (histogram.mean().round()) / 1e3,
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p99_9: at(0.999),
            max: histogram.max() as f64 / 1e3,
        }
    }
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct ErrorKind {
    pub(super) kind: String,
    pub(super) count: u64,
    pub(super) samples: Vec<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct ProcessMemory {
    pub(super) client: Option<MemoryReport>,
    pub(super) server: Option<MemoryReport>,
}

/// In bytes.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct MemoryReport {
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) peak: u64,
    pub(super) per_call: f64,
    pub(super) growth_per_call: f64,
}

impl MemoryReport {
    fn of(memory: Memory, calls: u64) -> Self {
        let calls = calls.max(1) as f64;
        Self {
            begin: memory.begin,
            end: memory.end,
            peak: memory.peak,
            per_call: hundredths(memory.end as f64 / calls),
            growth_per_call: hundredths(memory.end.saturating_sub(memory.begin) as f64 / calls),
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Generator {
    /// Of the busiest thread, from 0 to 1.
    pub(super) busy: Option<f64>,
    /// Of the thread that waited most for a CPU, from 0 to 1.
    pub(super) waiting: Option<f64>,
    pub(super) bottleneck: bool,
}

impl Generator {
    fn of(usage: &ThreadUsage) -> Self {
        let each = || usage.iter().flatten();
        Self {
            busy: each().map(|usage| usage.busy).reduce(f64::max),
            waiting: each().map(|usage| usage.waiting).reduce(f64::max),
            bottleneck: false,
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct WarmUp {
    pub(super) calls: u64,
    pub(super) failed: u64,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Target {
    pub(super) url: String,
    pub(super) wire: String,
    pub(super) operation: String,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct LoadReport {
    /// `closed` or `open`.
    pub(super) r#loop: String,
    pub(super) threads: u32,
    pub(super) clients_per_thread: u32,
    pub(super) concurrency: Option<u32>,
    pub(super) interval_ms: Option<f64>,
    /// As given on the command line.
    pub(super) schedule: Option<String>,
    pub(super) most_open: Option<u32>,
    pub(super) warm_up_ms: f64,
    pub(super) duration_ms: f64,
    pub(super) deadline_ms: f64,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct SecondReport {
    pub(super) from_ms: f64,
    pub(super) to_ms: f64,
    pub(super) calls_per_second: f64,
    pub(super) failed: u64,
    pub(super) p50_us: f64,
    pub(super) p99_us: f64,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct KneeReport {
    /// The highest sustained rate. Null if none was sustained.
    pub(super) sustained: Option<f64>,
    pub(super) steps: Vec<Step>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct ThresholdReport {
    pub(super) threshold: String,
    pub(super) measured: Option<f64>,
    pub(super) passed: bool,
}

fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

fn hundredths(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

impl LoadReport {
    /// `schedule` is the description from the command line.
    fn of(plan: &Plan, schedule: Option<String>) -> Self {
        let (concurrency, interval, most_open) = match &plan.load {
            Load::Closed { concurrency } => (Some(*concurrency), Some(Duration::ZERO), None),
            Load::Paced {
                concurrency,
                interval,
            } => (Some(*concurrency), Some(*interval), None),
            Load::Open { most_open, .. } => (None, None, Some(*most_open)),
        };
        let is_open = most_open.is_some();
        Self {
            r#loop: if is_open { "open" } else { "closed" }.to_owned(),
            threads: plan.threads,
            clients_per_thread: plan.clients,
            concurrency,
            interval_ms: interval.map(millis),
            schedule,
            most_open,
            warm_up_ms: millis(plan.warm_up),
            duration_ms: millis(plan.duration),
            deadline_ms: millis(plan.deadline),
        }
    }
}

impl SecondReport {
    fn of(second: &Second) -> Self {
        let seconds = (second.to - second.from).as_secs_f64();
        Self {
            from_ms: millis(second.from),
            to_ms: millis(second.to),
            calls_per_second: hundredths(second.arrived as f64 / seconds),
            failed: second.failed,
            p50_us: second.p50,
            p99_us: second.p99,
        }
    }
}

impl Report {
    pub(super) fn new(
        info: &TargetInfo,
        plan: &Plan,
        schedule: Option<String>,
        measured: &Measurement,
    ) -> Self {
        let tally = &measured.tally;
        let time = measured.window.end - measured.window.start;
        let calls_per_second = match time.is_zero() {
            true => 0.0,
            false => hundredths(tally.arrived as f64 / time.as_secs_f64()),
        };
        let memory = |memory: Option<Memory>| memory.map(|it| MemoryReport::of(it, tally.sent));
        let errors = tally.errors.iter().map(|(kind, errors)| ErrorKind {
            kind: (*kind).to_owned(),
            count: errors.count,
            samples: errors.samples.clone(),
        });
        let is_open = matches!(plan.load, Load::Open { .. });
        let mut report = Self {
            success_rate: tally.success_rate(),
            format: FORMAT,
            calls_per_second,
            asked_per_second: plan.load.asked(plan),
            calls: tally.sent,
            replies: tally.replied,
            failed: tally.failed(),
            skipped_sends: tally.skipped,
            latency_us: Latency::of(&tally.latency),
            lateness_us: is_open.then(|| Latency::of(&tally.lateness)),
            errors: errors.collect(),
            memory: ProcessMemory {
                client: memory(measured.client),
                server: memory(measured.server),
            },
            generator: Generator::of(&measured.usage),
            measured_ms: millis(time),
            ended_early: measured.ended_early,
            warm_up: WarmUp {
                calls: tally.warm_up.0,
                failed: tally.warm_up.1,
            },
            target: Target {
                url: info.url.clone(),
                wire: info.wire.clone(),
                operation: info.operation.clone(),
            },
            load: LoadReport::of(plan, schedule),
            seconds: measured.seconds.iter().map(SecondReport::of).collect(),
            knee: None,
            thresholds: Vec::new(),
            warnings: Vec::new(),
            polywire: env!("CARGO_PKG_VERSION").to_owned(),
        };
        // Most frequent first.
        report.errors.sort_by_key(|errors| u64::MAX - errors.count);
        warnings(&mut report);
        report
    }
}
