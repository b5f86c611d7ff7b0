//! Names in a service. Code generators and protocols omit the namespace, so all shapes that a
//! service reaches must have different names.

use std::collections::{HashMap, HashSet};

use super::report_incomplete;
use crate::closure::Closure;
use crate::diagnostic::{Problem, Problems};
use crate::json::MAX_DEPTH;
use crate::model::Model;
use crate::rules;
use crate::severity::Severity;
use crate::shape::{Shape, ShapeRef, ShapeType, UNIT};

/// The maximum number of shapes that are visited for all services together.
const MAX_STEPS: usize = 200_000;

pub(super) fn check(model: &Model, problems: &mut Problems) {
    let mut steps = 0;
    for service in model.services() {
        let Some(body) = service.as_service() else {
            continue;
        };
        if problems.is_full() {
            return;
        }
        if steps > MAX_STEPS {
            return report_incomplete("not all names in services were compared", service, problems);
        }
        let Some(closure) = Closure::of(model, service) else {
            continue;
        };
        steps += closure.shapes().len();
        steps += closure.operations().len() + closure.resources().len();
        // Unknown shapes are reported elsewhere.
        let renamed = body.rename().iter();
        for (id, name) in renamed.filter(|(id, _)| model.get(id).is_some()) {
            check_rename(&closure, id, name, problems);
        }
        check_conflicts(model, &closure, problems);
    }
}

fn check_rename(closure: &Closure<'_>, id: &ShapeRef, name: &str, problems: &mut Problems) {
    let service = closure.service();
    let kind = if closure.contains(id) {
        if name != id.name() {
            return;
        }
        return problems.push_with(Severity::Error, |_| {
            let message = format!("the rename of `{}` does not change its name", id.id());
            Problem::error(rules::SERVICE, id.location(), message)
                .about(service.id())
                .expected("another name")
        });
    } else if closure.operations().iter().any(|o| o.id() == id.id()) {
        "an operation"
    } else if closure.resources().iter().any(|r| r.id() == id.id()) {
        "a resource"
    } else {
        return problems.push_with(Severity::Error, |_| {
            let message = format!(
                "`{}` is renamed, but `{}` does not use it",
                id.id(),
                service.id()
            );
            Problem::error(rules::SERVICE, id.location(), message)
                .about(service.id())
                .expected("a shape that the service reaches")
        });
    };
    problems.push_with(Severity::Error, |_| {
        let message = format!("`{}` cannot be renamed: it is {kind}", id.id());
        Problem::error(rules::SERVICE, id.location(), message)
            .about(service.id())
            .expected("a data shape")
    });
}

fn check_conflicts<'m>(model: &'m Model, closure: &Closure<'m>, problems: &mut Problems) {
    let operations = closure.operations().iter().copied();
    let resources = closure.resources().iter().copied();
    let all = closure
        .shapes()
        .chain(operations)
        .chain(resources)
        .chain([closure.service()])
        // It has no data, and no generated type has its name.
        .filter(|shape| *shape.id() != UNIT);
    let mut firsts: HashMap<String, &'m Shape> = HashMap::new();
    let mut seen = HashSet::new();
    for shape in all {
        let name = closure.name(shape.id()).to_ascii_lowercase();
        let first = *firsts.entry(name).or_insert(shape);
        // Conflicts in one namespace are reported elsewhere.
        let is_known = first.id().namespace() == shape.id().namespace()
            && closure.name(first.id()) == first.id().name()
            && closure.name(shape.id()) == shape.id().name();
        if std::ptr::eq(first, shape) || is_known {
            continue;
        }
        seen.clear();
        let severity = conflict(model, first, shape, &mut seen, 0);
        // Bundled shapes have no location.
        let (shape, other) = match shape.location().is_known() {
            true => (shape, first),
            false => (first, shape),
        };
        problems.push_with(severity, |_| {
            let message = format!(
                "`{}` and `{}` have the same name in `{}`{}",
                shape.id(),
                other.id(),
                closure.service().id(),
                match severity {
                    Severity::Error => "",
                    _ => ", although they are equal",
                }
            );
            let mut problem = Problem::error(rules::SERVICE, shape.location(), message)
                .about(shape.id())
                .expected("names that differ in more than case and namespace")
                .hint("rename one of them with `rename` of the service")
                .related("the other", other.location());
            problem.severity = severity;
            problem
        });
    }
}

/// The severity of two shapes with the same name. It is lower if both are equal simple shapes, or
/// lists of them.
fn conflict<'m>(
    model: &'m Model,
    left: &'m Shape,
    right: &'m Shape,
    seen: &mut HashSet<(&'m str, &'m str)>,
    depth: usize,
) -> Severity {
    let is_list = left.shape_type() == ShapeType::List;
    if left.shape_type() != right.shape_type()
        || !(is_list || left.shape_type().is_simple())
        || left.traits() != right.traits()
        || depth > MAX_DEPTH
    {
        return Severity::Error;
    }
    if !is_list {
        return Severity::Note;
    }
    if !seen.insert((left.id().as_str(), right.id().as_str())) {
        return Severity::Warning;
    }
    let (Some(one), Some(other)) = (left.member("member"), right.member("member")) else {
        return Severity::Error;
    };
    if one.traits() != other.traits() {
        return Severity::Error;
    }
    match (model.target(one), model.target(other)) {
        (Some(one), Some(other)) if one.id() != other.id() => {
            conflict(model, one, other, seen, depth + 1).max(Severity::Warning)
        }
        _ => Severity::Warning,
    }
}
