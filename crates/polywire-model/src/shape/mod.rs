//! Shapes of an assembled model: names are absolute and mixins are flattened, but the origin of
//! members and traits is known.

mod service;
mod shape_type;

use std::fmt;
use std::ops::Deref;

use polywire_schema::ShapeId;

use crate::source::SourceLocation;
use crate::traits::Traits;

pub use service::{Lifecycle, Operation, Resource, Service, UNIT};
pub use shape_type::ShapeType;

/// A reference to a shape: a target, an error, a mixin. It dereferences to the [`ShapeId`].
#[derive(Clone)]
pub struct ShapeRef {
    id: ShapeId,
    location: SourceLocation,
}

impl ShapeRef {
    pub(crate) fn new(id: ShapeId, location: SourceLocation) -> Self {
        Self { id, location }
    }

    /// The id.
    #[must_use]
    pub fn id(&self) -> &ShapeId {
        &self.id
    }

    /// The location of the reference.
    #[must_use]
    pub fn location(&self) -> SourceLocation {
        self.location
    }
}

impl Deref for ShapeRef {
    type Target = ShapeId;

    fn deref(&self) -> &ShapeId {
        &self.id
    }
}

impl PartialEq for ShapeRef {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl fmt::Debug for ShapeRef {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(formatter)
    }
}

/// A shape of a model.
///
/// Equality ignores locations.
#[derive(Clone, Debug)]
pub struct Shape {
    pub(crate) id: ShapeId,
    pub(crate) shape_type: ShapeType,
    pub(crate) location: SourceLocation,
    pub(crate) traits: Traits,
    /// In order: inherited members, then those of the shape itself.
    pub(crate) members: Vec<Member>,
    pub(crate) mixins: Vec<ShapeRef>,
    pub(crate) body: Body,
    /// The body before mixins were flattened into it, if it has mixins.
    pub(crate) own_body: Option<Box<Body>>,
    /// Whether the shape is from a file of Smithy 1.0.
    pub(crate) is_version_1: bool,
    /// `structure S for Resource`: the resource that has the targets of elided members.
    pub(crate) for_resource: Option<ShapeRef>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Body {
    None,
    Operation(Operation),
    Resource(Box<Resource>),
    Service(Box<Service>),
}

impl Shape {
    pub(crate) fn new(id: ShapeId, shape_type: ShapeType, location: SourceLocation) -> Self {
        let body = match shape_type {
            ShapeType::Operation => Body::Operation(Operation::default()),
            ShapeType::Resource => Body::Resource(Box::default()),
            ShapeType::Service => Body::Service(Box::default()),
            _ => Body::None,
        };
        Self {
            id,
            shape_type,
            location,
            traits: Traits::default(),
            members: Vec::new(),
            mixins: Vec::new(),
            body,
            own_body: None,
            is_version_1: false,
            for_resource: None,
        }
    }

    /// The absolute id.
    #[must_use]
    pub fn id(&self) -> &ShapeId {
        &self.id
    }

    /// The type of the shape.
    #[must_use]
    pub fn shape_type(&self) -> ShapeType {
        self.shape_type
    }

    /// The location of the definition.
    #[must_use]
    pub fn location(&self) -> SourceLocation {
        self.location
    }

    /// The traits of the shape, including those of its mixins.
    #[must_use]
    pub fn traits(&self) -> &Traits {
        &self.traits
    }

    /// The members in order, those of mixins first. Lists have `member`, maps have `key` and
    /// `value`.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The member with a name.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.name() == name)
    }

    /// The mixins of the shape.
    #[must_use]
    pub fn mixins(&self) -> &[ShapeRef] {
        &self.mixins
    }

    /// Input, output and errors, if the shape is an operation.
    #[must_use]
    pub fn as_operation(&self) -> Option<&Operation> {
        match &self.body {
            Body::Operation(operation) => Some(operation),
            _ => None,
        }
    }

    /// Identifiers, properties and lifecycle, if the shape is a resource.
    #[must_use]
    pub fn as_resource(&self) -> Option<&Resource> {
        match &self.body {
            Body::Resource(resource) => Some(resource),
            _ => None,
        }
    }

    /// Version, operations and resources, if the shape is a service.
    #[must_use]
    pub fn as_service(&self) -> Option<&Service> {
        match &self.body {
            Body::Service(service) => Some(service),
            _ => None,
        }
    }

    /// Removes all locations, because they are in files that are not the user's.
    pub(crate) fn forget_locations(&mut self) {
        self.location = SourceLocation::NONE;
        for member in &mut self.members {
            member.location = SourceLocation::NONE;
            member.target.location = SourceLocation::NONE;
            member
                .traits
                .iter_mut()
                .for_each(|applied| applied.location = SourceLocation::NONE);
        }
        self.traits
            .iter_mut()
            .for_each(|applied| applied.location = SourceLocation::NONE);
    }

    /// Makes inherited members and traits those of the shape itself.
    pub(crate) fn flatten(&mut self) {
        self.mixins.clear();
        self.own_body = None;
        for member in &mut self.members {
            member.origin = None;
            member.traits.forget_mixins();
        }
        self.traits.forget_mixins();
    }

    /// The body without what mixins add.
    pub(crate) fn own_body(&self) -> &Body {
        self.own_body.as_deref().unwrap_or(&self.body)
    }
}

impl PartialEq for Shape {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
            && self.shape_type == other.shape_type
            && self.traits == other.traits
            && self.members == other.members
            && self.mixins == other.mixins
            && self.body == other.body
            && self.for_resource == other.for_resource
    }
}

/// A member of a shape.
#[derive(Clone, Debug)]
pub struct Member {
    pub(crate) id: ShapeId,
    pub(crate) target: ShapeRef,
    pub(crate) location: SourceLocation,
    pub(crate) traits: Traits,
    /// The mixin from which the member was inherited. `None` if it is of the shape itself.
    pub(crate) origin: Option<ShapeId>,
    /// `$name` without a target, which is resolved when the model is assembled.
    pub(crate) elided: bool,
}

impl Member {
    /// The absolute id, `namespace#Shape$member`.
    #[must_use]
    pub fn id(&self) -> &ShapeId {
        &self.id
    }

    /// The name of the member.
    #[must_use]
    pub fn name(&self) -> &str {
        // Ids of members always have a member, so the fallback is not used.
        self.id.member().unwrap_or_default()
    }

    /// The target of the member.
    #[must_use]
    pub fn target(&self) -> &ShapeRef {
        &self.target
    }

    /// The location of the definition.
    #[must_use]
    pub fn location(&self) -> SourceLocation {
        self.location
    }

    /// The traits of the member, including those of the member of the mixin.
    #[must_use]
    pub fn traits(&self) -> &Traits {
        &self.traits
    }

    /// The mixin from which the member was inherited, if any.
    #[must_use]
    pub fn origin(&self) -> Option<&ShapeId> {
        self.origin.as_ref()
    }

    /// Whether the member was inherited from a mixin.
    #[must_use]
    pub fn is_inherited(&self) -> bool {
        self.origin.is_some()
    }
}

impl PartialEq for Member {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
            && self.target == other.target
            && self.traits == other.traits
            && self.elided == other.elided
    }
}
