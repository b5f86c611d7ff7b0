//! What a reader of a report has to know before believing it.

use super::report::Report;
use super::words::{count, micros, rate};

/// A thread that is busy for so much of the time has no room left.
const BUSY: f64 = 0.9;

/// A thread that waits for a processor for so much of the time sends and reads late.
const WAITING: f64 = 0.2;

/// Calls that are sent so many microseconds late bend the latency, if it is not ten times more.
const LATE: f64 = 1_000.0;

/// The rate is what was asked for, if it is at least so much of it.
pub(super) const KEPT: f64 = 0.95;

/// Finds out whether the generator was the bottleneck, and what else there is to say.
pub(super) fn warnings(report: &mut Report) {
    let mut warnings = Vec::new();
    let generator = &mut report.generator;
    if let Some(busy) = generator.busy.filter(|busy| *busy >= BUSY) {
        generator.bottleneck = true;
        warnings.push(format!(
            "the generator is the bottleneck: a thread of it was busy {:.0}% of the time; give it more \
             threads (-t), or another machine",
            busy * 100.0
        ));
    }
    if let Some(waiting) = generator.waiting.filter(|waiting| *waiting >= WAITING) {
        generator.bottleneck = true;
        warnings.push(format!(
            "the generator is the bottleneck: a thread of it waited for a processor {:.0}% of the \
             time; give it processors of its own",
            waiting * 100.0
        ));
    }
    if let Some(lateness) = &report.lateness_us
        && lateness.p99 >= LATE
        && lateness.p99 * 10.0 >= report.latency_us.p99
    {
        generator.bottleneck = true;
        warnings.push(format!(
            "the generator is the bottleneck: one call of a hundred was sent {} late or more, which \
             counts as its latency",
            micros(lateness.p99)
        ));
    }
    if report.skipped_sends > 0 {
        warnings.push(format!(
            "{} sends were skipped, since as many calls were open as may: they count neither as \
             failed nor for the latency",
            count(report.skipped_sends)
        ));
    }
    if let Some(asked) = report.asked_per_second
        && report.calls_per_second < asked * KEPT
        && !report.ended_early
    {
        warnings.push(format!(
            "{} calls/s were asked for, and {} answered",
            rate(asked),
            rate(report.calls_per_second)
        ));
    }
    let different = report
        .errors
        .iter()
        .find(|errors| errors.kind == "different");
    if different.is_some_and(|errors| errors.count * 10 > report.calls) {
        let message = "replies differ from call to call: if they may, --any-reply takes them all";
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
    fn nothing_to_say() {
        let quiet = report(|_| ());
        assert_eq!(
            (quiet.warnings.len(), quiet.generator.bottleneck),
            (0, false)
        );
    }

    #[test]
    fn the_generator_is_the_bottleneck() {
        let busy = report(|report| report.generator.busy = Some(0.97));
        warned(&busy, true, "busy 97% of the time");
        let waiting = report(|report| report.generator.waiting = Some(0.3));
        warned(&waiting, true, "waited for a processor 30%");
        let late = report(|report| {
            let mut lateness = report.latency_us;
            lateness.p99 = 2_000.0;
            report.lateness_us = Some(lateness);
            report.latency_us.p99 = 10_000.0;
        });
        warned(&late, true, "sent 2.00 ms late");
        // What takes long anyway is not bent by it.
        let slow = report(|report| {
            let mut lateness = report.latency_us;
            lateness.p99 = 2_000.0;
            report.lateness_us = Some(lateness);
            report.latency_us.p99 = 30_000.0;
        });
        assert!(!slow.generator.bottleneck && slow.warnings.is_empty());
    }

    #[test]
    fn the_rest() {
        let skipped = report(|report| report.skipped_sends = 1_234);
        warned(&skipped, false, "1,234 sends were skipped");
        let slow = report(|report| report.asked_per_second = Some(2_000.0));
        warned(
            &slow,
            false,
            "2,000 calls/s were asked for, and 1,000 answered",
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
