//! The figures of a system under load.

use std::collections::BTreeMap;

use serde::Serialize;

/// A figure of a system under load.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Answered calls per second.
    Rate,
    /// The median latency, in nanoseconds.
    P50,
    /// The 99th percentile of the latency, in nanoseconds.
    P99,
    /// The latency of the slowest call, in nanoseconds.
    Slowest,
    /// The share of calls that were answered, from 0 to 1.
    Answered,
    /// The number of calls that were not answered.
    Failed,
    /// The resident memory of the server's process, in bytes.
    Memory,
    /// The memory of an idle connection, in bytes.
    IdleConnection,
}

impl Figure {
    /// The name in a sentence.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Rate => "calls per second",
            Self::P50 => "p50",
            Self::P99 => "p99",
            Self::Slowest => "slowest call",
            Self::Answered => "answered",
            Self::Failed => "failed",
            Self::Memory => "memory of the server",
            Self::IdleConnection => "bytes per idle connection",
        }
    }
}

/// The figures of one run, or their medians over several.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Figures(BTreeMap<Figure, f64>);

impl Figures {
    /// Adds a figure.
    #[must_use]
    pub fn with(mut self, figure: Figure, value: f64) -> Self {
        self.0.insert(figure, value);
        self
    }

    pub(crate) fn get(&self, figure: Figure) -> Option<f64> {
        self.0.get(&figure).copied()
    }

    /// The median of each figure, but the worst run for the answered and failed calls.
    pub(super) fn medians(runs: &[Self]) -> Self {
        let Some(first) = runs.first() else {
            return Self::default();
        };
        let figures = first.0.keys().map(|&figure| {
            let mut values: Vec<f64> = runs.iter().filter_map(|run| run.get(figure)).collect();
            values.sort_by(f64::total_cmp);
            let at = match figure {
                Figure::Answered => 0,
                Figure::Failed => values.len() - 1,
                _ => values.len() / 2,
            };
            (figure, values[at])
        });
        Self(figures.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_except_for_failed_calls() {
        let run = |rate, answered, failed| {
            Figures::default()
                .with(Figure::Rate, rate)
                .with(Figure::Answered, answered)
                .with(Figure::Failed, failed)
        };
        let runs = [run(3.0, 1.0, 0.0), run(1.0, 1.0, 0.0), run(2.0, 0.9, 7.0)];
        assert_eq!(Figures::medians(&runs), run(2.0, 0.9, 7.0));
        assert_eq!(Figures::medians(&[]), Figures::default());
    }
}
