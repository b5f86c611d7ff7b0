//! Compares two reports.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::numbers::{bytes, micros, percent, rate};
use super::report::Report;
use crate::Failure;

/// Reads an older report.
pub(super) fn read(path: &Path) -> Result<Report, Failure> {
    let wrong = |error: &dyn std::fmt::Display| {
        Failure::usage(format!(
            "--compare {}: {error}; expected the output of `polywire bench --json`",
            path.display()
        ))
    };
    let text = fs::read_to_string(path).map_err(|error| wrong(&error))?;
    serde_json::from_str(&text).map_err(|error| wrong(&error))
}

/// Formats both reports side by side, and lists differences in their settings.
pub(super) fn text(old: &Report, new: &Report) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, old, new);
    text
}

fn write(text: &mut String, old: &Report, new: &Report) -> std::fmt::Result {
    writeln!(
        text,
        "  {:<22} {:>12} {:>12}   change",
        "compared", "old", "new"
    )?;
    let mut row = |name: &str, shown: fn(f64) -> String, value: &dyn Fn(&Report) -> Option<f64>| {
        let (Some(before), Some(after)) = (value(old), value(new)) else {
            return Ok(());
        };
        let change = match before == 0.0 {
            true if after == 0.0 => "none".to_owned(),
            true => "from none".to_owned(),
            false => format!("{:+.1}%", (after / before - 1.0) * 100.0),
        };
        let (before, after) = (shown(before), shown(after));
        writeln!(text, "  {name:<22} {before:>12} {after:>12}   {change}")
    };
    row("calls/s", rate, &|report| Some(report.calls_per_second))?;
    row("success", percent, &|report| Some(report.success_rate))?;
    let latency = |report: &Report| (report.replies > 0).then_some(report.latency_us);
    row("p50", micros, &|report| Some(latency(report)?.p50))?;
    row("p90", micros, &|report| Some(latency(report)?.p90))?;
    row("p99", micros, &|report| Some(latency(report)?.p99))?;
    row("p99.9", micros, &|report| Some(latency(report)?.p99_9))?;
    row("max", micros, &|report| Some(latency(report)?.max))?;
    row("client memory", bytes, &|report| {
        Some(report.memory.client?.end as f64)
    })?;
    row("server memory", bytes, &|report| {
        Some(report.memory.server?.end as f64)
    })?;
    row("knee, calls/s", rate, &|report| {
        report.knee.as_ref()?.sustained
    })?;
    for (name, differs) in [
        ("the target", old.target != new.target),
        ("the load", old.load != new.load),
        ("the version of polywire", old.polywire != new.polywire),
    ] {
        if differs {
            writeln!(text, "  note: {name} differs")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes() {
        let (old, mut new) = (Report::example(), Report::example());
        new.calls_per_second = 1_500.0;
        new.latency_us.p50 = 50.0;
        new.load.threads = 2;
        let text = text(&old, &new);
        for line in [
            "calls/s 1,000 1,500 +50.0%",
            "success 100% 100% +0.0%",
            "p50 100 us 50.0 us -50.0%",
            "note: the load differs",
        ] {
            let found = text.lines().any(|shown| {
                let words: Vec<&str> = shown.split_whitespace().collect();
                words.join(" ") == line
            });
            assert!(found, "{line}: {text}");
        }
        assert!(
            !text.contains("the target") && !text.contains("memory"),
            "{text}"
        );
    }
}
