//! `@private`: shapes that only their own namespace can use.

use super::traits::Owner;
use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::rules;
use crate::severity::Severity;
use crate::shape::Shape;
use crate::source::SourceLocation;
use crate::traits::AppliedTrait;

fn is_out_of_reach(target: &Shape, namespace: &str) -> bool {
    // The namespace is checked first: most targets are in the same one or in the prelude.
    target.id().namespace() != namespace && target.traits().has(ids::PRIVATE)
}

/// `what` is the relation of the target to the owner.
pub(super) fn check_target(
    what: &str,
    owner: &str,
    namespace: &str,
    location: SourceLocation,
    target: &Shape,
    problems: &mut Problems,
) {
    if !is_out_of_reach(target, namespace) {
        return;
    }
    problems.push_with(Severity::Error, |_| {
        let message = format!(
            "the {what} `{}` of `{owner}` is private to its namespace",
            target.id()
        );
        Problem::error(rules::PRIVATE_ACCESS, location, message)
            .expected(format!("a shape of `{namespace}`, or one without @private"))
            .related("defined", target.location())
    });
}

/// A warning, as in Smithy's own tool.
pub(super) fn check_trait(
    owner: Owner<'_>,
    applied: &AppliedTrait,
    definition: &Shape,
    problems: &mut Problems,
) {
    if !is_out_of_reach(definition, owner.id.namespace()) {
        return;
    }
    problems.push_with(Severity::Warning, |_| {
        let message = format!(
            "the trait `{}` on `{}` is private to its namespace",
            applied.id(),
            owner.id
        );
        Problem::warning(rules::PRIVATE_ACCESS, applied.location(), message)
            .related("defined", definition.location())
    });
}

/// Private members of mixins are inherited in all namespaces.
pub(super) fn check_private_member(
    owner: Owner<'_>,
    applied: &AppliedTrait,
    problems: &mut Problems,
) {
    if owner.member.is_none() || !owner.shape.traits().is_mixin() {
        return;
    }
    problems.push_with(Severity::Warning, |_| {
        let message = format!("@private on `{}` has no effect", owner.id);
        Problem::warning(rules::PRIVATE_MIXIN_MEMBER, applied.location(), message).hint(
            "other namespaces inherit the member, too; apply @private to the mixin or the target",
        )
    });
}
