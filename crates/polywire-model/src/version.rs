//! Checks that a file uses only features of its version of Smithy. Files of 1.0 and 2.0 can form
//! one model, but each must follow its own version.

use polywire_schema::ShapeId;

use crate::diagnostic::{Problem, Problems};
use crate::fragment::Fragment;
use crate::ids;
use crate::rules;
use crate::shape::{Body, Shape, ShapeType};
use crate::source::SourceLocation;
use crate::traits::AppliedTrait;

const UPGRADE: &str = "write `$version: \"2.0\"`, or `\"smithy\": \"2.0\"` in JSON";

/// Checks the shapes and traits of one file.
pub(crate) fn check(fragment: &Fragment, problems: &mut Problems) {
    for shape in &fragment.shapes {
        if fragment.is_version_1 {
            shape_of_version_1(shape, problems);
        }
        check_traits(&shape.id, shape.traits.iter(), fragment, problems);
        for member in &shape.members {
            check_traits(&member.id, member.traits.iter(), fragment, problems);
        }
        if problems.is_full() {
            return;
        }
    }
    for apply in &fragment.applies {
        check_traits(&apply.target, apply.traits.iter(), fragment, problems);
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
        let message = format!("`{id}` is `for` a resource, which Smithy 1.0 does not have");
        problems.push(later(message, resource.location()));
    }
    if let Body::Resource(resource) = &shape.body
        && let Some((name, target)) = resource.properties.first()
    {
        let message = format!(
            "`{id}` has the property `{name}`, but resources of Smithy 1.0 have no properties"
        );
        problems.push(later(message, target.location()));
    }
}

fn check_traits<'t>(
    owner: &ShapeId,
    traits: impl Iterator<Item = &'t AppliedTrait>,
    fragment: &Fragment,
    problems: &mut Problems,
) {
    for applied in traits {
        let name = match ids::in_prelude(applied.id.as_str()) {
            Some(name @ ("box" | "default" | "mixin")) => name,
            _ => continue,
        };
        let location = applied.location;
        problems.push(match (name, fragment.is_version_1) {
            ("box", false) => {
                let message = format!("`{owner}` has @box, which is not in Smithy 2.0");
                Problem::error(rules::MODEL_VERSION, location, message)
                    .hint("remove it: a value without a default can be absent")
            }
            ("default", true) => {
                let message = format!("`{owner}` has a default, which Smithy 1.0 does not have");
                later(message, location)
                    .expected("nothing, or @box: without it, numbers are 0 and booleans false")
            }
            ("mixin", true) => {
                let message = format!("`{owner}` is a mixin, which Smithy 1.0 does not have");
                later(message, location)
            }
            _ => continue,
        });
    }
}

#[cold]
fn later(message: impl Into<String>, location: SourceLocation) -> Problem {
    Problem::error(rules::MODEL_VERSION, location, message).hint(UPGRADE)
}
