//! Enums: the values of `enum` and `intEnum` shapes, and those of the older trait `@enum`.

use std::collections::HashMap;

use super::traits::Owner;
use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::node::Node;
use crate::rules;
use crate::severity::Severity;
use crate::shape::{Member, Shape, ShapeType};
use crate::traits::AppliedTrait;

pub(super) fn check(shape: &Shape, problems: &mut Problems) {
    let is_string = match shape.shape_type() {
        ShapeType::Enum => true,
        ShapeType::IntEnum => false,
        _ => return,
    };
    let mut seen: HashMap<String, &Member> = HashMap::with_capacity(shape.members().len());
    for member in shape.members() {
        if problems.is_full() {
            return;
        }
        let applied = member.traits().find(ids::ENUM_VALUE);
        let location = applied.map_or(member.location(), |applied| applied.value().location());
        let value = applied.map(|applied| applied.value());
        let fits = |value: &&Node| match is_string {
            true => value.as_str().is_some_and(|text| !text.is_empty()),
            false => value
                .as_i64()
                .is_some_and(|number| i32::try_from(number).is_ok()),
        };
        // Inherited from a mixin, where everything but the value was checked.
        if !member.is_inherited() {
            check_name(member, problems);
        }
        let Some(value) = value.filter(fits) else {
            problems.push_with(Severity::Error, |_| {
                let message = match value {
                    Some(value) if value.as_str().is_some() && is_string => {
                        format!("the value of `{}` is empty", member.id())
                    }
                    Some(value) => format!("the value of `{}` is {}", member.id(), value.kind()),
                    None => format!("`{}` has no value", member.id()),
                };
                Problem::error(rules::ENUM_SHAPE, location, message).expected(match is_string {
                    true => "non-empty text",
                    false => "an integer of 32 bits",
                })
            });
            continue;
        };
        let key = match value.as_i64() {
            Some(number) => number.to_string(),
            None => value.to_json(),
        };
        if let Some(first) = seen.insert(key, member) {
            problems.push_with(Severity::Error, |_| {
                let message = format!(
                    "`{}` and `{}` of `{}` have the same value",
                    first.name(),
                    member.name(),
                    shape.id()
                );
                Problem::error(rules::ENUM_SHAPE, location, message)
                    .expected("a unique value")
                    .related("first", first.location())
            });
        }
    }
}

fn check_name(member: &Member, problems: &mut Problems) {
    if is_constant(member.name()) {
        return;
    }
    problems.push_with(Severity::Warning, |_| {
        let message = format!("`{}` does not follow the naming convention", member.id());
        Problem::warning(rules::ENUM_SHAPE, member.location(), message)
            .expected("a letter, then upper case letters, digits and underscores")
    });
}

fn is_constant(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    name.starts_with(|first: char| first.is_ascii_uppercase()) && name.bytes().all(is_part)
}

/// `@enum`: values and names must be unique, and either all entries have a name or none has.
pub(super) fn check_trait(owner: Owner<'_>, applied: &AppliedTrait, problems: &mut Problems) {
    if !owner.shape.is_version_1 {
        problems.push_with(Severity::Warning, |_| {
            let message = format!("`{}` uses @enum, which is deprecated", owner.id);
            Problem::warning(rules::MODEL_DEPRECATION, applied.location(), message)
                .expected("an `enum` shape")
        });
    }
    let definitions = applied.value().as_array().unwrap_or_default();
    let mut values: HashMap<&str, &Node> = HashMap::with_capacity(definitions.len());
    let mut names: HashMap<&str, &Node> = HashMap::with_capacity(definitions.len());
    for definition in definitions {
        for (key, seen) in [("value", &mut values), ("name", &mut names)] {
            let Some((node, text)) = definition
                .get(key)
                .and_then(|node| Some((node, node.as_str()?)))
            else {
                continue;
            };
            if let Some(first) = seen.insert(text, node) {
                problems.push_with(Severity::Error, |_| {
                    let message = format!("two entries of `{}` have the same {key}", owner.id);
                    Problem::error(rules::ENUM_TRAIT, node.location(), message)
                        .expected(format!("a unique {key}"))
                        .related("first", first.location())
                });
            }
            // Invalid names are reported as wrong values of the trait.
            if key == "name" && polywire_schema::is_identifier(text) && !is_constant(text) {
                problems.push_with(Severity::Warning, |_| {
                    let message = format!(
                        "the name `{text}` in `{}` does not follow the naming convention",
                        owner.id
                    );
                    Problem::warning(rules::ENUM_TRAIT, node.location(), message)
                        .expected("a letter, then upper case letters, digits and underscores")
                });
            }
        }
    }
    if names.is_empty() && !definitions.is_empty() {
        problems.push_with(Severity::Warning, |_| {
            let message = format!("the values of `{}` have no names", owner.id);
            Problem::warning(rules::ENUM_NAMES_PRESENT, applied.location(), message)
                .expected("a `name` for each value, for code generators")
        });
    } else {
        let nameless = definitions.iter();
        for definition in nameless.filter(|d| d.as_object().is_some() && d.get("name").is_none()) {
            problems.push_with(Severity::Error, |_| {
                let message = format!("a value of `{}` has no name, while others have", owner.id);
                Problem::error(rules::ENUM_TRAIT, definition.location(), message)
                    .expected("a `name` for each value, or for none")
            });
        }
    }
}
