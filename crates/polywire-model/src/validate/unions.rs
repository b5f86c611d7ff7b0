//! Members of unions that target shapes with a default, which has no effect there.

use super::values::shown;
use crate::diagnostic::{Problem, Problems};
use crate::model::Model;
use crate::rules;
use crate::severity::Severity;
use crate::shape::{Shape, ShapeType};

pub(super) fn check(model: &Model, shape: &Shape, problems: &mut Problems) {
    if shape.shape_type() != ShapeType::Union {
        return;
    }
    for member in shape.members().iter().filter(|m| !m.is_inherited()) {
        let Some(target) = model.target(member) else {
            continue;
        };
        let Some(default) = target.traits().default_value().filter(|d| !d.is_null()) else {
            continue;
        };
        problems.push_with(Severity::Note, |_| {
            let message = format!(
                "the default of `{}`, {}, has no effect in the union `{}`",
                target.id(),
                shown(default),
                shape.id()
            );
            Problem::note(rules::UNION, member.target().location(), message)
                .hint("use a target without a default: `Integer`, not `PrimitiveInteger`")
        });
    }
}
