//! Traits: their definitions must exist, and their values must fit them.

use super::everything;
use super::values::{Leniency, Subject, Values};
use crate::assemble::suggest_shape;
use crate::diagnostic::{Problem, Problems, Severity, did_you_mean};
use crate::model::Model;
use crate::shape::Shape;
use crate::traits::AppliedTrait;

pub(super) fn check<'m>(
    model: &'m Model,
    shape: &'m Shape,
    values: &mut Values<'m>,
    problems: &mut Problems,
) {
    let of_members = shape
        .members()
        .iter()
        .filter(|member| !member.is_inherited() || member.traits().iter().any(|t| !t.inherited))
        .flat_map(|member| member.traits().iter().map(|t| (member.id(), t)));
    let of_shape = shape.traits().iter().map(|t| (shape.id(), t));
    for (owner, applied) in of_shape.chain(of_members) {
        if problems.is_full() {
            return;
        }
        // What a mixin gave was checked on the mixin.
        if !applied.inherited {
            check_trait(model, owner, applied, values, problems);
        }
    }
}

fn check_trait<'m>(
    model: &'m Model,
    owner: &str,
    applied: &'m AppliedTrait,
    values: &mut Values<'m>,
    problems: &mut Problems,
) {
    let Some(definition) = model.get(applied.id()) else {
        problems.push_with(Severity::Warning, |hints| {
            let hint = hints.then(|| suggest_trait(model, applied)).flatten();
            let message = format!("the trait `{}` on `{owner}` is not defined", applied.id());
            Problem::warning("UnknownTrait", applied.location(), message).maybe_hint(hint)
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
    let subject = Subject {
        code: "TraitValue",
        what: "the value of the trait",
        id: applied.id(),
        leniency: Leniency::default(),
    };
    values.check(subject, applied.value(), definition, problems);
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
