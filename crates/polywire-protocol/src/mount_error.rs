//! `MountError`: a service that a protocol does not support.

use std::fmt;

use crate::kind::ProtocolKind;

/// The error for a service that a protocol does not support.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MountError(pub(crate) String);

impl MountError {
    /// Creates the error for a generated client that contains only the `others` and not the
    /// protocol `kind`.
    #[must_use]
    pub fn left_out(kind: ProtocolKind, others: &[ProtocolKind]) -> Self {
        let others: Vec<&str> = others.iter().map(|kind| kind.name()).collect();
        Self(format!(
            "the client was generated without {kind}, only for {}: add {kind} to `Build::protocols`",
            others.join(", ")
        ))
    }

    /// Creates the error for mounting a protocol that does not use HTTP at a path or a host.
    #[must_use]
    pub fn no_place(kind: ProtocolKind) -> Self {
        Self(format!(
            "{kind} does not use HTTP, so it cannot be mounted at a path or a host"
        ))
    }

    /// Creates the error for using a protocol over a stream of lines that does not support it.
    #[must_use]
    pub fn no_lines(kind: ProtocolKind) -> Self {
        Self(format!("{kind} cannot be used over a stream of lines"))
    }
}

impl fmt::Display for MountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MountError {}
