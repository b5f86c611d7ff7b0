//! Thresholds for results: `p99<5ms`, `success_rate>=0.999`.

use std::fmt;
use std::str::FromStr;

use super::report::{Report, ThresholdReport};

/// A condition on a metric.
#[derive(Clone, Debug)]
pub(super) struct Threshold {
    text: String,
    metric: Metric,
    comparison: Comparison,
    limit: Limit,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Comparison {
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Limit {
    /// In the unit of the metric.
    Number(f64),
    /// A multiple of the value in the older report.
    Times(f64),
}

/// A metric of a report.
#[derive(Clone, Copy, Debug)]
struct Metric {
    name: &'static str,
    kind: Kind,
    value: fn(&Report) -> f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Number,
    /// A fraction, from 0 to 1 or in percent.
    Fraction,
    /// In microseconds.
    Time,
}

const METRICS: [Metric; 11] = [
    metric("rate", Kind::Number, |report| report.calls_per_second),
    metric("success_rate", Kind::Fraction, |report| report.success_rate),
    metric("failed", Kind::Number, |report| report.failed as f64),
    metric("skipped", Kind::Number, |report| {
        report.skipped_sends as f64
    }),
    metric("mean", Kind::Time, |report| report.latency_us.mean),
    metric("p50", Kind::Time, |report| report.latency_us.p50),
    metric("p90", Kind::Time, |report| report.latency_us.p90),
    metric("p99", Kind::Time, |report| report.latency_us.p99),
    metric("p99.9", Kind::Time, |report| report.latency_us.p99_9),
    metric("max", Kind::Time, |report| report.latency_us.max),
    metric("knee", Kind::Number, |report| {
        let knee = report.knee.as_ref().and_then(|knee| knee.sustained);
        knee.unwrap_or(0.0)
    }),
];

const fn metric(name: &'static str, kind: Kind, value: fn(&Report) -> f64) -> Metric {
    Metric { name, kind, value }
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let at = text.find(['<', '>']);
        let at = at.ok_or("expected METRIC<VALUE, with <, <=, > or >=")?;
        let (name, rest) = (text[..at].trim(), &text[at..]);
        let metric = METRICS.iter().find(|metric| metric.name == name);
        let metric = *metric.ok_or_else(|| {
            let names: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
            format!(
                "unknown metric `{name}`: expected one of {}",
                names.join(", ")
            )
        })?;
        let comparisons = [
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::MoreOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::More),
        ];
        let found = comparisons
            .into_iter()
            .find_map(|(sign, comparison)| Some((comparison, rest.strip_prefix(sign)?)));
        let (comparison, value) = found.ok_or("expected <, <=, > or >=")?;
        let limit = limit(metric.kind, value.trim()).ok_or_else(|| {
            let expected = match metric.kind {
                Kind::Number => "a number, such as 1000",
                Kind::Fraction => "a fraction, such as 0.999 or 99.9%",
                Kind::Time => "a time, such as 500us, 5ms or 1s",
            };
            format!(
                "`{}`: expected {expected}, or a multiple of the older report, such as 1.1x",
                value.trim()
            )
        })?;
        Ok(Self {
            text: text.trim().to_owned(),
            metric,
            comparison,
            limit,
        })
    }
}

fn limit(kind: Kind, text: &str) -> Option<Limit> {
    let number = |text: &str| {
        let number: f64 = text.trim().parse().ok()?;
        (number.is_finite() && number >= 0.0).then_some(number)
    };
    if let Some(times) = text.strip_suffix('x') {
        return number(times).map(Limit::Times);
    }
    let with = |unit: &str, factor: f64| Some(number(text.strip_suffix(unit)?)? * factor);
    let value = match kind {
        Kind::Number => number(text),
        Kind::Fraction => with("%", 0.01)
            .or_else(|| number(text))
            .filter(|part| *part <= 1.0),
        // Try longer units first, because `s` is a suffix of `us` and `ms`.
        Kind::Time => with("us", 1.0)
            .or_else(|| with("ms", 1e3))
            .or_else(|| with("s", 1e6)),
    };
    value.map(Limit::Number)
}

impl Threshold {
    /// Whether an older report is required.
    pub(super) const fn is_relative(&self) -> bool {
        matches!(self.limit, Limit::Times(_))
    }

    /// Whether the metric is a latency.
    pub(super) fn is_latency(&self) -> bool {
        self.metric.kind == Kind::Time
    }

    /// Whether the metric is the result of `--find-knee`.
    pub(super) fn is_knee(&self) -> bool {
        self.metric.name == "knee"
    }

    pub(super) fn check(&self, report: &Report, old: Option<&Report>) -> ThresholdReport {
        let value = (self.metric.value)(report);
        let limit = match self.limit {
            Limit::Number(limit) => Some(limit),
            Limit::Times(times) => old.map(|old| (self.metric.value)(old) * times),
        };
        // Latencies without replies are missing, not 0.
        let measured = match self.metric.kind {
            Kind::Time => (report.replies > 0).then_some(value),
            _ => Some(value),
        };
        let passed = measured
            .zip(limit)
            .is_some_and(|(value, limit)| match self.comparison {
                Comparison::Less => value < limit,
                Comparison::LessOrEqual => value <= limit,
                Comparison::More => value > limit,
                Comparison::MoreOrEqual => value >= limit,
            });
        ThresholdReport {
            threshold: self.text.clone(),
            measured,
            passed,
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, old: Option<&Report>) -> bool {
        let threshold: Threshold = text.parse().unwrap();
        threshold.check(&Report::example(), old).passed
    }

    #[test]
    fn conditions() {
        for (text, passed) in [
            ("rate>=1000", true),
            ("rate > 1000", false),
            ("success_rate>=0.999", true),
            ("success_rate>=100%", true),
            ("success_rate<100%", false),
            ("p99<400us", false),
            ("p99<=400us", true),
            ("p99<0.5ms", true),
            ("p99.9<1s", true),
            ("max<=1ms", true),
            ("failed<1", true),
            ("skipped<=0", true),
            ("knee>1", false),
        ] {
            assert_eq!(check(text, None), passed, "{text}");
        }
    }

    #[test]
    fn multiples_of_an_older_report() {
        let mut old = Report::example();
        old.calls_per_second = 1_050.0;
        assert!(check("rate>=0.95x", Some(&old)));
        assert!(!check("rate>=0.96x", Some(&old)));
        assert!(!check("rate>=0.1x", None));
        assert!("p99<1.1x".parse::<Threshold>().unwrap().is_relative());
    }

    /// A run without replies has no latency, and must not pass.
    #[test]
    fn runs_without_replies_do_not_pass() {
        let mut report = Report::example();
        report.replies = 0;
        report.latency_us.p99 = 0.0;
        let threshold: Threshold = "p99<5ms".parse().unwrap();
        let checked = threshold.check(&report, None);
        assert_eq!((checked.measured, checked.passed), (None, false));
    }

    #[test]
    fn rejects_invalid_conditions() {
        for (text, part) in [
            ("p99", "METRIC<VALUE"),
            ("p98<5ms", "p99.9"),
            ("p99<5", "5ms"),
            ("p99<-5ms", "5ms"),
            ("p99<x", "5ms"),
            ("rate>fast", "a number"),
            ("success_rate>=99", "99.9%"),
            ("rate><5", "a number"),
        ] {
            let error = text.parse::<Threshold>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
