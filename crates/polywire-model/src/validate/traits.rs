//! Traits: their definitions must exist, and their values must fit them.

use super::everything;
use crate::assemble::suggest_shape;
use crate::diagnostic::{Problem, Problems, did_you_mean};
use crate::model::Model;
use crate::node::MAX_DEPTH;
use crate::node::{Node, NodeValue};
use crate::shape::{Shape, ShapeType};
use crate::traits::AppliedTrait;

pub(super) fn check(model: &Model, shape: &Shape, problems: &mut Problems) {
    let of_members = shape
        .members()
        .iter()
        .filter(|member| !member.is_inherited() || member.traits().iter().any(|t| !t.inherited))
        .flat_map(|member| {
            member
                .traits()
                .iter()
                .map(move |applied| (member.id(), applied))
        });
    let of_shape = shape.traits().iter().map(|applied| (shape.id(), applied));
    for (owner, applied) in of_shape.chain(of_members) {
        // What a mixin gave was checked on the mixin.
        if !applied.inherited {
            check_trait(model, owner, applied, problems);
        }
    }
}

fn check_trait(model: &Model, owner: &str, applied: &AppliedTrait, problems: &mut Problems) {
    let Some(definition) = model.get(applied.id()) else {
        let hint = problems
            .wants_hints()
            .then(|| suggest_trait(model, applied))
            .flatten();
        problems.push(
            Problem::warning(
                "UnknownTrait",
                applied.location(),
                format!("the trait `{}` on `{owner}` is not defined", applied.id()),
            )
            .maybe_hint(hint),
        );
        return;
    };
    if !definition.traits().is_trait_definition() {
        problems.push(
            Problem::error(
                "NotATrait",
                applied.location(),
                format!("`{}` is no trait", applied.id()),
            )
            .expected("a shape with @trait")
            .related("defined", definition.location()),
        );
        return;
    }
    let mut check = Check {
        model,
        applied,
        problems,
    };
    check.value(applied.value(), definition, 0);
}

fn suggest_trait(model: &Model, applied: &AppliedTrait) -> Option<String> {
    suggest_shape(
        applied.id(),
        everything(model).filter(|shape| shape.id().name() == applied.id().name()),
    )
    .or_else(|| {
        let definitions = everything(model)
            .filter(|shape| shape.traits().is_trait_definition())
            .filter(|shape| {
                [applied.id().namespace(), "smithy.api"].contains(&shape.id().namespace())
            });
        did_you_mean(
            applied.id().name(),
            definitions.map(|shape| shape.id().name()),
        )
    })
}

struct Check<'a> {
    model: &'a Model,
    applied: &'a AppliedTrait,
    problems: &'a mut Problems,
}

impl Check<'_> {
    /// Whether a value has the form of a shape: kinds, required members, the
    /// values of enums. Constraints come with validation of values in general.
    fn value(&mut self, node: &Node, shape: &Shape, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        let expected = match (shape.shape_type(), node.value()) {
            (ShapeType::Document, _) => return,
            (ShapeType::Structure | ShapeType::Union, NodeValue::Object(_)) => {
                return self.structure(node, shape, depth);
            }
            (ShapeType::Map, NodeValue::Object(object)) => {
                if let Some(target) = shape.member("value").and_then(|m| self.model.target(m)) {
                    object
                        .iter()
                        .for_each(|(_, value)| self.value(value, target, depth + 1));
                }
                return;
            }
            (ShapeType::List, NodeValue::Array(items)) => {
                if let Some(target) = shape.member("member").and_then(|m| self.model.target(m)) {
                    items
                        .iter()
                        .for_each(|item| self.value(item, target, depth + 1));
                }
                return;
            }
            (ShapeType::Enum, NodeValue::String(text)) => {
                return self.enumeration(node, text, shape);
            }
            (ShapeType::String | ShapeType::Blob | ShapeType::Timestamp, NodeValue::String(_))
            | (ShapeType::Boolean, NodeValue::Bool(_))
            | (
                ShapeType::Float
                | ShapeType::Double
                | ShapeType::BigDecimal
                | ShapeType::BigInteger
                | ShapeType::Timestamp,
                NodeValue::Number(_),
            ) => return,
            (
                ShapeType::Byte
                | ShapeType::Short
                | ShapeType::Integer
                | ShapeType::Long
                | ShapeType::IntEnum,
                NodeValue::Number(number),
            ) => {
                if number.is_whole() {
                    return;
                }
                "a whole number"
            }
            (ShapeType::Structure | ShapeType::Map | ShapeType::Union, _) => "an object",
            (ShapeType::List, _) => "an array",
            (ShapeType::Boolean, _) => "`true` or `false`",
            (ShapeType::String | ShapeType::Enum | ShapeType::Blob, _) => "a string",
            _ => "a number",
        };
        let message = if node.location() == self.applied.value().location() && node.is_null() {
            format!("the trait `{}` needs a value", self.applied.id())
        } else {
            format!(
                "the value of the trait `{}` holds {} here",
                self.applied.id(),
                node.kind()
            )
        };
        self.problems
            .push(Problem::error("TraitValue", node.location(), message).expected(expected));
    }

    fn structure(&mut self, node: &Node, shape: &Shape, depth: usize) {
        let Some(object) = node.as_object() else {
            return;
        };
        for entry in object.entries() {
            let target = shape
                .member(&entry.key)
                .and_then(|member| self.model.target(member));
            match target {
                Some(target) => self.value(&entry.value, target, depth + 1),
                None => {
                    let names = shape.members().iter().map(|member| member.name());
                    let message = format!(
                        "the trait `{}` has no member `{}`",
                        self.applied.id(),
                        entry.key
                    );
                    self.problems.push(
                        Problem::warning("TraitValue", entry.key_location, message)
                            .maybe_hint(did_you_mean(&entry.key, names)),
                    );
                }
            }
        }
        for member in shape
            .members()
            .iter()
            .filter(|member| member.traits().is_required())
        {
            if object.get(member.name()).is_none() {
                let message = format!("the trait `{}` lacks a value", self.applied.id());
                self.problems.push(
                    Problem::error("TraitValue", node.location(), message)
                        .expected(format!("`{}`", member.name())),
                );
            }
        }
    }

    fn enumeration(&mut self, node: &Node, text: &str, shape: &Shape) {
        let values = || {
            shape
                .members()
                .iter()
                .filter_map(|m| m.traits().enum_value()?.as_str())
        };
        if values().any(|value| value == text) {
            return;
        }
        let known: Vec<&str> = values().collect();
        let message = format!("`{text}` is no value of the trait `{}`", self.applied.id());
        self.problems.push(
            Problem::error("TraitValue", node.location(), message)
                .expected(format!("one of \"{}\"", known.join("\", \"")))
                .maybe_hint(did_you_mean(text, values())),
        );
    }
}
