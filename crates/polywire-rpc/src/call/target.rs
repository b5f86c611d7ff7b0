//! The operation or method that a call names.

use std::sync::Arc;

use polywire_schema::Operation;

use super::Engine;
use crate::methods::Entry;

/// The operation or method that a call names, on every wire.
#[derive(Clone)]
pub(crate) enum Target {
    /// The index of an operation of the model.
    Operation(u32),
    Method(Arc<Entry>),
}

impl Target {
    pub(crate) fn name<'a>(&'a self, engine: &'a Engine) -> &'a str {
        match self {
            Self::Operation(index) => engine.service.operation(*index).name(),
            Self::Method(entry) => entry.name(),
        }
    }

    /// The operation. None for a method.
    pub(crate) fn operation<'a>(&self, engine: &'a Engine) -> Option<Operation<'a>> {
        match self {
            Self::Operation(index) => Some(engine.service.operation(*index)),
            Self::Method(_) => None,
        }
    }
}
