//! Operations, services and resources.

use polywire_schema::ShapeId;

use super::ShapeRef;
use crate::ids;
use crate::source::SourceLocation;

/// An operation: its input, output and errors.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    pub(crate) input: ShapeRef,
    pub(crate) output: ShapeRef,
    pub(crate) errors: Vec<ShapeRef>,
}

/// The shape without data: the input or output of an operation that has none.
pub const UNIT: ShapeId = ShapeId::from_static(ids::UNIT);

impl Operation {
    /// The input structure. `smithy.api#Unit` if the operation has none.
    #[must_use]
    pub fn input(&self) -> &ShapeRef {
        &self.input
    }

    /// The output structure. `smithy.api#Unit` if the operation has none.
    #[must_use]
    pub fn output(&self) -> &ShapeRef {
        &self.output
    }

    /// The errors of this operation, without those of its service.
    #[must_use]
    pub fn errors(&self) -> &[ShapeRef] {
        &self.errors
    }
}

impl Default for Operation {
    fn default() -> Self {
        let unit = ShapeRef::new(UNIT, SourceLocation::NONE);
        Self {
            input: unit.clone(),
            output: unit,
            errors: Vec::new(),
        }
    }
}

/// A service: its version, operations, resources and errors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Service {
    pub(crate) version: String,
    pub(crate) operations: Vec<ShapeRef>,
    pub(crate) resources: Vec<ShapeRef>,
    pub(crate) errors: Vec<ShapeRef>,
    pub(crate) rename: Vec<(ShapeRef, String)>,
}

impl Service {
    /// The version. Empty if the service has none.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The operations bound to the service itself.
    #[must_use]
    pub fn operations(&self) -> &[ShapeRef] {
        &self.operations
    }

    /// The resources bound to the service itself.
    #[must_use]
    pub fn resources(&self) -> &[ShapeRef] {
        &self.resources
    }

    /// The errors that every operation of the service can return.
    #[must_use]
    pub fn errors(&self) -> &[ShapeRef] {
        &self.errors
    }

    /// Shapes that have another name within this service.
    #[must_use]
    pub fn rename(&self) -> &[(ShapeRef, String)] {
        &self.rename
    }
}

/// A resource: its identifiers, properties and operations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resource {
    pub(crate) identifiers: Vec<(String, ShapeRef)>,
    pub(crate) properties: Vec<(String, ShapeRef)>,
    pub(crate) lifecycle: [Option<ShapeRef>; 6],
    pub(crate) operations: Vec<ShapeRef>,
    pub(crate) collection_operations: Vec<ShapeRef>,
    pub(crate) resources: Vec<ShapeRef>,
}

/// The lifecycle operations of a resource.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Lifecycle {
    /// Creates an instance. The service chooses the identifiers.
    Create,
    /// Creates or replaces an instance. The caller chooses the identifiers.
    Put,
    /// Returns an instance.
    Read,
    /// Changes an instance.
    Update,
    /// Deletes an instance.
    Delete,
    /// Lists instances.
    List,
}

impl Lifecycle {
    pub(crate) const ALL: [(&'static str, Self); 6] = [
        ("create", Self::Create),
        ("put", Self::Put),
        ("read", Self::Read),
        ("update", Self::Update),
        ("delete", Self::Delete),
        ("list", Self::List),
    ];

    /// The name in IDL and AST, such as `create`.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}

impl Resource {
    /// The identifiers with their targets.
    #[must_use]
    pub fn identifiers(&self) -> &[(String, ShapeRef)] {
        &self.identifiers
    }

    /// The properties with their targets.
    #[must_use]
    pub fn properties(&self) -> &[(String, ShapeRef)] {
        &self.properties
    }

    /// One of the lifecycle operations.
    #[must_use]
    pub fn lifecycle(&self, lifecycle: Lifecycle) -> Option<&ShapeRef> {
        self.lifecycle[lifecycle as usize].as_ref()
    }

    /// Operations on an instance, without those of the lifecycle.
    #[must_use]
    pub fn operations(&self) -> &[ShapeRef] {
        &self.operations
    }

    /// Operations on the collection, without those of the lifecycle.
    #[must_use]
    pub fn collection_operations(&self) -> &[ShapeRef] {
        &self.collection_operations
    }

    /// The child resources.
    #[must_use]
    pub fn resources(&self) -> &[ShapeRef] {
        &self.resources
    }

    /// Every operation bound to the resource itself, those of the lifecycle first.
    pub fn all_operations(&self) -> impl Iterator<Item = &ShapeRef> {
        self.lifecycle
            .iter()
            .flatten()
            .chain(&self.operations)
            .chain(&self.collection_operations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifecycles_are_in_the_order_of_the_variants() {
        for (index, (name, lifecycle)) in Lifecycle::ALL.into_iter().enumerate() {
            assert_eq!(lifecycle as usize, index);
            assert_eq!(lifecycle.name(), name);
        }
    }
}
