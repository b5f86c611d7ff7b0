//! What our subject of a load has to reach.

use super::figure::{Figure, Figures};
use super::report::LoadReport;
use crate::target::{Judgement, Outcome};

/// A figure of ours, by itself or as a multiple of another one, and its bound.
pub(super) struct LoadTarget {
    figure: Figure,
    of: Of,
    bound: Bound,
}

enum Of {
    Itself,
    /// The same figure of a peer.
    Peer(String),
    /// Ours of another load.
    Load(String),
}

pub(super) enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

impl LoadTarget {
    pub(super) const fn limit(figure: Figure, bound: Bound) -> Self {
        Self {
            figure,
            of: Of::Itself,
            bound,
        }
    }

    pub(super) fn times_peer(figure: Figure, bound: Bound, peer: &str) -> Self {
        Self {
            figure,
            of: Of::Peer(peer.to_owned()),
            bound,
        }
    }

    pub(super) fn times_load(figure: Figure, bound: Bound, load: &str) -> Self {
        Self {
            figure,
            of: Of::Load(load.to_owned()),
            bound,
        }
    }

    pub(super) fn peer(&self) -> Option<&str> {
        match &self.of {
            Of::Peer(peer) => Some(peer),
            _ => None,
        }
    }

    pub(super) fn load(&self) -> Option<&str> {
        match &self.of {
            Of::Load(load) => Some(load),
            _ => None,
        }
    }

    pub(super) fn judge(&self, load: &LoadReport, all: &[LoadReport]) -> Judgement {
        let actual = self.actual(load, all);
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

    fn actual(&self, load: &LoadReport, all: &[LoadReport]) -> Option<f64> {
        let figure = |figures: &Figures| figures.get(self.figure);
        let ours = load.subject(crate::POLYWIRE).and_then(figure)?;
        let other = match &self.of {
            Of::Itself => return Some(ours),
            Of::Peer(peer) => load.subject(peer),
            Of::Load(name) => {
                let other = all.iter().find(|other| other.name == *name);
                other.and_then(|other| other.subject(crate::POLYWIRE))
            }
        };
        let other = other.and_then(figure)?;
        (other > 0.0).then_some(ours / other)
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
        match &self.of {
            Of::Itself => format!("{figure} {bound}"),
            Of::Peer(peer) => format!("{figure} {bound} of {peer}"),
            Of::Load(load) => format!("{figure} {bound} of ours in {load}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(name: &str, rate: f64) -> LoadReport {
        let subject =
            |name: &str, rate| (name.to_owned(), Figures::default().with(Figure::Rate, rate));
        LoadReport {
            name: name.to_owned(),
            layout: String::new(),
            subjects: vec![subject(crate::POLYWIRE, rate), subject("peer", 100.0)],
            targets: Vec::new(),
        }
    }

    fn judge(target: &LoadTarget) -> (Option<f64>, Outcome) {
        let all = [report("one", 250.0), report("two", 500.0)];
        let judgement = target.judge(&all[0], &all);
        (judgement.actual, judgement.outcome)
    }

    #[test]
    fn figures_are_compared_with_limits_peers_and_other_loads() {
        let at_least = |limit| LoadTarget::limit(Figure::Rate, Bound::AtLeast(limit));
        assert_eq!(judge(&at_least(250.0)), (Some(250.0), Outcome::Met));
        assert_eq!(judge(&at_least(251.0)).1, Outcome::Missed);
        let of_peer = |bound| LoadTarget::times_peer(Figure::Rate, bound, "peer");
        assert_eq!(
            judge(&of_peer(Bound::AtLeast(2.5))),
            (Some(2.5), Outcome::Met)
        );
        assert_eq!(judge(&of_peer(Bound::AtMost(2.4))).1, Outcome::Missed);
        let of_load = LoadTarget::times_load(Figure::Rate, Bound::AtLeast(0.5), "two");
        assert_eq!(judge(&of_load), (Some(0.5), Outcome::Met));
    }

    #[test]
    fn what_is_not_known_is_skipped() {
        let other = LoadTarget::times_peer(Figure::Rate, Bound::AtLeast(1.0), "nobody");
        assert_eq!(judge(&other), (None, Outcome::Skipped));
        let other = LoadTarget::limit(Figure::Memory, Bound::AtMost(1.0));
        assert_eq!(judge(&other), (None, Outcome::Skipped));
    }
}
