//! What a file may say in the version of Smithy that it is written in. Files of
//! 1.0 and 2.0 make one model together, but each keeps to its own language.

use crate::diagnostic::{Problem, Problems};
use crate::fragment::Fragment;
use crate::shape::{Body, Shape, ShapeType};
use crate::source::SourceLocation;
use crate::traits::AppliedTrait;

const UPGRADE: &str =
    "let the file say `$version: \"2.0\"`, or `\"smithy\": \"2.0\"` when it is JSON";

/// Checks the shapes and traits of one file.
pub(crate) fn check(fragment: &Fragment, problems: &mut Problems) {
    for shape in &fragment.shapes {
        if fragment.is_version_1 {
            shape_of_version_1(shape, problems);
        }
        let members = shape.members.iter().flat_map(|member| member.traits.iter());
        for applied in shape.traits.iter().chain(members) {
            check_trait(applied, fragment.is_version_1, problems);
        }
        if problems.is_full() {
            return;
        }
    }
    for applied in fragment.applies.iter().flat_map(|apply| &apply.traits) {
        check_trait(applied, fragment.is_version_1, problems);
    }
}

/// `input := {}` in a file of version 1.0.
#[cold]
pub(crate) fn inline(location: SourceLocation, problems: &mut Problems) {
    problems.push(
        later("Smithy 1.0 has no inline structures", location)
            .expected("`:` and the id of a structure"),
    );
}

fn shape_of_version_1(shape: &Shape, problems: &mut Problems) {
    let id = &shape.id;
    if matches!(shape.shape_type, ShapeType::Enum | ShapeType::IntEnum) {
        let (article, instead) = match shape.shape_type {
            ShapeType::Enum => (
                shape.shape_type.with_article(),
                "a string with the trait @enum",
            ),
            _ => (shape.shape_type.with_article(), "an integer"),
        };
        let message = format!("`{id}` is {article}, which Smithy 1.0 does not have");
        problems.push(later(message, shape.location).expected(instead));
    }
    if let Some(mixin) = shape.mixins.first() {
        let message = format!("`{id}` uses mixins, which Smithy 1.0 does not have");
        problems.push(later(message, mixin.location()));
    }
    if let Some(resource) = &shape.for_resource {
        let message = format!("`{id}` is for a resource, which Smithy 1.0 can't say");
        problems.push(later(message, resource.location()));
    }
    if let Body::Resource(resource) = &shape.body
        && let Some((name, target)) = resource.properties.first()
    {
        let message = format!("`{id}` has the property `{name}`, and resources of Smithy 1.0 none");
        problems.push(later(message, target.location()));
    }
}

fn check_trait(applied: &AppliedTrait, is_version_1: bool, problems: &mut Problems) {
    let id = applied.id.as_str();
    let name = match id.strip_prefix("smithy.api#") {
        Some(name @ ("box" | "default" | "mixin")) => name,
        _ => return,
    };
    let location = applied.location;
    problems.push(match (name, is_version_1) {
        ("box", false) => Problem::error("ModelVersion", location, "Smithy 2.0 has no @box")
            .hint("a number or boolean may be absent, unless @default or @required says otherwise"),
        ("default", true) => later("Smithy 1.0 has no defaults but zero", location)
            .expected("no default, and @box where a number or boolean may be absent"),
        ("mixin", true) => later("Smithy 1.0 has no mixins", location),
        _ => return,
    });
}

#[cold]
fn later(message: impl Into<String>, location: SourceLocation) -> Problem {
    Problem::error("ModelVersion", location, message).hint(UPGRADE)
}
