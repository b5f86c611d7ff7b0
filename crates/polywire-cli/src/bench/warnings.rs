//! Warnings about results that may not be reliable.

use super::numbers::{count, micros, rate};
use super::report::Report;

/// A thread that is busy for this fraction of the time has reached its limit.
const MAX_BUSY: f64 = 0.9;

/// A thread that waits for a CPU for this fraction of the time sends and reads late.
const MAX_WAITING: f64 = 0.2;

/// Calls sent this late (in microseconds) distort the latency, unless it is ten times larger.
const MAX_LATENESS_US: f64 = 1_000.0;

/// The requested rate is reached if the measured rate is at least this fraction of it.
pub(super) const MIN_RATE_RATIO: f64 = 0.95;

/// Adds warnings to a report, and detects whether the load generator was the bottleneck.
pub(super) fn warnings(report: &mut Report) {
    let mut warnings = Vec::new();
    let generator = &mut report.generator;
    if let Some(busy) = generator.busy.filter(|busy| *busy >= MAX_BUSY) {
        generator.bottleneck = true;
        warnings.push(format!(
            "the load generator is the bottleneck: a thread was busy {:.0}% of the time; use more \
             threads (-t) or another machine",
            busy * 100.0
        ));
    }
    if let Some(waiting) = generator.waiting.filter(|waiting| *waiting >= MAX_WAITING) {
        generator.bottleneck = true;
        warnings.push(format!(
            "the load generator is the bottleneck: a thread waited for a CPU {:.0}% of the time; \
             reserve CPUs for it",
            waiting * 100.0
        ));
    }
    if let Some(lateness) = &report.lateness_us
        && lateness.p99 >= MAX_LATENESS_US
        && lateness.p99 * 10.0 >= report.latency_us.p99
    {
        generator.bottleneck = true;
        warnings.push(format!(
            "the load generator is the bottleneck: 1% of the calls were sent at least {} late, which is \
             included in their latency",
            micros(lateness.p99)
        ));
    }
    if report.skipped_sends > 0 {
        warnings.push(format!(
            "{} calls were skipped because the limit of open calls was reached; they are not counted as \
             failed and have no latency",
            count(report.skipped_sends)
        ));
    }
    if let Some(asked) = report.asked_per_second
        && report.calls_per_second < asked * MIN_RATE_RATIO
        && !report.ended_early
    {
        warnings.push(format!(
            "{} calls/s were requested, but only {} had replies",
            rate(asked),
            rate(report.calls_per_second)
        ));
    }
    let different = report
        .errors
        .iter()
        .find(|errors| errors.kind == "different");
    if different.is_some_and(|errors| errors.count * 10 > report.calls) {
        let message = "replies differ between calls: if that is expected, use --any-reply";
        warnings.push(message.to_owned());
    }
    report.warnings = warnings;
}

#[cfg(test)]
mod tests {
    use super::super::report::Report;
    use super::*;

    fn report(change: impl FnOnce(&mut Report)) -> Report {
        let mut report = Report::example();
        change(&mut report);
        warnings(&mut report);
        report
    }

    #[track_caller]
    fn warned(report: &Report, bottleneck: bool, part: &str) {
        assert_eq!(report.generator.bottleneck, bottleneck);
        let [warning] = &report.warnings[..] else {
            panic!("{:?}", report.warnings);
        };
        assert!(warning.contains(part), "{warning}");
    }

    #[test]
    fn no_warnings() {
        let quiet = report(|_| ());
        assert_eq!(
            (quiet.warnings.len(), quiet.generator.bottleneck),
            (0, false)
        );
    }

    #[test]
    fn detects_generator_as_bottleneck() {
        let busy = report(|report| report.generator.busy = Some(0.97));
        warned(&busy, true, "busy 97% of the time");
        let waiting = report(|report| report.generator.waiting = Some(0.3));
        warned(&waiting, true, "waited for a CPU 30%");
        let late = report(|report| {
            let mut lateness = report.latency_us;
            lateness.p99 = 2_000.0;
            report.lateness_us = Some(lateness);
            report.latency_us.p99 = 10_000.0;
        });
        warned(&late, true, "sent at least 2.00 ms late");
        // The delay is small compared to the latency.
        let slow = report(|report| {
            let mut lateness = report.latency_us;
            lateness.p99 = 2_000.0;
            report.lateness_us = Some(lateness);
            report.latency_us.p99 = 30_000.0;
        });
        assert!(!slow.generator.bottleneck && slow.warnings.is_empty());
    }

    #[test]
    fn other_warnings() {
        let skipped = report(|report| report.skipped_sends = 1_234);
        warned(&skipped, false, "1,234 calls were skipped");
        let slow = report(|report| report.asked_per_second = Some(2_000.0));
        warned(
            &slow,
            false,
            "2,000 calls/s were requested, but only 1,000 had replies",
        );
        let different = report(|report| {
            report.errors.push(super::super::report::ErrorKind {
                kind: "different".to_owned(),
                count: 500,
                samples: Vec::new(),
            });
        });
        warned(&different, false, "--any-reply");
    }
}
