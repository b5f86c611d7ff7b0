//! Writes shapes of JSON AST 1.0.
//!
//! ```text
//! mixins      flattened into the shapes that use them, and omitted
//! enum        string with @enum
//! intEnum     integer
//! @default    none: absent means zero, unless @box is on the member or target
//! properties  omitted, with @property and @notProperty
//! ```
//!
//! So a default of zero is kept if the target has it, too. A default of null, which removes the
//! default of the target in 2.0, becomes `@box`. Every other default is lost.

use std::collections::BTreeMap;

use polywire_schema::ShapeId;

use super::shapes::{reference, write_operation, write_resource, write_service};
use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::model::Model;
use crate::node::{Node, Object};
use crate::rules;
use crate::shape::{Body, Member, Shape, ShapeType};
use crate::source::SourceLocation;
use crate::traits::{AppliedTrait, Traits};
use crate::upgrade::{BOX, is_zero, zero};

const ADDED_DEFAULT: &str = ids::ADDED_DEFAULT;

pub(super) struct Downgrade<'m> {
    model: &'m Model,
    problems: Problems,
    /// Traits that are omitted without loss of meaning: the location of the first, and their
    /// number. Models have thousands of them.
    unused: BTreeMap<&'m str, (SourceLocation, u32)>,
}

impl<'m> Downgrade<'m> {
    pub(super) fn new(model: &'m Model) -> Self {
        Self {
            model,
            problems: Problems::default(),
            unused: BTreeMap::new(),
        }
    }

    /// The losses, after the last shape.
    pub(super) fn into_problems(mut self) -> Problems {
        for (name, (location, count)) in std::mem::take(&mut self.unused) {
            let more = match count {
                1 => String::new(),
                count => format!(", which occurs {count} times,"),
            };
            let message = format!("@{name}{more} has no effect in Smithy 1.0");
            self.problems
                .push(Problem::note(rules::VERSION_LOSS, location, message));
        }
        self.problems
    }

    pub(super) fn push_shape(&mut self, shapes: &mut Object, shape: &'m Shape) {
        if shape.traits().is_mixin() {
            self.problems.push(Problem::note(
                rules::VERSION_LOSS,
                shape.location(),
                format!(
                    "the mixin `{}` is merged into the shapes that use it",
                    shape.id()
                ),
            ));
            return;
        }
        let object = self.shape(shape);
        shapes.push(shape.id().as_str(), object);
    }

    fn shape(&mut self, shape: &'m Shape) -> Object {
        let mut object = Object::new();
        let shape_type = match shape.shape_type() {
            ShapeType::Enum => ShapeType::String,
            ShapeType::IntEnum => ShapeType::Integer,
            other => other,
        };
        object.push("type", shape_type.name());
        match shape_type {
            ShapeType::List | ShapeType::Map => {
                for member in shape.members() {
                    object.push(member.name(), self.member(shape, member));
                }
            }
            ShapeType::Structure | ShapeType::Union => {
                let mut members = Object::new();
                for member in shape.members() {
                    members.push(member.name(), self.member(shape, member));
                }
                object.push("members", members);
            }
            _ => {}
        }
        match &shape.body {
            Body::None => {}
            Body::Operation(operation) => write_operation(&mut object, operation),
            Body::Resource(resource) => {
                let mut resource = resource.as_ref().clone();
                for (name, target) in resource.properties.drain(..) {
                    let message = format!("the property `{name}` of `{}`", shape.id());
                    self.lose(target.location(), &message);
                }
                write_resource(&mut object, &resource);
            }
            Body::Service(service) => write_service(&mut object, service),
        }
        let mut traits = self.traits(shape.traits());
        match shape.shape_type() {
            ShapeType::Enum => traits.insert(ids::ENUM, self.enum_values(shape)),
            ShapeType::IntEnum => {
                let message = format!("the named values of `{}`", shape.id());
                self.lose(shape.location(), &message);
            }
            _ => {}
        }
        if is_boxed(shape) {
            traits.insert(BOX, Node::empty_object());
        }
        if let Some(default) = shape.traits().find(ids::DEFAULT) {
            let is_kept = is_zero(default.value(), shape.shape_type()) || default.value().is_null();
            if !is_kept {
                self.lose_default(shape.id(), default);
            }
        }
        push_traits(&mut object, traits);
        object
    }

