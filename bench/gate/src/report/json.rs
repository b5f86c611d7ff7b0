//! The results as one JSON document.

use super::{Findings, Totals};
use crate::baseline::Comparison;
use serde_json::{Value, json};

/// Everything of a run; `comparison` is null without `--compare`.
pub(crate) fn document(findings: &Findings<'_>, comparison: Option<&Comparison>) -> Value {
    json!({
        "valgrind": findings.valgrind,
        "groups": findings.groups,
        "skipped": findings.skipped,
        "comparison": comparison,
        "targets": Totals::of(findings.groups),
    })
}
