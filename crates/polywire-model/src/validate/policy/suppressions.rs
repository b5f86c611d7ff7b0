//! `metadata suppressions`, `metadata severityOverrides` and `@suppress`.
//!
//! An id is the code of findings, or a part of it up to a dot: `Http` includes `Http.Uri`, and not
//! `HttpUri`. Errors cannot be suppressed. Metadata applies to a namespace, or with `*` to all
//! findings. The trait applies to its shape or member.

use polywire_schema::ShapeId;

use super::{check_keys, objects, text};
use crate::diagnostic::{Policy, Problem, Problems, Scope};
use crate::ids;
use crate::model::Model;
use crate::node::Node;
use crate::rules::{self, Rule};
use crate::severity::Severity;
use crate::shape::Member;
use crate::source::SourceLocation;
use crate::spelling::one_of;
use crate::traits::Traits;

const SUPPRESSIONS: &Rule = rules::SUPPRESSIONS;
const OVERRIDES: &Rule = rules::SEVERITY_OVERRIDES;

/// Reads the policy of a model, and reports what is wrong with it.
pub(crate) fn policy_of(model: &Model, problems: &mut Problems) -> Policy {
    let mut policy = Policy::default();
    if let Some(node) = model.metadata().get("suppressions") {
        for object in objects(SUPPRESSIONS, "suppressions", node, problems) {
            check_keys(
                SUPPRESSIONS,
                object,
                &["id", "namespace", "reason"],
                problems,
            );
            policy
                .suppressions
                .extend(scope(SUPPRESSIONS, object, problems));
        }
    }
    if let Some(node) = model.metadata().get("severityOverrides") {
        for object in objects(OVERRIDES, "severityOverrides", node, problems) {
            check_keys(
                OVERRIDES,
                object,
                &["id", "namespace", "severity"],
                problems,
            );
            let scope = scope(OVERRIDES, object, problems);
            let severity = severity(object, problems);
            policy.overrides.extend(scope.zip(severity));
        }
    }
    for shape in model.shapes() {
        add_trait(&mut policy, shape.id(), shape.traits());
        for member in shape.members() {
            if add_trait(&mut policy, member.id(), member.traits()) {
                let places = places(member).map(|place| (place, member.id().clone()));
                policy.members.extend(places);
            }
        }
    }
    policy
}

/// Adds the ids of `@suppress`, if the shape or member has it.
fn add_trait(policy: &mut Policy, id: &ShapeId, traits: &Traits) -> bool {
    let Some(codes) = traits.get(ids::SUPPRESS).and_then(Node::as_array) else {
        return false;
    };
    let codes = codes.iter().filter_map(Node::as_str).map(str::to_owned);
    policy.by_shape.insert(id.clone(), codes.collect());
    true
}

fn scope(rule: &'static Rule, object: &Node, problems: &mut Problems) -> Option<Scope> {
    let id = text(rule, object, "id", true, problems);
    let namespace = text(rule, object, "namespace", true, problems);
    let reason = text(rule, object, "reason", false, problems);
    let (id, namespace) = (id?, namespace?);
    Some(Scope {
        id: id.to_owned(),
        namespace: (namespace != "*").then(|| namespace.to_owned()),
        reason: reason.map(str::to_owned),
    })
}

fn severity(object: &Node, problems: &mut Problems) -> Option<Severity> {
    let name = text(OVERRIDES, object, "severity", true, problems)?;
    let known = [("WARNING", Severity::Warning), ("DANGER", Severity::Danger)];
    let found = known.iter().find(|(known, _)| *known == name);
    if found.is_none() {
        let location = object
            .get("severity")
            .map_or(object.location(), Node::location);
        let shown: String = name.chars().take(60).collect();
        let message = format!("findings cannot be raised to the severity `{shown}`");
        let names = known.iter().map(|(name, _)| *name);
        problems.push(Problem::error(OVERRIDES, location, message).expected(one_of(names)));
    }
    found.map(|(_, severity)| *severity)
}

/// The locations of findings about a member.
pub(super) fn places(member: &Member) -> impl Iterator<Item = SourceLocation> {
    let traits = member
        .traits()
        .iter()
        .filter(|applied| !applied.is_inherited());
    let traits = traits.flat_map(|applied| [applied.location(), applied.value().location()]);
    [member.location(), member.target().location()]
        .into_iter()
        .chain(traits)
        .filter(|place| place.is_known())
}

/// The member of a shape at a location.
pub(crate) fn member_at(
    model: &Model,
    shape: &ShapeId,
    location: SourceLocation,
) -> Option<ShapeId> {
    let members = model.defined(shape)?.members().iter();
    let mut members = members.filter(|member| places(member).any(|place| place == location));
    members.next().map(|member| member.id().clone())
}
