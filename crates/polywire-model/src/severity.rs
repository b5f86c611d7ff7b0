//! How serious a finding is.

use std::fmt;

/// How serious a finding is.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Severity {
    /// Information; nothing needs to be done.
    Note,
    /// The model is usable, but should be fixed.
    Warning,
    /// The model is usable, but is likely to cause failures. Fix it, or suppress the
    /// finding with a reason.
    Danger,
    /// The model is rejected.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Danger => "danger",
            Self::Error => "error",
        })
    }
}