    fn member(&mut self, shape: &'m Shape, member: &'m Member) -> Object {
        let mut object = reference(member.target());
        let mut traits = self.traits(member.traits());
        let target = self.model.target(member);
        let default = member.traits().find(ids::DEFAULT);
        if self.needs_box(shape, member, target) {
            traits.insert(BOX, Node::empty_object());
        }
        if let Some(default) = default {
            let is_zero = target.is_some_and(|target| {
                // A stream is never absent in 1.0: it is empty instead.
                let is_stream = target.shape_type() == ShapeType::Blob
                    && target.traits().is_streaming()
                    && default.value().as_str() == Some("");
                is_stream || (is_zero(default.value(), target.shape_type()) && !is_boxed(target))
            });
            if !(is_zero || default.value().is_null()) || member.traits().has(ADDED_DEFAULT) {
                self.lose_default(member.id(), default);
            }
        }
        push_traits(&mut object, traits);
        object
    }

    fn needs_box(&self, shape: &Shape, member: &Member, target: Option<&Shape>) -> bool {
        if member.traits().has(BOX) {
            return true;
        }
        let Some(target) = target.filter(|target| zero(target.shape_type()).is_some()) else {
            return false;
        };
        if shape.shape_type() != ShapeType::Structure || shape.is_version_1 {
            return false;
        }
        let default = member.traits().default_value();
        if default.is_some_and(|value| is_zero(value, target.shape_type())) {
            return false;
        }
        let is_null = default.is_some_and(Node::is_null);
        is_null || (member.traits().has(ADDED_DEFAULT) && !is_boxed(target))
    }

    /// The traits that 1.0 has, including those of mixins.
    fn traits(&mut self, traits: &'m Traits) -> Object {
        let mut object = Object::new();
        for applied in traits.iter() {
            let name = ids::in_prelude(applied.id().as_str());
            match name {
                // These are expressed in another way, or reported elsewhere.
                Some("addedDefault" | "box" | "default" | "enumValue") => {}
                Some(name @ ("clientOptional" | "notProperty" | "property")) => {
                    let first = (applied.location(), 0);
                    self.unused.entry(name).or_insert(first).1 += 1;
                }
                _ => object.push(applied.id().as_str(), applied.value().clone()),
            }
        }
        object
    }

    /// The value of `@enum`.
    fn enum_values(&mut self, shape: &Shape) -> Vec<Node> {
        let mut values = Vec::with_capacity(shape.members().len());
        for member in shape.members() {
            let mut value = Object::new();
            let text = member.traits().enum_value().and_then(Node::as_str);
            value.push("value", text.unwrap_or_else(|| member.name()));
            value.push("name", member.name());
            let mut tags: Vec<Node> = Vec::new();
            let mut is_deprecated = false;
            for applied in member.traits().iter() {
                let id = applied.id().as_str();
                match ids::in_prelude(id) {
                    Some("enumValue") => {}
                    Some("documentation") => value.push("documentation", applied.value().clone()),
                    Some("tags") => {
                        tags.extend_from_slice(applied.value().as_array().unwrap_or(&[]));
                    }
                    Some("internal") => tags.push(Node::from("internal")),
                    Some("deprecated") => is_deprecated = true,
                    _ => self.lose(applied.location(), &format!("@{id} of `{}`", member.id())),
                }
            }
            if !tags.is_empty() {
                value.push("tags", tags);
            }
            if is_deprecated {
                value.push("deprecated", true);
            }
            values.push(value.into());
        }
        values
    }

    fn lose_default(&mut self, id: &ShapeId, default: &AppliedTrait) {
        let message = format!("the default {} of `{id}`", default.value().to_json());
        self.lose(default.location(), &message);
    }

    #[cold]
    fn lose(&mut self, location: SourceLocation, what: &str) {
        let message = format!("{what} cannot be expressed in Smithy 1.0");
        self.problems
            .push(Problem::warning(rules::VERSION_LOSS, location, message));
    }
}

/// Whether the shape is boxed in 1.0: its type has a zero value, and zero is not its default.
fn is_boxed(shape: &Shape) -> bool {
    if shape.is_version_1 || zero(shape.shape_type()).is_none() {
        return shape.traits().has(BOX);
    }
    let default = shape.traits().default_value();
    !default.is_some_and(|value| is_zero(value, shape.shape_type()))
}

fn push_traits(object: &mut Object, mut traits: Object) {
    traits.sort_by_key();
    if !traits.is_empty() {
        object.push("traits", traits);
    }
}
