//! Formats reports for people.

use std::fmt::Write;

use super::super::numbers::{bytes, count, micros, percent, plural, rate};
use super::{Latency, LoadReport, MemoryReport, Report};

/// Formats a report.
pub(in crate::bench) fn text(report: &Report) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, report);
    text
}

fn write(text: &mut String, report: &Report) -> std::fmt::Result {
    let target = &report.target;
    writeln!(
        text,
        "{} over {} at {}",
        target.operation, target.wire, target.url
    )?;
    writeln!(text, "{}\n", load(&report.load))?;
    let mut row = |name: &str, what: String| writeln!(text, "  {name:<10} {what}");
    let asked = match report.asked_per_second {
        Some(asked) => format!(" of {} requested", rate(asked)),
        None => String::new(),
    };
    row(
        "calls/s",
        format!(
            "{}{asked} ({} replies to {} calls in {:.2} s)",
            rate(report.calls_per_second),
            count(report.replies),
            count(report.calls),
            report.measured_ms / 1e3
        ),
    )?;
    row(
        "success",
        format!(
            "{} ({} failed)",
            percent(report.success_rate),
            count(report.failed)
        ),
    )?;
    row("skipped", format!("{} calls", count(report.skipped_sends)))?;
    row("latency", distribution(&report.latency_us))?;
    if let Some(lateness) = &report.lateness_us {
        row("sent late", distribution(lateness))?;
    }
    let memory = |memory: &Option<MemoryReport>, unknown: &str| match memory {
        Some(memory) => self::memory(memory),
        None => unknown.to_owned(),
    };
    row(
        "memory",
        format!(
            "client {}",
            memory(&report.memory.client, "unknown on this system")
        ),
    )?;
    row(
        "",
        format!(
            "server {}",
            memory(
                &report.memory.server,
                "unknown (use --server-pid PID if it runs on this machine)"
            )
        ),
    )?;
    let warm_up = &report.warm_up;
    if warm_up.calls > 0 {
        row(
            "warm-up",
            format!(
                "{} calls, {} failed",
                count(warm_up.calls),
                count(warm_up.failed)
            ),
        )?;
    }
    for errors in &report.errors {
        row("error", format!("{}: {}", errors.kind, count(errors.count)))?;
        for sample in &errors.samples {
            row("", format!("  {sample}"))?;
        }
    }
    if let Some(knee) = &report.knee {
        for step in &knee.steps {
            row("step", step.to_string())?;
        }
        match knee.sustained {
            Some(sustained) => row("knee", format!("{} calls/s sustained", rate(sustained)))?,
            None => row("knee", "no rate was sustained".to_owned())?,
        }
    }
    for threshold in &report.thresholds {
        let measured = threshold
            .measured
            .map_or("no value".to_owned(), |it| format!("{it}"));
        let verdict = if threshold.passed { "passed" } else { "MISSED" };
        row(
            "threshold",
            format!("{} {verdict}: measured {measured}", threshold.threshold),
        )?;
    }
    if report.ended_early {
        row("note", "the run ended early".to_owned())?;
    }
    for warning in &report.warnings {
        row("WARNING", warning.clone())?;
    }
    Ok(())
}

fn load(load: &LoadReport) -> String {
    let threads = plural(load.threads, "thread");
    let clients = plural(load.clients_per_thread, "client");
    let clients = format!("{threads} x {clients}");
    let how = match (load.concurrency, load.interval_ms, &load.schedule) {
        (Some(calls), Some(interval), _) if interval > 0.0 => {
            let calls = plural(calls, "call");
            format!("closed loop: {clients} x {calls} every {interval} ms")
        }
        (Some(calls), _, _) => {
            let calls = plural(calls, "call");
            format!("closed loop: {clients} x {calls} at once")
        }
        (None, _, Some(schedule)) => format!("open loop: {schedule}, {clients}"),
        (None, _, None) => format!("open loop: {clients}"),
    };
    let [duration, warm_up] = [load.duration_ms, load.warm_up_ms].map(|millis| millis / 1e3);
    format!("{how}, {duration} s after {warm_up} s of warm-up")
}

fn distribution(latency: &Latency) -> String {
    format!(
        "p50 {}  p90 {}  p99 {}  p99.9 {}  max {}",
        micros(latency.p50),
        micros(latency.p90),
        micros(latency.p99),
        micros(latency.p99_9),
        micros(latency.max)
    )
}

fn memory(memory: &MemoryReport) -> String {
    format!(
        "{}, peak {}; {} per call, growth {} per call",
        bytes(memory.end as f64),
        bytes(memory.peak as f64),
        bytes(memory.per_call),
        bytes(memory.growth_per_call)
    )
}
