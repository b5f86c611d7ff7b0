//! The results of a case.

use crate::allocations::Allocations;
use crate::load::LoadReport;
use crate::quote::Quote;
use crate::target::Judgement;
use serde::Serialize;

/// A group's results.
#[derive(Debug, Serialize)]
pub(crate) struct GroupReport {
    pub(crate) name: String,
    pub(crate) cases: Vec<CaseReport>,
    pub(crate) loads: Vec<LoadReport>,
}

/// A case's results. `subjects` is in the order of the case.
#[derive(Debug, Serialize)]
pub(crate) struct CaseReport {
    pub(crate) name: String,
    pub(crate) bytes: usize,
    pub(crate) subjects: Vec<Measurement>,
    pub(crate) quotes: Vec<Quote>,
    pub(crate) targets: Vec<Judgement>,
}

/// One subject's figures, each per call.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Measurement {
    pub(crate) subject: String,
    /// `None` without valgrind, and for subjects that measure their own time.
    pub(crate) instructions: Option<Instructions>,
    /// `None` for subjects that measure their own time.
    pub(crate) allocations: Option<Allocations>,
    pub(crate) time: Time,
}

/// Instructions of one call, without those of the harness.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Instructions {
    pub(crate) count: f64,
    /// Whether two processes counted the same number. They do not if a subject seeds its hash
    /// maps at random.
    pub(crate) repeats: bool,
}

/// Nanoseconds of one call, over all rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Time {
    pub(crate) best_nanoseconds: f64,
    pub(crate) median_nanoseconds: f64,
}

/// Something that was not measured, and the reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Skipped {
    pub(crate) name: String,
    pub(crate) reason: String,
}

impl GroupReport {
    pub(crate) fn case(&self, name: &str) -> Option<&CaseReport> {
        self.cases.iter().find(|case| case.name == name)
    }
}

impl CaseReport {
    /// Our own subject.
    pub(crate) fn polywire(&self) -> Option<&Measurement> {
        self.subject(crate::POLYWIRE)
    }

    pub(crate) fn subject(&self, name: &str) -> Option<&Measurement> {
        self.subjects.iter().find(|subject| subject.subject == name)
    }

    pub(crate) fn quote(&self, name: &str) -> Option<&Quote> {
        self.quotes.iter().find(|quote| quote.name == name)
    }

    /// A figure per byte, if the case has a size.
    pub(crate) fn per_byte(&self, figure: f64) -> Option<f64> {
        (self.bytes > 0).then(|| figure / self.bytes as f64)
    }
}
