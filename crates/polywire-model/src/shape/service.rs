//! Operations, services and resources.

use polywire_schema::ShapeId;

use super::ShapeRef;
use crate::ids;
use crate::source::SourceLocation;

/// What an operation takes and gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    pub(crate) input: ShapeRef,
    pub(crate) output: ShapeRef,
    pub(crate) errors: Vec<ShapeRef>,
}

/// The shape of no data: the input or output of an operation that names none.
pub const UNIT: ShapeId = ShapeId::from_static(ids::UNIT);

impl Operation {
    /// The input structure; `smithy.api#Unit` when the operation names none.
    #[must_use]
    pub fn input(&self) -> &ShapeRef {
        &self.input
    }

    /// The output structure; `smithy.api#Unit` when the operation names none.
    #[must_use]
    pub fn output(&self) -> &ShapeRef {
        &self.output
    }

    /// The errors that this operation names; a service may add its own.
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

/// What a service offers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Service {
    pub(crate) version: String,
    pub(crate) operations: Vec<ShapeRef>,
    pub(crate) resources: Vec<ShapeRef>,
    pub(crate) errors: Vec<ShapeRef>,
    pub(crate) rename: Vec<(ShapeRef, String)>,
}

impl Service {
    /// The version; empty when the service has none.
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

    /// The errors that every operation of the service can give.
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

/// An entity, what tells it from others, and what can be done to it.
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
    /// Makes one; the service chooses the identifiers.
    Create,
    /// Makes or replaces one; the caller chooses the identifiers.
    Put,
    /// Gives one.
    Read,
    /// Changes one.
    Update,
    /// Removes one.
    Delete,
    /// Gives many.
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
    /// The identifiers with the shapes of their values.
    #[must_use]
    pub fn identifiers(&self) -> &[(String, ShapeRef)] {
        &self.identifiers
    }

    /// The properties with the shapes of their values.
    #[must_use]
    pub fn properties(&self) -> &[(String, ShapeRef)] {
        &self.properties
    }

    /// One of the lifecycle operations.
    #[must_use]
    pub fn lifecycle(&self, lifecycle: Lifecycle) -> Option<&ShapeRef> {
        self.lifecycle[lifecycle as usize].as_ref()
    }

    /// Operations on one entity beside the lifecycle.
    #[must_use]
    pub fn operations(&self) -> &[ShapeRef] {
        &self.operations
    }

    /// Operations on the collection beside the lifecycle.
    #[must_use]
    pub fn collection_operations(&self) -> &[ShapeRef] {
        &self.collection_operations
    }

    /// Resources below this one.
    #[must_use]
    pub fn resources(&self) -> &[ShapeRef] {
        &self.resources
    }

    /// Every operation bound to the resource itself: lifecycle first.
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
