//! Shapes, as the model holds them once it is assembled: names absolute, mixins
//! flattened, and yet with a memory of what came from where.

mod service;
mod shape_type;

use std::fmt;
use std::ops::Deref;

use polywire_schema::ShapeId;

use crate::source::SourceLocation;
use crate::traits::Traits;

pub use service::{Lifecycle, Operation, Resource, Service, UNIT};
pub use shape_type::ShapeType;

/// The id of a shape where another one names it: a target, an error, a mixin.
/// It can be used as the [`ShapeId`] that it holds.
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

    /// Where the id was written.
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
/// Equality ignores where things were written.
#[derive(Clone, Debug)]
pub struct Shape {
    pub(crate) id: ShapeId,
    pub(crate) shape_type: ShapeType,
    pub(crate) location: SourceLocation,
    pub(crate) traits: Traits,
    /// In order: what the mixins give, then what the shape adds.
    pub(crate) members: Vec<Member>,
    pub(crate) mixins: Vec<ShapeRef>,
    pub(crate) body: Body,
    /// The body before mixins were flattened into it, where there are any.
    pub(crate) own_body: Option<Box<Body>>,
    /// Whether the shape comes from a file of Smithy 1.0.
    pub(crate) is_version_1: bool,
    /// `structure S for Resource`: where elided members look for their target.
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

    /// What kind of shape it is.
    #[must_use]
    pub fn shape_type(&self) -> ShapeType {
        self.shape_type
    }

    /// Where the shape was defined.
    #[must_use]
    pub fn location(&self) -> SourceLocation {
        self.location
    }

    /// The traits on the shape, those of its mixins among them.
    #[must_use]
    pub fn traits(&self) -> &Traits {
        &self.traits
    }

    /// The members in order, those of mixins first. A list has `member`, a map
    /// `key` and `value`.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The member of a name.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.name() == name)
    }

    /// The mixins that the shape names.
    #[must_use]
    pub fn mixins(&self) -> &[ShapeRef] {
        &self.mixins
    }

    /// Input, output and errors, when the shape is an operation.
    #[must_use]
    pub fn as_operation(&self) -> Option<&Operation> {
        match &self.body {
            Body::Operation(operation) => Some(operation),
            _ => None,
        }
    }

    /// Identifiers, properties and lifecycle, when the shape is a resource.
    #[must_use]
    pub fn as_resource(&self) -> Option<&Resource> {
        match &self.body {
            Body::Resource(resource) => Some(resource),
            _ => None,
        }
    }

    /// Version, operations and resources, when the shape is a service.
    #[must_use]
    pub fn as_service(&self) -> Option<&Service> {
        match &self.body {
            Body::Service(service) => Some(service),
            _ => None,
        }
    }

    /// Makes every place unknown: the file behind them is not the user's.
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

    /// Forgets what came from mixins: all of it is the shape's own.
    pub(crate) fn flatten(&mut self) {
        self.mixins.clear();
        self.own_body = None;
        for member in &mut self.members {
            member.origin = None;
            member.traits.forget_mixins();
        }
        self.traits.forget_mixins();
    }

    /// The body as its author wrote it, without what mixins add.
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
    /// The mixin that gave the member, `None` when the shape introduces it.
    pub(crate) origin: Option<ShapeId>,
    /// `$name` without a target; resolved when the model is assembled.
    pub(crate) elided: bool,
}

impl Member {
    /// The absolute id, `namespace#Shape$member`.
    #[must_use]
    pub fn id(&self) -> &ShapeId {
        &self.id
    }

    /// The member's name.
    #[must_use]
    pub fn name(&self) -> &str {
        // Ids of members are made with a member; the fallback is never seen.
        self.id.member().unwrap_or_default()
    }

    /// The shape that the member targets.
    #[must_use]
    pub fn target(&self) -> &ShapeRef {
        &self.target
    }

    /// Where the member was defined.
    #[must_use]
    pub fn location(&self) -> SourceLocation {
        self.location
    }

    /// The traits on the member, those of the mixin's member among them.
    #[must_use]
    pub fn traits(&self) -> &Traits {
        &self.traits
    }

    /// The mixin that gave the member, when one did.
    #[must_use]
    pub fn origin(&self) -> Option<&ShapeId> {
        self.origin.as_ref()
    }

    /// Whether a mixin gave the member.
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
