//! Members: required ones of lists and maps, and conflicting names.

use std::collections::{HashMap, HashSet};

use crate::diagnostic::{Problem, Problems};
use crate::model::Model;
use crate::rules;
use crate::severity::Severity;
use crate::shape::{Member, Shape, ShapeType};
use crate::spelling::did_you_mean;

pub(super) fn check(shape: &Shape, problems: &mut Problems) {
    match shape.shape_type() {
        ShapeType::List => check_fixed(shape, &["member"], problems),
        ShapeType::Map => check_fixed(shape, &["key", "value"], problems),
        ShapeType::Structure | ShapeType::Union | ShapeType::Enum | ShapeType::IntEnum => {
            check_named(shape, problems);
        }
        _ => {}
    }
}

/// Names of shapes that differ only in case would conflict in generated code and on file systems.
pub(super) fn check_names_by_case(model: &Model, problems: &mut Problems) {
    let mut seen: HashMap<String, &Shape> = HashMap::with_capacity(model.len());
    for shape in model.shapes() {
        if let Some(first) = seen.insert(shape.id().to_ascii_lowercase(), shape) {
            problems.push_with(Severity::Error, |_| {
                let message = format!("`{}` and `{}` differ only in case", shape.id(), first.id());
                Problem::error(rules::SHAPE_ID_CONFLICT, shape.location(), message)
                    .about(shape.id())
                    .expected("names that differ in more than case")
                    .related("the other", first.location())
            });
        }
    }
}

/// Lists and maps have exactly these members.
fn check_fixed(shape: &Shape, names: &[&str], problems: &mut Problems) {
    let what = shape.shape_type().with_article();
    let mut seen: HashSet<&str> = HashSet::new();
    for member in shape.members() {
        let name = member.name();
        if !seen.insert(name) {
            problems.push_with(Severity::Error, |_| {
                let message = format!("the member `{name}` of `{}` is defined twice", shape.id());
                Problem::error(rules::DUPLICATE_MEMBER, member.location(), message)
            });
        } else if !names.contains(&name) {
            problems.push_with(Severity::Error, |_| {
                let message = format!("{what} such as `{}` has no member `{name}`", shape.id());
                Problem::error(rules::UNKNOWN_MEMBER, member.location(), message)
                    .expected(format!("`{}`", names.join("` and `")))
                    .maybe_hint(did_you_mean(name, names.iter().copied()))
            });
        }
    }
    for missing in names.iter().filter(|name| !seen.contains(*name)) {
        problems.push(
            Problem::error(
                rules::MISSING_MEMBER,
                shape.location(),
                format!("`{}` has no member `{missing}`", shape.id()),
            )
            .expected(format!("{what} with `{}`", names.join("` and `"))),
        );
    }
}

fn check_named(shape: &Shape, problems: &mut Problems) {
    let mut seen: HashMap<String, &Member> = HashMap::with_capacity(shape.members().len());
    for member in shape.members() {
        let first = *seen
            .entry(member.name().to_ascii_lowercase())
            .or_insert(member);
        if std::ptr::eq(first, member) {
            continue;
        }
        problems.push_with(Severity::Error, |_| {
            let problem = if first.name() == member.name() {
                let message = format!(
                    "the member `{}` of `{}` is defined twice",
                    member.name(),
                    shape.id()
                );
                Problem::error(rules::DUPLICATE_MEMBER, member.location(), message)
            } else {
                let message = format!(
                    "the members `{}` and `{}` of `{}` differ only in case",
                    first.name(),
                    member.name(),
                    shape.id()
                );
                Problem::error(rules::SHAPE_ID_CONFLICT, member.location(), message)
                    .expected("names that differ in more than case")
            };
            problem.related("first", first.location())
        });
    }
    if shape.members().is_empty() && shape.shape_type() != ShapeType::Structure {
        // Smithy has a separate rule for unions.
        let rule = match shape.shape_type() {
            ShapeType::Union => rules::UNION,
            _ => rules::MISSING_MEMBER,
        };
        problems.push(
            Problem::error(rule, shape.location(), format!("`{}` is empty", shape.id())).expected(
                format!("{} with a member", shape.shape_type().with_article()),
            ),
        );
    }
}
