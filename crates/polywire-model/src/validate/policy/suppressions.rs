//! `metadata suppressions`, `metadata severityOverrides` and `@suppress`.
//!
//! A rule names the code of findings, or a part of it up to a dot: `Http` stands
//! for `Http.Uri` too, and not for `HttpUri`. Errors can't be suppressed. A rule
//! of metadata is for a namespace, or with `*` for all findings; a trait is for
//! the shape or member that has it.

use std::collections::HashMap;

use polywire_schema::ShapeId;

use super::{check_keys, objects, text};
use crate::diagnostic::{Problem, Problems};
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

/// What a model says about findings: which ones it suppresses, and which ones it
/// holds for worse than they are.
#[derive(Debug, Default)]
pub(crate) struct Policy {
    suppressions: Vec<Scope>,
    overrides: Vec<(Scope, Severity)>,
    /// The codes that `@suppress` names, by shape or member.
    by_shape: HashMap<ShapeId, Vec<String>>,
    /// Places that tell a member with `@suppress`: findings about a shape may
    /// stand at one of its members.
    members: HashMap<SourceLocation, ShapeId>,
}

/// The findings that an entry applies to.
#[derive(Debug)]
struct Scope {
    id: String,
    /// `None` is all namespaces, and no shape at all.
    namespace: Option<String>,
    reason: Option<String>,
}

impl Policy {
    /// What a model says; what is wrong with that is reported.
    pub(crate) fn of(model: &Model, problems: &mut Problems) -> Self {
        let mut policy = Self::default();
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
            policy.add_trait(shape.id(), shape.traits());
            for member in shape.members() {
                if policy.add_trait(member.id(), member.traits()) {
                    let places = places(member).map(|place| (place, member.id().clone()));
                    policy.members.extend(places);
                }
            }
        }
        policy
    }

    fn add_trait(&mut self, id: &ShapeId, traits: &Traits) -> bool {
        let Some(codes) = traits.get(ids::SUPPRESS).and_then(Node::as_array) else {
            return false;
        };
        let codes = codes.iter().filter_map(Node::as_str).map(str::to_owned);
        self.by_shape.insert(id.clone(), codes.collect());
        true
    }

    /// Whether a finding is suppressed; if not, how bad it is may change.
    pub(crate) fn suppresses(&self, problem: &mut Problem) -> bool {
        if problem.severity == Severity::Error {
            return false;
        }
        if let Some(member) = self.members.get(&problem.location)
            && problem
                .shape
                .as_ref()
                .is_some_and(|shape| shape.root_str() == member.root_str())
        {
            problem.shape = Some(member.clone());
        }
        if let Some(codes) = problem.shape.as_ref().and_then(|id| self.by_shape.get(id))
            && codes
                .iter()
                .any(|code| is_below(problem.code.as_str(), code))
        {
            return true;
        }
        if let Some(scope) = self.suppressions.iter().find(|scope| scope.has(problem)) {
            problem.reason.clone_from(&scope.reason);
            return true;
        }
        for (scope, severity) in &self.overrides {
            if scope.has(problem) {
                problem.severity = problem.severity.max(*severity);
            }
        }
        false
    }
}

impl Scope {
    fn has(&self, problem: &Problem) -> bool {
        let namespace = || problem.shape.as_ref().map(|shape| shape.namespace());
        is_below(problem.code.as_str(), &self.id)
            && (self.namespace.is_none() || self.namespace.as_deref() == namespace())
    }
}

/// Whether a code is `id`, or `id` followed by a dot and more.
fn is_below(code: &str, id: &str) -> bool {
    let rest = code.strip_prefix(id);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
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
        let message = format!("`{shown}` is no severity that findings can be raised to");
        let names = known.iter().map(|(name, _)| *name);
        problems.push(Problem::error(OVERRIDES, location, message).expected(one_of(names)));
    }
    found.map(|(_, severity)| *severity)
}

/// The places that findings about a member have.
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

/// The member of a shape that a place belongs to.
pub(crate) fn member_at(
    model: &Model,
    shape: &ShapeId,
    location: SourceLocation,
) -> Option<ShapeId> {
    let members = model.defined(shape)?.members().iter();
    let mut members = members.filter(|member| places(member).any(|place| place == location));
    members.next().map(|member| member.id().clone())
}
