//! Deprecated shapes and traits, unstable traits.

use super::traits::Owner;
use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::model::Relation;
use crate::rules;
use crate::severity::Severity;
use crate::shape::{Shape, ShapeRef};
use crate::traits::AppliedTrait;

pub(super) fn check_trait(
    owner: Owner<'_>,
    applied: &AppliedTrait,
    definition: &Shape,
    problems: &mut Problems,
) {
    // @enum has a separate rule, which does not apply to files of Smithy 1.0.
    let is_deprecated = definition.traits().deprecated().is_some();
    if is_deprecated && applied.id() != ids::ENUM {
        problems.push_with(Severity::Warning, |_| {
            let message = format!(
                "the trait `{}` on `{}` is deprecated{}",
                applied.id(),
                owner.id,
                since(definition)
            );
            Problem::warning(rules::DEPRECATED_TRAIT, applied.location(), message)
                .maybe_hint(advice(definition))
        });
    }
    if definition.traits().has(ids::UNSTABLE) {
        problems.push_with(Severity::Warning, |_| {
            let message = format!("the trait `{}` on `{}` is unstable", applied.id(), owner.id);
            let code = rules::UNSTABLE_TRAIT.of(applied.id());
            Problem::warning(code, applied.location(), message)
                .hint("it can change or disappear in the next version")
        });
    }
}

/// `what` is the relation of the target to the owner.
pub(super) fn check_target(
    what: &str,
    relation: Relation,
    owner: &str,
    reference: &ShapeRef,
    target: &Shape,
    problems: &mut Problems,
) {
    if target.traits().deprecated().is_none() {
        return;
    }
    if matches!(
        relation,
        Relation::CollectionOperation | Relation::LifecycleOperation
    ) {
        return;
    }
    problems.push_with(Severity::Warning, |_| {
        let message = format!(
            "the {what} `{}` of `{owner}` is deprecated{}",
            target.id(),
            since(target)
        );
        let code = rules::DEPRECATED_SHAPE.of(target.id());
        Problem::warning(code, reference.location(), message)
            .maybe_hint(advice(target))
            .related("defined", target.location())
    });
}

fn since(shape: &Shape) -> String {
    let since = shape.traits().deprecated().and_then(|d| d.since);
    since.map_or(String::new(), |since| format!(" since {since}"))
}

/// The message of @deprecated.
fn advice(shape: &Shape) -> Option<String> {
    let message = shape.traits().deprecated()?.message?;
    Some(message.chars().take(200).collect())
}
