//! The targets of a load.

use super::figure::{Figure, Figures};
use super::report::LoadReport;
use crate::target::{Judgement, Outcome};

/// A bound for our figure, or for its ratio to a peer's.
pub(super) struct LoadTarget {
    figure: Figure,
    peer: Option<String>,
    bound: Bound,
}

pub(super) enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

impl LoadTarget {
    pub(super) const fn limit(figure: Figure, bound: Bound) -> Self {
        Self {
            figure,
            peer: None,
            bound,
        }
    }

    pub(super) fn times_peer(figure: Figure, bound: Bound, peer: &str) -> Self {
        Self {
            figure,
            peer: Some(peer.to_owned()),
            bound,
        }
    }

    pub(super) fn peer(&self) -> Option<&str> {
        self.peer.as_deref()
    }

    pub(super) fn judge(&self, load: &LoadReport) -> Judgement {
        let actual = self.actual(load);
        let outcome = match actual {
            None => Outcome::Skipped,
            Some(actual) if self.reached_by(actual) => Outcome::Met,
            Some(_) => Outcome::Missed,
        };
        Judgement {
            target: self.words(),
            actual,
            outcome,
        }
    }

    fn actual(&self, load: &LoadReport) -> Option<f64> {
        let figure = |figures: &Figures| figures.get(self.figure);
        let ours = load.subject(crate::POLYWIRE).and_then(figure)?;
        let Some(peer) = &self.peer else {
            return Some(ours);
        };
        let theirs = load.subject(peer).and_then(figure)?;
        (theirs > 0.0).then_some(ours / theirs)
    }

    fn reached_by(&self, actual: f64) -> bool {
        match self.bound {
            Bound::AtLeast(limit) => actual >= limit,
            Bound::AtMost(limit) => actual <= limit,
        }
    }

    pub(super) fn words(&self) -> String {
        let bound = match self.bound {
            Bound::AtLeast(limit) => format!(">= {limit}"),
            Bound::AtMost(limit) => format!("<= {limit}"),
        };
        let figure = self.figure.words();
        match &self.peer {
            None => format!("{figure} {bound}"),
            Some(peer) => format!("{figure} {bound} of {peer}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(target: &LoadTarget) -> (Option<f64>, Outcome) {
        let subject =
            |name: &str, rate| (name.to_owned(), Figures::default().with(Figure::Rate, rate));
        let judgement = target.judge(&LoadReport {
            name: "load".to_owned(),
            layout: String::new(),
            subjects: vec![subject(crate::POLYWIRE, 250.0), subject("peer", 100.0)],
            targets: Vec::new(),
        });
        (judgement.actual, judgement.outcome)
    }

    #[test]
    fn figures_are_compared_with_limits_and_peers() {
        let at_least = |limit| LoadTarget::limit(Figure::Rate, Bound::AtLeast(limit));
        assert_eq!(judge(&at_least(250.0)), (Some(250.0), Outcome::Met));
        assert_eq!(judge(&at_least(251.0)).1, Outcome::Missed);
        let of_peer = |bound| LoadTarget::times_peer(Figure::Rate, bound, "peer");
        assert_eq!(
            judge(&of_peer(Bound::AtLeast(2.5))),
            (Some(2.5), Outcome::Met)
        );
        assert_eq!(judge(&of_peer(Bound::AtMost(2.4))).1, Outcome::Missed);
    }

    #[test]
    fn targets_without_a_figure_are_skipped() {
        let other = LoadTarget::times_peer(Figure::Rate, Bound::AtLeast(1.0), "nobody");
        assert_eq!(judge(&other), (None, Outcome::Skipped));
        let other = LoadTarget::limit(Figure::Memory, Bound::AtMost(1.0));
        assert_eq!(judge(&other), (None, Outcome::Skipped));
    }
}
