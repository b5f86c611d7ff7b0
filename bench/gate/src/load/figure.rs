//! What a run of a system comes to.

use std::collections::BTreeMap;

use serde::Serialize;

/// Something that is measured of a system under load.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Calls that were answered, a second.
    Rate,
    /// Nanoseconds that half of the calls took at the most.
    P50,
    /// Nanoseconds that 99% of the calls took at the most.
    P99,
    /// Nanoseconds of the slowest call.
    Slowest,
    /// Calls that were answered, of those that were made, from 0 to 1.
    Answered,
    /// Calls that were not.
    Failed,
    /// Bytes of memory that the process of the server has, as the system counts them.
    Memory,
    /// Bytes that this grows by for each connection that does nothing.
    IdleConnection,
}

impl Figure {
    /// As it stands in a sentence.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Rate => "calls a second",
            Self::P50 => "p50",
            Self::P99 => "p99",
            Self::Slowest => "slowest call",
            Self::Answered => "answered",
            Self::Failed => "failed",
            Self::Memory => "memory of the server",
            Self::IdleConnection => "bytes an idle connection",
        }
    }
}

/// The figures of one run, or their medians over several.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Figures(BTreeMap<Figure, f64>);

impl Figures {
    /// Those, and this one.
    #[must_use]
    pub fn with(mut self, figure: Figure, value: f64) -> Self {
        self.0.insert(figure, value);
        self
    }

    pub(crate) fn get(&self, figure: Figure) -> Option<f64> {
        self.0.get(&figure).copied()
    }

    /// The median of each figure; of what was answered and what failed the worst, since one
    /// lost call is one too many.
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
    fn one_bad_run_does_not_count_but_one_lost_call_does() {
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
