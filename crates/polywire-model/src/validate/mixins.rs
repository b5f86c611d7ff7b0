//! Mixins: parts that they cannot have.

use crate::diagnostic::{Problem, Problems};
use crate::rules;
use crate::severity::Severity;
use crate::shape::{Operation, Resource, Shape, UNIT};
use crate::source::SourceLocation;

pub(super) fn check(shape: &Shape, problems: &mut Problems) {
    if !shape.traits().is_mixin() {
        return;
    }
    if let Some(operation) = shape.as_operation() {
        check_operation(shape, operation, problems);
    } else if let Some(resource) = shape.as_resource() {
        check_resource(shape, resource, problems);
    }
}

fn check_operation(shape: &Shape, operation: &Operation, problems: &mut Problems) {
    let given = [
        ("an input", operation.input()),
        ("an output", operation.output()),
    ];
    for (what, reference) in given {
        if *reference.id() != UNIT {
            let gives = "a mixin with errors and traits only";
            report(shape, what, gives, reference.location(), problems);
        }
    }
}

fn check_resource(shape: &Shape, resource: &Resource, problems: &mut Problems) {
    // Only the first is reported.
    if let Some((_, reference)) = resource.properties().first() {
        let gives = "a mixin without properties";
        report(shape, "properties", gives, reference.location(), problems);
    }
}

fn report(
    shape: &Shape,
    what: &str,
    expected: &str,
    location: SourceLocation,
    problems: &mut Problems,
) {
    problems.push_with(Severity::Error, |_| {
        let kind = shape.shape_type().name();
        let message = format!("the mixin `{}` has {what}", shape.id());
        Problem::error(rules::WRONG_MIXIN, location, message)
            .expected(expected)
            .hint(format!("define {what} in each {kind} instead"))
    });
}
