//! Writes shapes and their members.

use std::collections::HashMap;
use std::rc::Rc;

use super::Writer;
use super::traits::own;
use super::value_shape::ValueShape;
use super::values::ValueContext;
use crate::ids;
use crate::node::Node;
use crate::shape::{Member, Shape, ShapeRef, ShapeType};
use crate::traits::AppliedTrait;

/// A member as it will be written.
pub(super) struct Line<'m> {
    member: &'m Member,
    /// `$name`: the resource or a mixin has its target.
    is_elided: bool,
    is_enum: bool,
    traits: Vec<&'m AppliedTrait>,
    /// The value after `=`.
    value: Option<&'m Node>,
}

/// The targets of a resource's identifiers and properties, by name.
pub(super) type Fields<'m> = Rc<HashMap<&'m str, &'m ShapeRef>>;

/// The lines between the braces of a shape.
pub(super) struct Lines<'m> {
    resource: Option<&'m ShapeRef>,
    lines: Vec<Line<'m>>,
}

impl Lines<'_> {
    /// Whether a member has documentation or traits. Members are then separated by empty lines.
    pub(super) fn have_traits(&self) -> bool {
        self.lines.iter().any(|line| !line.traits.is_empty())
    }
}

impl<'m> Writer<'m> {
    pub(super) fn shape(&mut self, shape: &'m Shape) {
        self.traits_before(&own(shape.traits(), &[]), 0);
        self.out.push_str(shape.shape_type().name());
        self.out.push(' ');
        self.out.push_str(shape.id().name());
        if let Some(operation) = shape.as_operation() {
            self.mixins(shape, 0);
            return self.operation(shape, operation);
        }
        if let Some(service) = shape.as_service() {
            self.mixins(shape, 0);
            return self.service(shape, service);
        }
        if let Some(resource) = shape.as_resource() {
            self.mixins(shape, 0);
            return self.resource(shape, resource);
        }
        let lines = self.lines(shape);
        self.head(shape, &lines, 0);
        if shape.shape_type().is_aggregate() || shape.shape_type().has_named_members() {
            self.members(&lines, 0);
        }
    }

    /// Writes `for` and `with`, and the space before them.
    pub(super) fn head(&mut self, shape: &'m Shape, lines: &Lines<'m>, indent: usize) {
        if let Some(resource) = lines.resource {
            self.out.push_str(" for ");
            let id = self.names.spell(resource.as_str());
            self.out.push_str(id);
        }
        self.mixins(shape, indent);
    }

    pub(super) fn mixins(&mut self, shape: &'m Shape, indent: usize) {
        if shape.mixins().is_empty() {
            return;
        }
        self.out.push_str(" with [");
        let start = self.out.len();
        // `] {}` follows.
        let room = self.width.saturating_sub(self.column() + 4);
        for (at, mixin) in shape.mixins().iter().enumerate() {
            self.out.push_str(if at == 0 { "" } else { ", " });
            let id = self.names.spell(mixin.as_str());
            self.out.push_str(id);
        }
        if shape.mixins().len() > 1 && self.out[start..].chars().count() > room {
            self.out.truncate(start);
            for mixin in shape.mixins() {
                self.line(indent + 1);
                let id = self.names.spell(mixin.as_str());
                self.out.push_str(id);
            }
            self.line(indent);
        }
        self.out.push(']');
    }

    /// The members to write: those that the shape adds, and inherited ones to which it adds traits.
    pub(super) fn lines(&mut self, shape: &'m Shape) -> Lines<'m> {
        let is_enum = matches!(shape.shape_type(), ShapeType::Enum | ShapeType::IntEnum);
        let resource = shape.for_resource.as_ref().and_then(|reference| {
            let fields = self.fields(reference)?;
            let gives = |member: &Member| {
                let is_written = !member.is_inherited() || !own(member.traits(), &[]).is_empty();
                is_written && fields.get(member.name()) == Some(&member.target())
            };
            let is_used = shape.members().iter().any(gives);
            is_used.then_some((reference, fields))
        });
        let mut lines = Vec::with_capacity(shape.members().len());
        for member in shape.members() {
            let fields = resource.as_ref().map(|(_, fields)| fields);
            let field = fields.and_then(|fields| fields.get(member.name()));
            let is_field = field == Some(&member.target());
            let mut line = Self::member_line(shape, member);
            line.is_elided = is_field || member.is_inherited();
            if member.is_inherited() {
                let all = own(member.traits(), &[]);
                if all.is_empty() {
                    continue;
                }
                // `$name` is looked up in the resource first. Enums have no elided members.
                if is_enum || (field.is_some() && !is_field) {
                    self.applies.push((member, all));
                    continue;
                }
            }
            lines.push(line);
        }
        Lines {
            resource: resource.map(|(reference, _)| reference),
            lines,
        }
    }

    /// The targets of the identifiers and properties of a resource, by name. Each resource is
    /// indexed once, because many structures can be `for` it.
    fn fields(&mut self, resource: &'m ShapeRef) -> Option<Fields<'m>> {
        if let Some(fields) = self.resource_fields.get(resource.id()) {
            return Some(Rc::clone(fields));
        }
        let shape = self.model.get(resource)?.as_resource()?;
        let fields = shape.identifiers().iter().chain(shape.properties());
        // The first one of a name counts.
        let last_to_first = fields.rev().map(|(name, target)| (name.as_str(), target));
        let fields: Fields<'m> = Rc::new(last_to_first.collect());
        self.resource_fields
            .insert(resource.id(), Rc::clone(&fields));
        Some(fields)
    }

    fn member_line(shape: &'m Shape, member: &'m Member) -> Line<'m> {
        let assigned = match shape.shape_type() {
            ShapeType::Enum | ShapeType::IntEnum => ids::ENUM_VALUE,
            ShapeType::Structure => ids::DEFAULT,
            _ => "",
        };
        let applied = member.traits().find(assigned);
        let mut value = applied
            .filter(|applied| !applied.is_inherited())
            .map(AppliedTrait::value);
        // The value of an enum member without `@enumValue` is its name.
        let is_implied = shape.shape_type() == ShapeType::Enum && !member.is_inherited();
        if is_implied && value.and_then(Node::as_str) == Some(member.name()) {
            value = None;
        }
        let is_enum = matches!(shape.shape_type(), ShapeType::Enum | ShapeType::IntEnum);
        Line {
            member,
            is_elided: false,
            is_enum,
            traits: own(member.traits(), &[assigned]),
            value,
        }
    }

    /// `{` members `}`, with the space before it.
    pub(super) fn members(&mut self, lines: &Lines<'m>, indent: usize) {
        if lines.lines.is_empty() {
            self.out.push_str(" {}");
            return;
        }
        let is_on_pool = lines.have_traits();
        self.out.push_str(" {");
        for (at, line) in lines.lines.iter().enumerate() {
            if at > 0 && is_on_pool {
                self.out.push('\n');
            }
            self.line(indent + 1);
            self.member(line, indent + 1);
        }
        self.line(indent);
        self.out.push('}');
    }

    fn member(&mut self, line: &Line<'m>, indent: usize) {
        self.traits_before(&line.traits, indent);
        if line.is_elided {
            self.out.push('$');
        }
        self.out.push_str(line.member.name());
        if !line.is_elided && !line.is_enum {
            self.out.push_str(": ");
            let id = self.names.spell(line.member.target().as_str());
            self.out.push_str(id);
        }
        if let Some(value) = line.value {
            self.out.push_str(" = ");
            self.value(value, indent, ValueContext::Alone, ValueShape::UNKNOWN);
        }
    }
}
