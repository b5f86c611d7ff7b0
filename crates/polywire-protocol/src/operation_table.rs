//! A table of what a protocol computes for each operation of its service.

use polywire_schema::{Error, ErrorKind, Operation};

use crate::ProtocolKind;

/// A table by the index of the operation. Operations of other services in the same schema set have
/// no entry.
#[derive(Debug)]
pub(crate) struct OperationTable<T>(Vec<Option<T>>);

impl<T> Default for OperationTable<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> OperationTable<T> {
    pub(crate) fn insert(&mut self, operation: Operation<'_>, entry: T) {
        let index = operation.index() as usize;
        self.0.resize_with(self.0.len().max(index + 1), || None);
        self.0[index] = Some(entry);
    }

    /// # Errors
    ///
    /// The operation belongs to another service.
    pub(crate) fn get(&self, operation: Operation<'_>, kind: ProtocolKind) -> Result<&T, Error> {
        let entry = self.0.get(operation.index() as usize);
        entry
            .and_then(Option::as_ref)
            .ok_or_else(|| unknown_operation(operation, kind))
    }
}

#[cold]
fn unknown_operation(operation: Operation<'_>, kind: ProtocolKind) -> Error {
    Error::new(ErrorKind::Internal)
        .in_format(kind.name())
        .expected("an operation of the service for which the protocol was created")
        .found(operation.id().to_owned())
}
