//! Definitions of traits: the value of `@trait`.

use crate::diagnostic::{Problem, Problems};
use crate::model::Model;
use crate::node::Node;
use crate::rules;
use crate::severity::Severity;
use crate::shape::{Member, Shape};
use crate::spelling::did_you_mean;
use crate::traits::AppliedTrait;

/// The paths in `breakingChanges` must exist in the trait.
pub(super) fn check(
    model: &Model,
    definition: &Shape,
    applied: &AppliedTrait,
    problems: &mut Problems,
) {
    let rules = applied
        .value()
        .get("breakingChanges")
        .and_then(Node::as_array);
    for rule in rules.unwrap_or_default() {
        let Some((path, node)) = rule
            .get("path")
            .and_then(|node| Some((node.as_str()?, node)))
        else {
            continue;
        };
        // The empty path is the whole trait.
        let Some(steps) = path.strip_prefix('/') else {
            if !path.is_empty() {
                problems.push_with(Severity::Error, |_| {
                    let message = format!("`{path}` is not a path in `{}`", definition.id());
                    Problem::error(rules::TRAIT_BREAKING_CHANGES, node.location(), message)
                        .expected("a path such as `/member`")
                });
            }
            continue;
        };
        let mut at = definition;
        for step in steps.split('/') {
            let name = step.replace("~1", "/").replace("~0", "~");
            let Some(next) = at.member(&name).and_then(|member| model.target(member)) else {
                problems.push_with(Severity::Error, |hints| {
                    let names = at.members().iter().map(Member::name);
                    let message = format!("the path `{path}` does not exist in the trait");
                    Problem::error(rules::TRAIT_BREAKING_CHANGES, node.location(), message)
                        .expected(format!("a member of `{}` for `{name}`", at.id()))
                        .maybe_hint(hints.then(|| did_you_mean(&name, names)).flatten())
                });
                break;
            };
            at = next;
        }
    }
}
