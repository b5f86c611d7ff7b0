//! Results for people and for programs.

pub(crate) mod figures;
mod json;
mod table;

pub(crate) use json::document;
pub(crate) use table::{group, skipped, totals, words};

use crate::measurement::{GroupReport, Skipped};
use crate::target::Outcome;
use serde::Serialize;

/// The number of targets by outcome.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub(crate) struct Totals {
    pub(crate) met: usize,
    pub(crate) missed: usize,
    pub(crate) skipped: usize,
}

impl Totals {
    pub(crate) fn of(groups: &[GroupReport]) -> Self {
        let mut totals = Self::default();
        let judgements = groups.iter().flat_map(|group| {
            let cases = group.cases.iter().flat_map(|case| &case.targets);
            cases.chain(group.loads.iter().flat_map(|load| &load.targets))
        });
        for judgement in judgements {
            match judgement.outcome {
                Outcome::Met => totals.met += 1,
                Outcome::Missed => totals.missed += 1,
                Outcome::Skipped => totals.skipped += 1,
            }
        }
        totals
    }
}

/// The results of a run.
pub(crate) struct Findings<'a> {
    pub(crate) groups: &'a [GroupReport],
    pub(crate) skipped: &'a [Skipped],
    pub(crate) valgrind: Option<&'a str>,
}
