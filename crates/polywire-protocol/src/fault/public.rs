//! The part of a fault that the caller may see.

use http::StatusCode;
use polywire_schema::Map;

use super::{Fault, FaultKind};

/// The part of a fault without a schema that is sent to the caller.
#[derive(Clone, Copy, Debug)]
pub struct PublicFault<'f> {
    pub(crate) kind: FaultKind,
    pub(crate) name: &'f str,
    pub(crate) status: StatusCode,
    pub(crate) message: &'f str,
    /// The members of `smithy.framework#ValidationException`, including `message`.
    pub(crate) details: Option<&'f Map>,
}

impl Fault {
    /// Returns the part of the fault that is sent if there is no schema for it. A modelled error
    /// that the operation does not list becomes an internal error, because its details are not
    /// meant for the caller.
    pub(crate) fn public(&self) -> PublicFault<'_> {
        let (kind, message) = match self.0.kind {
            FaultKind::Modelled => (FaultKind::Internal, "an internal error occurred"),
            kind => (kind, self.0.message.as_str()),
        };
        let (name, status) = match kind {
            FaultKind::Named => (self.name(), self.status()),
            // Ignore a name and a status from another server.
            kind => (kind.name(), kind.status()),
        };
        let invalid = kind == FaultKind::Invalid && !self.0.details.is_empty();
        PublicFault {
            kind,
            name,
            status,
            message,
            details: invalid.then_some(&self.0.details),
        }
    }
}
