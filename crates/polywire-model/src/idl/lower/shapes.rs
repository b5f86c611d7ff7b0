//! Shapes, members and the traits on them.

use polywire_schema::ShapeId;

use super::Lowering;
use crate::diagnostic::Problem;
use crate::idl::syntax::{
    BodyDefinition, Definition, InputOutput, MemberDefinition, Name, TraitUse,
};
use crate::ids;
use crate::node::{Node, NodeValue};
use crate::rules;
use crate::shape::{Body, Member, Operation, Shape, ShapeRef, ShapeType, UNIT};
use crate::source::SourceLocation;
use crate::traits::{AppliedTrait, Traits};
use crate::version;

impl Lowering<'_> {
    pub(super) fn definition(&mut self, definition: Definition) {
        let Definition {
            traits,
            shape_type,
            name,
            for_resource,
            mixins,
            members,
            body,
        } = definition;
        let id = match ShapeId::from_parts(&self.namespace, &name.text) {
            Ok(id) => id,
            Err(error) => {
                self.problems.push(Problem::error(
                    rules::SHAPE_ID,
                    name.location,
                    error.to_string(),
                ));
                return;
            }
        };
        let mut shape = Shape::new(id, shape_type, name.location);
        shape.is_version_1 = self.is_version_1;
        shape.traits = self.traits(traits);
        shape.for_resource = for_resource.and_then(|name| self.reference(&name));
        shape.mixins = self.references(&mixins);
        for member in members {
            self.member(&mut shape, member);
        }
        if shape_type == ShapeType::Map {
            // `key` comes first, in any order of the source.
            shape.members.sort_by(|left, right| left.id.cmp(&right.id));
        }
        match body {
            BodyDefinition::None => {}
            BodyDefinition::Object(properties) => {
                let properties = self.distinct(properties);
                match &mut shape.body {
                    Body::Service(service) => self.service(service, properties),
                    Body::Resource(resource) => self.resource(resource, properties),
                    _ => {}
                }
            }
            BodyDefinition::Operation {
                input,
                output,
                errors,
            } => {
                let mut operation = Operation::default();
                let (input_suffix, output_suffix) =
                    (self.input_suffix.clone(), self.output_suffix.clone());
                if let Some(input) = input {
                    let name = format!("{}{input_suffix}", name.text);
                    if let Some(id) = self.input_output(input, name, ids::INPUT) {
                        operation.input = id;
                    }
                }
                if let Some(output) = output {
                    let name = format!("{}{output_suffix}", name.text);
                    if let Some(id) = self.input_output(output, name, ids::OUTPUT) {
                        operation.output = id;
                    }
                }
                operation.errors = self.references(&errors);
                shape.body = Body::Operation(operation);
            }
        }
        self.fragment.shapes.push(shape);
    }

    /// The target of `input` or `output`. An inline structure becomes a shape.
    pub(super) fn input_output(
        &mut self,
        input_output: InputOutput,
        name: String,
        marker: &str,
    ) -> Option<ShapeRef> {
        let mut definition = match input_output {
            InputOutput::Target(name) => return self.reference(&name),
            InputOutput::Inline(definition) => *definition,
        };
        let location = definition.name.location;
        if self.is_version_1 {
            version::inline(location, self.problems);
        }
        definition.name.text = name;
        definition.traits.push(TraitUse {
            name: Name {
                text: marker.to_owned(),
                location,
            },
            value: None,
            location,
        });
        let id = ShapeId::from_parts(&self.namespace, &definition.name.text).ok();
        self.definition(definition);
        Some(ShapeRef::new(id?, location))
    }

    pub(super) fn member(&mut self, shape: &mut Shape, member: MemberDefinition) {
        let MemberDefinition {
            traits,
            name,
            target,
            elided,
            value,
        } = member;
        let Ok(id) = shape.id.with_member(&name.text) else {
            return;
        };
        let mut traits = self.traits(traits);
        let target = match target {
            Some(target) => self.reference(&target),
            // The specification defines Unit for members of enums. Elided targets are resolved
            // later.
            None => Some(ShapeRef::new(UNIT, name.location)),
        };
        let value = value.map(|value| (value.location, self.value(value)));
        match shape.shape_type {
            ShapeType::Enum | ShapeType::IntEnum => {
                let implied = (shape.shape_type == ShapeType::Enum && !traits.has(ids::ENUM_VALUE))
                    .then(|| {
                        let text = NodeValue::String(name.text.clone());
                        (name.location, Node::new(text, name.location))
                    });
                if let Some((location, value)) = value.or(implied) {
                    traits.push(applied(ids::ENUM_VALUE, value, location));
                }
            }
            _ => {
                if let Some((location, value)) = value {
                    traits.push(applied(ids::DEFAULT, value, location));
                }
            }
        }
        if let Some(target) = target {
            let location = name.location;
            shape.members.push(Member {
                id,
                target,
                location,
                traits,
                origin: None,
                elided,
            });
        }
    }

    pub(super) fn traits(&mut self, uses: Vec<TraitUse>) -> Traits {
        let mut traits = Traits::default();
        for TraitUse {
            name,
            value,
            location,
        } in uses
        {
            let value = match value {
                Some(value) => self.value(value),
                // The assembler replaces it by the empty value of the type of the trait.
                None => Node::new(NodeValue::Null, location),
            };
            if let Some(id) = self.resolve(&name.text, name.location) {
                traits.push(AppliedTrait::new(id, value, location));
            }
        }
        traits
    }
}

fn applied(id: &'static str, value: Node, location: SourceLocation) -> AppliedTrait {
    AppliedTrait::new(ShapeId::from_static(id), value, location)
}
