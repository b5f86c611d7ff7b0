//! Traits: their definitions must exist, and their values must fit them.

use std::collections::HashSet;

use super::defaults;
use super::everything;
use super::lookup::Lookups;
use crate::assemble::suggest_shape;
use crate::diagnostic::{Problem, Problems, Severity, did_you_mean, one_of};
use crate::model::Model;
use crate::node::MAX_DEPTH;
use crate::node::{Node, NodeValue};
use crate::shape::{Shape, ShapeType};
use crate::traits::AppliedTrait;

/// From how many keys on an object is indexed before it is searched.
const MANY: usize = 32;

pub(super) fn check<'m>(
    model: &'m Model,
    shape: &'m Shape,
    lookups: &mut Lookups<'m>,
    problems: &mut Problems,
) {
    let of_members = shape
        .members()
        .iter()
        .filter(|member| !member.is_inherited() || member.traits().iter().any(|t| !t.inherited))
        .flat_map(|member| {
            let target = model.target(member);
            let applied = member.traits().iter();
            applied.map(move |applied| (member.id(), target, applied))
        });
    let of_shape = shape.traits().iter();
    let of_shape = of_shape.map(|applied| (shape.id(), Some(shape), applied));
    for (owner, data, applied) in of_shape.chain(of_members) {
        if problems.is_full() {
            return;
        }
        // What a mixin gave was checked on the mixin.
        if !applied.inherited {
            check_trait(model, owner, applied, lookups, problems);
            if let Some(shape) = data.filter(|_| applied.id() == "smithy.api#default") {
                defaults::check(shape, owner, applied.value(), lookups, problems);
            }
        }
    }
}

fn check_trait<'m>(
    model: &'m Model,
    owner: &str,
    applied: &'m AppliedTrait,
    lookups: &mut Lookups<'m>,
    problems: &mut Problems,
) {
    let Some(definition) = model.get(applied.id()) else {
        let severity = problems.severity_of_unknown_traits();
        problems.push_with(severity, |hints| {
            let hint = hints.then(|| suggest_trait(model, applied)).flatten();
            let message = format!("the trait `{}` on `{owner}` is not defined", applied.id());
            let mut problem = Problem::warning("UnknownTrait", applied.location(), message);
            problem.severity = severity;
            problem.maybe_hint(hint)
        });
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
        lookups,
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

/// What kind of value a shape wants, when the value is of another kind. What is
/// in lists, maps and structures, and what an enum allows, is looked at apart.
pub(super) fn misfit(shape_type: ShapeType, node: &Node) -> Option<&'static str> {
    use ShapeType as T;
    let value = node.value();
    let (fits, expected) = match shape_type {
        T::Document => (true, ""),
        T::Structure | T::Union | T::Map => (matches!(value, NodeValue::Object(_)), "an object"),
        T::List => (matches!(value, NodeValue::Array(_)), "an array"),
        T::Boolean => (matches!(value, NodeValue::Bool(_)), "`true` or `false`"),
        T::String | T::Enum | T::Blob => (matches!(value, NodeValue::String(_)), "a string"),
        T::Byte | T::Short | T::Integer | T::Long | T::IntEnum => match value {
            NodeValue::Number(number) => (number.is_whole(), "a whole number"),
            _ => (false, "a number"),
        },
        T::Timestamp => (
            matches!(value, NodeValue::String(_) | NodeValue::Number(_)),
            "a number",
        ),
        _ => (matches!(value, NodeValue::Number(_)), "a number"),
    };
    (!fits).then_some(expected)
}

struct Check<'a, 'm> {
    model: &'m Model,
    applied: &'m AppliedTrait,
    lookups: &'a mut Lookups<'m>,
    problems: &'a mut Problems,
}

impl<'m> Check<'_, 'm> {
    /// Whether a value has the form of a shape: kinds, required members, the
    /// values of enums. Constraints come with validation of values in general.
    fn value(&mut self, node: &'m Node, shape: &'m Shape, depth: usize) {
        if depth > MAX_DEPTH || self.problems.is_full() {
            return;
        }
        match (shape.shape_type(), node.value()) {
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
            _ => {}
        }
        let Some(expected) = misfit(shape.shape_type(), node) else {
            return;
        };
        let applied = self.applied;
        self.problems.push_with(Severity::Error, |_| {
            let message = if node.location() == applied.value().location() && node.is_null() {
                format!("the trait `{}` needs a value", applied.id())
            } else {
                let (id, kind) = (applied.id(), node.kind());
                format!("the value of the trait `{id}` holds {kind} here")
            };
            Problem::error("TraitValue", node.location(), message).expected(expected)
        });
    }

    fn structure(&mut self, node: &'m Node, shape: &'m Shape, depth: usize) {
        let Some(object) = node.as_object() else {
            return;
        };
        let id = self.applied.id();
        let known = self.lookups.of(shape);
        for entry in object.entries() {
            let member = known.members.get(entry.key.as_str());
            if let Some(target) = member.and_then(|member| self.model.target(member)) {
                self.value(&entry.value, target, depth + 1);
                continue;
            }
            self.problems.push_with(Severity::Warning, |hints| {
                let names = || shape.members().iter().map(|member| member.name());
                let hint = hints.then(|| did_you_mean(&entry.key, names())).flatten();
                let message = format!("the trait `{id}` has no member `{}`", entry.key);
                Problem::warning("TraitValue", entry.key_location, message).maybe_hint(hint)
            });
        }
        let keys: HashSet<&str> = match object.len() > MANY {
            true => object.iter().map(|(key, _)| key).collect(),
            false => HashSet::new(),
        };
        let has = |name| match object.len() > MANY {
            true => keys.contains(name),
            false => object.get(name).is_some(),
        };
        for name in known.required.iter().filter(|name| !has(name)) {
            if self.problems.is_full() {
                return;
            }
            let message = format!("the trait `{id}` lacks a value");
            self.problems.push(
                Problem::error("TraitValue", node.location(), message)
                    .expected(format!("`{name}`")),
            );
        }
    }

    fn enumeration(&mut self, node: &Node, text: &str, shape: &'m Shape) {
        if self.lookups.of(shape).texts.contains(text) {
            return;
        }
        let id = self.applied.id();
        self.problems.push_with(Severity::Error, |hints| {
            let values = || {
                let members = shape.members().iter();
                members.filter_map(|member| member.traits().enum_value()?.as_str())
            };
            let hint = hints.then(|| did_you_mean(text, values())).flatten();
            let message = format!("`{text}` is no value of the trait `{id}`");
            Problem::error("TraitValue", node.location(), message)
                .expected(one_of(values()))
                .maybe_hint(hint)
        });
    }
}
